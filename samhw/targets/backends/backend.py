"""What runs compiled programs, what a host does for a run (it loads the tensors of a user, and reads the
results back), and what a run gives."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from samhw.compiler import Compiled
from samhw.cost import SHOWN_DEVICES, Device
from samhw.graph import Graph
from samhw.graph.numerics import Words
from samhw.sim import Result
from samhw.targets.running.images import Inputs, inputs_of, unload
from samhw.tensors import Tensor

__all__ = ["Backend", "Execution", "HostRun", "RegionRun", "RunResult", "Target"]

_WORD = 0xFFFF_FFFF


@dataclass(frozen=True)
class HostRun:
    """A run of a design, as its host sees it.

    Tensors are split, put in another order, and derived from others on the way in, and results are put
    together on the way out, as the `derived.txt` of a build says in words.

    Attributes:
        compiled: what runs.
        inputs: `inputs.memories` has the words of each memory that the host writes, by the name that it has
            in the address map, and `inputs.extents` the extent of each index.
    """

    compiled: Compiled
    inputs: Inputs
    _tensors: Mapping[str, Tensor] = field(repr=False)

    @classmethod
    def of(cls, compiled: Compiled, tensors: Mapping[str, Tensor]) -> "HostRun":
        """Of a user's tensors; raises as `samhw.targets.running.images.load_inputs`."""
        return cls(compiled, inputs_of(compiled, tensors), tensors)

    def results(self, words: Mapping[str, Words]) -> dict[str, Tensor]:
        """The tensors that a run leaves, by name.

        Args:
            words: of each memory that the host reads, what it holds, words of 32 bits with or without a sign;
                those after the end of an array are ignored, and tensors without any memory are left out.

        Raises:
            KeyError: for a memory that is missing beside others of its tensor.
            RunError: where the words are no tensor.
        """
        graphs = self.compiled.design.runs
        words = {name: np.asarray(held).astype(np.int64) & _WORD for name, held in words.items()}
        written = {name: t for graph in graphs for name, t in self.outputs(graph, words).items()}
        return written | self.joined(written)

    def outputs(self, graph: Graph, words: Mapping[str, Words]) -> dict[str, Tensor]:
        """The tensors that a region has written; arguments and errors as of `results`."""
        order = self.compiled.row_orders.drawn(self._tensors)
        return order.back(unload(graph, words, self.inputs.extents))

    def joined(self, written: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The results that are put together of tensors that regions have written."""
        found = {}
        for name, parts in self.compiled.joined.items():
            coords, vals = zip(*(written[part].to_coo() for part in parts), strict=True)
            fmt = self.compiled.program.tensors[name].format
            found[name] = Tensor.from_coo(
                np.concatenate(coords, axis=1), np.concatenate(vals), written[parts[0]].shape, fmt
            )
        return found


@dataclass(frozen=True)
class Execution:
    """What a backend has left of a run, before it is read back."""

    words: Mapping[str, Words]
    """Of each memory that a region has written."""
    cycles: int
    region_cycles: Sequence[int]
    """Of each region as they run."""
    seconds: float
    build_seconds: float = 0.0
    clock: float | None = None
    """As of `RunResult`."""
    results: Sequence[Result] | None = None
    """Of each region, if the simulator ran it."""


@dataclass(frozen=True)
class RegionRun:
    """A finished run of a region: `cycles` as docs/timing.md defines them, and the tensors it has written."""

    graph: Graph = field(repr=False)
    cycles: int
    outputs: dict[str, Tensor]
    statistics: Result | None = field(default=None, repr=False)
    """Where the cycles went, if the simulator ran it."""

    @property
    def name(self) -> str:
        """That of the region's graph."""
        return self.graph.name


@dataclass(frozen=True)
class RunResult:
    """A finished run of a program. `seconds` of wall time, without the build."""

    backend: str
    cycles: int
    regions: tuple[RegionRun, ...]
    seconds: float
    build_seconds: float = 0.0
    clock: float | None = None
    """The frequency in Hz that it ran at, or would have; None for what has no clock."""
    joined: Mapping[str, Tensor] = field(default_factory=dict, repr=False)
    """The results that the host has put together, by name."""

    @property
    def outputs(self) -> dict[str, Tensor]:
        """Every tensor that a region has written, and what was put together of such, by name."""
        written = {name: tensor for region in self.regions for name, tensor in region.outputs.items()}
        return written | dict(self.joined)


class Target(ABC):
    """Writes builds of compiled programs. What it can do is said by its attributes, which commands ask; what
    takes long to import stands inside of its methods."""

    target: str
    """What `build --target` takes."""
    carries_data: ClassVar[bool] = False
    """A build has the data of a run beside it, if there are some."""
    arch: ClassVar[str] = "samhw"
    """The profile of latencies that it has by default."""
    places_arrays: ClassVar[bool] = False
    """Its builds have a memory off the chip, in which arrays lie as the schedule says."""
    settings: ClassVar[frozenset[str]] = frozenset()
    """What else `build` takes, and `execute` of a `Backend`, by the names of their arguments."""

    key_files: ClassVar[dict[str, str]] = {}
    """Of the files of a build, those that somebody looks for first: patterns, and what they are."""
    data_files: ClassVar[frozenset[str]] = frozenset()
    """Those of them that only a build with data has, by name."""

    @property
    def devices(self) -> Sequence[Device]:
        """The FPGAs that its builds may be for, of which the expected area is said; none where samhw has no
        estimate of what a build takes."""
        return SHOWN_DEVICES

    @abstractmethod
    def build(
        self,
        compiled: Compiled,
        directory: Path,
        inputs: Inputs | None,
        *arguments: Any,
        **options: Any,
    ) -> None:
        """Writes into an empty directory what somebody needs to run it elsewhere; with inputs, on them."""

    @abstractmethod
    def check_build(self, **settings: Any) -> None:
        """Raises `InputError` where `build` cannot take these settings, or needs a program or a package that
        is not installed: asked before work that would be in vain."""


class Backend(Target):
    """A target that runs compiled programs as well."""

    name: str
    """What `--backend` takes."""
    label: str
    """Its name in reports."""
    takes_memory: ClassVar[bool] = False
    """Tensors may lie in off-chip memory, which `execute` takes as `memory`."""
    has_sdram: bool = False
    """That may be an SDRAM with its controller, of which `execute` writes the log as `memory_log`."""
    cycle_by_cycle: ClassVar[bool] = False
    """It simulates hardware, and takes many times as long as our simulator, unless it is given a `port`."""
    simulates_rtl: ClassVar[bool] = False
    """It runs the RTL itself, without board or host beside it."""
    records_waves: ClassVar[bool] = False
    """Every signal can be recorded, in a file that `execute` takes as `wave`."""

    def run(self, compiled: Compiled, tensors: Mapping[str, Tensor], **options: Any) -> RunResult:
        """Loads the tensors, runs, and reads the results back; raises as `samhw.targets.backends.run` does.

        Args:
            options: of `execute`.
        """
        host = HostRun.of(compiled, tensors)
        done = self.execute(compiled, host.inputs, **options)
        graphs = compiled.design.runs
        results: Sequence[Result | None] = done.results or [None] * len(graphs)
        regions = tuple(
            RegionRun(graph, cycles, host.outputs(graph, done.words), result)
            for graph, cycles, result in zip(graphs, done.region_cycles, results, strict=True)
        )
        found = RunResult(self.name, done.cycles, regions, done.seconds, done.build_seconds, done.clock)
        return replace(found, joined=host.joined(found.outputs))

    @abstractmethod
    def execute(self, compiled: Compiled, inputs: Inputs, *arguments: Any, **options: Any) -> Execution:
        """Runs the design on words that are loaded already."""

    @abstractmethod
    def check_run(self, **options: Any) -> None:
        """What `check_build` does, for `execute`."""

    def summary(self, result: RunResult) -> str:
        """What it took, in a line."""
        return f"{result.cycles:,} cycles in {self.seconds(result)}"

    def seconds(self, result: RunResult) -> str:
        """The time of a run and of its build, in words."""
        return f"{result.seconds:.2f} s (build {result.build_seconds:.1f} s)"
