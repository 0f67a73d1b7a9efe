"""Blocks: which indices go from block to block, and how large the blocks are along them."""

from samhw.errors import InputError
from samhw.frontend import Program
from samhw.tensors import LevelType

__all__ = ["block_sizes", "whole_masks"]


def block_sizes(program: Program) -> dict[str, int]:
    """By dimension, how many coordinates a block has along it, where that is more than one.

    Raises:
        InputError: for tensors that store a dimension in different blocks, or with blocks and without; and
            for a mask in blocks, of which only coordinates would be looked at.
    """
    sizes: dict[str, tuple[int, str]] = {}
    for decl in program.tensors.values():
        for mode, dimension in enumerate(program.dimensions.of_tensor(decl.name)):
            own = decl.format.block_of(mode)
            size, name = sizes.setdefault(dimension, (own, decl.name))
            if size != own:
                raise InputError(
                    f"'{name}' is stored in blocks of {size} along {dimension}, but '{decl.name}' in blocks "
                    f"of {own}; store both in blocks of one size, as --blocks {dimension}={max(size, own)} "
                    "does."
                )
    given = {decl.name for decl in program.inputs}
    for name in whole_masks(program):
        if name not in given or program.tensors[name].format.of_blocks.levels[-1] is LevelType.dense:
            raise InputError(
                f"The mask '{name}' is stored in blocks, and is no input in compressed levels, whose blocks "
                "are known to have no zeros; leave its blocks out."
            )
    return {dimension: size for dimension, (size, _) in sizes.items() if size > 1}


def whole_masks(program: Program) -> list[str]:
    """The masks in blocks. A mask lets through what lies at its coordinates, so no block of it may have a
    zero."""
    masks = (statement.mask.tensor for statement in program.statements if statement.mask is not None)
    return [name for name in dict.fromkeys(masks) if program.tensors[name].format.block is not None]
