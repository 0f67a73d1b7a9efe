"""What `--schedule auto` chooses, what is expected of it, and what is said of a choice."""

from dataclasses import dataclass
from functools import cached_property

from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, estimate_compiled
from samhw.cost import AreaEstimate, estimate_area
from samhw.cost.statistics import TensorStatistics

__all__ = ["AutoChoice", "expected_cycles", "gain_words", "regions_line", "size_words"]


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
    regions = f"regions: {best.schedule.word('fuse')}, about {best.cycles:,.0f} cycles"
    if best.schedule == first.schedule:
        fit = " and to fit" if fits else ""
        return f"{regions}; nothing else that was tried is expected to be faster{fit}"
    asked = "as written" if first.schedule.fuse == "partial" else f"with {first.schedule.word('fuse')}"
    return f"{regions} ({first.cycles:,.0f} {asked})"


def gain_words(before: float, after: float) -> str:
    """What is expected to be gained, in cycles."""
    return f"about {after:,.0f} cycles instead of {before:,.0f}"


def size_words(before: AutoChoice, after: AutoChoice) -> str:
    """What something larger gains, and takes."""
    return (
        f"{gain_words(before.cycles, after.cycles)}, and {after.luts:,.0f} LUTs instead of {before.luts:,.0f}"
    )
