"""What goes to the places that an index tensor names: a product with its matrix, or the greatest or least
under that."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from samhw.frontend.functions import eq, select
from samhw.frontend.functions import max as max_
from samhw.frontend.functions import min as min_
from samhw.importers.core import UnsupportedError, Value, contract
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.operators.gather import letters
from samhw.importers.torch.registry import operator
from samhw.importers.torch.value import Known

__all__: list[str] = []


@operator("index_add", "index_add_")
def import_index_add(
    importer: Importer, x: Operand, dim: int, ids: Operand, source: Operand, *, alpha: float = 1
) -> Value:
    if 0 in importer.shape(source):
        return importer.value(x)
    made = _line(importer, x, dim, ids).placed(importer.value(source), "sum")
    return importer.add(made, x) if alpha == 1 else importer.add(importer.value(x), made, alpha)


@operator("scatter_add", "scatter_add_")
def import_scatter_add(importer: Importer, x: Operand, dim: int, ids: Operand, source: Operand) -> Value:
    return import_scatter_reduce(importer, x, dim, ids, source, "sum")


@operator("scatter_reduce", "scatter_reduce_")
def import_scatter_reduce(
    importer: Importer,
    x: Operand,
    dim: int,
    ids: Operand,
    source: Operand,
    reduce: str,
    *,
    include_self: bool = True,
) -> Value:
    if 0 in importer.shape(ids):
        return importer.value(x)
    dim %= max(1, len(importer.shape(x)))
    held = importer.value(source)
    for d, size in enumerate(importer.shape(ids)):
        held = importer.views.slice(held, d, 0, size)
    line = importer.indices.repeated_line(ids, dim)
    others = [size for d, size in enumerate(importer.shape(x)) if d != dim]
    is_whole = others == [size for d, size in enumerate(importer.shape(ids)) if d != dim]
    if line is not None and is_whole:
        scatter = _line(importer, x, dim, line)
    else:
        scatter = _Scatter(importer, importer.shape(x), dim, ids, is_line=False)
    return _reduced(importer, x, scatter, held, reduce, include_self)


@operator("index_reduce", "index_reduce_")
def import_index_reduce(
    importer: Importer,
    x: Operand,
    dim: int,
    ids: Operand,
    source: Operand,
    reduce: str,
    *,
    include_self: bool = True,
) -> Value:
    if 0 in importer.shape(source):
        return importer.value(x)
    scatter = _line(importer, x, dim, ids)
    return _reduced(importer, x, scatter, importer.value(source), reduce, include_self)


@dataclass
class _Scatter:
    """Places that indices name along a dimension of a result.

    Attributes:
        ids: with as many dimensions as the result; or a list for all that stands along the other dimensions.
    """

    importer: Importer
    shape: Sequence[int]
    dim: int
    ids: Operand
    is_line: bool

    def placed(self, source: Value, reduction: str) -> Value:
        """The sum, the greatest or the least of what goes to a place; 0 where nothing does."""
        importer, dim, size = self.importer, self.dim, self.shape[self.dim]
        own = letters(len(self.shape), "a")
        out = own[:dim] + "Z" + own[dim + 1 :]
        if self.is_line:
            matrix, named = importer.indices.placing(self.ids, 0, size), "Z"
        else:
            matrix, named = importer.indices.placing(self.ids, dim, size), out
        equation = f"{named}{own[dim]},{own}->{out}"
        is_sum = reduction == "sum"
        made = contract(importer.tensors, equation, matrix, source, reduction=reduction, by_first=not is_sum)
        return self.grown(made)

    def counts(self) -> Value:
        """How many elements go to each place, in a shape that broadcasts to the result's."""
        size = self.shape[self.dim]
        if not self.is_line:
            return self.grown(self.importer.indices.counts(self.ids, self.dim, size))
        found = self.importer.indices.counts(self.ids, 0, size)
        return replace(found, modes=(*found.modes, *[()] * (len(self.shape) - self.dim - 1)))

    def grown(self, made: Value) -> Value:
        """With zeros where no index reaches along the other dimensions."""
        have = self.importer.build.shape(made)
        behind = [want - size for want, size in zip(self.shape, have, strict=True)]
        if not any(behind):
            return made
        padding = [number for size in reversed(behind) for number in (0, size)]
        found = self.importer.call("constant_pad_nd", made, padding)
        assert isinstance(found, Value)
        return found


def _line(importer: Importer, x: Operand, dim: int, ids: Operand) -> _Scatter:
    """By a list of indices."""
    shape = importer.shape(x)
    if not shape:
        raise UnsupportedError("takes a tensor without dimensions", "give it one of shape (1,)")
    return _Scatter(importer, shape, dim % len(shape), ids, is_line=True)


def _reduced(
    importer: Importer, x: Operand, scatter: _Scatter, source: Value, reduce: str, include_self: bool
) -> Value:
    """What is scattered, and what stands there before: `include_self` says whether that counts too; where
    nothing goes, it stays in any case."""
    is_zero = isinstance(x, Known) and x.held is None and not x.dense().any()
    if reduce == "sum" and include_self:
        return importer.add(scatter.placed(source, "sum"), x)
    if reduce in ("sum", "mean"):
        made = scatter.placed(source, "sum")
        if reduce == "mean":
            before = 1 if include_self else 0
            counts = importer.elementwise(lambda n: max_(n + before, 1), scatter.counts())
            made = importer.add(made, x) if include_self else made
            made = importer.elementwise(lambda e, n: e / n, made, counts)
    elif reduce in ("amax", "amin", "max", "min"):
        function, kind = (max_, "max") if "max" in reduce else (min_, "min")
        made = scatter.placed(source, kind)
        if include_self:
            made = importer.elementwise(function, made, x)
    else:
        raise UnsupportedError(f"scatters by '{reduce}'", "use sum, mean, amax or amin")
    if is_zero:
        return made
    # Where nothing goes, the greatest is the greater one of 0 and of what stands there.
    return importer.elementwise(lambda n, old, new: select(eq(n, 0), old, new), scatter.counts(), x, made)
