"""What a program's tensors take at least, before any of it is taken."""

from math import prod

from samhw.lang.declaration import TensorDecl
from samhw.lang.program import Program
from samhw.limits import WORD, check_memory

__all__ = ["check_size"]

_COPIES = 5
"""Arrays of a tensor's size that a run has at once: the values, their words, what is made on the way, the
result and its reference. Measured with a dense vector."""


def check_size(program: Program) -> None:
    """Refuses a program whose tensors do not fit this machine whatever their data are.

    Raises:
        InputError: naming the largest tensor.
    """
    places = {decl.name: _least(decl) for decl in program.tensors.values()}
    largest = max(places, key=lambda name: places[name])
    shape = " x ".join(f"{extent or 1:,}" for extent in program.tensors[largest].shape) or "scalar"
    what = f"'{program.name}', whose largest tensor is {largest} ({shape}),"
    hint = "use smaller data, or a format that compresses it"
    check_memory(_COPIES * WORD * sum(places.values()), what, hint)


def _least(decl: TensorDecl) -> int:
    """What a tensor stores even if it is empty: the dense levels outside of all others."""
    sizes = decl.format.level_sizes(tuple(extent or 1 for extent in decl.shape))
    return prod(sizes[: decl.format.outer_dense])
