"""Complex tensors: the importer has them as two real ones, and hardware computes with these."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.torch import host
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.value import Known

__all__ = ["Complex", "as_complex", "as_real_numbers", "is_zero", "zeros"]


@dataclass(frozen=True)
class Complex:
    """A complex tensor.

    Attributes:
        real, imag: of its shape, or numbers of Python.
        viewed: as in `torch.view_as_real`: real numbers, pairs of which stand in a last dimension.
    """

    real: Operand
    imag: Operand
    viewed: bool = False


def as_complex(importer: Importer, x: object) -> Complex:
    """A tensor or a number of any kind as a complex one.

    Raises:
        UnsupportedError: for what is neither a tensor nor a number.
    """
    if isinstance(x, Complex):
        return x
    if isinstance(x, complex):
        return Complex(x.real, x.imag)
    if isinstance(x, int | float):
        return Complex(float(x), 0.0)
    if isinstance(x, Known) and x.stored().is_complex():
        dense = x.dense().resolve_conj()
        return Complex(
            Known(dense.real.contiguous(), f"{x.name}_real"), Known(dense.imag.contiguous(), f"{x.name}_imag")
        )
    if not isinstance(x, Operand):
        raise UnsupportedError("takes a complex tensor in a list", "compute with real and imaginary parts")
    return Complex(x, zeros(importer.shape(x)))


def as_real_numbers(importer: Importer, x: Complex) -> Value:
    """The pairs of a view as a tensor."""
    found: Value = importer.call("stack", [importer.value(x.real), importer.value(x.imag)], -1)
    return found


def zeros(shape: Sequence[int], dtype: torch.dtype = torch.float32) -> Known:
    """Zeros of a shape, which take no room."""
    return Known(torch.zeros((), dtype=dtype).expand(tuple(shape)), "zero")


def is_zero(x: Operand) -> bool:
    """Whether all of it is known to be 0."""
    if isinstance(x, Known):
        return x.held is None and host.uniform(x.dense()) == 0
    return isinstance(x, int | float) and x == 0
