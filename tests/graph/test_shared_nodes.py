"""Which nodes of different fabrics are one in hardware."""

from dataclasses import replace
from typing import Any

import pytest

import samhw
from samhw.errors import InputError
from samhw.graph import Arch, Channel, Design, Endpoint, Graph, OffChipLayout, Ports, dumps, loads
from samhw.graph.shared_nodes import nodes_in_common, with_shared_nodes
from samhw.graph.validate_design import validate_design
from tests.support.top_graphs import copy_graph, less_the_greatest, node

HEAD = "index i=8, j=4, k=8\n"
CHAIN = f"""{HEAD}S[i, j] = A[i, k] * X[k, j]
t[i] = S[i, j] * S[i, j]
u[i] = t[i] + 3"""
BESIDE = f"""{HEAD}S[i, j] = A[i, k] * X[k, j]
t[i] = A[i, k] * y[k]
u[i] = t[i] + S[i, j]"""


def built(program: str, **schedule: Any) -> Design:
    """A design of single statements with as little hardware as there can be."""
    schedule = {"fuse": "none", "share_hardware": "all"} | schedule
    formats = {"A": "csr"} if "A[" in program else None
    return samhw.compile(program, formats=formats, value="i32", schedule=schedule).compiled.design


def in_common(design: Design) -> Design:
    """A design with all nodes in common that can be one."""
    return replace(design, shared_nodes=nodes_in_common(design))


def kinds(design: Design) -> list[str]:
    """The kinds of the nodes that are one, each as often as fabrics have it."""
    found = []
    for users in design.shared_nodes:
        nodes = [design.built[fabric].node[name] for fabric, name in users.items()]
        (kind,) = {node.kind for node in nodes}
        found += [kind] * len(nodes)
    return sorted(found)


def test_all_but_roots_are_one() -> None:
    design = built(CHAIN)
    assert {"scan_dense", "alu", "array", "write_val"} <= {*kinds(design)}
    assert "root" not in kinds(design)
    assert built(CHAIN, share_hardware="auto").shared_nodes == ()


def test_memories_of_other_words_are_apart() -> None:
    """What reads values of 8 bits is not what reads values of 32."""
    program = "index i=8\np[i] : i32 = b[i] + 1\nq[i] : i32 = c[i] + p[i]"
    for types, shares in (("", True), ("tensor b[i] : dense, i8\n", False)):
        assert ("array" in kinds(built(types + program))) == shares


def test_operations_differ() -> None:
    """A product and a sum, or sums of two types, are two nodes."""
    design = built("index i=8\np[i] = b[i] * c[i]\nq[i] = p[i] + c[i]\nr[i] = q[i] * b[i] * 3")
    alus = [
        {design.built[fabric].node[name].params["op"] for fabric, name in users.items()}
        for users in design.shared_nodes
        if design.built[next(iter(users))].node[users[next(iter(users))]].kind == "alu"
    ]
    assert alus == [{"mul"}]


def test_what_runs_side_by_side_shares_none() -> None:
    design = built(BESIDE, parallel="all")
    assert design.is_parallel
    assert design.shared_nodes
    for users in design.shared_nodes:
        regions = {region for fabric in users for region in design.groups[fabric]}
        assert all(design.beside[region].isdisjoint(regions) for region in regions)


def test_channels_are_as_deep_for_all_and_accumulators_as_wide() -> None:
    design = built(f"{HEAD}S[i, j] = A[i, k] * X[k, j]\nT[i, j] = A[i, k] * S[k, j] + X[i, j]")
    for users in design.shared_nodes:
        graphs = [(design.built[fabric], name) for fabric, name in users.items()]
        first, name = graphs[0]
        for graph, other in graphs[1:]:
            assert graph.node[other].params.get("bits") == first.node[name].params.get("bits")
            for port in first.node[name].inputs:
                ends = [graph.fanin[Endpoint(of, port.name)] for graph, of in ((graph, other), (first, name))]
                assert ends[0].depth == ends[1].depth


def greatest(depth: int, source: str) -> Graph:
    """A copy less its greatest element, with a channel of another depth."""
    graph = less_the_greatest(source)
    deep = (replace(c, depth=depth) if c.sink == Endpoint("sub", "a") else c for c in graph.channels)
    return replace(graph, channels=tuple(deep))


def test_the_deepest_counts() -> None:
    graphs = [greatest(8, "A"), copy_graph(source="C", target="D"), greatest(12, "B")]
    design = in_common(Design.assemble("three", graphs))
    deep = with_shared_nodes(design)
    assert [g.fanin[Endpoint("sub", "a")].depth for g in (deep[0], deep[2])] == [12, 12]


def test_what_comes_from_one_place_stays_together() -> None:
    """Of two multipliers each takes the one whose operands come from what it shares already."""
    program = "index i=8\np[i] = (b[i] + c[i]) * (b[i] - c[i])\nq[i] = (d[i] + c[i]) * (d[i] - c[i]) + 1"
    design = built(program)
    groups = {name: users for users in design.shared_nodes for name in users.items()}
    for fabric, graph in enumerate(design.built):
        for channel in graph.channels:
            source, sink = (groups.get((fabric, end.node)) for end in (channel.source, channel.sink))
            if source is None or sink is None or graph.node[channel.sink.node].kind != "alu":
                continue
            others = {
                (other, design.built[other].fanin[Endpoint(name, channel.sink.port)].source.node)
                for other, name in sink.items()
            }
            assert len(others & {*source.items()}) == len(source.keys() & sink.keys())


def test_a_fabric_with_a_node_that_no_writer_needs_shares_none() -> None:
    """It may still have tokens when its region has ended."""
    whole = less_the_greatest("B")
    left = node("left", "alu", "a:val1", "out:val1", op="neg")
    more = Channel(Endpoint("array_B", "val"), Endpoint("left", "a"), 1, 4)
    dangling = replace(whole, nodes=(*whole.nodes, left), channels=(*whole.channels, more))
    for second, shares in ((whole, True), (dangling, False)):
        design = Design.assemble("two", (less_the_greatest(), second))
        assert bool(nodes_in_common(design)) == shares


def test_the_form_in_json_has_it() -> None:
    design = built(CHAIN)
    assert loads(dumps(design)) == design
    assert loads(dumps(design)).shared_nodes


def test_nodes_of_other_depths_are_refused() -> None:
    design = built(CHAIN)
    validate_design(design)
    (fabric, name) = next(iter(design.shared_nodes[0].items()))
    region = design.groups[fabric][0]
    graph = design.regions[region]
    deeper = {c.name: c.depth + (c.sink.node == name) for c in graph.channels}
    regions = (*design.regions[:region], graph.with_depths(deeper), *design.regions[region + 1 :])
    with pytest.raises(InputError, match="differ from others in depths"):
        validate_design(replace(design, regions=regions))


WRONG = {
    "fabric 9 has no node": lambda design: {9: "root"},
    "may be shared with none": lambda design: {
        fabric: next(node.name for node in graph.nodes if node.kind == "root")
        for fabric, graph in enumerate(design.built)
    },
    "are not alike": lambda design: {
        0: next(node.name for node in design.built[0].nodes if node.kind == "array"),
        1: next(node.name for node in design.built[1].nodes if node.kind == "alu"),
    },
}


@pytest.mark.parametrize("why", WRONG)
def test_what_cannot_be_one_is_refused(why: str) -> None:
    design = built(CHAIN)
    with pytest.raises(InputError, match=why):
        validate_design(replace(design, shared_nodes=(WRONG[why](design),)))


def test_a_node_is_one_with_others_once() -> None:
    design = built(CHAIN)
    with pytest.raises(InputError, match="there twice"):
        validate_design(replace(design, shared_nodes=(*design.shared_nodes, design.shared_nodes[0])))


def test_nodes_beside_each_other_are_refused() -> None:
    design = built(BESIDE, parallel="all")
    fabrics = sorted(design.beside[0] | {0})
    names = [next(n.name for n in design.built[f].nodes if n.kind == "alu") for f in fabrics[:2]]
    with pytest.raises(InputError, match="side by side"):
        validate_design(replace(design, shared_nodes=(dict(zip(fabrics, names, strict=False)),)))


def test_what_lies_apart_is_refused() -> None:
    """A node reads an array on the chip, and one off it: the layout came after the nodes."""
    design = built(CHAIN)
    (array,) = {
        design.built[fabric].node[name].memories["vals"]
        for users in design.shared_nodes
        for fabric, name in [*users.items()][:1]
        if design.built[fabric].node[name].kind == "array"
    }
    layout = OffChipLayout(design, Arch(), Ports(), {array: 0})
    with pytest.raises(InputError, match="do not lie alike"):
        layout.check_fabrics(design)
