"""The splits that a search tries where lanes share rows that are uneven."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, log2

from samhw.choices.schedule import Schedule
from samhw.compiler.search.tried import Start
from samhw.compiler.search.work import Load, lane_loads
from samhw.lang.splits import MOST_TERMS, Hyb, parse_rule

__all__ = ["even_splits", "neighbours"]

MOST_COLUMNS = 16
"""Parts of columns of `hyb(c,k)` that are tried."""


def even_splits(schedule: Schedule, load: Load) -> Iterator[Schedule]:
    """The schedule with a split of a tensor's rows, so that lanes may be even: buckets up to about the mean
    length of a row, and up to the longest one."""
    tensor = load.tensor
    if tensor in schedule.split or tensor in schedule.permute_rows or not load.is_uneven:
        return
    mean = ceil(log2(max(1.0, load.entries / load.rows)))
    longest = int(log2(max(1.0, load.longest)))
    rules = [f"hyb(1,{log})" for log in sorted({mean, mean + 1, longest}) if log <= longest]
    if load.lanes <= MOST_TERMS:
        rules.insert(0, f"even({load.lanes})")
    for rule in rules:
        yield replace(schedule, split={**schedule.split, tensor: rule})


def neighbours(at: Start) -> Iterator[Schedule]:
    """With one split less, with other numbers of a rule of buckets: a bucket more or less, twice or half
    as many parts of columns; or with a split where lanes are uneven."""
    schedule = at.schedule
    for tensor in schedule.split.keys() - at.job.schedule.split.keys():
        others = {name: rule for name, rule in schedule.split.items() if name != tensor}
        yield replace(schedule, split=others)
        buckets = parse_rule(schedule.split[tensor])
        if isinstance(buckets, Hyb):
            yield from (replace(schedule, split={**others, tensor: other}) for other in _near(buckets))
    if at.known is not None:
        for load in lane_loads(at.job.program, schedule, at.known):
            yield from even_splits(schedule, load)


def _near(buckets: Hyb) -> Iterator[str]:
    c, k = buckets.columns, buckets.log
    for columns, log in ((c, k - 1), (c, k + 1), (2 * c, k), (c // 2, k)):
        if log >= 0 and 1 <= columns <= MOST_COLUMNS and columns * (log + 1) <= MOST_TERMS:
            yield f"hyb({columns},{log})"
