"""Blocks: dense blocks in which tensors are stored along an index."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from samhw.choices.choice import CountsByName
from samhw.errors import InputError
from samhw.lang import Program, check_program
from samhw.words import did_you_mean

__all__ = ["CHOICE"]


class BlockSizes(CountsByName):
    """by index, the size of the dense blocks in which tensors are stored along it
    ([formats.md](formats.md#blocks))"""

    name = "blocks"
    metavar = "i=16+j=16|auto"
    several = "1,i=16,i=16+j=16"
    help = "Store all tensors that have an index in dense blocks of this many coordinates along it."
    what = "its size of a block"
    most = 64
    may_grow = True

    def apply(self, program: Program, value: dict[str, int], *, is_open: bool) -> Program:
        return with_blocks(program, value)


CHOICE = BlockSizes()


def with_blocks(program: Program, blocks: Mapping[str, int]) -> Program:
    """The program with all tensors that have one of the indices in blocks along it.

    Raises:
        InputError: for an index that there is not.
    """
    dimensions = program.dimensions
    if unknown := sorted(set(blocks) - set(dimensions.extents)):
        raise InputError(
            f"There is no index '{unknown[0]}' to have blocks{did_you_mean(unknown[0], dimensions.extents)}; "
            f"'{program.name}' has "
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
