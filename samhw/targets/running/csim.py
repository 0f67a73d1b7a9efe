"""HLS projects: their files with test vectors, and their C simulation against the simulator."""

import json
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samhw import processes
from samhw.compiler import Compiled
from samhw.errors import RunError
from samhw.graph import Arch, Design, Graph, Kind, MemoryRole, Run, Token
from samhw.graph.liveness import DeadlockError
from samhw.graph.numerics import Words
from samhw.hls import Options, emit, emit_order, emit_together, lower, simulated, vectors
from samhw.hls.cpp import project_name
from samhw.hls.lower import check_sequence
from samhw.hls.region_builder import SPREAD
from samhw.names import identifiers
from samhw.sim import Result, joined, simulated_regions, total_cycles
from samhw.targets.building.hls_tools import FLAGS, OPTIMISED, compile_cpp
from samhw.targets.running.images import Inputs

__all__ = ["Bursts", "HlsDesign", "HlsResult", "compare", "golden", "project_files", "whole_if_needed"]


def project_files(
    compiled: Compiled, inputs: Inputs | None = None, options: Options | None = None
) -> dict[str, str]:
    """The texts of a program's HLS project by their paths.

    A program of several regions gets one top function that runs them, if the options say so; else a project
    for each, in a folder with its name, and the order in which a host runs them (`regions.json`). With
    inputs the projects have the words of a run and the golden results, which the simulator gives.
    """
    design, arch = compiled.design, compiled.arch
    options = whole_if_needed(design, options or Options()).settled(design, arch)
    runs = []
    if inputs is not None:
        memories, extents = inputs
        runs = joined(simulated_regions(design, arch, memories, extents))
    statements = [[str(s) for s in region.region.statements] for region in compiled.regions]
    if options.one_top or len(design.regions) == 1:
        files = emit(design, arch, options, statements)
        if runs:
            files |= vectors(design, extents, memories, golden(design, [run.result for run in runs]))
        return files | _expected(design, [run.result for run in runs])
    files = emit_order(design, arch, options)
    if runs:
        files |= vectors(design, extents, memories, golden(design, [run.result for run in runs]))
    for number, region in enumerate(design.runs):
        alone = Design.of(region)
        project = emit(alone, arch, options, statements[number : number + 1])
        if runs:
            project |= vectors(alone, extents, runs[number].memories, runs[number].result.memories)
        project |= _expected(alone, [run.result for run in runs[number : number + 1]])
        files |= {f"{project_name(region.name)}/{path}": text for path, text in project.items()}
    return files


def _expected(design: Design, results: Sequence[Result]) -> dict[str, str]:
    """What `samhw hls-report` holds against the reports of Vitis: the cycles of the simulator, if it has run,
    the interval of loops, and the stages of a pipeline for which streams have room."""
    known = {"interval": 1, "stages": SPREAD}
    if results:
        known["cycles"] = total_cycles(design, [result.cycles for result in results])
    return {"expected.json": json.dumps(known, indent=2) + "\n"}


def whole_if_needed(design: Design, options: Options) -> Options:
    """The options, with one top function for all regions where some of them are repeated or run side by side:
    it has the loop, and starts them."""
    check_sequence(design)
    is_plain = all(isinstance(step, Run) for step in design.sequence)
    return options if is_plain else replace(options, one_top=True)


def golden(design: Design, results: Iterable[Result]) -> dict[str, Words]:
    """The words of a design's output memories after a run of all its regions."""
    written = {name: words for result in results for name, words in result.memories.items()}
    return {name: words for name, words in written.items() if design.memory[name].role is MemoryRole.OUTPUT}


@dataclass(frozen=True)
class HlsResult:
    """What a C simulation gave."""

    memories: dict[str, Words]
    """The words of each memory that it writes for the host, all of the capacity: the run has written the
    first of them. Memories between regions are among them if they do not lie on the chip."""
    tokens: tuple[dict[str, list[Token]], ...] = field(repr=False)
    """If asked for, the tokens of each channel by its name, for each region as they run."""
    high_water: dict[str, tuple[int, int]]
    """For each stream of the program, by its name: the depth, and the most tokens that were in it."""
    seconds: float
    bursts: dict[str, "Bursts"] = field(default_factory=dict)
    """What has gone through m_axi, of each memory off the chip."""


class Bursts(NamedTuple):
    """Bursts and lines that a design has read from a memory, and those that it has written."""

    read: int
    lines_read: int
    written: int
    lines_written: int


class HlsDesign:
    """The HLS program of a design, built for C simulation. Use `build` or `build_together`."""

    def __init__(
        self,
        design: Design,
        arch: Arch,
        program: Path,
        options: Options | None = None,
        *,
        shared: bool = False,
    ):
        lowered = lower(design, arch, (options or Options()).off_chip(design, arch))
        self.design = design
        self.program = program
        self.regions = lowered.regions
        # A program of several designs is told which one to run.
        self._command = [str(program), *([lowered.top] if shared else [])]

    @classmethod
    def build(
        cls, design: Design, arch: Arch, options: Options | None = None, *, optimise: bool = False
    ) -> "HlsDesign":
        """Emits and compiles, unless the build cache has the program; raises as `emit` and `compile_cpp`.

        Args:
            optimise: build for speed: takes twice as long to compile, and runs five times as fast.
        """
        files = simulated(emit(design, arch, options))
        # As one unit, since most of the compiler's work is the library.
        files["all.cpp"] = "".join(f'#include "{path}"\n' for path in files if path.endswith(".cpp"))
        flags = (*FLAGS, *(OPTIMISED if optimise else ()), "-DSAMHW_CSIM")
        return cls(design, arch, compile_cpp(files, ["all.cpp"], flags), options)

    @classmethod
    def build_together(
        cls, designs: Sequence[Design], arch: Arch, options: Options | None = None
    ) -> list["HlsDesign"]:
        """As `build` for each of the designs, in a fraction of the time: all of them are in one program, with
        one library. Raises as `emit_together` and `compile_cpp`."""
        if len(designs) == 1:
            return [cls.build(designs[0], arch, options)]
        files = emit_together(designs, arch, options)
        program = compile_cpp(files, ["all.cpp"], (*FLAGS, "-DSAMHW_CSIM"))
        return [cls(design, arch, program, options, shared=True) for design in designs]

    def run(
        self,
        memories: Mapping[str, Words],
        extents: Mapping[str, int],
        expected: Mapping[str, Words],
        *,
        trace: bool = False,
    ) -> HlsResult:
        """Runs on the words of the input memories and compares with those expected in the output memories.

        Args:
            trace: keep the tokens of all channels.

        Raises:
            DeadlockError: if the design would stand still with streams of the emitted depths.
            RunError: for an overflow, capacity, protocol or range error, and for a result that differs.
        """
        with tempfile.TemporaryDirectory(prefix="samhw-hls-") as name:
            folder = Path(name)
            results = folder / "results"
            results.mkdir()
            for path, text in vectors(self.design, extents, memories, expected).items():
                (folder / path).parent.mkdir(exist_ok=True)
                (folder / path).write_text(text, encoding="utf-8")
            start = time.perf_counter()
            done = processes.run(
                [*self._command, str(folder / "tb_data"), str(results), *(["tokens"] if trace else [])],
                capture_output=True,
                text=True,
            )
            seconds = time.perf_counter() - start
            if done.returncode:
                raise _failure(self.design, done.stderr.splitlines())
            return self._read(results, seconds, trace)

    def _read(self, results: Path, seconds: float, trace: bool) -> HlsResult:
        names = identifiers(memory.name for memory in self.design.memories)
        written = {name: results / f"{names[name]}.bin" for name in names}
        marks = (line.split() for line in (results / "streams.txt").read_text().splitlines())
        return HlsResult(
            memories={name: _words(path) for name, path in written.items() if path.exists()},
            tokens=self._tokens(results) if trace else (),
            high_water={name: (int(depth), int(high)) for name, depth, high in marks},
            seconds=seconds,
            bursts=_bursts(results / "bursts.txt", names),
        )

    def _tokens(self, results: Path) -> tuple[dict[str, list[Token]], ...]:
        paths = (results / f"{number}.tokens" for number in count())
        carried = [[(stream.channel, next(paths)) for stream in region.streams] for region in self.regions]
        return tuple(
            {channel: _read_tokens(path, _parts(graph, channel)) for channel, path in own if channel}
            for graph, own in zip(self.design.runs, carried, strict=True)
        )


def compare(models: Sequence[Result], hls: HlsResult) -> None:
    """Raises `RunError` at the first token in which a C simulation differs from the traces that the simulator
    gives of its regions, and for a stream that held more than its depth."""
    pairs = (
        (channel, [token for _, token in trace], tokens[channel])
        for model, tokens in zip(models, hls.tokens, strict=True)
        for channel, trace in model.traces.items()
    )
    for channel, expected, actual in pairs:
        if actual != expected:
            n = next((n for n, (a, b) in enumerate(zip(actual, expected, strict=False)) if a != b), None)
            if n is None:
                raise RunError(
                    f"The HLS design sends {len(actual)} tokens on {channel}, the simulator {len(expected)}."
                )
            raise RunError(
                f"Token {n} on {channel} is {actual[n]} in the HLS design and {expected[n]} in the simulator."
            )
    for name, (depth, high) in hls.high_water.items():
        if high > depth:
            raise RunError(f"Stream {name} held {high} tokens, but has a depth of {depth}.")


def _parts(graph: Graph, channel: str) -> int:
    """How many parts of 32 bits a token of a channel has in a file."""
    source = next(c.source for c in graph.channels if c.name == channel)
    payload = graph.given(graph.node[source.node], source.port)
    return -(-payload.width(1) // 32)


def _read_tokens(path: Path, parts: int) -> list[Token]:
    tokens = []
    for first, *more in _words(path).reshape(-1, parts).tolist():
        payload = sum(part << 32 * n for n, part in enumerate(more, 1))
        tokens.append(Token(Kind(first >> 32), payload + (first & 0xFFFF_FFFF)))
    return tokens


def _bursts(path: Path, names: Mapping[str, str]) -> dict[str, Bursts]:
    """Those in a file of the testbench, by the names of memories; `names` has their identifiers."""
    counted = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
    called = {identifier: name for name, identifier in names.items()}
    return {called[name]: Bursts(*map(int, counts)) for name, *counts in counted}


def _words(path: Path) -> NDArray[np.int64]:
    return np.fromfile(path, dtype="<i8")


def _failure(design: Design, lines: list[str]) -> RunError:
    """What the testbench's messages mean."""
    if lines and lines[0].startswith("deadlock"):
        waiting = [line.strip() for line in lines[1:] if line.startswith("  ")]
        return DeadlockError(
            f"Deadlock: with {lines[0].removeprefix('deadlock: with ').partition(',')[0]} the processes of "
            f"{design.name} wait for each other: {', '.join(waiting)}; make the full ones deeper.",
            [line.split()[0] for line in waiting],
        )
    return RunError(f"The C simulation of {design.name} failed: {lines[0] if lines else 'no message'}.")
