"""What `--schedule auto` chooses, what is expected of it, and what is said of a choice."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, estimate_compiled
from samhw.compiler.search.brackets import BracketChoice
from samhw.compiler.search.layouts import Load
from samhw.compiler.search.regroup import Move, moves
from samhw.cost import AreaEstimate, estimate_area
from samhw.cost.statistics import TensorStatistics
from samhw.lang import Program

__all__ = [
    "AutoChoice",
    "bracket_line",
    "expected_cycles",
    "formats_line",
    "layout_line",
    "moves_from",
    "orders_line",
    "regions_line",
    "size_words",
]


WITH_STOPS = 1.25
"""How many cycles a point of a statement takes at the most, with the stops of short rows."""


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


def regions_line(first: AutoChoice, best: AutoChoice, *, fits: bool) -> str:
    """The regions of the best one, beside the first that could be; `fits` where it has to be small too."""
    regions = f"regions: {best.schedule.fuse_text()}, about {best.cycles:,.0f} cycles"
    if best.schedule == first.schedule:
        fit = " and to fit" if fits else ""
        return f"{regions}; nothing else that was tried is expected to be faster{fit}"
    asked = "as written" if first.schedule.fuse == "partial" else f"with {first.schedule.fuse_text()}"
    return f"{regions} ({first.cycles:,.0f} {asked})"


def bracket_line(choice: BracketChoice, before: float, after: float) -> str:
    """What a bracket gains."""
    return (
        f"brackets: {choice.result} = {choice.text}, at {choice.after:,.0f} points in place of "
        f"{choice.before:,.0f} (about {after:,.0f} cycles in place of {before:,.0f})"
    )


def orders_line(before: AutoChoice, after: AutoChoice) -> str:
    """What other orders gain."""
    assert isinstance(after.schedule.order, Mapping)
    orders = "; ".join(f"{label} {','.join(order) or '-'}" for label, order in after.schedule.order.items())
    return f"orders: {orders} (about {after.cycles:,.0f} cycles in place of {before.cycles:,.0f})"


def layout_line(load: Load, before: AutoChoice, after: AutoChoice) -> str:
    """What rows in another order, or a split, gain."""
    name = load.tensor
    split = after.schedule.split.get(name)
    what = (
        f"rows: of {name} {after.schedule.permute_rows.get(name)}"
        if split is None
        else f"split: {name} as {split}"
    )
    return (
        f"{what}, as the busiest of {load.lanes} lanes had {load.busiest:,.0f} entries, where the mean has "
        f"{load.entries / load.lanes:,.0f} (about {after.cycles:,.0f} cycles in place of "
        f"{before.cycles:,.0f})"
    )


def size_words(before: AutoChoice, after: AutoChoice) -> str:
    """What something larger gains, and takes."""
    return (
        f"about {after.cycles:,.0f} cycles in place of {before.cycles:,.0f}, and {after.luts:,.0f} LUTs in "
        f"place of {before.luts:,.0f}"
    )


def formats_line(before: AutoChoice, after: AutoChoice, why: str) -> str:
    """What other formats gain."""
    known = before.schedule.formats
    changed = ", ".join(f"{n} {f}" for n, f in after.schedule.formats.items() if f != known.get(n))
    return f"formats: {changed}, {why} (about {after.cycles:,.0f} cycles in place of {before.cycles:,.0f})"


def moves_from(
    start: AutoChoice, program: Program, points: Mapping[str, float]
) -> Iterator[tuple[float, Move, Schedule]]:
    """What differs in the place of one statement, with the fewest cycles that it may take: a region takes at
    least as long as what stays in it."""
    for move in moves(program, start.compiled.schedule):
        gain = points[move.result] - max(points[other] for other in move.others)
        schedule = replace(start.schedule, fuse=move.schedule.fuse, order=move.schedule.order)
        yield start.cycles - WITH_STOPS * gain, move, schedule
