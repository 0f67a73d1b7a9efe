"""Designs: what regions share, the sequence, and what is wrong with some."""

from dataclasses import replace

import pytest

from samhw.errors import InputError
from samhw.graph import (
    Design,
    Graph,
    Memory,
    MemoryRole,
    Run,
    TensorBinding,
    to_dot,
    validate_design,
)
from samhw.graph.numerics import value_type
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


def whole() -> Design:
    return Design.assemble("whole", [first(), second()])


def test_what_passes_between_regions_is_a_buffer() -> None:
    design = whole()
    validate_design(design)
    assert {m.name: str(m.role) for m in design.memories} == {
        "p": "buffer",
        "c": "buffer",
        "q": "output",
        "d": "output",
    }
    assert {t.name: str(t.role) for t in design.tensors} == {"x": "buffer", "y": "output"}
    assert design.extents == {"i": 9}
    assert design.sequence == (Run(0), Run(1))


def test_regions_stay_apart() -> None:
    for number, (region, original) in enumerate(zip(whole().regions, (first(), second()), strict=True)):
        assert region == replace(original, name=f"whole_{number}", extents={"i": 9})


def test_regions_share_the_largest() -> None:
    small = [replace(m, capacity=1) if m.name == "c" else m for m in first().memories]
    design = Design.assemble("whole", [replace(first(), memories=tuple(small)), second()])
    assert [graph.memory["c"].capacity for graph in design.regions] == [9, 9]
    assert Design.assemble("whole", design.regions) == design


def test_a_design_of_one_region() -> None:
    graph = first()
    assert Design.of(graph).regions == Design.of(graph).runs == (graph,)
    assert Design.assemble("other", [graph]) == Design.of(replace(graph, name="other"))


def test_labels() -> None:
    design = whole()
    assert [design.label(region, node.name) for region, node in design.nodes] == [
        *("whole_0.root", "whole_0.scan", "whole_0.write"),
        *("whole_1.root", "whole_1.scan", "whole_1.write"),
    ]
    assert Design.of(first()).label(0, "root") == "root"


def test_regions_are_framed_in_a_drawing() -> None:
    text = to_dot(whole())
    places = ['label="region whole_0"', '"whole_0.root" [', 'label="region whole_1"', '"whole_1.root" [']
    assert sorted(map(text.index, places)) == list(map(text.index, places))
    assert '"whole_1.root" -> "whole_1.scan"' in text
    assert "cluster" not in to_dot(Design.of(first()))


def test_what_passes_between_regions_is_drawn() -> None:
    """Through a cylinder, from what writes it to what reads it."""
    text = to_dot(whole())
    assert '"tensor x" [label="x", shape=cylinder' in text
    assert '"whole_0.write" -> "tensor x" [' in text
    assert '"tensor x" -> "whole_1.scan" [' in text
    assert "tensor y" not in text


def test_value_types_must_agree() -> None:
    with pytest.raises(InputError, match="different value types"):
        Design.assemble("whole", [first(), replace(second(), value=value_type("f32"))])
    with pytest.raises(InputError, match="Region whole_1 computes on f32, and whole on i32"):
        validate_design(changed(1, value=value_type("f32")))


def changed(number: int, **changes: object) -> Design:
    """The design with another region."""
    design = whole()
    regions = list(design.regions)
    regions[number] = replace(regions[number], **changes)
    return replace(design, regions=tuple(regions))


def test_a_buffer_is_written_before_it_is_read() -> None:
    with pytest.raises(InputError, match="Region whole_1 reads memory 'p', which no earlier region writes"):
        validate_design(replace(whole(), sequence=(Run(1), Run(0))))


def test_a_memory_has_one_writer() -> None:
    """Each graph by itself is sound."""
    twice = Design.assemble("twice", [first(), first()])
    with pytest.raises(InputError, match="The regions twice_0 and twice_1 both write memory 'p'"):
        validate_design(twice)


@pytest.mark.parametrize(
    ("role", "message"),
    [
        (MemoryRole.INPUT, "Region whole_0 writes memory 'p', which is an input"),
        (MemoryRole.OUTPUT, "Region whole_1 reads memory 'p', which is an output"),
    ],
)
def test_roles(role: MemoryRole, message: str) -> None:
    design = whole()
    memories = tuple(replace(m, role=role) if m.name == "p" else m for m in design.memories)
    with pytest.raises(InputError, match=message):
        validate_design(replace(design, memories=memories))


def test_what_is_shared_is_the_same() -> None:
    memories = tuple(replace(m, capacity=5) for m in whole().regions[1].memories)
    with pytest.raises(InputError, match=r"Memory 'p' of region whole_1 is not that of whole; .*assemble"):
        validate_design(changed(1, memories=memories))
    with pytest.raises(InputError, match="Extent 'i' of region whole_0 is not that of whole"):
        validate_design(changed(0, extents={"i": 8}))


def test_only_extents_that_no_data_change_are_fixed() -> None:
    design = whole()
    assert design.with_fixed_extents.fixed == ("i",)
    validate_design(design.with_fixed_extents)
    with pytest.raises(InputError, match="The extent of 'n' is fixed, but whole has none that could be"):
        validate_design(replace(design, fixed=("i", "n")))


def test_each_region_runs_once() -> None:
    for sequence, message in (
        ((Run(0),), "has region 1 0 times"),
        ((Run(0), Run(1), Run(0)), "has region 0 2 times"),
        ((Run(0), Run(1), Run(2)), "runs region 2, which it lacks"),
    ):
        with pytest.raises(InputError, match=message):
            validate_design(replace(whole(), sequence=sequence))


def test_each_region_needs_a_writer() -> None:
    graph = whole().regions[1]
    nodes = tuple(n for n in graph.nodes if n.name != "write")
    channels = tuple(c for c in graph.channels if c.sink.node != "write")
    with pytest.raises(InputError, match="Graph 'whole_1' has no writer"):
        validate_design(changed(1, nodes=nodes, channels=channels))
