"""Memories off the chip for drawn cases: what holds which tensors, and with which ports."""

import random
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import samhw
from samhw.app.api import RunnableDesign
from samhw.choices.schedule import Schedule
from samhw.compiler.placement import arrays_off_chip
from samhw.errors import RunError
from samhw.graph import (
    DDR4,
    HBM2,
    ConstantMemory,
    Dram,
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
from tests.support.spent import Spent, simulated, told

__all__ = ["Placed", "placed_schedule"]

WORD = 0xFFFF_FFFF
SIZES = ("20", "64", "200")
"""Of rooms on the chip: little is stored in a case."""

LIMIT = 1_000_000
"""Cycles that no case takes."""


@dataclass(frozen=True)
class Placed:
    """A case with tensors in a memory.

    Attributes:
        design: that of the case, with these tensors off chip.
        memory: what holds them.
        run: on the data of the case.
        is_sized: whether its channels have room for what waits for the memory.
    """

    design: RunnableDesign
    memory: OffChipMemory
    run: HostRun
    is_sized: bool

    @classmethod
    def of(cls, case: Case) -> "Placed":
        """With the memory and the places that the case's number says."""
        source = random.Random(case.placing)
        is_placed = source.random() < 0.4
        memory = _memory(source)
        kind = memory.name[:3] if isinstance(memory, Dram) else "ddr"
        schedule = placed_schedule(case, kind, memory.ports.masters, is_placed=is_placed)
        is_sized = source.random() < 0.5
        if not is_sized:
            # The compiler divides parallel steps where it knows of a memory.
            schedule = replace(schedule, parallel="none")
            # What lies at other masters has no fabric in common, which only the memory tells.
            schedule = replace(schedule, share_hardware="none")
        elif is_placed and not isinstance(schedule.share_hardware, str):
            # Those that are to share a fabric may lie in different places, and are refused then.
            schedule = replace(schedule, share_hardware="auto")
        design = samhw.compile(case.text, schedule=schedule, value=case.value)
        workload = design.bind(case.data)
        compiled = design.compile_for(workload, memory if is_sized else None)
        return cls(design, memory, HostRun.of(compiled, workload.tensors), is_sized)

    def simulated(self, engine: str = "auto") -> list[Result]:
        """What an engine of the simulator makes of it."""
        compiled = self.run.compiled
        held = OffChip(self.memory, arrays_off_chip(compiled, self.memory))
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
        """Runs the RTL with the same memory, twice; with `recovery`, a run is given up in between.

        Raises:
            WrongError: if cycles, words or counters are not those of the simulator.
        """
        compiled, wanted = self.run.compiled, self.simulated()
        layout = OffChipLayout(
            compiled.design, compiled.arch, self.memory.ports, arrays_off_chip(compiled, self.memory)
        )
        rtl = VerilatedDesign.build(
            compiled.design, compiled.arch, host=HostOptions.parse(host), layout=layout
        )
        cycles, words = [result.cycles for result in wanted], _words(wanted)
        with rtl.session() as session:
            for is_first in (True, False):
                found = session.run(*self.run.inputs, buffers=True, memory=self.memory, limit=LIMIT)
                if list(found.region_cycles) != cycles:
                    raise WrongError(f"{list(found.region_cycles)} cycles, in the simulator {cycles}")
                _same_words(found.memories, words)
                if "counters" in host:
                    self._same_counters(told(session.spent()))
                if "recovery" in host and is_first:
                    session.start()
                    with suppress(RunError):
                        session.wait(sum(cycles) // 2)

    def _same_counters(self, spent: Spent) -> None:
        wanted = simulated(self.run, self.memory)
        if spent != wanted:
            raise WrongError(f"the counters say {spent}, the simulator {wanted}")

    def __str__(self) -> str:
        schedule = self.design.schedule
        return f"{self.memory.name} with {self.memory.ports}, {schedule.place}, {schedule.on_chip} on chip"


def _words(results: list[Result]) -> dict[str, Any]:
    return {name: words for result in results for name, words in result.memories.items()}


def _same_words(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name, words in found.items():
        one, other = np.asarray(words) & WORD, np.asarray(wanted[name]) & WORD
        if not np.array_equal(one, other):
            raise WrongError(f"{name} holds {one.tolist()}, in the simulator {other.tolist()}")


def placed_schedule(case: Case, kind: str, channels: int, *, is_placed: bool) -> Schedule:
    """The case's schedule, with the places of some tensors if `is_placed`, and a room on the chip.

    Args:
        kind: of the memory: `ddr` or `hbm`.
        channels: that it has.
    """
    places = {}
    for name in case.program.tensors if is_placed else ():
        source = random.Random(f"{case.placing} {name}")
        channel = f"{kind}:{source.randrange(channels)}" if channels > 1 else kind
        if (word := source.choice(["", "", "chip", kind, channel])) != "":
            places[name] = word
    room = random.Random(f"{case.placing} room").choice([*["auto"] * 4, "none", "all", *SIZES])
    if room in SIZES and "chip" in places.values():
        room = "none"  # What is placed on the chip may take more.
    return replace(Schedule(**case.schedule), place=places, on_chip=room)


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
