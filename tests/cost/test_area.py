"""Areas: what lies between what was measured, and designs against what Yosys and nextpnr make of them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from samhw.app.workload import bind_program, compile_workload
from samhw.choices.choice import choice
from samhw.choices.schedule import Schedule
from samhw.cost import FITS, AreaEstimate, Use, components, estimate_area, parse_budget
from samhw.cost.components import (
    BASE,
    Component,
    are_widths_measured,
    node_component,
    use_of_component,
)
from samhw.graph import DDR4
from samhw.graph.numerics import value_type
from samhw.graph.shared_ports import shared_ports
from samhw.lang import kernel_names, model_names

TABLE = """kind,variant,sizes,luts,registers,block_rams,multipliers
alone,,width=8,30,3,0,1
rare,,width=8,90,9,0,0
line,,width=8,10,4,0,0
line,,width=16,30,0,0,0
line,,width=32,50,0,0,0
plane,mul f32,width=8; lanes=2,10,0,0,0
plane,mul f32,width=16; lanes=2,20,0,0,0
plane,mul f32,width=8; lanes=4,30,0,0,0
plane,mul f32,width=16; lanes=4,60,0,0,0
"""


SAMPLE = """kind,variant,sizes,luts,registers,block_rams,multipliers
alone,,width=8,60,6,2,1
line,,width=8,5,2,0,0
line,,width=16,30,2,0,0
plane,mul f32,width=16; lanes=2,10,5,0,0
"""
"""Of another family."""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / f"{components.BASE}.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "sampled.csv").write_text(SAMPLE, encoding="utf-8")
    monkeypatch.setattr(components, "MEASURED", tmp_path)
    monkeypatch.setitem(components.LIKE, "sampled", components.BASE)
    caches = (components._measured, components._use, components._mean)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def use(kind: str, variant: str = "", family: str = components.BASE, **sizes: float) -> Use:
    found = use_of_component(Component(kind, variant, sizes), family)
    assert found is not None
    return found


def luts(kind: str, variant: str = "", **sizes: float) -> float:
    return use(kind, variant, **sizes).luts


@pytest.mark.usefixtures("table")
def test_a_family_of_which_a_sample_was_measured() -> None:
    # Where nothing is to be multiplied, what was measured; and nothing of nothing.
    assert use("alone", family="sampled", width=99) == Use(60, 6, 2, 1)
    # Between sizes of the sample, and beyond, on its own line.
    assert [use("line", family="sampled", width=width).luts for width in (8, 12, 16)] == [5, 17.5, 30]
    # The sample has one width and two lanes: half of what the other family takes.
    assert use("plane", "mul f32", "sampled", width=8, lanes=4) == Use(15, 5, 0, 0)
    assert use("plane", "mul f32 by a number", "sampled", width=16, lanes=2).luts == 10
    # Of no kind that was sampled: as much more as all of those together.
    assert use("rare", family="sampled", width=8).luts == pytest.approx(105)


@pytest.mark.usefixtures("table")
def test_between_what_was_measured() -> None:
    assert luts("alone", width=99) == 30
    assert [luts("line", width=width) for width in (8, 12, 16, 24, 32)] == [10, 20, 30, 40, 50]
    # Beyond, on the line through the last two; and nothing is less than nothing.
    assert luts("line", width=48) == 70
    assert luts("line", width=2) == 0
    assert use_of_component(Component("line", "", {"width": 12}), components.BASE) == Use(20, 2, 0, 0)
    assert luts("plane", "mul f32", width=12, lanes=3) == 30
    assert luts("plane", "mul f32", width=8, lanes=3) == 20


@pytest.mark.usefixtures("table")
def test_what_was_not_measured_has_no_area() -> None:
    assert use_of_component(Component("line", "mul f32", {"width": 8}), components.BASE) is None
    assert use_of_component(Component("other", "", {}), components.BASE) is None


@pytest.mark.usefixtures("table")
def test_what_is_guessed_is_known_as_that() -> None:
    """Only the areas of what computes grow with a width in ways that a line may miss."""

    def are_measured(kind: str, variant: str, width: float) -> bool:
        return components.are_widths_measured(Component(kind, variant, {"width": width}))

    assert are_measured("plane", "mul f32", 12)
    assert not are_measured("plane", "mul f32", 32)
    assert not are_measured("plane", "mul f32", 4)
    assert are_measured("line", "", 99)


def test_an_estimate_says_what_it_leaves_out() -> None:
    compiled = compile_workload(bind_program("spmm", ["karate"]), value=value_type("fixed<12,4>"))
    narrow = estimate_area(compiled.design, compiled.arch)
    assert "alu mul fixed" in narrow.guessed
    assert narrow.caveat.endswith("by the area of other types or widths")
    nothing = replace(narrow, unmeasured=("alu sine",), guessed=())
    assert nothing.caveat == "without alu sine, which have not been measured"


def test_what_lies_off_the_chip_takes_ports_instead_of_memories() -> None:
    workload = bind_program("spmm", ["karate"])
    on, off = (compile_workload(workload, memory=memory) for memory in (None, DDR4))
    chip = estimate_area(on.design, on.arch)
    area = estimate_area(off.design, off.arch, off_chip=off.off_chip)
    assert chip.off_chip == Use()
    assert area.memories.block_rams < chip.memories.block_rams == 9
    # Four ports of reads and one of writes, each with four block RAMs for its lines.
    assert area.off_chip.luts > 3000
    assert area.use.luts > chip.use.luts


def test_a_node_is_told_by_what_it_computes_and_its_sizes() -> None:
    workload = bind_program("spmm", ["karate"])
    compiled = compile_workload(workload, value=value_type("bf16"))
    (graph,) = compiled.design.runs
    found = {node.name: node_component(graph, node, 32) for node in graph.nodes}
    assert found["mul"] == Component("alu", "mul bf16", {"width": 16})
    # From 544 words: addresses of 10 bits.
    assert found["array_X"] == Component("array", "", {"width": 24, "address": 10})
    assert found["reduce_vector_t0"] == Component(
        "reduce_vector", "add bf16", {"width": 24, "bits": 4, "bits of": 1}
    )


@pytest.mark.parametrize("value", ["i32", "f32"])
@pytest.mark.parametrize("name", [*kernel_names(), *model_names()])
def test_all_of_a_design_was_measured(name: str, value: str) -> None:
    """Of i32 what has no operation that integers lack."""
    workload = bind_program(name, ["random:seed=1"])
    if value == "i32" and name in model_names():
        pytest.skip("models compute in floating point")
    compiled = compile_workload(workload, value=value_type(value))
    assert not estimate_area(compiled.design, compiled.arch).caveat


DESIGNS = {
    ("spmm", "karate", "i32", "1"): Use(3146, 1821, 9, 6),
    ("spmm", "karate", "f32", "1"): Use(3845, 2408, 9, 6),
    ("spmm", "karate", "i32", "i=4"): Use(12057, 5993, 22, 24),
    ("sddmm", "karate", "f32", "1"): Use(7603, 4911, 12, 12),
    ("gcn", "karate", "i32", "1"): Use(11543, 6071, 9, 23),
    ("gcn", "karate", "f32", "1"): Use(15528, 9013, 9, 23),
}
"""What nextpnr counts (docs/results.md), but for block RAMs, which have become fewer since two reads share a
copy: of spmm in i32 they are Yosys', of the others by their shapes. Components were measured apart, with
streams that may hold anything. Of those of a design some bits are known, and left out."""


@pytest.mark.parametrize(
    ("family", "real", "error"),
    [("xc7", Use(2917, 1930, 3.5, 7), 0.16), ("ice40", Use(4249, 3848, 31, 6), 0.32)],
)
def test_other_families_are_nearly_as_expected(family: str, real: Use, error: float) -> None:
    """SpMM, as Yosys counts it (docs/results.md)."""
    compiled = compile_workload(bind_program("spmm", ["karate"]))
    found = estimate_area(compiled.design, compiled.arch, family).use
    assert found.luts == pytest.approx(real.luts, rel=error)
    assert found.registers == pytest.approx(real.registers, rel=error)
    assert found.block_rams == pytest.approx(real.block_rams, rel=0.16)
    assert found.multipliers == pytest.approx(real.multipliers, abs=0.1)


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_designs_are_as_large_as_expected(design: tuple[str, str, str, str]) -> None:
    name, data, value, lanes = design
    schedule = Schedule(lanes=choice("lanes").taken(lanes))
    compiled = compile_workload(bind_program(name, [data]), schedule, value=value_type(value))
    found, real = estimate_area(compiled.design, compiled.arch).use, DESIGNS[design]
    assert found.luts == pytest.approx(1.08 * real.luts, rel=0.08)
    assert found.registers == pytest.approx(1.06 * real.registers, rel=0.07)
    assert found.block_rams == pytest.approx(real.block_rams, rel=0.15)
    assert real.multipliers <= found.multipliers <= 1.2 * real.multipliers


def test_bf16_stands_for_shorter_floating_point_and_the_wider_type_for_what_widens() -> None:
    for variant, other, width in (
        ("mul f16", "mul bf16", 16.0),
        ("add f8 by a number", "add bf16", 8.0),
        ("mul i8 to i32", "mul integer", 8.0),
        ("mul bf16 to f32", "mul f32", 16.0),
    ):
        one, stand_in = (Component("alu", name, {"width": width}) for name in (variant, other))
        assert use_of_component(one, BASE) == use_of_component(stand_in, BASE) != Use()
        assert not are_widths_measured(one)
    assert use_of_component(Component("alu", "convert i8 to f32", {"width": 8.0}), BASE) is None


def test_fabrics_in_turns_have_the_ports_of_the_greatest() -> None:
    workload = bind_program("gpt3_block", ["auto"])
    found = {}
    for share in ("auto", "none"):
        schedule = Schedule(fuse="none", share_hardware=share)
        compiled = compile_workload(workload, schedule, memory=DDR4)
        layout, design = compiled.off_chip, compiled.design
        assert layout is not None
        area = estimate_area(design, compiled.arch, off_chip=layout)
        most = max(len(layout.ports_of(design.regions[group[0]])) for group in design.groups)
        ports = shared_ports(design, layout)
        assert most <= len(ports) < most + len({port.first.array.place_bytes for port in ports}) + 2
        found[share] = area.off_chip, len(ports), sum(len(port.users) for port in ports)
    (shared, few, users), (apart, many, more) = found["auto"], found["none"]
    assert few == many
    assert shared.block_rams == apart.block_rams
    # Each further node needs a way to its port.
    assert users < more
    assert shared.luts < apart.luts


def test_nodes_in_common_count_once_with_their_ways() -> None:
    workload = bind_program("gcn", ["karate"])
    compiled = compile_workload(
        workload, Schedule(fuse="none", share_hardware="all"), value=value_type("f32")
    )
    whole = estimate_area(compiled.design, compiled.arch)
    apart = estimate_area(replace(compiled.design, shared_nodes=()), compiled.arch)
    nodes = {region.name: region.nodes for region in whole.regions}
    design = compiled.design
    for users in design.shared_nodes:
        uses = [nodes[design.built[fabric].name][name] for fabric, name in users.items()]
        assert uses[0] != Use()
        assert uses[1:] == [Use()] * (len(uses) - 1)
    assert whole.use.multipliers < 0.5 * apart.use.multipliers
    assert whole.use.luts < 0.7 * apart.use.luts


def test_what_is_shown_is_what_is_compared() -> None:
    """A tenth of a block is one; what binary fractions leave over is none."""
    tenth = Use(block_rams=0.1)
    area = AreaEstimate("ecp5", (), Use(11000, block_rams=10) + tenth, Use(), ())
    limits = parse_budget("luts=11000,brams=10")
    assert area.use == Use(11000, block_rams=11)
    assert limits.verdict(area.use) == "does not fit: block RAMs 110 %"
    assert tenth.times(3).scaled(Use(block_rams=10), Use(block_rams=3)).whole == Use(block_rams=1)
    assert limits.verdict(replace(area, memories=tenth.times(100)).use) == FITS
