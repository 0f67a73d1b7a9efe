"""Which payloads may be EMPTY, by the tables of docs/primitives.md."""

import samhw
from samhw.graph import Graph, may_be_empty


def graph_of(text: str, region: int = 0) -> Graph:
    design = samhw.compile(text, value="i32")
    return design.compiled.regions[region].graph


def test_references_below_a_union_may_be_empty_and_coordinates_never() -> None:
    """`x` is repeated at the coordinates of the union, and there in each of its rows."""
    graph = graph_of(
        "tensor A[i=3, j=2] : (compressed, dense)\ntensor B[i=3, j=2] : (compressed, dense)\n"
        "tensor x[j=2]\ny[i] = A[i, j] * x[j] + B[i, j] * x[j]\n"
    )
    found = {str(end) for end in may_be_empty(graph)}
    assert {"union_i.ref0", "union_i.ref1", "locate_A_j.ref", "locate_B_j.ref"} <= found
    assert found.isdisjoint({"root.out", "scan_compressed_A_i.ref", "union_i.crd", "repeat_x_i.ref"})


def test_an_earlier_step_may_be_empty_and_the_present_one_is_there() -> None:
    text = "tensor A[t=3, i=2]\ntensor H[t=3, i=2]\nscan t {\nH[t, i] = H[t - 1, i] + A[t, i]\n}\n"
    graph = graph_of(text)
    steps = {node.params["offset"]: node.name for node in graph.nodes if "offset" in node.params}
    empty = {end.node for end in may_be_empty(graph)}
    assert steps[-1] in empty
    assert steps[0] not in empty
