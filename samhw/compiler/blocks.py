"""The extents of a program in blocks: those that count blocks, and which its data may have."""

from collections.abc import Iterable, Mapping

from samhw.errors import InputError
from samhw.graph import TensorBinding
from samhw.lang import Program, Statement, reaching_beyond
from samhw.lang.fusion import block_sizes
from samhw.tensors import Format

__all__ = ["block_counts", "check_divided", "undivided"]


def block_counts(tensors: Iterable[TensorBinding], extents: Mapping[str, int]) -> dict[str, int]:
    """The extents that count the blocks of tensors, from those of the tensors' indices."""
    counts = {}
    for binding in tensors:
        format = Format.parse(binding.format, len(binding.indices))
        for mode, count in enumerate(binding.block_counts):
            if count:
                counts[count] = -(-extents[binding.indices[mode]] // format.block_of(mode))
    return counts


def check_divided(program: Program, extents: Mapping[str, int]) -> None:
    """Raises `InputError` for extents that blocks reach beyond where what they hold there would matter."""
    sizes = block_sizes(program)
    for dimension, statement in undivided(program).items():
        if extents.get(dimension, 0) % sizes[dimension]:
            raise InputError(
                f"Blocks of {sizes[dimension]} along {dimension} reach beyond {extents[dimension]:,}, where "
                f"'{statement}' would not be zero; choose a size that divides it, or leave the blocks out "
                "(--blocks)."
            )


def undivided(program: Program) -> dict[str, Statement]:
    """The dimensions in blocks whose extents the blocks have to divide, each with a statement for which.

    A block at the edge reaches beyond the extent, and holds zeros there. Sums do not notice. But a statement
    may not leave anything else there, and a maximum, a minimum or a product would take these zeros in.
    """
    sizes = block_sizes(program)
    found: dict[str, Statement] = {}
    for statement in program.statements:
        dimension = program.dimensions.of_statement(statement)
        for index in reaching_beyond(statement):
            if dimension.get(index) in sizes:
                found.setdefault(dimension[index], statement)
    return found
