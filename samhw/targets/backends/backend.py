"""What runs compiled programs, and what a run gives."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from samhw.compiler import Compiled
from samhw.graph import Graph
from samhw.graph.numerics import Words
from samhw.sim import Result
from samhw.targets.backends.host_run import HostRun
from samhw.targets.running.inputs import Inputs
from samhw.tensors import Tensor

__all__ = ["Backend", "Execution", "RegionRun", "RunResult", "Target"]


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
    settings: ClassVar[frozenset[str]] = frozenset()
    """What else `build` takes, and `execute` of a `Backend`, by the names of their arguments."""

    key_files: ClassVar[dict[str, str]] = {}
    """Of the files of a build, those that somebody looks for first: patterns, and what they are."""

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


class Backend(Target):
    """A target that runs compiled programs as well."""

    name: str
    """What `--backend` takes."""
    label: str
    """Its name in reports."""
    takes_memory: ClassVar[bool] = False
    """Tensors may lie in off-chip memory, which `execute` takes as `memory`."""
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

    def summary(self, result: RunResult) -> str:
        """What it took, in a line."""
        return f"{result.cycles:,} cycles in {self.seconds(result)}"

    def seconds(self, result: RunResult) -> str:
        """The time of a run and of its build, in words."""
        return f"{result.seconds:.2f} s (build {result.build_seconds:.1f} s)"
