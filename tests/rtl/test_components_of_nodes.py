"""Every kind of node gets the component that has its ports, with the widths of its streams."""

import pytest

from samhw.graph import Node
from samhw.graph.spec import kinds, spec_of
from samhw.rtl.actor import component
from tests.support.nodes import ARCH, CRD, GRAPH, NODES, REF, VAL, WIDTH, node


def test_every_kind_has_a_component():
    assert {node.kind for node in NODES} == set(kinds())


EXTENTS = {param for kind in kinds() for param in spec_of(kind).extents}
MEMORY_PORTS = {
    "mem_pos": (3, 20),
    "mem_pos_next": (3, 20),
    "mem_crd": (7, 20),
    "mem_vals": (6, 16),
    "mem_cnt": (5, 20),
    "mem_off": (4, 20),
}


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.kind)
@pytest.mark.parametrize("stall_port", [False, True])
@pytest.mark.filterwarnings("ignore:.*created but never used")
def test_ports(node, stall_port):
    built = component(node, GRAPH, ARCH, stall_port=stall_port)
    assert type(built).__module__ == f"samhw.primitives.{node.kind}.component"
    assert set(built.i.signature.members) == {port.name for port in node.inputs}
    assert set(built.o.signature.members) == {port.name for port in node.outputs}
    for port in node.inputs:
        assert len(getattr(built.i, port.name).payload.payload) == WIDTH[port.stream.kind]
    for port in node.outputs:
        given = GRAPH.given(node, port.name).width(ARCH.index_bits)
        assert len(getattr(built.o, port.name).token.payload) == given
    members = built.signature.members
    assert {name for name in members if name in EXTENTS} == node.extents.keys()
    assert ("start" in members) == (not node.inputs)
    assert ("repeat" in members) == bool(node.repeats)
    assert ("committed" in members) == (not node.outputs)
    assert ("stall" in members) == (stall_port and (not node.inputs or not node.outputs))
    memories = {name for name in members if name.startswith("mem_")}
    for name in memories:
        port = getattr(built, name)
        assert (len(port.addr), len(port.data)) == MEMORY_PORTS[name]
    # As in the spec: a port for each word that is read at a time, or for the one that is written.
    ports = {param: built.memory_ports(param) for param in node.memories}
    assert len(memories) == sum(len(found) for found in ports.values())
    for param, found in ports.items():
        use = node.spec.memories[param]
        assert len(found) == (1 if use.written else use.reads)


@pytest.mark.parametrize(
    ("node", "inputs", "outputs"),
    [
        (node("array", {"vals": "W.vals", "value": "f32"}, {"ref": REF}, {"val": VAL}), [20], [32]),
        (node("write_val", {"vals": "W.vals", "value": "f32"}, {"val": VAL}, {}), [32], []),
        (node("drop_val", {"value": "i8"}, *[{"crd": CRD, "val": VAL}] * 2), [20, 8], [20, 8]),
        (node("repeat", {"value": "f32"}, {"ref": VAL, "crd": CRD}, {"ref": VAL}), [32, 20], [32]),
        (
            node(
                "union",
                {"inputs": 2, "value": "i8"},
                {"crd0": CRD, "ref0": VAL, "crd1": CRD, "ref1": REF},
                {"crd": CRD, "ref0": VAL, "ref1": REF},
            ),
            [20, 8, 20, 20],
            [20, 8, 20],
        ),
        (node("alu", {"op": "neg", "value": "i8"}, {"a": VAL}, {"val": VAL}), [8], [8]),
        (node("alu", {"op": "mul", "to": "i32"}, {"a": VAL, "b": VAL}, {"val": VAL}), [16, 16], [32]),
        (
            node("alu", {"op": "convert", "value": "f32", "to": "i8"}, {"a": VAL}, {"val": VAL}),
            [32],
            [8],
        ),
        (node("reduce_scalar", {"op": "sum", "value": "f32"}, {"val": VAL}, {"val": VAL}), [32], [32]),
        (node("running", {"op": "prod", "value": "f32"}, {"val": VAL}, {"val": VAL}), [32], [32]),
        (
            node(
                "reduce_vector", {"op": "sum", "bits": [4], "value": "f32"}, *[{"crd0": CRD, "val": VAL}] * 2
            ),
            [20, 32],
            [20, 32],
        ),
    ],
    ids=lambda case: case.kind if isinstance(case, Node) else None,
)
@pytest.mark.filterwarnings("ignore:.*created but never used")
def test_values_of_another_type_than_the_graph(node, inputs, outputs):
    built = component(node, GRAPH, ARCH, stall_port=False)
    assert [len(getattr(built.i, port.name).payload.payload) for port in node.inputs] == inputs
    assert [len(getattr(built.o, port.name).token.payload) for port in node.outputs] == outputs
    if "vals" in node.params:
        assert len(built.mem_vals.data) == 32
