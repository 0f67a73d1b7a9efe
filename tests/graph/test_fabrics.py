"""Which regions may share a fabric, what it has of them, and where the arrays of their memories lie."""

import re
from dataclasses import replace

import pytest

from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.graph import Design, Graph, Node, dumps, loads, validate_design
from samhw.graph.fabrics import alike, difference, equal_regions, form_of, pace_of
from samhw.graph.numerics import value_type
from samhw.graph.pools import pools_of
from samhw.lang import Capacity, parse

TENSORS = {
    "A": "tensor A[i=6, k=5] : csr",
    "B": "tensor B[j=9, i=6] : csr",
    "D": "tensor D[i=6, k=5] : dcsr",
    "x": "tensor x[k=5]",
    "w": "tensor w[k=5]",
    "b": "tensor b[i=6]",
    "c": "tensor c[j=9]",
}


def compiled(statements: str, share: object = "auto") -> Compiled:
    used = [text for name, text in TENSORS.items() if re.search(rf"\b{name}\b", statements)]
    program = parse("\n".join([*used, statements]), "layers.ein")
    schedule = Schedule(fuse="none", share_hardware=share)
    entries = {name: count for name, count in {"A": 12, "B": 20, "D": 7}.items() if name in program.tensors}
    extents = {"i": 6, "k": 5, "j": 9}
    capacity = Capacity(
        {index: extents[index] for index in program.dimensions.extents if index in extents}, entries
    )
    return compile_job(Job(program, schedule, value=value_type("i32"), capacity=capacity))


def graphs(first: str, other: str) -> list[Graph]:
    found = [region.graph for region in compiled(f"{first}\n{other}\n", "none").regions]
    assert len(found) == 2
    return found


LAYERS = "y[i] = A[i, k] * x[k] + b[i]\nz[j] = B[j, i] * y[i] + c[j]\n"
EQUAL = {
    "names, extents and capacities": tuple(LAYERS.splitlines()),
    "an immediate": ("y[i] = 2 * b[i]", "z[j] = 3 * c[j]"),
    "the width of an accumulator": ("y[k] = A[i, k] * b[i] order i, k", "z[i] = B[j, i] * c[j] order j, i"),
    "the role of a memory": ("y[i] = relu(b[i])", "z[i] = relu(y[i])"),
}
OTHERS = {
    "a level of the result": ("y[i] = A[i, k] * x[k]", "z = A[i, k] * x[k]"),
    "a format": ("y[i] = A[i, k] * x[k]", "z[i] = D[i, k] * x[k]"),
    "a reduction": ("y[i] = A[i, k] * x[k]", "z[i] max= A[i, k] * x[k]"),
    "an operation": ("y[k] = x[k] + w[k]", "z[k] = x[k] - w[k]"),
    "the operand that an immediate is": ("y[i] = b[i] - 2", "z[i] = 2 - b[i]"),
    "ports that reach one memory": ("y[k] = x[k] * w[k]", "z[k] = x[k] * x[k]"),
    "a bias": ("y[i] = A[i, k] * x[k] + b[i]", "z[j] = B[j, i] * b[i]"),
}


@pytest.mark.parametrize("pair", EQUAL.values(), ids=EQUAL)
def test_equal_regions_may_differ_in(pair: tuple[str, str]) -> None:
    found = graphs(*pair)
    assert equal_regions(found) == ((0, 1),)
    assert difference(*found) == ""


@pytest.mark.parametrize("pair", OTHERS.values(), ids=OTHERS)
def test_regions_are_not_equal_that_differ_in(pair: tuple[str, str]) -> None:
    found = graphs(*pair)
    assert equal_regions(found) == ()
    assert difference(*found)


def test_a_type_is_compared_as_what_it_is() -> None:
    """Whether a node says the type of the graph or nothing; another type is another fabric."""
    (graph,) = (region.graph for region in compiled("y[i] = b[i] + 1", "none").regions)
    said = replace(graph, nodes=tuple(_typed(node, "i32") for node in graph.nodes))
    other = replace(graph, nodes=tuple(_typed(node, "i16") for node in graph.nodes))
    assert form_of(said).nodes == form_of(graph).nodes != form_of(other).nodes


def _typed(node: Node, value: str) -> Node:
    return replace(node, params={**node.params, "value": value_type(value)}) if node.kind == "alu" else node


def test_a_fabric_has_the_greatest_depths_and_widths() -> None:
    first, other = graphs(*EQUAL["the width of an accumulator"])
    deep = other.channels[2].name
    other = other.with_depths({deep: 99})
    made = alike([first, other])
    assert [node.kind for node in made[0].nodes] == [node.kind for node in made[1].nodes]
    (reducers,) = zip(*([n for n in graph.nodes if n.kind == "reduce_vector"] for graph in made), strict=True)
    assert [node.params["bits"] for node in reducers] == [[3], [3]]
    assert [c.depth for c in made[0].channels] == [c.depth for c in made[1].channels]
    assert max(c.depth for c in made[0].channels) == 99
    assert alike(made) == made


def test_a_design_knows_its_fabrics() -> None:
    design = compiled(LAYERS).design
    assert design.fabrics == design.groups == ((0, 1),)
    (built,) = design.built
    assert len(design.built_nodes) == len(built.nodes) == len(design.nodes) / 2
    # y reaches from j to i: the memory of A has 12 places and that of B has 20, and i is at most j.
    assert {name: memory.capacity for name, memory in built.memory.items()} == {
        "A.pos1": 10,
        "A.crd1": 20,
        "A.vals": 20,
        "x.vals": 6,
        "b.vals": 9,
        "y.vals": 9,
    }
    assert built.extents == {"i": 9, "k": 6}
    assert loads(dumps(design)) == design
    assert "2 regions on 1 fabric" in design.summary


def test_arrays_of_one_port_lie_in_a_pool() -> None:
    """Inputs lie together, each from a multiple of its size; x and y do not, as y is written; nor do y and z,
    which one region uses."""
    pools = {pool.name: pool for pool in pools_of(compiled(LAYERS).design)}
    assert {name: dict(pool.bases) for name, pool in pools.items()} == {
        "A.pos1": {"A.pos1": 16, "B.pos1": 0},
        "A.crd1": {"A.crd1": 32, "B.crd1": 0},
        "A.vals": {"A.vals": 32, "B.vals": 0},
        "x.vals": {"x.vals": 0},
        "b.vals": {"b.vals": 16, "c.vals": 0},
        "y.vals": {"y.vals": 0},
        "z.vals": {"z.vals": 0},
    }
    assert [pools[name].capacity for name in ("A.pos1", "A.vals", "b.vals")] == [23, 44, 22]


def test_a_chain_of_regions_takes_turns_in_two_pools() -> None:
    chain = "p[i] = b[i] + 1\nq[i] = p[i] + 2\nr[i] = q[i] + 3\ns[i] = r[i] + 4\n"
    pools = [list(pool.bases) for pool in pools_of(compiled(chain).design)]
    assert pools == [["b.vals"], ["p.vals", "r.vals"], ["q.vals", "s.vals"]]


def test_auto_shares_what_costs_no_cycle() -> None:
    """Accumulators of 3 and of 4 bits have one bitmap each; of 6 bits, two."""
    first, _ = graphs(*EQUAL["the width of an accumulator"])
    (reducer,) = (node for node in first.nodes if node.kind == "reduce_vector")
    widths = ([3], [4], [6], [3, 2], [2, 3])
    paces = [pace_of(replace(reducer, params={**reducer.params, "bits": bits})) for bits in widths]
    assert [pace == paces[0] for pace in paces] == [True, True, False, False, False]
    assert paces[3] != paces[4]


def test_what_is_asked_for_is_shared() -> None:
    chain = "p[i] = b[i] + 1\nq[i] = p[i] + 2\nr[i] = q[i] + 3\ns[i] = r[i] * 4\n"
    assert compiled(chain, "none").design.fabrics == ()
    assert compiled(chain, "all").design.fabrics == ((0, 1, 2),)
    assert compiled(chain, [["p", "r"]]).design.fabrics == ((0, 2),)


@pytest.mark.parametrize(
    ("share", "message"),
    [
        ([["p", "s"]], "The regions of p and s cannot share hardware: add of the one"),
        ([["p", "t"]], "'t'"),
        ([["p", "q"], ["q", "r"]], "'share_hardware' has the region of q twice"),
        ([["p"]], "names"),
        ("some", "There is no share_hardware 'some'"),
    ],
)
def test_what_is_refused(share: object, message: str) -> None:
    chain = "p[i] = b[i] + 1\nq[i] = p[i] + 2\nr[i] = q[i] + 3\ns[i] = r[i] * 4\n"
    with pytest.raises(InputError) as found:
        compiled(chain, share)
    assert message in str(found.value)


@pytest.mark.parametrize("fabrics", [((0,),), ((1, 0),), ((0, 1), (1, 2)), ((0, 3),), ((0, 7),)])
def test_a_design_of_wrong_fabrics_is_refused(fabrics: tuple[tuple[int, ...], ...]) -> None:
    chain = "p[i] = b[i] + 1\nq[i] = p[i] + 2\nr[i] = q[i] + 3\ns[i] = r[i] * 4\n"
    design = compiled(chain, "none").design
    validate_design(replace(design, fabrics=((0, 1),)))
    with pytest.raises(InputError, match="fabric"):
        validate_design(Design(**{**vars_of(design), "fabrics": fabrics}))


def vars_of(design: Design) -> dict[str, object]:
    return {name: getattr(design, name) for name in design.__dataclass_fields__}
