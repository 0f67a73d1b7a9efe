"""From a program and a schedule to a design."""

from collections.abc import Mapping
from dataclasses import replace

from samhw.compiler import Compiled
from samhw.frontend import Capacity, Program
from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.schedule import AUTO, Schedule
from samhw.search.auto import choose_schedule
from samhw.search.compile import compile_given
from samhw.search.request import Request

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
            Request(program, schedule, lambda _: capacity or Capacity(), value, arch, entries=entries)
        )
    return compile_given(program, schedule, value=value, capacity=capacity, entries=entries, arch=arch)


def compile_chosen(request: Request) -> Compiled:
    """Compiles a program under the schedule that is chosen for it; `Compiled.why` says why.

    Raises:
        InputError: as `choose_schedule` does.
    """
    found = choose_schedule(request)
    return replace(found.compiled, why=found.why)
