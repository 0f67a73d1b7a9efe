"""What a program's tensors take, before any of it is taken."""

from math import prod

from samhw.frontend.program import Program
from samhw.limits import WORD, check_memory

__all__ = ["check_size"]

_COPIES = 5
"""Arrays of a tensor's shape that a run has at once: the values, their words, what is made on the way, the
result and its reference. Measured with a dense vector."""


def check_size(program: Program) -> None:
    """Refuses a program whose tensors do not fit this machine, since the reference evaluates it densely.

    Raises:
        InputError: naming the largest tensor.
    """
    places = {decl.name: prod(extent or 1 for extent in decl.shape) for decl in program.tensors.values()}
    largest = max(places, key=lambda name: places[name])
    shape = " x ".join(f"{extent or 1:,}" for extent in program.tensors[largest].shape) or "scalar"
    what = f"'{program.name}', whose largest tensor is {largest} ({shape}),"
    check_memory(_COPIES * WORD * sum(places.values()), what, "use smaller data")
