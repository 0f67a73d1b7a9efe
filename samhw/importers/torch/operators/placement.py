"""Where elements go: to places that index tensors name, by a product with the matrix of the places, or by the
greatest or least under it; or into a slice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch

from samhw.importers.core import UnsupportedError, Value, contract
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.operators.gather import letters
from samhw.importers.torch.value import Known
from samhw.lang.functions import eq, select
from samhw.lang.functions import max as max_
from samhw.lang.functions import min as min_

__all__ = ["AtEach", "AtIndices", "AtSlice", "Placement", "along", "at", "followed_by", "put"]


class Placement(Protocol):
    """Places in a tensor."""

    def placed(self, source: Operand, kind: str) -> Value:
        """What goes to each place, and 0 where nothing does: the `sum`, the greatest or the least (`max`,
        `min`) or the `last` of several."""
        ...

    def counts(self) -> Value:
        """How many elements go to each place, in a shape that broadcasts to the tensor's."""
        ...


@dataclass(frozen=True)
class AtIndices:
    """Places that index tensors name together, for all that stands along the other dimensions.

    Attributes:
        shape: of the tensor that has the places.
        indices: for its first dimensions; None for one that is taken as a whole.
    """

    importer: Importer
    shape: Sequence[int]
    indices: Sequence[Operand | None]

    @property
    def dims(self) -> list[int]:
        """The dimensions that are indexed."""
        return [dim for dim, index in enumerate(self.indices) if index is not None]

    @property
    def _given(self) -> list[Operand]:
        return [index for index in self.indices if index is not None]

    @property
    def _sizes(self) -> list[int]:
        return [self.shape[dim] for dim in self.dims]

    def placed(self, source: Operand, kind: str) -> Value:
        importer, shape, dims = self.importer, self.shape, self.dims
        matrix = importer.indices.placing_of(self._given, self._sizes, once=kind == "last")
        places = importer.build.shape(matrix)[len(dims) :]
        own, inside = letters(len(shape), "a"), letters(len(places), "A")
        # The places of dimensions that are apart stand in front.
        front = dims[0] if dims == list(range(dims[0], dims[-1] + 1)) else 0
        rest = [dim for dim in range(len(shape)) if dim not in dims]
        order = [*rest[:front], None, *rest[front:]]
        goal = "".join(inside if dim is None else own[dim] for dim in order)
        target = [size for dim in order for size in (places if dim is None else (shape[dim],))]
        spread = importer.views.expand(importer.value(source), target)
        named = "".join(own[dim] for dim in dims)
        return _under(importer, f"{named}{inside},{goal}->{own}", matrix, spread, kind)

    def counts(self) -> Value:
        found = self.importer.indices.counts_of(self._given, self._sizes)
        modes = dict(zip(self.dims, found.modes, strict=True))
        return replace(found, modes=tuple(modes.get(dim, ()) for dim in range(len(self.shape))))


@dataclass(frozen=True)
class AtEach:
    """Places along a dimension, for each element of an index tensor its own.

    Attributes:
        shape: of the tensor that has the places.
        ids: with as many dimensions, and at most as long as those beside `dim`.
    """

    importer: Importer
    shape: Sequence[int]
    dim: int
    ids: Operand

    def placed(self, source: Operand, kind: str) -> Value:
        importer, dim = self.importer, self.dim
        own = letters(len(self.shape), "a")
        out = own[:dim] + "Z" + own[dim + 1 :]
        matrix = importer.indices.placing(self.ids, dim, self.shape[dim], once=kind == "last")
        return self._grown(
            _under(importer, f"{out}{own[dim]},{own}->{out}", matrix, importer.value(source), kind)
        )

    def counts(self) -> Value:
        return self._grown(self.importer.indices.counts(self.ids, self.dim, self.shape[self.dim]))

    def _grown(self, made: Value) -> Value:
        """With zeros where no index reaches along the other dimensions."""
        have = self.importer.build.shape(made)
        behind = [want - size for want, size in zip(self.shape, have, strict=True)]
        return _padded(self.importer, made, [(0, size) for size in behind]) if any(behind) else made


@dataclass(frozen=True)
class AtSlice:
    """Places along a dimension that a slice names.

    Attributes:
        shape: of the tensor that has the places.
    """

    importer: Importer
    shape: Sequence[int]
    dim: int
    places: range

    def placed(self, source: Operand, kind: str) -> Value:
        if self.places.step != 1:
            ids = Known(torch.tensor(self.places), "places")
            return AtIndices(self.importer, self.shape, _from(self.dim, ids)).placed(source, kind)
        around = [(0, 0)] * len(self.shape)
        around[self.dim] = self.places.start, self.shape[self.dim] - self.places.stop
        return _padded(self.importer, source, around)

    def counts(self) -> Value:
        named = torch.zeros(self.shape[self.dim])
        named[list(self.places)] = 1
        return followed_by(self.importer.value(Known(named, "places")), len(self.shape) - 1 - self.dim)


def at(importer: Importer, x: Operand, dim: int, ids: Operand) -> AtIndices:
    """The places in `x` along a dimension that a list of indices names."""
    shape = importer.shape(x)
    if not shape:
        raise UnsupportedError("takes a tensor without dimensions", "give it one of shape (1,)")
    return AtIndices(importer, shape, _from(dim % len(shape), ids))


def along(importer: Importer, x: Operand, dim: int, ids: Operand) -> Placement:
    """The places in `x` along a dimension that an index tensor of the same number of dimensions names: a list
    of them where it repeats one along all others."""
    shape, given = importer.shape(x), importer.shape(ids)
    dim %= max(1, len(shape))
    line = importer.indices.repeated_line(ids, dim)
    is_whole = all(have == want for d, (have, want) in enumerate(zip(given, shape, strict=True)) if d != dim)
    if line is not None and is_whole:
        return at(importer, x, dim, line)
    return AtEach(importer, shape, dim, ids)


def put(
    importer: Importer,
    x: Operand,
    places: Placement,
    source: Operand,
    kind: str,
    *,
    include_self: bool = True,
) -> Value:
    """`x` with other elements at some places.

    Args:
        kind: what several elements for one place become: `sum`, `mean`, `amax`, `amin` or the `last` one.
        include_self: what stands at the place counts too, but for the last one; where nothing goes, it stays
            in any case.
    """
    if kind == "last":
        made = source if not importer.shape(source) else places.placed(source, "last")
    elif kind in ("sum", "mean"):
        made = places.placed(source, "sum")
        if include_self:
            made = importer.add(made, x)
        if kind == "sum" and include_self:
            return made
        if kind == "mean":
            before = int(include_self)
            counts = importer.elementwise(lambda n: max_(n + before, 1), places.counts())
            made = importer.elementwise(lambda e, n: e / n, made, counts)
    elif kind in ("amax", "amin", "max", "min"):
        function, short = (max_, "max") if "max" in kind else (min_, "min")
        made = places.placed(source, short)
        if include_self:
            made = importer.elementwise(function, made, x)
    else:
        raise UnsupportedError(f"scatters by '{kind}'", "use sum, mean, amax or amin")
    if isinstance(made, Value) and made is not source and _is_zero(x):
        return made
    # Where nothing goes, the greatest is the greater one of 0 and of what stands there.
    return importer.elementwise(lambda n, old, new: select(eq(n, 0), old, new), places.counts(), x, made)


def followed_by(x: Value, count: int) -> Value:
    """With dimensions of extent 1 behind it."""
    return replace(x, modes=(*x.modes, *[()] * count))


def _from(dim: int, ids: Operand) -> list[Operand | None]:
    """Indices of the first dimensions, of which one is indexed."""
    return [*[None] * dim, ids]


def _is_zero(x: Operand) -> bool:
    return isinstance(x, Known) and x.held is None and not x.dense().any()


def _under(importer: Importer, equation: str, matrix: Value, source: Value, kind: str) -> Value:
    """The source by the matrix of its places."""
    is_extreme = kind in ("max", "min")
    reduction = kind if is_extreme else "sum"
    return contract(importer.tensors, equation, matrix, source, reduction=reduction, by_first=is_extreme)


def _padded(importer: Importer, x: Operand, around: Sequence[tuple[int, int]]) -> Value:
    """With zeros before and behind along each dimension."""
    found: Value = importer.call("constant_pad_nd", x, [n for pair in reversed(around) for n in pair])
    return found
