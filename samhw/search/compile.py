"""What is open of a program and a schedule is decided, and what was decided is lowered."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from samhw.compiler import Compiled, choose_value, lower_program
from samhw.decision import Decision, Refusal
from samhw.frontend import Capacity, Program
from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.passes import Lowerable, apply_program_passes, with_derived
from samhw.recursion import deep_recursion
from samhw.schedule import AUTO, Schedule
from samhw.search.asked import as_asked
from samhw.search.choose import Choice, choose
from samhw.search.split import BETTER
from samhw.tensors import Tensor

__all__ = ["compile_given", "decide", "derived_of", "lower_chosen", "make_lowerable"]


def compile_given(
    program: Program,
    schedule: Schedule,
    *,
    value: ValueType | None = None,
    capacity: Capacity | None = None,
    entries: Mapping[str, int] | None = None,
    arch: Arch,
) -> Compiled:
    """Compiles a program under a schedule in which nothing is left to be chosen automatically; arguments and
    errors as for `compile_program`."""
    first = make_lowerable(program, schedule, capacity=capacity, entries=entries)
    lowerable, choice, kind = decide(first, schedule, value, arch)
    used = _used(schedule, choice.decision, first.program)
    if lowerable.added:
        used = replace(used, partial_sums=lowerable.partial_sums)
    return lower_chosen(lowerable, choice, kind, arch, used)


def decide(
    first: Lowerable, schedule: Schedule, value: ValueType | None, arch: Arch
) -> tuple[Lowerable, Choice, ValueType]:
    """All that is chosen about a program, the program that it is chosen for, and the type of its values.

    Args:
        first: as `make_lowerable` gives it.
        value: as for `compile_program`.

    Raises:
        InputError: as `compile_program` does.
    """
    kind = choose_value(value, first.program)
    with deep_recursion():
        lowerable, choice = _choose(first, schedule, kind, arch)
        if schedule.partial_sums == AUTO:
            lowerable, choice = _with_partial_sums(first, (lowerable, choice), schedule, kind, arch)
    if isinstance(choice, Refusal):
        raise choice.error()
    return lowerable, choice, kind


def _choose(
    first: Lowerable, schedule: Schedule, value: ValueType, arch: Arch
) -> tuple[Lowerable, Choice | Refusal]:
    lowerable = as_asked(apply_program_passes(first), schedule, first.program)
    return lowerable, choose(lowerable, replace(schedule, lanes=lowerable.lanes), value, arch)


def _with_partial_sums(
    first: Lowerable,
    best: tuple[Lowerable, Choice | Refusal],
    schedule: Schedule,
    value: ValueType,
    arch: Arch,
) -> tuple[Lowerable, Choice | Refusal]:
    """What was chosen for a program over parts, or for the one that stores the terms of some results before
    they are added: where streams cannot add them in one region, and where it takes clearly fewer cycles."""
    for result, sums in best[0].added.items():
        partial_sums = (*best[0].partial_sums, result)
        found = _choose(replace(first, partial_sums=partial_sums), schedule, value, arch)
        if _is_better(found[1], best[1], sums):
            best = found
    return best


def _is_better(found: Choice | Refusal, other: Choice | Refusal, sums: Sequence[str]) -> bool:
    if isinstance(other, Refusal):
        # With several results, what is refused behind it may come to be stored too.
        return not isinstance(found, Refusal) or (
            not set(sums).isdisjoint(other.place) and set(sums).isdisjoint(found.place)
        )
    return not isinstance(found, Refusal) and found.cycles < BETTER * other.cycles


def lower_chosen(
    lowerable: Lowerable,
    choice: Choice,
    value: ValueType,
    arch: Arch,
    schedule: Schedule,
    last: str | None = None,
) -> Compiled:
    """The design of what was chosen; arguments as for `lower_program`.

    Raises:
        InputError: where it cannot be lowered after all.
    """
    with deep_recursion():
        compiled = lower_program(
            lowerable, choice.decision, value, arch, schedule, last=last, known=choice.lowered
        )
    if isinstance(compiled, Refusal):
        raise compiled.error()
    return compiled


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
    # The results of reshapes and concatenations have extents that follow from others.
    program = program.bind({})
    capacity = (capacity or Capacity()).with_entries(program, entries or {})
    return Lowerable(
        program,
        capacity,
        permute=schedule.permute,
        largest_copy=schedule.largest_copy,
        off_chip=schedule.off_chip,
        lanes=schedule.lanes,
        split=schedule.split,
        partial_sums=schedule.stored_terms,
        cascade=schedule.cascade_form,
        tile=schedule.tile,
        row_orders=schedule.row_orders(program),
    )


def derived_of(
    program: Program, tensors: Mapping[str, Tensor], room: Capacity | None = None
) -> dict[str, Tensor]:
    """What the host makes of a program's inputs, by name: for indices that are more than names, and for
    blocks at the edge.

    Args:
        tensors: at least its inputs.
        room: of a design that takes data of other extents too, which needs more.

    Raises:
        InputError: for numbers that are no places.
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


def _used(schedule: Schedule, decision: Decision, program: Program) -> Schedule:
    """The schedule with what was chosen beside it. A copy is in the order of what it copies, and takes none;
    a region that ends with a tensor which a pass has added is named by that.

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
        order={r.label: r.order for r in decision.regions if r.label and r.order},
        formats={decl.name: str(decl.format) for decl in program.tensors.values()},
    )
