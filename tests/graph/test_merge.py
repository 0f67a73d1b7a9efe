"""Several graphs as the regions of one, and back."""

from dataclasses import replace

import pytest

from samhw.errors import InputError
from samhw.graph import (
    Endpoint,
    Graph,
    Memory,
    MemoryRole,
    TensorBinding,
    dumps,
    loads,
    merge,
    to_dot,
    validate,
)
from tests.graph.test_validate import example


def first() -> Graph:
    """Writes the coordinates x, with the greatest extent 9."""
    return example()


def second() -> Graph:
    """Scans x and writes its coordinates as y."""
    graph = example()
    scan = replace(graph.nodes[1], kind="scan_compressed", params={"pos": "p", "crd": "c", "extent": "i"})
    write = replace(graph.nodes[2], params={"pos": "q", "crd": "d"})
    return replace(
        graph,
        name="second",
        nodes=(graph.nodes[0], scan, write),
        memories=(
            Memory("p", "x", "pos0", MemoryRole.INPUT, 2),
            Memory("c", "x", "crd0", MemoryRole.INPUT, 9),
            Memory("q", "y", "pos0", MemoryRole.OUTPUT, 2),
            Memory("d", "y", "crd0", MemoryRole.OUTPUT, 9),
        ),
        tensors=(
            TensorBinding("x", MemoryRole.INPUT, "compressed", ("i",), (9,)),
            TensorBinding("y", MemoryRole.OUTPUT, "compressed", ("i",), (9,)),
        ),
        extents={"i": 7},
    )


def whole() -> Graph:
    return merge("whole", [first(), second()])


def test_what_passes_between_regions_is_a_buffer() -> None:
    graph = whole()
    validate(graph)
    assert {m.name: str(m.role) for m in graph.memories} == {
        "p": "buffer",
        "c": "buffer",
        "q": "output",
        "d": "output",
    }
    assert [n.name for n in graph.nodes if n.region == 1] == ["r1_root", "r1_scan", "r1_write"]
    assert graph.extents == {"i": 9}


def test_regions_are_the_graphs_again() -> None:
    for number, (region, original) in enumerate(zip(whole().regions, (first(), second()), strict=True)):
        validate(region)
        assert region.name == f"whole_{number}"
        assert [n.kind for n in region.nodes] == [n.kind for n in original.nodes]
        assert region.memories == original.memories
        assert region.tensors == original.tensors
        assert len(region.channels) == len(original.channels)


def test_a_graph_of_one_region_is_its_own() -> None:
    graph = first()
    assert graph.regions == (graph,)
    assert merge("other", [graph]) == replace(graph, name="other")


def test_regions_survive_json() -> None:
    assert loads(dumps(whole())) == whole()


def test_regions_are_framed_in_a_drawing() -> None:
    text = to_dot(whole())
    assert text.index('label="region 0"') < text.index('"r0_root"') < text.index('label="region 1"')
    assert "cluster" not in to_dot(first())


def test_value_types_must_agree() -> None:
    with pytest.raises(InputError, match="different value types"):
        merge("whole", [first(), replace(second(), value="f32")])


def test_a_buffer_is_written_before_it_is_read() -> None:
    graph = whole()
    nodes = tuple(replace(n, region=1 - n.region) for n in graph.nodes)
    with pytest.raises(InputError, match="which no earlier region writes"):
        validate(replace(graph, nodes=nodes))


def test_channels_stay_inside_of_a_region() -> None:
    graph = whole()
    crossing = replace(graph.channels[1], sink=Endpoint("r1_write", "crd"))
    with pytest.raises(InputError, match="joins the regions 0 and 1"):
        validate(replace(graph, channels=(graph.channels[0], crossing, *graph.channels[2:])))


def test_each_region_needs_a_writer() -> None:
    graph = whole()
    nodes = tuple(n for n in graph.nodes if n.name != "r1_write")
    channels = tuple(c for c in graph.channels if c.sink.node != "r1_write")
    with pytest.raises(InputError, match="Region 1 of graph 'whole' has no writer"):
        validate(replace(graph, nodes=nodes, channels=channels))
