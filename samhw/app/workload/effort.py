"""What a run will take, predicted before it begins: room for its tensors, this machine's memory, and time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, expm1, prod

import numpy as np

from samhw.choices.schedule import Schedule
from samhw.graph.numerics.operations import vanishes
from samhw.lang import (
    Access,
    Call,
    Concat,
    Div,
    Expr,
    Literal,
    Mul,
    Name,
    Pattern,
    Program,
    Reshape,
    Statement,
    TensorDecl,
    bank_room,
    free_indices,
    terms,
)
from samhw.lang.reference import sum_next
from samhw.lang.traverse import factors_of
from samhw.limits import WORD
from samhw.tensors import Format, Tensor
from samhw.tensors.ranges import even_ranges, in_ranges, row_works

__all__ = ["Effort", "banks_of", "greatest_entries", "predict_effort", "stored_entries"]


# How much room tensors take: arrays of data, and of results by their patterns; whole, or in banks for ranges
# of rows.


def banks_of(
    program: Program,
    schedule: Schedule,
    read: Mapping[str, Tensor],
    patterns: Mapping[str, Pattern],
    shapes: Mapping[str, tuple[int, ...]],
) -> dict[str, int]:
    """What the banks of lanes with ranges of rows have to hold, as in `Capacity.banks`: what the fullest
    range of these data has, and more where the build is to have room for more rows.

    Args:
        read: the inputs.
        patterns: those of the results.
        shapes: the greatest ones of all tensors.
    """
    together: dict[tuple[str, int], dict[str, TensorDecl]] = {}
    for statement in program.statements:
        if isinstance(statement.rhs, Concat | Reshape):
            continue
        of = program.dimensions.of_statement(statement)
        for access in (statement.lhs, *statement.reads):
            decl = program.tensors[access.tensor]
            outermost = access.indices[decl.format.mode_order[0]] if decl.rank else None
            if isinstance(outermost, Name) and outermost.variable in schedule.ranged:
                index = outermost.variable
                count = schedule.lanes.get(index, 1)
                together.setdefault((of[index], count), {})[decl.name] = decl
    banks: dict[str, int] = {}
    for (_, count), decls in together.items():
        dimensions = program.dimensions.of_tensor
        inputs, whole = (
            [(tensor, dimensions(name)) for name, tensor in read.items() if (name in decls) is is_cut]
            for is_cut in (True, False)
        )
        if not inputs or count == 1:
            continue
        results = [name for name, d in decls.items() if name not in read and d.format.is_all_dense]
        written = [
            prod(shapes[name]) // shapes[name][decls[name].format.mode_order[0]]
            for name in results
            if decls[name].rank > 1
        ]
        ends = even_ranges(row_works(inputs, whole, written), count)
        assert ends is not None
        greatest = max(shapes[name][decl.format.mode_order[0]] for name, decl in decls.items())
        more = greatest / max(ends[-1], 1)
        rows = ceil(more * max(end - first for first, end in pairwise(ends)))
        for name, decl in decls.items():
            if name in read:
                entries = ceil(more * max(map(stored_entries, in_ranges(read[name], ends))))
            else:
                mode, shape = decl.format.mode_order[0], [*shapes[name]]
                shape[mode] = max(rows, 1)
                pattern = _fullest(patterns[name], decl.indices[mode], ends)
                entries = greatest_entries(decl, tuple(shape), pattern)
            banks |= bank_room(name, count, rows, entries)
    return banks


def _fullest(pattern: Pattern, index: str, ends: Sequence[int]) -> Pattern:
    """What the range of rows with the most has of a pattern."""
    if index not in pattern.sparse:
        return pattern
    row = pattern.coords[pattern.sparse.index(index)]
    first, end = max(pairwise(ends), key=lambda part: np.count_nonzero((row >= part[0]) & (row < part[1])))
    return replace(pattern, coords=pattern.coords[:, (row >= first) & (row < end)])


def greatest_entries(decl: TensorDecl, shape: tuple[int, ...], pattern: Pattern) -> int:
    """The most entries of a result, or blocks of them: at least a fiber for each outer coordinate."""
    extents = dict(zip(decl.indices, shape, strict=True))
    if isinstance(decl.format.block, tuple):
        sizes = dict(zip(decl.indices, decl.format.block, strict=True))
        pattern = pattern.in_blocks(sizes)
        extents = {index: -(-n // sizes[index]) for index, n in extents.items()}
    return max(pattern.count(extents), _above_dense(decl.format, shape), *extents.values(), 1)


def stored_entries(tensor: Tensor) -> int:
    """The most coordinates, or values, or blocks of values that an array of it has."""
    block = prod(tensor.format.block_shape)
    lengths = {name: len(array) for name, array in tensor.arrays().items()}
    return max(length // block if name == "vals" else length for name, length in lengths.items())


def _above_dense(fmt: Format, shape: tuple[int, ...]) -> int:
    """The most coordinates that a compressed level holds above a dense one: it keeps each of them, whatever
    lies below, so that the pattern of the values does not tell."""
    fmt = fmt.of_blocks
    inner = max((n for n, level in enumerate(fmt.levels) if level.is_full), default=0)
    outer = [n for n in range(inner) if not fmt.levels[n].is_full]
    return prod(shape[mode] for mode in fmt.mode_order[: max(outer) + 1]) if outer else 0


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
