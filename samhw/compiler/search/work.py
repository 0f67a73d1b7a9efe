"""How much there is to do: about how many points a program is computed at, from how dense its tensors are;
and what each of several lanes has.

Points are counted as if all coordinates were drawn at random, so that those of two tensors have as much in
common as their densities say. What is dense is gone through as a whole, zeros and all.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import expm1, prod

from samhw.choices.schedule import Schedule
from samhw.cost.statistics import Dealt, TensorStatistics, entries, every, onto
from samhw.lang import Access, Capacity, Expr, Mul, Name, Program, free_indices, greatest_extents, terms
from samhw.lang.traverse import factors_of

__all__ = ["Load", "ProgramWork", "Sizes", "joined", "kept_density", "lane_loads", "work_of"]


@dataclass(frozen=True)
class Sizes:
    """How much a program's tensors hold.

    Attributes:
        densities: by input, the share of its points that it stores.
        shapes: by tensor, the extent of each mode. Another form of the program, such as one with brackets,
            has the same tensors, but may divide their modes into other dimensions.
    """

    densities: Mapping[str, float]
    shapes: Mapping[str, tuple[int, ...]]

    @classmethod
    def of_entries(cls, program: Program, capacity: Capacity, entries: Mapping[str, int]) -> "Sizes":
        """From the values that inputs store; where that is not known, from what a build must hold."""
        extents = greatest_extents(program, capacity)
        densities = {}
        for decl in program.inputs:
            places = prod(program.dimensions.shape(decl.name, extents))
            stored = entries.get(decl.name, capacity.entries_of(decl.name))
            densities[decl.name] = 1.0 if decl.format.is_all_dense else min(1.0, stored / max(1, places))
        return cls(densities, {name: program.dimensions.shape(name, extents) for name in program.tensors})

    def extents(self, program: Program) -> dict[str, int]:
        """The extent of each dimension of the program, in whatever form."""
        dimensions = program.dimensions
        extents = {name: extent for name, extent in dimensions.extents.items() if extent is not None}
        for tensor in program.tensors.keys() & self.shapes.keys():
            extents |= zip(dimensions.of_tensor(tensor), self.shapes[tensor], strict=True)
        return extents


@dataclass(frozen=True)
class ProgramWork:
    """Of a program: by result, the points at which its statement is computed, and how dense it is."""

    points: Mapping[str, float] = field(default_factory=dict)
    densities: Mapping[str, float] = field(default_factory=dict)


def work_of(program: Program, sizes: Sizes) -> ProgramWork:
    """The work of all statements; `sizes` has the inputs' densities."""
    # A step may read what earlier ones have written of a state, which lies in dense levels.
    densities = dict.fromkeys((s.lhs.tensor for s in program.statements if s.lhs.step is not None), 1.0)
    densities |= sizes.densities
    points: dict[str, float] = {}
    of_dimensions = sizes.extents(program)
    for statement in program.statements:
        result = statement.lhs.tensor
        dimension = program.dimensions.of_statement(statement)
        extents = {index: float(of_dimensions[dimension[index]]) for index in statement.indices}
        places = prod(extents[index] for index in statement.lhs.variables)
        mask = 1.0 if statement.mask is None else densities[statement.mask.tensor]
        masked = () if statement.mask is None else statement.mask.variables
        found = least = 0.0
        for term in terms(statement.rhs):
            indices = {*free_indices(term), *masked}
            at = joined(indices, [mask * _density(term, densities)], extents)
            found += at * prod(extents[i] for i in set(statement.lhs.variables) - indices)
            least += at
        decl = program.tensors[result]
        densities[result] = 1.0 if decl.format.is_all_dense else kept_density(found, places)
        points[result] = max(least, places * densities[result])
    return ProgramWork(points, densities)


def joined(indices: Collection[str], densities: Sequence[float], extents: Mapping[str, float]) -> float:
    """At how many points factors of these densities, which have these indices together, meet."""
    return prod(densities) * prod(extents[index] for index in indices)


def kept_density(points: float, places: float) -> float:
    """The share of places that have one of some points, drawn at random, at least."""
    return -expm1(-points / places) if places else 0.0


def _density(expr: Expr, densities: Mapping[str, float]) -> float:
    """The share of its points at which an expression is computed."""
    match expr:
        case Access():
            return densities.get(expr.tensor, 1.0)
        case Mul():
            return prod(_density(factor, densities) for factor in factors_of(expr))
        case _ if expr.children:
            return min(1.0, sum(_density(child, densities) for child in expr.children))
    return 1.0


# What lanes have to do that share the rows of a tensor.


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
