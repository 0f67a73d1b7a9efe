"""How much room tensors take: arrays of data, and of results by their patterns; whole, or in banks for ranges
of rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, prod

import numpy as np

from samhw.choices.schedule import Schedule
from samhw.lang import Concat, Name, Pattern, Program, Reshape, TensorDecl, bank_room
from samhw.tensors import Format, Tensor
from samhw.tensors.ranges import even_ranges, in_ranges, row_works

__all__ = ["banks_of", "greatest_entries", "stored_entries"]


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
