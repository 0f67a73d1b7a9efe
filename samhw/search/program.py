"""From a program and a schedule to a design."""

from collections.abc import Mapping
from dataclasses import replace

from samhw.compiler import Compiled
from samhw.decision import Decision
from samhw.frontend import Capacity, Program
from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.schedule import AUTO, Schedule
from samhw.search.auto import Request, choose_schedule
from samhw.search.compile import decide, lower_chosen, make_lowerable

__all__ = ["compile_chosen", "compile_program"]


def compile_program(
    program: Program,
    schedule: Schedule | None = None,
    *,
    value: ValueType | None = None,
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
        schedule: by default the program's own. With `fuse="auto"` it is chosen for the capacities.
        value: the value type; None for what `choose_value` makes of the program's text.
        capacity: greatest extents and entries, where the program's text does not say or more is wanted.
        entries: by tensor, the entries of its compressed levels in place of those of `capacity`.

    Raises:
        InputError: for a program that cannot be lowered, with the reason and the way out. It is a
            `ScheduleError` if another order, other regions or other formats would do.
    """
    schedule = schedule or Schedule()
    arch = arch or Arch()
    if schedule.fuse == AUTO:
        return compile_chosen(
            Request(program, schedule, lambda _: capacity or Capacity(), value, arch, {}, entries)
        )
    first = make_lowerable(program, schedule, capacity=capacity, entries=entries)
    lowerable, choice, kind = decide(first, schedule, value, arch)
    used = _used(schedule, choice.decision, first.program)
    return lower_chosen(lowerable, choice, kind, arch, used)


def compile_chosen(request: Request) -> Compiled:
    """Compiles a program under the schedule that is chosen for it; `Compiled.why` says why.

    Raises:
        InputError: as `choose_schedule` does.
    """
    found = choose_schedule(request)
    used = _used(found.schedule, found.choice.decision, found.first.program)
    compiled = lower_chosen(found.lowerable, found.choice, found.value, request.arch, used)
    return replace(compiled, why=found.why)


def _used(schedule: Schedule, decision: Decision, program: Program) -> Schedule:
    """The schedule with what was chosen beside it. A copy is in the order of what it copies, and takes none.

    Args:
        program: before the passes, with the regions that were asked for; some have been split.
    """
    ends = {region.label for region in decision.regions}
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
        order={r.label: r.order for r in decision.regions if r.label is not None and r.order},
        formats={decl.name: str(decl.format) for decl in program.tensors.values()},
    )
