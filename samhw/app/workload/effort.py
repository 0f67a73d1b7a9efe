"""What a run will take, predicted before it begins: about how much memory, and about how long."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import expm1, prod

from samhw.graph.numerics.operations import vanishes
from samhw.lang import Access, Call, Div, Expr, Literal, Mul, Program, Statement, free_indices, terms
from samhw.lang.reference import sum_next
from samhw.lang.traverse import factors_of
from samhw.limits import WORD
from samhw.tensors import Tensor

__all__ = ["Effort", "predict_effort"]

_COPIES = 8
"""Times what the data store that a run takes at its fullest: tensors, their words, the check's coordinates
and what is made on the way. Measured with `spmv` and `spmm` on 10 million nonzeros: 5.7 to 8.4."""

_COPIES_OF_RESULTS = 4
"""Times what all results store. Measured with models on graphs of 2 and 5 million edges: at most 3, where
none stay in the streams."""

_POINTS = 4e6
"""Points of the iteration spaces that are simulated and checked in a second. Measured likewise: 2 to 6
million on one core."""

_RTL_POINTS = 2e5
"""Points that Verilator simulates in a second. Measured with `spmm` and joins: 75 to 450 thousand."""


@dataclass(frozen=True)
class Effort:
    """About what a run takes.

    `points` are those at which statements are computed, `results` the elements of all their results, `bytes`
    the memory, and `seconds` the time of the simulator and the check, without what is built before the first
    run of a program.
    """

    points: float
    results: float
    bytes: float

    @property
    def seconds(self) -> float:
        return self.points / _POINTS

    @property
    def rtl_seconds(self) -> float:
        """Of a run of the RTL under Verilator, or on an emulated board."""
        return self.points / _RTL_POINTS


def predict_effort(program: Program, tensors: Mapping[str, Tensor]) -> Effort:
    """As if all coordinates were drawn at random, so that those of two tensors have as much in common as
    their densities say. Real data differ; it is the order of magnitude that counts."""
    program = program.bind({name: tensor.shape for name, tensor in tensors.items()})
    stored = sum(array.nbytes for tensor in tensors.values() for array in tensor.arrays().values())
    densities = {name: tensor.nnz / max(1, prod(tensor.shape)) for name, tensor in tensors.items()}
    # A step reads what has been written of earlier ones.
    densities |= {s.lhs.tensor: 1.0 for s in program.statements if s.lhs.step is not None}
    points = results = words = 0.0
    for statement in program.statements:
        steps = program.steps(statement) or 1
        extents = {index: extent or 1 for index, extent in program.extents(statement).items()}
        places = prod(extents[index] for index in statement.lhs.variables)
        mask = 1.0 if statement.mask is None else min(1.0, densities[statement.mask.tensor])
        found = 0.0
        for term in terms(statement.rhs):
            indices = {*free_indices(term), *(statement.mask.variables if statement.mask else ())}
            found += prod(extents[index] for index in indices) * mask * _density(term, densities)
            points += steps * _points(term, statement, densities, extents)
        decl = program.tensors[statement.lhs.tensor]
        # That at least one of the points of a place is there.
        density = 1.0 if decl.format.is_all_dense else -expm1(-found / places)
        densities[decl.name] = density
        places *= 1 if statement.lhs.step is None else steps
        results += places * density
        words += places * density * (1 if decl.format.is_all_dense else 1 + decl.rank)
    return Effort(points, results, _COPIES * stored + _COPIES_OF_RESULTS * WORD * words)


def _points(
    term: Expr, statement: Statement, densities: Mapping[str, float], extents: Mapping[str, int]
) -> float:
    """At how many points a term is computed, if each sum is taken as soon as what it needs is there."""
    factors = [(set(free_indices(f)), _density(f, densities)) for f in factors_of(term)]
    if statement.mask is not None:
        factors.append((set(statement.mask.variables), min(1.0, densities[statement.mask.tensor])))
    reduced = statement.reduction_indices if statement.reduction == "sum" else ()
    total = 0.0
    while True:
        taken, summed, points = sum_next(factors, reduced, extents)
        total += points
        if len(taken) == len(factors):
            return total
        kept = {i for n in taken for i in factors[n][0]} - summed
        density = -expm1(-points / prod(extents[i] for i in kept))
        factors = [*(factor for n, factor in enumerate(factors) if n not in taken), (kept, density)]


def _density(expr: Expr, densities: Mapping[str, float]) -> float:
    """The share of its points at which an expression may be anything but zero."""
    match expr:
        case Access():
            return min(1.0, densities[expr.tensor])
        case Mul(left, right):
            return _density(left, densities) * _density(right, densities)
        case Div(left, _):
            return _density(left, densities)
        case Call(function, arguments):
            numbers = [a.value if isinstance(a, Literal) else None for a in arguments]
            if vanishes(function, numbers):
                others = [a for a, number in zip(arguments, numbers, strict=True) if number is None]
                return min(1.0, sum(_density(other, densities) for other in others))
            return 1.0
        case _ if expr.children:
            return min(1.0, sum(_density(child, densities) for child in expr.children))
    return 1.0
