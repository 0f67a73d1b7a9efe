"""Blocks: which indices go from block to block, and how large the blocks are along them."""

from samhw.errors import InputError
from samhw.lang import Program

__all__ = ["block_sizes"]


def block_sizes(program: Program) -> dict[str, int]:
    """By dimension, how many coordinates a block has along it, where that is more than one.

    Raises:
        InputError: for tensors that store a dimension in different blocks, or with blocks and without.
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
    return {dimension: size for dimension, (size, _) in sizes.items() if size > 1}
