"""Every kind of node gets the component that has its ports, with the widths of its streams."""

import pytest

from samhw.graph import Arch, Graph, Memory, MemoryRole, Node, Payload, Port, Stream, StreamKind
from samhw.graph.numerics import value_type
from samhw.graph.spec import kinds, spec_of
from samhw.rtl.actor import component

CRD, REF, VAL = StreamKind.CRD, StreamKind.REF, StreamKind.VAL
WIDTH = {CRD: 20, REF: 20, VAL: 16}
ARCH = Arch(index_bits=20)
GRAPH = Graph(
    name="g",
    value=value_type("i16"),
    nodes=(),
    channels=(),
    memories=(
        Memory("B.pos", "B", "pos", MemoryRole.INPUT, 5),
        Memory("B.crd", "B", "crd", MemoryRole.INPUT, 100),
        Memory("B.cnt", "B", "cnt", MemoryRole.INPUT, 25),
        Memory("B.off", "B", "off", MemoryRole.INPUT, 9),
        Memory("B.vals", "B", "vals", MemoryRole.INPUT, 64),
        Memory("W.vals", "W", "vals", MemoryRole.INPUT, 64, value=value_type("f32")),
    ),
    tensors=(),
    extents={"i": 10},
)


def node(kind, params, inputs, outputs):
    def ports(named):
        return tuple(Port(name, Stream(Payload(kind), 1)) for name, kind in named.items())

    return Node(kind, kind, spec_of(kind).read(params), ports(inputs), ports(outputs))


NODES = [
    node("root", {}, {}, {"out": REF}),
    node("step_ref", {"repeat": "i", "offset": -1, "extent": "i", "down": "i"}, {}, {"ref": REF}),
    node("scan_dense", {"extent": "i"}, {"ref": REF}, {"crd": CRD, "ref": REF}),
    node(
        "scan_compressed",
        {"pos": "B.pos", "crd": "B.crd", "extent": "i"},
        {"ref": REF},
        {"crd": CRD, "ref": REF},
    ),
    node("scan_singleton", {"crd": "B.crd", "extent": "i"}, {"ref": REF}, {"crd": CRD, "ref": REF}),
    node(
        "scan_ell",
        {"cnt": "B.cnt", "crd": "B.crd", "width": 4, "extent": "i"},
        {"ref": REF},
        {"crd": CRD, "ref": REF},
    ),
    node("scan_ragged", {"pos": "B.pos", "extent": "i"}, {"ref": REF}, {"crd": CRD, "ref": REF}),
    node(
        "scan_dia",
        {"cnt": "B.cnt", "off": "B.off", "rows": "i", "extent": "i"},
        {"ref": REF},
        {"crd": CRD, "ref": REF},
    ),
    node("repeat", {"payload": "ref"}, {"ref": REF, "crd": CRD}, {"ref": REF}),
    node("repeat", {"payload": "val"}, {"ref": VAL, "crd": CRD}, {"ref": VAL}),
    node("crd_hold", {}, {"outer": CRD, "inner": CRD}, {"crd": CRD}),
    node("locate", {"extent": "i"}, {"ref": REF, "crd": CRD}, {"ref": REF}),
    node("pick", {"crd": "B.crd", "extent": "i"}, {"at": REF, "ref": REF}, {"ref": REF}),
    node("shift", {"extent": "i"}, {"crd": CRD}, {"crd": CRD}),
    node("scatter", {"lanes": 3, "payload": "val"}, {"ref": VAL}, {f"ref{k}": VAL for k in range(3)}),
    node(
        "gather",
        {"lanes": 2, "levels": 1, "payload": "crd"},
        {"ref0": CRD, "ref1": CRD},
        {"ref": CRD},
    ),
    *(
        node(
            kind,
            {"inputs": 3, "payloads": ["ref", "val", "crd"]},
            {"crd0": CRD, "ref0": REF, "crd1": CRD, "ref1": VAL, "crd2": CRD, "ref2": CRD},
            {"crd": CRD, "ref0": REF, "ref1": VAL, "ref2": CRD},
        )
        for kind in ("intersect", "union")
    ),
    node("array", {"vals": "B.vals"}, {"ref": REF}, {"val": VAL}),
    node("alu", {"op": "add"}, {"a": VAL, "b": VAL}, {"val": VAL}),
    node("alu", {"op": "mul", "immediates": {"b": 3}}, {"a": VAL}, {"val": VAL}),
    node("alu", {"op": "select", "immediates": {"b": 3}}, {"a": VAL, "c": VAL}, {"val": VAL}),
    node("alu", {"op": "neg"}, {"a": VAL}, {"val": VAL}),
    node("matmul", {"shape": [], "over": [], "a": [], "b": []}, {"a": VAL, "b": VAL}, {"val": VAL}),
    node("fold", {"op": "max", "shape": [], "over": []}, {"block": VAL}, {"val": VAL}),
    node("reduce_scalar", {"op": "max"}, {"val": VAL}, {"val": VAL}),
    node("running", {"op": "sum", "exclusive": True}, {"val": VAL}, {"val": VAL}),
    node("recur", {}, {"factor": VAL, "val": VAL}, {"val": VAL}),
    node(
        "top_k",
        {"op": "min", "gives": "places", "k": 3},
        {"crd": CRD, "val": VAL, "rank": CRD},
        {"val": VAL},
    ),
    node("reduce_vector", {"op": "sum", "bits": [4]}, {"crd0": CRD, "val": VAL}, {"crd0": CRD, "val": VAL}),
    node("last", {}, {"val": VAL}, {"val": VAL}),
    node("arg", {"op": "min"}, {"crd": CRD, "val": VAL}, {"val": VAL}),
    node("recur_vector", {"bits": [4]}, {"crd0": CRD, "factor": VAL, "val": VAL}, {"crd0": CRD, "val": VAL}),
    node("drop_crd", {}, {"outer": CRD, "inner": CRD}, {"outer": CRD, "inner": CRD}),
    node("drop_val", {}, {"crd": CRD, "val": VAL}, {"crd": CRD, "val": VAL}),
    node("write_compressed", {"pos": "B.pos", "crd": "B.crd"}, {"crd": CRD}, {}),
    node("write_dense", {"extent": "i"}, {"crd": CRD}, {}),
    node("write_val", {"vals": "B.vals"}, {"val": VAL}, {}),
    node("write_at", {"vals": "B.vals"}, {"ref": REF, "val": VAL}, {}),
]


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
