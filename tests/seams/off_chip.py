"""Memories off the chip for drawn cases: what holds which tensors, and with which ports."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import samhw
from samhw.app.api import RunnableDesign
from samhw.choices.schedule import Schedule
from samhw.compiler import off_chip_tensors
from samhw.graph import (
    DDR4,
    HBM2,
    ConstantMemory,
    HostOptions,
    OffChip,
    OffChipLayout,
    OffChipMemory,
    Ports,
    RandomMemory,
    with_ports,
)
from samhw.sim import Result, simulate_regions
from samhw.targets.backends import HostRun
from samhw.targets.running.driver import VerilatedDesign
from tests.seams.case import Case, WrongError

__all__ = ["Placed"]

WORD = 0xFFFF_FFFF
LIMIT = 1_000_000
"""Cycles that no case takes."""


@dataclass(frozen=True)
class Placed:
    """A case with tensors in a memory.

    Attributes:
        design: that of the case, with these tensors off chip.
        memory: what holds them.
        run: on the data of the case.
    """

    design: RunnableDesign
    memory: OffChipMemory
    run: HostRun

    @classmethod
    def of(cls, case: Case) -> "Placed":
        """With the memory that the case's number says."""
        source = random.Random(case.placing)
        some = [
            name for name in case.program.tensors if random.Random(f"{case.placing} {name}").random() < 0.5
        ]
        tensors = tuple(some) if some and source.random() < 0.4 else None
        schedule = replace(Schedule(**case.schedule), off_chip=tensors)
        design = samhw.compile(case.text, schedule=schedule, value=case.value)
        memory = _memory(source)
        workload = design.bind(case.data)
        # Its channels may have room for what waits for the memory, or not.
        compiled = design.compile_for(workload, memory if source.random() < 0.5 else None)
        return cls(design, memory, HostRun.of(compiled, workload.tensors))

    def simulated(self, engine: str = "auto") -> list[Result]:
        """What an engine of the simulator makes of it."""
        compiled = self.run.compiled
        held = OffChip(self.memory, off_chip_tensors(compiled))
        options: dict[str, Any] = {"memory": held, "engine": engine}
        memories, extents = self.run.inputs.memories, self.run.inputs.extents
        return list(simulate_regions(compiled.design, compiled.arch, memories, extents, **options))

    def agreed(self) -> list[Result]:
        """What both engines make of it, which has to be one thing.

        Raises:
            WrongError: if it is not.
        """
        plain, compiled = self.simulated("plain"), self.simulated("compiled")
        for one, other in zip(plain, compiled, strict=True):
            if one.cycles != other.cycles:
                raise WrongError(
                    f"{one.cycles} cycles in the plain engine, {other.cycles} in the other: {self}"
                )
        _same_words(_words(compiled), _words(plain))
        return plain

    def built(self, host: str) -> None:
        """Runs the RTL with the same memory, twice.

        Raises:
            WrongError: if cycles or words are not those of the simulator.
        """
        compiled, wanted = self.run.compiled, self.simulated()
        layout = OffChipLayout(compiled.design, compiled.arch, self.memory.ports, off_chip_tensors(compiled))
        rtl = VerilatedDesign.build(
            compiled.design, compiled.arch, host=HostOptions.parse(host), layout=layout
        )
        cycles, words = [result.cycles for result in wanted], _words(wanted)
        with rtl.session() as session:
            for _ in range(2):
                found = session.run(*self.run.inputs, buffers=True, memory=self.memory, limit=LIMIT)
                if list(found.region_cycles) != cycles:
                    raise WrongError(f"{list(found.region_cycles)} cycles, in the simulator {cycles}")
                _same_words(found.memories, words)

    def __str__(self) -> str:
        tensors = self.design.schedule.off_chip
        return f"{self.memory.name} with {self.memory.ports}, off chip: {tensors or 'all'}"


def _words(results: list[Result]) -> dict[str, Any]:
    return {name: words for result in results for name, words in result.memories.items()}


def _same_words(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name, words in found.items():
        one, other = np.asarray(words) & WORD, np.asarray(wanted[name]) & WORD
        if not np.array_equal(one, other):
            raise WrongError(f"{name} holds {one.tolist()}, in the simulator {other.tolist()}")


def _memory(source: random.Random) -> OffChipMemory:
    """A memory with ports, mostly small ones, so that what is stored takes many lines."""
    beat = source.choice([4, 4, 8, 16, 32])
    ahead = source.choice([0, 0, 1, 2, 5])
    ports = Ports(
        beat=beat,
        line=beat * source.choice([1, 2, 4, 8]),
        lines=(1 << (ahead + 1).bit_length()) * source.choice([1, 1, 2, 8]),
        ahead=ahead,
        queue=source.choice([1, 2, 4, 64]),
        masters=source.choice([1, 1, 2, 4]),
        offer=source.choice([2, 3, 4, 5]),
        answer=source.choice([1, 2, 3]),
    )
    kind = source.choice(["constant", "random", "random", "dram"])
    if kind == "constant":
        return ConstantMemory(source.choice([1, 2, 5, 20, 200]), ports)
    if kind == "random":
        return RandomMemory(source.randrange(1000), ports)
    # A DIMM has one channel, which several masters cannot share, and neither has bursts of less.
    preset = DDR4 if ports.masters == 1 else HBM2
    return with_ports(preset, replace(ports, beat=preset.ports.beat, line=preset.ports.line))
