"""The outputs of a module: what the program computes for them, and how its results are put back."""

from collections.abc import Callable, Sequence

import torch

from samhw.errors import InputError
from samhw.importers.core import (
    Arguments,
    Build,
    Emitted,
    PlacedResult,
    Tensors,
    Value,
    as_results,
    placed_result,
)
from samhw.importers.torch.complex_pair import Complex
from samhw.importers.torch.imported import OutputSource
from samhw.importers.torch.value import Host, Known
from samhw.lang.expr import Access, Literal

__all__ = ["Outputs"]


class Outputs:
    """A module's outputs, in its order."""

    def __init__(self, build: Build, tensors: Tensors, outputs: Sequence[object]) -> None:
        self.build = build
        build.scope, build.result_name = "", "output"
        values = [output for output in outputs if isinstance(output, Value)]
        if any(value.mask is not None for value in values):
            raise InputError("An output of the module is -inf at places; mask it after the run.")
        made = iter(as_results(build, tensors, values, "output"))
        self._outputs = [next(made) if isinstance(output, Value) else output for output in outputs]

    @property
    def computed(self) -> list[str]:
        """The results that the program has to have, by name."""
        values = [output.expr for output in self._outputs if isinstance(output, Value)]
        return [expr.tensor for expr in values if isinstance(expr, Access)]

    def sources(self, emitted: Emitted) -> Sequence[OutputSource]:
        """The outputs, with their modes as the program stores them."""
        return [OutputSource(self._source(output, emitted)) for output in self._outputs]

    def _source(self, output: object, emitted: Emitted) -> PlacedResult | Callable[[Arguments], object]:
        if isinstance(output, Value) and isinstance(output.expr, Access):
            return placed_result(self.build, output, emitted)
        if isinstance(output, Value):
            assert isinstance(output.expr, Literal)
            held = torch.full(self.build.shape(output), float(output.expr.value))
            return lambda _: held
        if isinstance(output, Known):
            tensor = output.dense()
            return lambda _: tensor
        if isinstance(output, Host):
            return output.fetch
        if isinstance(output, Complex):
            raise InputError("An output of the module is complex; return torch.view_as_real() of it.")
        return lambda _: output
