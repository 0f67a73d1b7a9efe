"""Memories off the chip: which ones, and the bursts that their lines come and go by."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.app.workload import compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.errors import InputError, RunError
from samhw.graph import Arch, Design, Endpoint, Kind, Placement
from samhw.hls import Options, emit
from samhw.hls.cards import CARDS, Banks
from samhw.hls.lower import functions_of
from samhw.hls.masters import AxiPort, banks
from samhw.hls.off_chip import memory_bytes
from samhw.lang import parse
from samhw.targets.backends import build
from samhw.targets.running.csim import Bursts, HlsDesign
from tests.hls.test_kernels import compiled
from tests.support.hls_bench import run_design, run_model

IN_LINE, LONGEST = 16, 16
OFF_CHIP = Options(placement=Placement(room=0))
DATA = "random:size=40,density=0.15"


def bursts_of(words: Iterable[int], lines: int) -> list[range]:
    """The bursts by which the lines of words come, in the words of docs/hls.md."""
    found: list[range] = []
    here, step = -1, LONGEST
    for word in words:
        line = word // IN_LINE
        behind = found[-1].stop if found else 0
        if line != here and not here < line < behind:
            in_row = line == behind
            border = (line // step + 1) * step if in_row else line + 1
            found.append(range(line, min(border, lines)))
            step = min(2 * step, LONGEST) if in_row else 1
        here = line
    return found


def test_the_rule_by_hand() -> None:
    """In order; rows that begin anywhere; a row that is left and taken up again."""
    assert bursts_of(range(40 * IN_LINE), 40) == [range(16), range(16, 32), range(32, 40)]
    rows = [line * IN_LINE for first in (5, 30) for line in range(first, first + 6)]
    five = [range(5, 6), range(6, 7), range(7, 8), range(8, 12)]
    assert bursts_of(rows, 40) == [*five, range(30, 31), range(31, 32), range(32, 34), range(34, 36)]
    assert bursts_of([20 * IN_LINE, 3 * IN_LINE, 20 * IN_LINE], 40) == [range(n, n + 1) for n in (20, 3, 20)]


@pytest.mark.slow
def test_bursts() -> None:
    """Each memory's bursts are those of the rule, for the references that its node gets; words and tokens are
    the simulator's."""
    program, workload = compiled("spmm", "i32", DATA)
    inputs, model = run_model(program, workload.tensors)
    design = HlsDesign.build(program.design, program.arch, OFF_CHIP)
    result = run_design(design, inputs, model)
    assert result.bursts.keys() == program.design.memory.keys()
    (graph,) = program.design.regions
    for name in ("A.vals", "X.vals"):
        (node,) = (n for n in graph.nodes if name in n.memories.values() and n.outputs)
        (channel,) = (c.name for c in graph.channels if c.sink == Endpoint(node.name, "ref"))
        places = [token.payload for _, token in model.traces[channel] if token.kind is Kind.VAL]
        bursts = bursts_of(places, -(-program.design.memory[name].words // IN_LINE))
        assert result.bursts[name] == Bursts(len(bursts), sum(map(len, bursts)), 0, 0)
        assert any(len(burst) > 1 for burst in bursts)
    for name in ("A.pos1", "A.crd1"):
        bursts = bursts_of(range(len(inputs[0][name])), -(-program.design.memory[name].words // IN_LINE))
        assert result.bursts[name][:2] == (len(bursts), sum(map(len, bursts)))
    for name in ("T.pos1", "T.crd1", "T.vals"):
        lines = -(-len(model.memories[name]) // IN_LINE)
        assert result.bursts[name] == Bursts(0, 0, -(-lines // LONGEST), lines)

    memories, extents = inputs
    wrong = memories["A.crd1"].copy()
    wrong[3] = 999
    with pytest.raises(RunError, match="range error at node scan_compressed_A_k"):
        design.run({**memories, "A.crd1": wrong}, extents, {})


def test_the_smallest_lie_on_the_chip() -> None:
    program, _ = compiled("spmm", "i32")
    design, arch = program.design, program.arch
    sizes = {name: 4 * memory.words for name, memory in design.memory.items()}

    def off_chip(**said: Any) -> frozenset[str]:
        return Options(placement=Placement(**said)).off_chip(design, arch)

    assert off_chip(room=0) == sizes.keys()
    assert Options().off_chip(design, arch) == frozenset()
    small = sizes["A.pos1"] + sizes["A.crd1"]
    assert off_chip(room=small) == sizes.keys() - {"A.pos1", "A.crd1"}
    # What is placed on the chip takes of the room.
    placed = {"on": frozenset(["A.crd1"]), "off": frozenset(["A.pos1"])}
    assert off_chip(room=small, **placed) == sizes.keys() - {"A.crd1"}
    # What one node writes lies in one place.
    written = {"T.pos1", "T.crd1"}
    for room in range(0, sum(sizes.values()), 64):
        off = Options(placement=Placement(room=room)).off_chip(design, arch)
        assert written <= off or not written & off
        assert sum(size for name, size in sizes.items() if name not in off) <= room


def test_ports_say_how_long_bursts_are() -> None:
    """Whole memories of 2 and 16 lines, copied to the chip by masters of their own; lines that a process asks
    for; and of what a master does not do as little as may be."""
    program, _ = compiled("spmm", "i32")
    text = emit(program.design, program.arch, Options(placement=Placement(room=700)))["src/spmm_kernel.cpp"]
    found = re.findall(
        r"port=(\w+) .*depth=(\d+) latency=1 max_read_burst_length=(\d+) num_read_outstanding=(\d+) "
        r"max_write_burst_length=(\d+) num_write_outstanding=(\d+)\n",
        text,
    )
    ports = {name: tuple(map(int, numbers)) for name, *numbers in found}
    assert ports["A_pos1"] == (2, 2, 1, 2, 1)
    assert ports["X_vals"] == (16, 16, 16, 2, 1)
    assert ports["T_vals"] == (16, 2, 1, 16, 16)
    assert "A_pos1_chip[32];\n" in text
    assert "X_vals_chip" not in text


@pytest.mark.slow
def test_copies_move_what_is_stored() -> None:
    """As many lines as have words, by bursts of 16; a memory that two nodes read comes to each."""
    text = "tensor A[i=40, j=40] : csr\ntensor X[i, k] : csr\nX[i, k] = A[i, j] * A[j, k]\n"
    workload = make_workload(parse(text, "square.ein"), ["random:density=0.2"])
    program = compile_workload(workload, arch=Arch.vitis())
    inputs, model = run_model(program, workload.tensors)
    result = run_design(HlsDesign.build(program.design, program.arch), inputs, model)
    for name, words in model.memories.items():
        lines = -(-len(words) // IN_LINE)
        assert result.bursts[name] == Bursts(0, 0, -(-lines // LONGEST), lines)
    assert result.bursts["X.vals"].lines_written < program.design.memory["X.vals"].words // IN_LINE
    for name, words in inputs[0].items():
        lines = -(-len(words) // IN_LINE)
        assert result.bursts[name] == Bursts(2 * -(-lines // LONGEST), 2 * lines, 0, 0)


def test_a_card_has_room_for_half_of_its_memories() -> None:
    program, _ = compiled("spmm", "i32")
    (graph,) = program.design.regions
    words = 4 << 20
    larger = [replace(m, capacity=words) if m.name == "X.vals" else m for m in graph.memories]
    design = Design.of(replace(graph, memories=tuple(larger)))
    assert CARDS["u50"].ram_bytes // 2 < 4 * words < CARDS["f1"].ram_bytes // 2
    assert Options(part="u50").off_chip(design, Arch()) == {"X.vals"}
    assert Options(part="f1").off_chip(design, Arch()) == frozenset()
    assert Options(part="xcku040-ffva1156-2-e").off_chip(design, Arch()) == frozenset()


TWO_REGIONS = """
tensor A[i=8, k=8] : csr
tensor X[k=8, j=4] : dense
T[i, j] = A[i, k] * X[k, j]
Y[i, j] = A[i, k] * T[k, j]
"""


def test_kernels_have_copies_of_their_own() -> None:
    """One kernel has one copy of A for both regions; two kernels have one each, and what the second reads of
    T is another copy of what the first has written."""
    program = compile_workload(make_workload(parse(TWO_REGIONS)), Schedule(fuse="none"), arch=Arch.vitis())
    by_turns, apart = (memory_bytes(program.design, program.arch, by_turns=turns) for turns in (True, False))
    assert by_turns["X.vals"] == apart["X.vals"] == 4 * 4 * 8
    assert apart["A.vals"] == 2 * by_turns["A.vals"]
    assert apart["T.vals"] == 2 * by_turns["T.vals"]
    room = sum(by_turns.values())
    for one_top in (True, False):
        options = Options(placement=Placement(room=room), one_top=one_top)
        off = options.off_chip(program.design, program.arch)
        assert bool(off) is not one_top
        # A kernel by itself has the places of the whole.
        settled = options.settled(program.design, program.arch)
        for graph in program.design.runs:
            alone = Design.of(graph)
            assert settled.off_chip(alone, program.arch) == off & alone.memory.keys()


def test_channels_are_banks_of_the_card(tmp_path: Path) -> None:
    workload = make_workload(parse(TWO_REGIONS))

    def linked(place: dict[str, str], part: str) -> dict[str, str]:
        schedule = Schedule(fuse="none", place=place, on_chip="none")
        folder = tmp_path / f"{part}{len(list(tmp_path.iterdir()))}"
        build(compile_workload(workload, schedule, arch=Arch.vitis()), "vitis-hls", folder, part=part)
        words = (
            line[3:].split(":") for line in (folder / "link.cfg").read_text().split() if line[:3] == "sp="
        )
        return {port.partition(".")[2]: bank for port, bank in words}

    banks = linked({"T": "hbm:9", "X": "hbm:30", "A.vals": "hbm:4"}, "u280")
    assert (banks["T_vals"], banks["X_vals"], banks["A_vals"]) == ("HBM[9]", "HBM[30]", "HBM[4]")
    for place, part, message in (
        ({"T": "ddr"}, "u280", "'T' is to lie in ddr, but the memory is the card's HBM; write T=hbm."),
        ({"T": "ddr:4"}, "u250", "the card's DDR has 4 channels, which count from 0"),
        ({"T": "hbm:1"}, Options.part[:-1] + "X", "left to its platform; name a card"),
    ):
        with pytest.raises(InputError, match=message):
            linked(place, part)


def test_what_one_master_joins_has_one_bank() -> None:
    ports = [AxiPort(name, name, 64, frozenset(), bank) for name, bank in (("a", 1), ("b", 2))]
    card = Banks("DDR", 4, 1 << 20)
    assert banks("k", ports, {"a": "g0", "b": "g1"}, card) == {
        "a": "DDR[1]",
        "b": "DDR[2]",
        "status": "DDR[0]",
    }
    with pytest.raises(
        InputError, match="k cannot have a in bank 1 and b in bank 2: what one port joins lies"
    ):
        banks("k", ports, {"a": "g0", "b": "g0"}, card)
    # Twice as large as a bank, from the one that is asked for on.
    wide = [AxiPort("a", "a", 2 << 20, frozenset(), 1)]
    assert banks("k", wide, {"a": "g0"}, card)["a"] == "DDR[1:2]"
    with pytest.raises(InputError, match="k cannot have a in bank 3"):
        banks("k", [replace(wide[0], bank=3)], {"a": "g0"}, card)


@pytest.mark.slow
def test_a_result_that_steps_read_lies_off_the_chip() -> None:
    """The kernel has a port that writes it and one that reads it, and the host one buffer."""
    text = "tensor A[i=4, j=2] : dense\ntensor H[i=4, j=2]\nscan i { H[i, j] = H[i - 1, j] + A[i, j] }"
    design = samhw.compile(text, value="i32", schedule={"place": {"H": "hbm"}})
    array = np.arange(8).reshape(4, 2)
    np.testing.assert_array_equal(design.run(A=array, backend="hls")["H"], np.cumsum(array, axis=0))


def test_a_region_off_the_chip_has_a_function_of_its_own() -> None:
    """The port of an array there is no array: neither region of a fabric can call the other one's."""
    text = "index i=4\na[i] = x[i] + 1\nb[i] = y[i] + 1"
    design = samhw.compile(text, value="i32", schedule={"share_hardware": "all"}).compiled.design
    assert design.fabrics == ((0, 1),)
    assert [*functions_of(design, ())] == [0, 0]
    for name in ("a.vals", "b.vals", "x.vals"):
        assert [*functions_of(design, {name})] == [0, 1]
