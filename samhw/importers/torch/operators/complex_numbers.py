"""Complex tensors, which are two real ones, and their operators, by those of the parts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.torch import host
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import COMPLEX, OPERATORS, VIEWS
from samhw.importers.torch.value import Known

__all__ = [
    "TAKES_PAIRS",
    "Complex",
    "as_complex",
    "as_real_numbers",
    "complex_operator",
    "is_zero",
    "of_complex",
    "zeros",
]


# Complex tensors: the importer has them as two real ones, and hardware computes with these.


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


Handler = Callable[..., Any]

TAKES_PAIRS = frozenset(("aten.select", "aten.view_as_complex", "aten.view_as_complex_copy"))
"""Operators that know what to do with the pairs that a complex tensor is viewed as."""

_LINEAR = {
    **dict.fromkeys((f"aten.{name}" for name in ("neg", "sum", "mean", "cumsum", "cat", "stack")), (0,)),
    **dict.fromkeys(("aten.add", "aten.sub", "samhw.elsewhere"), (0, 1)),
    "aten.where": (1, 2),
}
"""What goes through real and imaginary parts apart: the arguments that are complex. Views do so too."""


def of_complex(importer: Importer, name: str, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """What an operator gives, some of whose arguments or results are complex.

    Raises:
        UnsupportedError: for operators that are not known for complex tensors.
    """
    if name in COMPLEX:
        return COMPLEX[name](importer, *args, **named)
    if name in VIEWS or name in _LINEAR:
        return _by_parts(importer, OPERATORS[name], _LINEAR.get(name, (0,)), args, named)
    raise UnsupportedError(
        "takes or gives complex numbers", "compute with their real and imaginary parts (torch.view_as_real)"
    )


def complex_operator(*names: str, library: str = "aten") -> Callable[[Handler], Handler]:
    """Registers what an operator does to complex tensors."""

    def register(handler: Handler) -> Handler:
        COMPLEX.update({f"{library}.{name}": handler for name in names})
        return handler

    return register


def _by_parts(
    importer: Importer, handler: Handler, places: Sequence[int], args: Sequence[Any], named: dict[str, Any]
) -> Any:
    def part(pick: Callable[[Complex], Operand]) -> Any:
        given = [_picked(importer, arg, pick) if place in places else arg for place, arg in enumerate(args)]
        return handler(importer, *given, **named)

    real, imag = part(lambda x: x.real), part(lambda x: x.imag)
    if isinstance(real, list | tuple):
        return [Complex(*pair) for pair in zip(real, imag, strict=True)]
    return Complex(real, imag)


def _picked(importer: Importer, item: Any, pick: Callable[[Complex], Operand]) -> Any:
    if isinstance(item, list | tuple):
        return [_picked(importer, each, pick) for each in item]
    return pick(as_complex(importer, item))


@complex_operator("contract", library="samhw")
def import_contract(importer: Importer, equation: str, operands: Sequence[Any], reduction: str) -> Complex:
    """Linear in each operand: of a complex one, that of its real part and i times that of its imaginary
    one."""
    contract: Callable[..., Any] = OPERATORS["samhw.contract"]
    operands = [as_complex(importer, item) if _is_complex(item) else item for item in operands]
    first, *others = (place for place, operand in enumerate(operands) if isinstance(operand, Complex))

    def of(part: Operand) -> Any:
        given = [*operands[:first], part, *operands[first + 1 :]]
        return (import_contract if others else contract)(importer, equation, given, reduction)

    real, imag = (of(part) for part in (operands[first].real, operands[first].imag))
    if not others:
        return Complex(real, imag)
    return Complex(importer.call("sub", real.real, imag.imag), importer.call("add", real.imag, imag.real))


def _is_complex(item: object) -> bool:
    return isinstance(item, Known) and item.stored().is_complex()


@complex_operator("real")
def import_real(importer: Importer, x: Any) -> Operand:
    return as_complex(importer, x).real


@complex_operator("imag")
def import_imag(importer: Importer, x: Any) -> Operand:
    return as_complex(importer, x).imag


@complex_operator("view_as_real", "view_as_real_copy")
def import_view_as_real(importer: Importer, x: Any) -> Complex:
    found = as_complex(importer, x)
    return Complex(found.real, found.imag, viewed=True)


@complex_operator("select")
def import_select(importer: Importer, x: Complex, dim: int, place: int) -> Any:
    """Of a view as pairs, all the first or all the second numbers."""
    select = OPERATORS["aten.select"]
    if not x.viewed:
        return _by_parts(importer, select, (0,), (x, dim, place), {})
    if dim in (-1, len(importer.shape(x.real))):
        return (x.real, x.imag)[place]
    return select(importer, as_real_numbers(importer, x), dim, place)


@complex_operator("view_as_complex", "view_as_complex_copy")
def import_view_as_complex(importer: Importer, x: Any) -> Complex:
    if isinstance(x, Complex):
        return Complex(x.real, x.imag)
    held = importer.value(x)
    real, imag = (importer.call("select", held, -1, place) for place in (0, 1))
    return Complex(real, imag)


@complex_operator("complex")
def import_complex(importer: Importer, real: Operand, imag: Operand) -> Complex:
    return Complex(real, imag)


@complex_operator("conj", "_conj", "_conj_physical", "conj_physical", "conj_copy", "_conj_copy")
def import_conj(importer: Importer, x: Any) -> Complex:
    found = as_complex(importer, x)
    return found if is_zero(found.imag) else Complex(found.real, importer.call("neg", found.imag))


@complex_operator("resolve_conj", "resolve_neg", "clone", "contiguous", "detach", "alias")
def import_same_complex(importer: Importer, x: Any, **_: Any) -> Complex:
    return as_complex(importer, x)


@complex_operator("to", "_to_copy")
def import_to_complex(importer: Importer, x: Any, *_: Any, **named: Any) -> Any:
    """Of a real tensor, and between the complex types; to a real type the real part."""
    if isinstance(x, Complex):
        dtype = named.get("dtype")
        return x if dtype is None or dtype.is_complex else x.real
    return Complex(x, zeros(importer.shape(x), named["dtype"].to_real()))
