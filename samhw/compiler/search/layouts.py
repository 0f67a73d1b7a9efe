"""The orders of rows, and the splits, that a search tries where lanes share rows that are uneven."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil, log2

from samhw.choices.schedule import Schedule
from samhw.cost.statistics import Dealt, TensorStatistics, entries, every, onto
from samhw.lang import Name, Program
from samhw.lang.splits import MOST_TERMS, Hyb, parse_rule

__all__ = ["Load", "lane_loads", "layouts_near", "row_layouts"]

WORTH = 0.97
"""What is left of the busiest lane's work at least where nothing is tried."""

MOST_COLUMNS = 16
"""Parts of columns of `hyb(c,k)` that are tried."""


@dataclass(frozen=True)
class Load:
    """What lanes have to do, to which the rows of a tensor are dealt.

    Attributes:
        tensor: whose rows these are.
        lanes: how many there are.
        entries: of the tensor.
        busiest: those of the busiest lane.
        longest: those of the longest row.
        rows: that may have entries.
    """

    tensor: str
    lanes: int
    entries: float
    busiest: float
    longest: float
    rows: int

    @property
    def least(self) -> float:
        """The share of the busiest lane's work that it has to do at least, if no row is cut."""
        return max(1.0, self.entries / self.lanes, self.longest) / max(1.0, self.busiest)


def lane_loads(program: Program, schedule: Schedule, known: TensorStatistics) -> Iterator[Load]:
    """The loads of the lanes of a schedule, for each input whose rows are dealt to some."""
    seen = set()
    for statement in program.statements:
        for access in statement.reads:
            first = access.indices[0] if access.indices else None
            lanes = schedule.lanes.get(first.variable, 1) if isinstance(first, Name) else 1
            stock, fmt = known.stocks.get(access.tensor), program.tensors[access.tensor].format
            if lanes == 1 or stock is None or not fmt.is_sparse or access.tensor in seen:
                continue
            if fmt.rank < 2 or fmt.mode_order[0] != 0 or fmt.block is not None:
                continue
            seen.add(access.tensor)
            names = tuple(f"{access.tensor}.{mode}" for mode in range(fmt.rank))
            stored, rows = entries(access.tensor, names), every(names[0], stock.shape[0])
            dealt = rows if fmt.levels[0].is_full else onto(stored, names[:1])
            yield Load(
                access.tensor,
                lanes,
                known.count(stored),
                known.busiest(stored, [Dealt(names[0], dealt, lanes)]),
                known.busiest(stored, [Dealt(names[0], rows, stock.shape[0])]),
                stock.shape[0],
            )


def row_layouts(schedule: Schedule, load: Load) -> Iterator[Schedule]:
    """The schedule with another order of a tensor's rows, or with a split of them, so that lanes may be
    even: buckets up to about the mean length of a row, and up to the longest one."""
    tensor = load.tensor
    if tensor in schedule.split or tensor in schedule.permute_rows or load.least > WORTH:
        return
    for order in (f"even({load.lanes})", "by length"):
        yield replace(schedule, permute_rows={**schedule.permute_rows, tensor: order})
    mean = ceil(log2(max(1.0, load.entries / load.rows)))
    longest = int(log2(max(1.0, load.longest)))
    rules = [f"hyb(1,{log})" for log in sorted({mean, mean + 1, longest}) if log <= longest]
    if load.lanes <= MOST_TERMS:
        rules.insert(0, f"even({load.lanes})")
    for rule in rules:
        yield replace(schedule, split={**schedule.split, tensor: rule})


def layouts_near(schedule: Schedule, given: Schedule) -> Iterator[Schedule]:
    """The schedule with one order or split less, or with other numbers of a rule of buckets: a bucket more or
    less, and twice or half as many parts of columns.

    Args:
        given: the schedule that was asked for, whose orders and splits stay.
    """
    for tensor in schedule.permute_rows.keys() - given.permute_rows.keys():
        yield replace(schedule, permute_rows=_without(schedule.permute_rows, tensor))
    for tensor in schedule.split.keys() - given.split.keys():
        yield replace(schedule, split=_without(schedule.split, tensor))
        buckets = parse_rule(schedule.split[tensor])
        if isinstance(buckets, Hyb):
            for other in _near(buckets):
                yield replace(schedule, split={**schedule.split, tensor: other})


def _without(rules: Mapping[str, str], tensor: str) -> dict[str, str]:
    return {name: rule for name, rule in rules.items() if name != tensor}


def _near(buckets: Hyb) -> Iterator[str]:
    c, k = buckets.columns, buckets.log
    for columns, log in ((c, k - 1), (c, k + 1), (2 * c, k), (c // 2, k)):
        if log >= 0 and 1 <= columns <= MOST_COLUMNS and columns * (log + 1) <= MOST_TERMS:
            yield f"hyb({columns},{log})"
