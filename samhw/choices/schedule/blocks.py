"""The blocks of a schedule, and the formats that they make of a program's."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from samhw.choices.schedule.counts import check_counts, parse_counts
from samhw.errors import InputError
from samhw.lang import Program, check_program

__all__ = ["check_blocks", "parse_blocks", "with_blocks"]

MOST = 64


def check_blocks(blocks: object) -> dict[str, int]:
    """The size of a block by index."""
    return check_counts("blocks", blocks, MOST)


def parse_blocks(text: str) -> dict[str, int]:
    """Blocks in one word, such as `i=16+j=16`; raises `InputError` for other words. `1` is none."""
    return check_blocks(parse_counts(text, "blocks", "its size of a block"))


def with_blocks(program: Program, blocks: Mapping[str, int]) -> Program:
    """The program with all tensors that have one of the indices in blocks along it.

    Raises:
        InputError: for an index that there is not.
    """
    dimensions = program.dimensions
    if unknown := sorted(set(blocks) - set(dimensions.extents)):
        raise InputError(
            f"There is no index '{unknown[0]}' to have blocks; '{program.name}' has "
            f"{', '.join(dimensions.extents)}."
        )
    tensors = dict(program.tensors)
    for name, decl in tensors.items():
        sizes = tuple(
            blocks.get(dimension, decl.format.block_of(mode))
            for mode, dimension in enumerate(dimensions.of_tensor(name))
        )
        if any(size > 1 for size in sizes):
            try:
                fmt = decl.format.blocked(sizes)
            except InputError as error:
                raise InputError(
                    f"'{name}' cannot be stored in blocks: {error}; or leave out the blocks along "
                    f"{' and '.join(_blocked(blocks, dimensions.of_tensor(name)))}."
                ) from None
            tensors[name] = replace(decl, format=fmt, implied=False)
    if not blocks:
        return program
    program = replace(program, tensors=tensors)
    check_program(program)
    return program


def _blocked(blocks: Mapping[str, int], dimensions: Sequence[str]) -> list[str]:
    """The dimensions of a tensor that are to have blocks."""
    return [dimension for dimension in dimensions if blocks.get(dimension, 1) > 1]
