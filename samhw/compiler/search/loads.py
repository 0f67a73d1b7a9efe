"""What lanes have to do that share the rows of a tensor."""

from collections.abc import Iterator
from dataclasses import dataclass

from samhw.choices.schedule import Schedule
from samhw.cost.statistics import Dealt, TensorStatistics, entries, every, onto
from samhw.lang import Name, Program

__all__ = ["Load", "lane_loads"]

WORTH = 0.97
"""What is left of the busiest lane's work at least where nothing is tried."""


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
    def is_uneven(self) -> bool:
        """Whether other rows, or parts of them, may help."""
        return self.least <= WORTH

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
            index = first.variable if isinstance(first, Name) else ""
            lanes = 1 if index in schedule.ranged else schedule.lanes.get(index, 1)
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
