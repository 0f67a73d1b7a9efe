"""From a program to graphs: one for each of its regions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from samhw.compiler.region import CompiledRegion, RegionCompiler
from samhw.compiler.split import split_regions
from samhw.compiler.value import AUTO, choose_value
from samhw.errors import InputError, ScheduleError
from samhw.frontend import Capacity, Program
from samhw.graph import Arch, Design
from samhw.numerics import value_type
from samhw.passes import Lowerable, Recipe, apply_passes
from samhw.schedule import Schedule

__all__ = ["Compiled", "compile_program", "make_lowerable"]


@dataclass(frozen=True)
class Compiled:
    """A compiled program: its regions in the order in which they run."""

    program: Program
    """What the passes have made of the program that was compiled."""
    regions: tuple[CompiledRegion, ...]
    arch: Arch
    value: str
    recipes: Mapping[str, Recipe]
    """For each input of `program` that the user does not give, how it is made."""
    views: Mapping[str, str]
    """For each tensor that is another one in another shape, in the same memories, that one."""
    schedule: Schedule
    """What it was compiled by, with the regions, the orders and the formats that were taken: compiled by
    that, the program gives the same."""

    def __repr__(self) -> str:
        return f"<Compiled {self.program.summary}; {self.value}, {self.design.summary}>"

    @cached_property
    def design(self) -> Design:
        """The graphs of all regions, what they share, and their sequence."""
        return Design.assemble(self.program.name, [region.graph for region in self.regions])


def compile_program(
    program: Program,
    schedule: Schedule | None = None,
    *,
    value: str = AUTO,
    capacity: Capacity | None = None,
    entries: Mapping[str, int] | None = None,
    arch: Arch | None = None,
) -> Compiled:
    """Compiles a program.

    A region without an order in the schedule gets the first one that suits the tensors and the statements'
    own orders, and that streams can follow. If there is none, and the schedule permits it, operands are
    copied into another mode order first, and results from another one; `CompiledRegion.copy` says at what
    cost. Otherwise such a program is refused, but for transpositions that stand alone, which are copies
    themselves.

    Args:
        schedule: by default the program's own.
        value: the name of the value type, or `auto` for what `choose_value` makes of the program's text.
        capacity: greatest extents and entries, where the program's text does not say or more is wanted.
        entries: by tensor, the entries of its compressed levels in place of those of `capacity`.

    Raises:
        InputError: for a program that cannot be lowered, with the reason and the way out. It is a
            `ScheduleError` if another order, other regions or other formats would do.
    """
    schedule = schedule or Schedule()
    first = make_lowerable(program, schedule, capacity=capacity, entries=entries)
    lowerable = apply_passes(first)
    kind = value_type(choose_value(value, lowerable.program))
    compiler = RegionCompiler(lowerable, kind, schedule, arch or Arch())
    program, regions = split_regions(compiler)
    _check_lanes(schedule, regions)
    used = _used(schedule, first.program, regions)
    return Compiled(program, regions, compiler.arch, kind.name, lowerable.recipes, lowerable.views, used)


def make_lowerable(
    program: Program,
    schedule: Schedule | None = None,
    *,
    capacity: Capacity | None = None,
    entries: Mapping[str, int] | None = None,
) -> Lowerable:
    """What the first pass takes; arguments as for `compile_program`.

    Raises:
        InputError: for a schedule that the program does not fit, a format that is not compiled, or entries of
            what has none.
    """
    schedule = schedule or Schedule()
    program = schedule.apply(program)
    for decl in program.tensors.values():
        if decl.format.block is not None:
            raise InputError(f"'{decl.name}' is stored in blocks, which are not compiled; store it as csr.")
    # The results of reshapes and concatenations have extents that follow from others.
    program = program.bind({})
    capacity = (capacity or Capacity()).with_entries(program, entries or {})
    return Lowerable(
        program,
        capacity,
        permute=schedule.permute,
        largest_copy=schedule.largest_copy,
        off_chip=schedule.off_chip,
    )


def _check_lanes(schedule: Schedule, regions: Sequence[CompiledRegion]) -> None:
    """Raises `InputError` for lanes on what is no index of any region, `ScheduleError` for those on an index
    that has nothing inside wherever it comes."""
    indices = dict.fromkeys(index for region in regions if not region.copy for index in region.order)
    nodes = [node for region in regions for node in region.graph.nodes]
    dealt = {node.index for node in nodes if node.spec.deals(node.params)}
    for index, count in schedule.lanes.items():
        if index not in indices:
            raise InputError(
                f"There is no index '{index}' to have lanes; the regions have {', '.join(indices)}."
            )
        if count > 1 and index not in dealt:
            raise ScheduleError(
                f"Nothing lies inside of '{index}' that lanes could share; give lanes to an index further "
                "out, or choose an order that has another index inside of it."
            )


def _used(schedule: Schedule, program: Program, regions: Sequence[CompiledRegion]) -> Schedule:
    """The schedule with what the compiler has chosen by itself. A copy is in the order of what it copies, and
    takes none.

    Args:
        program: before the passes, with the regions that were asked for; some have been split.
    """
    chosen = [region for region in regions if region.order and not region.copy and not region.region.reshapes]
    ends = {region.region.label for region in regions}
    fuse: list[list[str]] = []
    for asked in program.regions:
        fuse.append([])
        for statement in asked.statements:
            fuse[-1].append(statement.lhs.tensor)
            if statement.lhs.tensor in ends and statement is not asked.statements[-1]:
                fuse.append([])
    return replace(
        schedule,
        fuse=tuple(map(tuple, fuse)),
        order={region.region.label: region.order for region in chosen if region.region.label is not None},
        formats={decl.name: str(decl.format) for decl in program.tensors.values()},
    )
