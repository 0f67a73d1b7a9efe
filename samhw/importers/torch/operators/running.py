"""Running reductions: of all elements along a dimension up to each."""

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import operator
from samhw.lang.expr import RunningReduction

__all__: list[str] = []


@operator("cumsum", "cumsum_")
def import_cumsum(importer: Importer, x: Operand, dim: int, **_: object) -> Value:
    return _running(importer, x, dim, "sum")


@operator("cumprod", "cumprod_")
def import_cumprod(importer: Importer, x: Operand, dim: int, **_: object) -> Value:
    return _running(importer, x, dim, "prod")


@operator("cummax", "cummin", places=True)
def import_cummax(importer: Importer, x: Operand, dim: int) -> tuple[Value, UnsupportedError]:
    """The values; nobody has asked for their places."""
    found = _running(importer, x, dim, importer.operator[-3:])
    return found, importer.places_of_extremes


def _running(importer: Importer, x: Operand, dim: int, reduction: str) -> Value:
    """A statement along an index that no view splits any more."""
    build, tensors = importer.build, importer.tensors
    held = build.resolve(tensors.expanded(importer.materialized(x)))
    if not held.modes or not held.modes[dim]:
        return held
    if len(held.modes[dim]) > 1:
        held = tensors.reshaped(held)
    held, access = tensors.as_tensor(held)
    (index,) = held.modes[dim]
    build.axes.fix([index])
    return Value(held.modes, build.statement(access.names, RunningReduction(reduction, index, access)))
