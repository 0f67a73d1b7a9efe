"""Memories off the chip: which ones, and the bursts that their lines come and go by."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from samhw.errors import RunError
from samhw.graph import Arch, Design, Endpoint, Kind, Placement
from samhw.hls import Options, emit
from samhw.hls.cards import CARDS
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
    program, _ = compiled("spmm", "i32")
    text = emit(program.design, program.arch, Options(placement=Placement(room=700)))["src/spmm_kernel.cpp"]
    reads = "max_read_burst_length=16 num_read_outstanding=16\n"
    writes = "max_write_burst_length=16 num_write_outstanding=16\n"
    pragmas = [line for line in text.splitlines(keepends=True) if "m_axi port" in line]
    lines = {line.split("port=")[1].split()[0]: line for line in pragmas}
    assert lines["X_vals"].endswith(reads)
    assert lines["T_vals"].endswith(writes)
    assert "burst" not in lines["A_pos1"]
    assert "A_pos1_chip[A_pos1_words];" in text
    assert "X_vals_chip" not in text


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
