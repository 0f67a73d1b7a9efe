"""Each way in which a graph can fail to hang together."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from samhw.errors import InputError
from samhw.graph import (
    Channel,
    Endpoint,
    Graph,
    Memory,
    MemoryRole,
    Node,
    Payload,
    Port,
    Stream,
    StreamKind,
    TensorBinding,
    validate,
)
from samhw.graph.numerics import value_type
from tests.support.top_graphs import ROOT, array, graph, node

CRD = Stream(Payload(StreamKind.CRD), 1)
REF = Stream(Payload(StreamKind.REF), 0)
VAL = Stream(Payload(StreamKind.VAL), 0)


def example() -> Graph:
    """root -> scan -> write"""
    return Graph(
        name="example",
        value=value_type("i32"),
        nodes=(
            Node("root", "root", {}, (), (Port("out", REF),)),
            Node("scan", "scan_dense", {"extent": "i"}, (Port("ref", REF),), (Port("crd", CRD),)),
            Node("write", "write_compressed", {"pos": "p", "crd": "c"}, (Port("crd", CRD),), ()),
        ),
        channels=(
            Channel(Endpoint("root", "out"), Endpoint("scan", "ref"), 1, 2),
            Channel(Endpoint("scan", "crd"), Endpoint("write", "crd"), 1, 2),
        ),
        memories=(
            Memory("p", "x", "pos0", MemoryRole.OUTPUT, 2),
            Memory("c", "x", "crd0", MemoryRole.OUTPUT, 9),
        ),
        tensors=(TensorBinding("x", MemoryRole.OUTPUT, "compressed", ("i",), (9,)),),
        extents={"i": 9},
    )


def test_a_sound_graph() -> None:
    validate(example())


def test_coordinates_serve_as_references_but_not_the_reverse() -> None:
    ref = (Port("crd", Stream(Payload(StreamKind.REF), 1)),)
    validate(with_node(example(), 2, inputs=ref))
    with pytest.raises(InputError, match="joins a ref stream of depth 1 to an input for crd of depth 1"):
        validate(with_node(example(), 1, outputs=ref))


def with_channel(graph: Graph, k: int, **changes: object) -> Graph:
    channels = list(graph.channels)
    channels[k] = replace(channels[k], **changes)
    return replace(graph, channels=tuple(channels))


def with_node(graph: Graph, k: int, **changes: object) -> Graph:
    nodes = list(graph.nodes)
    nodes[k] = replace(nodes[k], **changes)
    return replace(graph, nodes=tuple(nodes))


def loop(graph: Graph) -> Graph:
    """Two nodes that feed each other, beside the example."""
    a = Node("a", "repeat", {}, (Port("x", CRD),), (Port("y", CRD),))
    b = replace(a, name="b")
    ends = [Endpoint("a", "y"), Endpoint("b", "x"), Endpoint("b", "y"), Endpoint("a", "x")]
    return replace(
        graph,
        nodes=(*graph.nodes, a, b),
        channels=(*graph.channels, Channel(ends[0], ends[1], 1, 1), Channel(ends[2], ends[3], 1, 1)),
    )


BLOCKS = (Port("crd", Stream(Payload(StreamKind.CRD, shape=(2,)), 1)),)
SECOND_WRITER = Node("again", "write_compressed", {"pos": "p", "crd": "c"}, (Port("crd", CRD),), ())

BROKEN: dict[str, tuple[Callable[[Graph], Graph], str]] = {
    "two nodes of a name": (
        lambda g: replace(g, nodes=(*g.nodes, g.nodes[0])),
        "2 node entries are named 'root'",
    ),
    "two memories of a name": (
        lambda g: replace(g, memories=(*g.memories, g.memories[0])),
        "2 memory entries are named 'p'",
    ),
    "two tensors of a name": (
        lambda g: replace(g, tensors=(*g.tensors, g.tensors[0])),
        "2 tensor entries are named 'x'",
    ),
    "no such source": (
        lambda g: with_channel(g, 0, source=Endpoint("rot", "out")),
        r"rot\.out->scan\.ref ends at node 'rot', which does not exist",
    ),
    "no such output": (
        lambda g: with_channel(g, 0, source=Endpoint("root", "ref")),
        "ends at output 'ref'; 'root' has only: out",
    ),
    "no such input": (
        lambda g: with_channel(g, 1, sink=Endpoint("write", "ref")),
        "ends at input 'ref'; 'write' has only: crd",
    ),
    "types that differ": (
        lambda g: with_node(g, 1, outputs=(Port("crd", Stream(Payload(StreamKind.CRD), 2)),)),
        "joins a crd stream of depth 2 to an input for crd of depth 1",
    ),
    "blocks of several words": (
        lambda g: with_node(g, 1, outputs=BLOCKS),
        r"scan\.crd carries crd\[2\], but",
    ),
    "latency": (lambda g: with_channel(g, 1, latency=0), "has latency 0; give at least 1"),
    "depth": (lambda g: with_channel(g, 1, depth=0), "has depth 0; give at least 1"),
    "an input fed twice": (
        lambda g: replace(g, channels=(*g.channels, g.channels[1])),
        r"Input write\.crd has 2 channels",
    ),
    "an input fed by nothing": (
        lambda g: replace(g, channels=g.channels[:1]),
        r"Input write\.crd has no channel",
    ),
    "no such memory": (
        lambda g: replace(g, memories=g.memories[1:]),
        "'write' uses memory 'p', which the graph lacks",
    ),
    "a role": (
        lambda g: replace(g, memories=(g.memories[0], replace(g.memories[1], role=MemoryRole.INPUT))),
        "'write' needs memory 'c' to be output",
    ),
    "a memory written twice": (
        lambda g: replace(
            g,
            nodes=(*g.nodes, SECOND_WRITER),
            channels=(*g.channels, Channel(Endpoint("scan", "crd"), Endpoint("again", "crd"), 1, 2)),
        ),
        "'write' and 'again' both write memory 'p'",
    ),
    "no such extent": (lambda g: replace(g, extents={}), "'scan' uses extent 'i', which the graph lacks"),
    "no root": (
        lambda g: replace(loop(g), nodes=loop(g).nodes[3:], channels=loop(g).channels[2:]),
        "'example' has no root",
    ),
    "no writer": (
        lambda g: replace(g, nodes=g.nodes[:2], channels=g.channels[:1]),
        "'example' has no writer",
    ),
    "a loop": (loop, "The channels form a loop: a -> b -> a"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken(what: str) -> None:
    change, message = BROKEN[what]
    with pytest.raises(InputError, match=message):
        validate(change(example()))


@pytest.mark.parametrize("value", ["i32", "f32"])
def test_values_have_the_type_of_their_memory(value: str) -> None:
    nodes = [ROOT, array("A", 0), node("write", "write_val", "val:val0", vals="C.vals")]
    channels = "root.out>array_A.ref array_A.val>write.val"
    values = graph(nodes, channels, {"A.vals": 1, "C.vals": 1})
    for k, user in enumerate(("array_A", "write")):
        memories = list(values.memories)
        memories[k] = replace(memories[k], value=value_type(value))
        other = replace(values, memories=tuple(memories))
        if value_type(value) == values.value:
            validate(other)
        else:
            with pytest.raises(InputError, match=f"'{user}' takes i32, but memory '[AC].vals' holds f32"):
                validate(other)
