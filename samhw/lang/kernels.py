"""The built-in kernels: those of the Sparse Abstract Machine paper."""

from functools import cache

from samhw.lang.library import Library
from samhw.lang.program import Program

__all__ = ["kernel_description", "kernel_names", "load_kernel"]


@cache
def _kernels() -> Library:
    return Library("kernels", "program")


def kernel_names() -> tuple[str, ...]:
    """The names of all built-in kernels, sorted."""
    return _kernels().names


def load_kernel(name: str) -> Program:
    """The built-in kernel `name`; its extents come from the data (`Program.bind`).

    Raises InputError when there is none of this name.
    """
    return _kernels().load(name)


def kernel_description(name: str) -> str:
    """What the built-in kernel computes, in one line: its first comment."""
    return _kernels().description(name)
