"""What is to be compiled, and for what; and what passes make of the inputs of a program before anything is
decided."""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from math import ceil, log2
from typing import Protocol

from samhw.choices.schedule import CHOICES, Schedule
from samhw.compiler.passes import Lowerable, apply_program_passes, with_derived
from samhw.compiler.search.spaces import in_modules
from samhw.compiler.search.work import Sizes
from samhw.compiler.value_choice import choose_value
from samhw.cost import Budget, parse_budget
from samhw.cost.statistics import TensorStatistics
from samhw.graph import Arch, OffChipMemory
from samhw.graph.numerics import ValueType
from samhw.lang import Access, Call, Capacity, Program
from samhw.lang.splits import Busiest, SplitProgram
from samhw.lang.typed import typed
from samhw.tensors import Tensor, Zeros

__all__ = ["NO_LIMIT", "Job", "Room", "derived_of"]


@dataclass(frozen=True)
class Room:
    """How large a design may be.

    Attributes:
        grows: the choices by which a search may enlarge it, such as `lanes`.
        budget: how much of an FPGA it is expected to take at the most; None for as much as it likes.
    """

    grows: frozenset[str] = frozenset()
    budget: Budget | None = None

    @classmethod
    def of(cls, grows: Iterable[str], area: str | None) -> "Room":
        """The room in which some choices may enlarge a design; in an area, as --area has it, what fills that
        too. Raises `InputError` for an area that there is not."""
        in_area = (one.name for one in CHOICES if one.grows_in_area and area is not None)
        return cls(frozenset((*grows, *in_area)), None if area is None else parse_budget(area))


HALF = 0.5
"""The share of zeros from which on an input may be stored by its nonzeros."""

NO_LIMIT = Room()
"""Any size, and nothing enlarged but as it is given."""


class Data(Protocol):
    """What a program is compiled for; a `Workload` is that."""

    def capacity(self, schedule: Schedule | None = None) -> Capacity:
        """What a build must hold to run it, as a schedule stores it."""

    def statistics(self, *, schedule: Schedule | None = None, is_open: bool = False) -> TensorStatistics:
        """What is known of it, as a schedule stores it; `is_open` as for `Job`."""

    def zeros(self, least: float) -> Mapping[str, Zeros]:
        """The zeros of what could be stored by its nonzeros, where these are at least this share."""

    def busiest(self, split: SplitProgram, schedule: Schedule) -> Busiest:
        """What the busiest lane of each part has to do, if a schedule splits it so."""


@dataclass(frozen=True)
class Job:
    """What is to be compiled.

    Attributes:
        program: with the extents of its data, where its schedule is to be chosen for some.
        schedule: what may be chosen; under `auto` the fields that it leaves open are.
        data: what it is compiled for; None where capacities alone say how large it is.
        value: the value type; None for what `choose_value` makes of the program's text.
        capacity: greatest extents and entries, where neither text nor data say, or more is wanted.
        entries: by tensor, the entries of its compressed levels instead of all others.
        arch: the latencies.
        memory: what holds the tensors that the schedule has off chip; None if all lie on chip.
        known: what is known of the inputs without data, for whose entries there is room then; None for as
            much as there is room for.
        scopes: of a program that was made of a module of PyTorch, as for `module_regions`.
        room: how large a design may be whose schedule is chosen.
        is_open: the design is to take data of other extents too, as far as its capacities reach.
    """

    program: Program
    schedule: Schedule = field(default_factory=Schedule)
    data: Data | None = None
    _: KW_ONLY
    value: ValueType | None = None
    capacity: Capacity = field(default_factory=Capacity)
    entries: Mapping[str, int] = field(default_factory=dict)
    arch: Arch = field(default_factory=Arch)
    memory: OffChipMemory | None = None
    known: TensorStatistics | None = None
    scopes: Mapping[str, str] | None = None
    room: Room = NO_LIMIT
    is_open: bool = False

    def __post_init__(self) -> None:
        # Its types are written out before anything is chosen.
        given = typed(self.program, choose_value(self.value, self.program))
        object.__setattr__(self, "program", given)
        object.__setattr__(self, "schedule", self.schedule.in_words_of(given))

    def under(self, schedule: Schedule) -> "Job":
        """The same under another schedule."""
        return replace(self, schedule=schedule)

    def needs(self, schedule: Schedule) -> Capacity:
        """The room that a build under a schedule needs."""
        return self.capacity if self.data is None else self.data.capacity(schedule) | self.capacity

    def statistics(self, schedule: Schedule) -> TensorStatistics | None:
        """What is known of the inputs as a schedule stores them; None where capacities are what is known."""
        if self.data is None:
            return self.known
        # What the host makes of data may depend on their blocks, such as those at the edge.
        stored = schedule.split, schedule.permute_rows, schedule.blocks
        key = tuple(tuple(rules.items()) for rules in stored)
        if key not in self._counted:
            self._counted[key] = self.data.statistics(schedule=schedule, is_open=self.is_open)
        return self._counted[key]

    @cached_property
    def _counted(self) -> dict[object, TensorStatistics]:
        return {}

    @cached_property
    def zeros(self) -> Mapping[str, Zeros]:
        """Those of inputs that are stored dense, at least half of which they are."""
        return {} if self.data is None else self.data.zeros(HALF)

    @property
    def _expected(self) -> dict[str, int]:
        """The entries of what has compressed levels, as far as they are known without data."""
        return {
            name: 1 << ceil(log2(max(1.0, stock.entries)))
            for name, stock in (self.known.stocks.items() if self.known else ())
            if not self.program.tensors[name].format.is_all_dense
        }

    def sizes(self) -> Sizes:
        """How dense the inputs are."""
        known = self.statistics(self.schedule)
        stocks = {} if known is None else known.stocks
        stored = {name: round(stock.entries) for name, stock in stocks.items()}
        # The regions of the program are not those that its orders are of.
        needs = self.needs(replace(self.schedule, fuse="partial", order={}))
        return Sizes.of_entries(self.program, needs, stored)

    def lowerable(self) -> Lowerable:
        """What the first pass takes: the program under its schedule, with the regions that `module` stands
        for.

        Raises:
            InputError: for a schedule that the program does not fit, a format that is not compiled, or
                entries of what has none.
        """
        schedule = in_modules(with_conversions(self.schedule, self.program), self.program, self.scopes)
        # The results of reshapes and concatenations have extents that follow from others.
        program = schedule.apply(self.program.unbound if self.is_open else self.program).bind({})
        capacity = self.needs(schedule).with_entries(program, {**self._expected, **self.entries})
        return Lowerable(
            program,
            capacity,
            written=frozenset((*self.program.tensors, *program.tensors)),
            schedule=schedule,
            row_orders=schedule.row_orders(program),
            busiest=None if self.data is None else partial(self.data.busiest, schedule=schedule),
        )


def with_conversions(schedule: Schedule, program: Program) -> Schedule:
    """A schedule whose lists of statements have those that `typed` has added: each before the one that
    converts what it gives."""
    if isinstance(schedule.fuse, str) or not program.is_typed:
        return schedule
    named = {name for region in schedule.fuse for name in region}
    before = {
        s.lhs.tensor: s.rhs.arguments[0].tensor
        for s in program.statements
        if isinstance(s.rhs, Call) and s.rhs.function == "to" and isinstance(s.rhs.arguments[0], Access)
    }
    computed = {s.lhs.tensor for s in program.statements} - named
    lists = tuple(
        tuple(
            one for name in region for one in (before.get(name, ""), name) if one == name or one in computed
        )
        for region in schedule.fuse
    )
    return replace(schedule, fuse=lists)


def derived_of(
    program: Program, tensors: Mapping[str, Tensor], room: Capacity | None = None
) -> dict[str, Tensor]:
    """What the host makes of a program's inputs, by name: for indices that are more than names, and for
    blocks at the edge.

    Args:
        tensors: at least its inputs.
        room: of a design that takes data of other extents too, which needs more.

    Raises:
        InputError: for numbers that are not places.
    """
    blocked = any(decl.format.block is not None for decl in program.tensors.values())
    if not blocked and all(statement.is_plain for statement in program.statements):
        return {}
    if room is None:
        given = Lowerable(program.bind({name: tensor.shape for name, tensor in tensors.items()}))
    else:
        given = Lowerable(program.unbound, room)
    recipes = apply_program_passes(given, "mask_edges").recipes
    return {name: tensor for name, tensor in with_derived(tensors, recipes).items() if name in recipes}
