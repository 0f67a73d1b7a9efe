"""What a component is made for that stands for nodes of several fabrics."""

import samhw
from samhw.graph import Endpoint, Graph
from samhw.graph.widths import carried_bits
from samhw.rtl.site import Site, bits_of
from samhw.rtl.token import KIND_BITS


def graph_of(program: str, value: str = "i8") -> Graph:
    formats = {name: "csr" for name in "AB" if f"{name}[" in program}
    return samhw.compile(program, formats=formats or None, value=value).compiled.design.regions[0]


def site(kind: str, *graphs: Graph) -> Site:
    """That of the first node of a kind in each graph."""
    nodes = [next(node for node in graph.nodes if node.kind == kind) for graph in graphs]
    arch = samhw.compile("index i=2\nx[i] = y[i]").arch
    others = list(zip(nodes, graphs, strict=True))[1:]
    return Site(nodes[0], graphs[0], arch, stall_port=False, others=others)


def test_what_is_empty_in_one_may_be_empty() -> None:
    never = graph_of("index i=8, k=8\nt[i] = A[i, k] * x[k]")
    maybe = graph_of("index i=8, j=8\nT[i, j] = A[i, j] + B[i, j]")
    assert not site("array", never).may_be_empty("ref")
    assert site("array", maybe).may_be_empty("ref")
    assert site("array", never, maybe).may_be_empty("ref")


def test_sums_are_as_wide_as_the_widest() -> None:
    short, long = (graph_of(f"index i={n}\ntensor s : i32\ns = x[i] * y[i]") for n in (4, 400))
    few, many = (site("reduce_scalar", graph).sum_bits() for graph in (short, long))
    assert few is not None
    assert many is not None
    assert few < many == site("reduce_scalar", short, long).sum_bits()


def test_a_channel_holds_what_each_source_gives() -> None:
    """Numbers without a sign get one where others have it."""
    ends = []
    for op, term in (("relu", "relu(x[i] * y[i])"), ("mul", "x[i] * y[i]")):
        narrow = "".join(f"tensor {name}[i=8] : dense, i8\n" for name in "xy")
        graph = graph_of(f"{narrow}q[i] = {term} + z[i]", "i32")
        (name,) = (node.name for node in graph.nodes if node.params.get("op") == op)
        ends.append((graph, Endpoint(name, "val")))
    first, second = (carried_bits(*end) for end in ends)
    assert (first.is_signed, second.is_signed) == (False, True)
    found = bits_of(ends)
    assert found.is_signed
    assert found.kept >> KIND_BITS == (1 << max(first.bits + 1, second.bits)) - 1
