"""What importers of operators work with."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from samhw.importers.core import (
    NO_HINTS,
    Arguments,
    Build,
    Hints,
    HostArray,
    Makers,
    UnsupportedError,
    Value,
    scaled,
)
from samhw.importers.torch import host
from samhw.importers.torch.host import is_finite_number
from samhw.importers.torch.masks import Masks
from samhw.importers.torch.operands import Operand, Operands
from samhw.importers.torch.registry import DECOMPOSED, OPERATORS
from samhw.importers.torch.value import Host, Known
from samhw.lang.expr import Expr

__all__ = ["Importer"]


class Importer(Makers):
    """Importers of operators get this first, and the operator's arguments after it.

    A tensor is a `Value` that the hardware computes, a `Known` or a `Host`; `value` makes a `Value` of any.

    Attributes:
        operands: tensors of PyTorch and numbers, as values.
        masks: conditions, and what they mask.
        operator: the name of the operator at hand: `aten.linear`.
    """

    def __init__(
        self, build: Build, sparsify: float | None = None, inlined: Callable[..., Any] | None = None
    ) -> None:
        """`inlined` makes what a function in PyTorch says of operands."""
        super().__init__(build)
        self.operands = Operands(build, sparsify)
        self.masks = Masks(self.operands, self.tensors, self.operations)
        self.inlined = inlined
        self.operator = ""

    def value(self, x: Operand) -> Value:
        """Any operand as a value."""
        return self.operands.value(x)

    def integers(self, x: Operand) -> Value:
        """An operand of integers, which keep their type; any other one as a value."""
        if not isinstance(x, Known | Host) or x.example.is_floating_point() or x.example.dtype == torch.bool:
            return self.value(x)
        fetch = x.fetch

        def fetch_array(arguments: Arguments) -> HostArray:
            return host.array_of(fetch(arguments))

        hints = Hints(host.format_of(x.example, x.annotation, self.operands.sparsify))
        return self.quantised.integers(
            x.key, x.name, host.array_of(x.example), fetch_array, hints, constant=isinstance(x, Known)
        )

    def real(self, x: Value) -> Value:
        """Integers of a type of their own as real numbers, and any other value as it is."""
        form = scaled(self.build, self.build.resolve(x).expr)
        return x if form is None or form.is_real else self.quantised.dequantise(x, 1)

    def shape(self, x: Operand) -> list[int]:
        """As in PyTorch."""
        return self.operands.shape(x)

    def constant(self, held: Tensor, name: str, hints: Hints = NO_HINTS) -> Value:
        """An input that has the same data in every run."""
        return self.operands.constant(held, name, hints)

    def materialized(self, x: Operand) -> Value:
        """A value that is a tensor or a number by itself, and may be used several times."""
        return self.tensors.materialized(self.value(x))

    def elementwise(self, make: Callable[..., Expr], *operands: Operand, condition: bool = False) -> Value:
        """What `make` makes of the operands' expressions, broadcast as PyTorch does; finite numbers stay
        numbers.

        Args:
            condition: the result has the values 0 and 1 only.
        """
        given = [x if is_finite_number(x) else self.value(x) for x in operands]
        return self.operations.elementwise(make, *given, condition=condition)

    def add(self, a: Operand, b: Operand, factor: float = 1) -> Value:
        """The sum, the second operand times a number."""
        if isinstance(b, Known) and b.held is None and host.uniform(b.dense()) == 0:
            one, other = self.shape(a), self.shape(b)
            rank = max(len(one), len(other))
            padded = [[1] * (rank - len(sizes)) + sizes for sizes in (one, other)]
            return self.views.expand(self.value(a), [max(x, y) for x, y in zip(*padded, strict=True)])
        return self.elementwise(lambda x, y: x + (y if factor == 1 else y * factor), a, b)

    def add_to_sum(self, x: Value, term: Operand, factor: float = 1) -> Value:
        """A sum of products and another term, in the statement of the sum if nobody has read that."""
        return self.operations.fused_term(x, self.add(x, term, factor))

    def call(self, name: str, *operands: object) -> Any:
        """What another operator of PyTorch gives, by its name in `torch.ops.aten`.

        Raises:
            UnsupportedError: for one that has no importer of its own.
        """
        if (handler := OPERATORS.get(f"aten.{name}")) is not None:
            return handler(self, *operands)
        if (function := DECOMPOSED.get(f"aten.{name}")) is None or self.inlined is None:
            raise UnsupportedError(f"calls '{name}', which no importer knows as a whole", "call its parts")
        like = torch.utils._pytree.tree_map(self._like, operands)
        return self.inlined(function, (like, {}), (operands, {}))

    def _like(self, x: object) -> object:
        """A tensor of its shape that takes no room, for a tensor."""
        if isinstance(x, Known | Host):
            return torch.zeros((), dtype=x.example.dtype).expand(x.example.shape)
        return torch.zeros(()).expand(self.shape(x)) if isinstance(x, Value) else x

    @property
    def places_of_extremes(self) -> UnsupportedError:
        """Those of the greatest or the least elements, which nothing in the hardware finds yet."""
        return self.missing("the places of extremes", "look for them after the run")

    def missing(self, what: str, way_out: str) -> UnsupportedError:
        """A result that is not there, but may be asked for."""
        return UnsupportedError(f"gives {what}, for which there is no hardware yet", way_out)
