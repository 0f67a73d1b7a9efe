"""The simulator as a backend: the model that others are compared with."""

import time
from pathlib import Path
from typing import Any, ClassVar

from samhw.compiler import Compiled
from samhw.compiler.placement import arrays_off_chip
from samhw.graph import OffChip, OffChipMemory, dumps, to_dot
from samhw.sim import simulate_regions, total_cycles
from samhw.targets.backends.backend import Backend, Execution
from samhw.targets.running.images import Inputs

__all__ = ["SimulatorBackend", "write_graph"]


class SimulatorBackend(Backend):
    """The simulator."""

    name = "sim"
    target = "sim"
    label = "simulator"
    takes_memory = True
    key_files: ClassVar[dict[str, str]] = {
        "graph.json": "nodes, channels and memories",
        "graph.dot": "the same as Graphviz draws it",
        "arch.json": "latencies, as for --arch",
    }

    def execute(
        self,
        compiled: Compiled,
        inputs: Inputs,
        *,
        memory: OffChipMemory | None = None,
        memory_log: Path | None = None,
        **options: Any,
    ) -> Execution:
        """As for `Backend`.

        Args:
            memory: what holds the tensors that the schedule has off chip (docs/memory.md). Those that fusion
                keeps out of memory are left out.
            memory_log: the file that takes what the memory did.
            options: as for `simulate`.
        """
        design, arch = compiled.design, compiled.arch
        placed = None
        if memory is not None:
            placed = OffChip(memory, arrays_off_chip(compiled, memory), memory_log)
        start = time.perf_counter()
        results = simulate_regions(design, arch, *inputs, memory=placed, **options)
        seconds = time.perf_counter() - start
        words = {name: array for result in results for name, array in result.memories.items()}
        cycles = [result.cycles for result in results]
        return Execution(words, total_cycles(results), cycles, seconds, results=results)

    def check_run(self, **options: Any) -> None:
        """It needs nothing but samhw."""

    def check_build(self, **settings: Any) -> None:
        """Nor does a graph."""

    def build(self, compiled: Compiled, directory: Path, inputs: Inputs | None) -> None:
        """The graph (`graph.json`, `graph.dot`) and the numbers (`arch.json`)."""
        write_graph(compiled, directory)


def write_graph(compiled: Compiled, directory: Path) -> None:
    """What every build begins with."""
    (directory / "graph.json").write_text(dumps(compiled.design), encoding="utf-8")
    (directory / "graph.dot").write_text(to_dot(compiled.design), encoding="utf-8")
    (directory / "arch.json").write_text(compiled.arch.dumps(), encoding="utf-8")
