"""What a schedule is chosen for, and a choice: a schedule with what is expected of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from samhw.compiler import Compiled, estimate_compiled
from samhw.cost import AreaEstimate, estimate_area
from samhw.frontend import Capacity, Program
from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.schedule import Schedule
from samhw.search.compile import compile_given
from samhw.search.lanes import NO_LIMIT, Room
from samhw.search.modules import in_modules
from samhw.search.work import Sizes
from samhw.statistics import TensorStatistics

__all__ = ["AutoChoice", "Request", "expected_cycles"]


@dataclass(frozen=True)
class Request:
    """What a schedule is chosen for.

    Attributes:
        program: with the extents of its data, if there are some.
        schedule: what is given; the fields that it leaves open are chosen.
        capacity: the room that a build under a schedule needs.
        value: the value type; None for the program's.
        statistics: of the data as a schedule stores them; None where there are none, so that capacities are
            what is known.
        entries: by tensor, the entries of its compressed levels in place of those of `capacity`.
        scopes: of a program that was made of a module of PyTorch, as for `module_regions`.
        room: how large the design may be.
        by_part: a schedule with the lanes of what it splits shared among the parts.
        is_open: the design is to take data of other extents too, as far as its capacities reach.
    """

    program: Program
    schedule: Schedule
    capacity: Callable[[Schedule], Capacity]
    value: ValueType | None
    arch: Arch
    statistics: Callable[[Schedule], TensorStatistics | None] = lambda _: None
    entries: Mapping[str, int] | None = None
    scopes: Mapping[str, str] | None = None
    room: Room = NO_LIMIT
    by_part: Callable[[Schedule], Schedule] = lambda schedule: schedule
    is_open: bool = False

    def sizes(self) -> Sizes:
        """How dense the inputs are."""
        known = self.statistics(self.schedule)
        stocks = {} if known is None else known.stocks
        stored = {name: round(stock.entries) for name, stock in stocks.items()}
        return Sizes.of_entries(self.program, self.capacity(replace(self.schedule, fuse="partial")), stored)

    def compiled(self, schedule: Schedule) -> Compiled:
        """The program under a schedule without anything open; raises `InputError` as `compile_program`
        does."""
        schedule = self.by_part(in_modules(schedule, self.program, self.scopes))
        return compile_given(
            self.program.unbound if self.is_open else self.program,
            schedule,
            value=self.value,
            capacity=self.capacity(schedule),
            entries=self.entries,
            arch=self.arch,
        )


@dataclass(frozen=True)
class AutoChoice:
    """What was chosen.

    Attributes:
        schedule: in the words in which it was tried.
        compiled: the program under it.
        cycles: what is expected of a run.
        why: what was chosen and why, a line each.
    """

    schedule: Schedule
    compiled: Compiled
    cycles: float
    why: tuple[str, ...] = ()

    @cached_property
    def area(self) -> AreaEstimate:
        """What the design is expected to take of an ECP5."""
        return estimate_area(self.compiled.design, self.compiled.arch)

    @property
    def luts(self) -> float:
        """The LUTs of that."""
        return self.area.use.luts


def expected_cycles(
    compiled: Compiled, statistics: TensorStatistics | None, *, rows_wait: bool = True
) -> float:
    """The cycles that a run on data of these statistics is expected to take; without any, one on as much as
    there is room for. `rows_wait` as for `estimate_compiled`."""
    if statistics is None:
        return sum(region.expected.cycles for region in compiled.regions)
    return estimate_compiled(compiled, statistics, rows_wait=rows_wait).cycles
