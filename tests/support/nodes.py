"""A node of every kind, and a graph that they could stand in."""

from samhw.graph import Arch, Graph, Memory, MemoryRole, Node, Payload, Port, Stream, StreamKind
from samhw.graph.numerics import value_type
from samhw.graph.spec import spec_of

__all__ = ["ARCH", "CRD", "GRAPH", "NODES", "REF", "VAL", "WIDTH", "node"]

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
