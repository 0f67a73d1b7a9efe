"""Operands of operators: what the hardware computes, what is known, what the host works out, and numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from samhw.importers.core import NO_HINTS, Arguments, Build, Hints, HostArray, UnsupportedError, Value
from samhw.importers.torch import host
from samhw.importers.torch.value import Host, Known, TensorFetch

__all__ = ["Ints", "Operand", "Operands"]

Operand = Value | Known | Host | int | float

Ints = int | Sequence[int]
"""One whole number, or one for each dimension."""


@dataclass
class Operands:
    """Makes values of operands, and inputs of tensors.

    Attributes:
        sparsify: the share of zeros from which on a constant is stored by its nonzeros.
    """

    build: Build
    sparsify: float | None = None

    def value(self, x: Operand) -> Value:
        """Any operand as a value."""
        match x:
            case Value():
                return self.build.resolve(x)
            case Known():
                return self._constant_value(x)
            case Host():
                held = host.as_numbers(x)
                return self.input(("host", x.key), x.name, held.example, held.fetch, Hints(x.annotation))
            case int() | float():
                return self.build.literal(float(x))
        if isinstance(x, UnsupportedError):
            raise x
        raise UnsupportedError(f"takes {type(x).__name__}", "give it tensors and numbers")

    def _constant_value(self, x: Known) -> Value:
        if not x.numel():
            raise UnsupportedError(f"takes a tensor without elements, of the shape {x.shape}", "leave it out")
        if x.stored().is_complex():
            raise UnsupportedError("takes complex numbers as real ones", "take their real parts (x.real)")
        if x.base is not None:
            source, apply = x.base
            return apply(self.value(source))
        if x.held is None and (number := host.uniform(x.dense())) is not None:
            return self.build.literal(number, x.shape)
        held = x.stored()
        numbers = held.float() if not held.is_floating_point() else held
        fmt = host.format_of(numbers, x.annotation, self.sparsify)
        if x.of_numbers:
            return self.constant(numbers, x.name, Hints(fmt))
        return self.input(("constant", x.key), x.name, numbers, lambda _: numbers, Hints(fmt), constant=True)

    def shape(self, x: Operand) -> list[int]:
        """As in PyTorch."""
        if isinstance(x, Value):
            return list(self.build.shape(x))
        if isinstance(x, Known):
            return list(x.shape)
        return list(x.example.shape) if isinstance(x, Host) else []

    def input(
        self,
        key: object,
        label: str,
        example: Tensor,
        fetch: TensorFetch,
        hints: Hints = NO_HINTS,
        *,
        constant: bool = False,
    ) -> Value:
        """An input, made once for each key, of a tensor in any layout; `constant` as for `Build.input`."""

        def fetch_array(arguments: Arguments) -> HostArray:
            return host.array_of(fetch(arguments))

        return self.build.input(key, label, host.array_of(example), fetch_array, hints, constant=constant)

    def constant(self, held: Tensor, label: str, hints: Hints = NO_HINTS) -> Value:
        """An input that has the same data in every run."""
        return self.build.constant(host.array_of(held), label, hints)
