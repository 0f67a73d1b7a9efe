"""What index tensors name: elements that are taken from there or put there, as products with matrices that
have a one for each index, and as the greatest or least under them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from samhw.importers.core import UnsupportedError, letters
from samhw.importers.torch.decompositions.windows import spread
from samhw.importers.torch.own_operators import NOTHING, contract, counts, elsewhere, hot, line, picked
from samhw.importers.torch.registry import decomposition

__all__: list[str] = []

_NONE, _MEAN, _GREATEST = 0, 1, 2
"""The reductions of losses, of which 2 is the sum, and the modes of bags, of which 0 is."""

# Taken


@decomposition("index_select")
def index_select(x: Tensor, dim: int, ids: Tensor) -> Any:
    return picked(x, dim, ids)


@decomposition("index", "_unsafe_index")
def index(x: Tensor, indices: Sequence[Tensor | None]) -> Any:
    given = [dim for dim, named in enumerate(indices) if named is not None]
    ids = [named for named in indices if named is not None]
    if any(named.dtype == torch.bool for named in ids):
        raise UnsupportedError("picks elements by a condition", "multiply by the condition")
    ones = hot(*ids, sizes=[x.shape[dim] for dim in given])
    own, places = letters(x.dim()), letters(ones.dim() - len(given), "A")
    picks = "".join(own[dim] for dim in given)
    out = own[: given[0]] + places + own[given[-1] + 1 :]
    if not _are_neighbours(given):
        out = places + "".join(letter for letter in own if letter not in picks)
    return contract(f"{places}{picks},{own}->{out}", ones, x)


def _are_neighbours(dims: Sequence[int]) -> bool:
    """Whether the places of dimensions stand where these do, and not in front."""
    return list(dims) == list(range(dims[0], dims[-1] + 1))


@decomposition("gather")
def gather(x: Tensor, dim: int, ids: Tensor, **_: object) -> Any:
    """Along a dimension, for each element of an index tensor its own."""
    dim %= x.dim()
    for other, size in enumerate(ids.shape):
        x = x if other == dim else x.narrow(other, 0, size)
    own = letters(x.dim())
    out = own[:dim] + "Z" + own[dim + 1 :]
    return contract(f"{out}{own[dim]},{own}->{out}", hot(ids, sizes=[x.shape[dim]]), x)


@decomposition("_embedding_bag", "_embedding_bag_forward_only", "embedding_bag")
def embedding_bag(
    weight: Tensor,
    ids: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Any, None, None, None]:
    """The sum (mode 0), the mean (1) or the greatest (2) of the rows of each bag, which begins at its offset;
    0 for an empty one. Sum and mean are one product of three."""
    bags = len(offsets) - include_last_offset
    bag = torch.searchsorted(offsets, torch.arange(len(ids)), right=True) - 1
    is_out = bag >= bags
    if padding_idx is not None and padding_idx >= 0:
        is_out = is_out | (ids == padding_idx)
    ones = hot(torch.where(is_out, NOTHING, bag), sizes=[bags], order=[1, 0], over=1)
    if mode == _GREATEST:
        return contract("An,nd->Ad", ones, picked(weight, 0, ids), reduction="max"), None, None, None
    weights = [] if per_sample_weights is None else [per_sample_weights]
    if mode == _MEAN:
        number = torch.zeros(len(offsets), dtype=torch.int64).scatter_add(0, bag, (~is_out).long())
        weights.append(1 / number[bag].clamp_min(1))
    equation = f"An,nv{',n' * len(weights)},vd->Ad"
    return contract(equation, ones, hot(ids, sizes=[len(weight)]), *weights, weight), None, None, None


@decomposition("nll_loss_forward", "nll_loss2d_forward")
def nll_loss(
    x: Tensor, classes: Tensor, weight: Tensor | None, reduction: int, ignored: int
) -> tuple[Any, Any]:
    """Less the logarithms at the classes that indices name, each with the weight of its class; the mean is by
    the sum of these weights, which is the other result."""
    own = letters(x.dim())
    kind = own[min(1, x.dim() - 1)]
    rows = own.replace(kind, "")
    ones = hot(torch.where(classes == ignored, NOTHING, classes), sizes=[x.shape[own.index(kind)]])
    weights = [] if weight is None else [weight]
    letter = "" if weight is None else f",{kind}"
    out = rows if reduction == _NONE else ""
    loss = -contract(f"{rows}{kind}{letter},{own}->{out}", ones, *weights, x)
    if weight is None:
        total = (classes != ignored).sum().to(x.dtype)
    else:
        total = contract(f"{rows}{kind}{letter}->", ones, *weights)
    return loss / total if reduction == _MEAN else loss, total


@decomposition("histc")
def histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """How many elements are in each of some bins of equal width, the last of which has its upper end too."""
    if min >= max:
        raise UnsupportedError("takes the bins from the data", "say where they begin and end")
    row = x.flatten()
    number = ((row - min) * (bins / (max - min))).floor()
    # Out of range there is no bin.
    inside = torch.where(row < min, bins, torch.where(row == max, bins - 1, number))
    return counts(inside, sizes=[bins], order=[1, 0], over=1).to(x.dtype)


@decomposition("grouped_mm_fallback", library="transformers")
def grouped_mm(x: Tensor, weight: Tensor, offs: Tensor) -> Any:
    """Rows in groups, each by a matrix of its own; a group ends before its place in `offs`. The experts
    of transformers are that, after a sort of the rows by their experts."""
    groups = (offs <= torch.arange(len(x))[:, None]).sum(1)
    return contract("se,sk,ekn->sn", hot(groups, sizes=[len(offs)]), x, weight)


# Put


@dataclass(frozen=True)
class Goals:
    """Places in a tensor.

    Attributes:
        placed: what goes to each place, and 0 where nothing does: of the source, and of what several elements
            for one place become: their `sum`, the greatest or the least (`max`, `min`), or the `last` one.
        counts: how many elements go to each place, in a shape that broadcasts to the tensor's.
    """

    placed: Callable[[Tensor, str], Any]
    counts: Callable[[], Any]


def _under(equation: str, ones: Tensor, source: Tensor, kind: str) -> Any:
    return contract(equation, ones, source, reduction=kind if kind in ("max", "min") else "sum")


def at_indices(x: Tensor, indices: Sequence[Tensor | None]) -> Goals:
    """Those that index tensors of the first dimensions name together, for all that stands along the others;
    None is for a dimension that is taken as a whole."""
    dims = [dim for dim, named in enumerate(indices) if named is not None]
    ids = [named for named in indices if named is not None]
    sizes, shape = [x.shape[dim] for dim in dims], np.broadcast_shapes(*(each.shape for each in ids))
    first, count = len(shape), len(dims)
    order = [*range(first, first + count), *range(first)]
    own, inside = letters(x.dim()), letters(first, "A")
    front = dims[0] if _are_neighbours(dims) else 0
    rest = [dim for dim in range(x.dim()) if dim not in dims]
    goal = "".join([*(own[dim] for dim in rest[:front]), inside, *(own[dim] for dim in rest[front:])])
    target = [*(x.shape[dim] for dim in rest[:front]), *shape, *(x.shape[dim] for dim in rest[front:])]

    def placed(source: Tensor, kind: str) -> Any:
        ones = hot(*ids, sizes=sizes, order=order, over=first, once=kind == "last")
        named = "".join(own[dim] for dim in dims)
        return _under(f"{named}{inside},{goal}->{own}", ones, source.expand(target), kind)

    def number() -> Any:
        found = counts(*ids, sizes=sizes, order=order, over=first)
        return found.reshape([size if dim in dims else 1 for dim, size in enumerate(x.shape)])

    return Goals(placed, number)


def at(x: Tensor, dim: int, ids: Tensor) -> Goals:
    """Those along a dimension that a list of indices names."""
    if not x.dim():
        raise UnsupportedError("takes a tensor without dimensions", "give it one of shape (1,)")
    return at_indices(x, [*[None] * (dim % x.dim()), ids])


def at_each(x: Tensor, dim: int, ids: Tensor) -> Goals:
    """Those along a dimension that an index tensor of the same number of dimensions names: a list of them
    where it repeats one along all others."""
    dim %= max(1, x.dim())
    others = [d for d in range(x.dim()) if d != dim]
    if all(ids.shape[d] == x.shape[d] and (ids.shape[d] == 1 or not ids.stride(d)) for d in others):
        return at(x, dim, line(ids, dim))
    own, size = letters(x.dim()), x.shape[dim]
    out = own[:dim] + "Z" + own[dim + 1 :]
    order = [*range(dim), ids.dim(), *range(dim + 1, ids.dim()), dim]

    def grown(made: Tensor) -> Tensor:
        """With zeros where no index reaches along the other dimensions."""
        behind = [want - have for want, have in zip(x.shape, made.shape, strict=True)]
        return F.pad(made, [n for more in reversed(behind) for n in (0, more)]) if any(behind) else made

    def placed(source: Tensor, kind: str) -> Tensor:
        ones = hot(ids, sizes=[size], order=order, over=1, once=kind == "last")
        return grown(_under(f"{out}{own[dim]},{own}->{out}", ones, source, kind))

    return Goals(placed, lambda: grown(counts(ids, sizes=[size], order=order, over=1)))


def at_slice(x: Tensor, dim: int, places: range) -> Goals:
    """Those along a dimension that a slice names."""
    number, size = torch.arange(x.shape[dim]), x.shape[dim]
    behind = x.dim() - 1 - dim

    def placed(source: Tensor, kind: str) -> Any:
        if places.step != 1:
            return at(x, dim, torch.arange(places.start, places.stop, places.step)).placed(source, kind)
        return F.pad(source, [*[0, 0] * behind, places.start, size - places.stop])

    def named() -> Tensor:
        found = (
            (number >= places.start) & (number < places.stop) & ((number - places.start) % places.step == 0)
        )
        return found.float().reshape(-1, *[1] * behind)

    return Goals(placed, named)


def put(x: Tensor, places: Goals, source: Tensor, kind: str, *, include_self: bool = True) -> Any:
    """`x` with other elements at some places.

    Args:
        kind: what several elements for one place become: `sum`, `mean`, `amax`, `amin` or the `last` one.
        include_self: what stands at the place counts too, but for the last one; where nothing goes, it stays
            in any case.
    """
    if kind == "last":
        made = places.placed(source, kind) if source.dim() else source
    elif kind in ("sum", "mean"):
        made = places.placed(source, "sum")
        made = made + x if include_self else made
        if kind == "sum" and include_self:
            return made
        if kind == "mean":
            made = made / torch.maximum(places.counts() + int(include_self), torch.ones(()))
    elif kind in ("amax", "amin"):
        made = places.placed(source, kind[1:])
        made = getattr(torch, f"{kind[1:]}imum")(made, x) if include_self else made
    else:
        raise UnsupportedError(f"scatters by '{kind}'", "use sum, mean, amax or amin")
    # Where nothing goes, the greatest is the greater one of 0 and of what stands there.
    return elsewhere(made, x, places.counts())


def _tensor(source: Tensor | float) -> Tensor:
    return source if isinstance(source, Tensor) else torch.full((), float(source))


@decomposition("index_put", "_unsafe_index_put")
def index_put(x: Tensor, indices: Sequence[Tensor | None], source: Tensor, accumulate: bool = False) -> Any:
    given = [named for named in indices if named is not None]
    if any(0 in each.shape for each in (source, *given)):
        return x
    if any(named.dtype == torch.bool for named in given):
        if len(given) == 1 and source.numel() == 1 and not accumulate:
            behind = x.dim() - indices.index(given[0]) - given[0].dim()
            return torch.where(given[0].reshape(*given[0].shape, *[1] * behind), source, x)
        raise UnsupportedError("puts several elements by a condition", "use torch.where")
    return put(x, at_indices(x, indices), source, "sum" if accumulate else "last")


@decomposition("index_fill")
def index_fill(x: Tensor, dim: int, ids: Tensor, number: Tensor | float) -> Any:
    return put(x, at(x, dim, ids), _tensor(number), "last") if ids.numel() else x


@decomposition("index_reduce")
def index_reduce(
    x: Tensor, dim: int, ids: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Any:
    return put(x, at(x, dim, ids), source, reduce, include_self=include_self) if source.numel() else x


@decomposition("scatter_reduce")
def scatter_reduce(
    x: Tensor, dim: int, ids: Tensor, source: Tensor | float, reduce: str, *, include_self: bool = True
) -> Any:
    """As much of the source as there are indices."""
    held = _tensor(source)
    held = held if held.dim() or reduce == "last" else held.expand(ids.shape)
    for d, size in enumerate(ids.shape if held.dim() else ()):
        held = held.narrow(d, 0, size)
    return put(x, at_each(x, dim, ids), held, reduce, include_self=include_self) if ids.numel() else x


@decomposition("scatter")
def scatter(x: Tensor, dim: int, ids: Tensor, source: Tensor | float, *, reduce: str = "last") -> Any:
    """A number, or elements of a tensor, to a place each."""
    return scatter_reduce(x, dim, ids, source, {"add": "sum", "multiply": "prod"}.get(reduce, reduce))


@decomposition("scatter_add")
def scatter_add(x: Tensor, dim: int, ids: Tensor, source: Tensor) -> Any:
    return scatter_reduce(x, dim, ids, source, "sum")


@decomposition("slice_scatter")
def slice_scatter(
    x: Tensor,
    source: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Any:
    places = range(*slice(start, end, step).indices(x.shape[dim]))
    if len(places) in (0, x.shape[dim]):
        return source if places else x
    return put(x, at_slice(x, dim % x.dim(), places), source, "last")


@decomposition("select_scatter")
def select_scatter(x: Tensor, source: Tensor, dim: int, place: int) -> Tensor:
    dim %= x.dim()
    is_there = torch.arange(x.shape[dim]) == place % x.shape[dim]
    return torch.where(spread(is_there, x.dim() - 1 - dim), source.unsqueeze(dim), x)


@decomposition("diagonal_scatter")
def diagonal_scatter(x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Along each row, or each column, what the diagonal has there."""
    moved = x.movedim((dim1, dim2), (-2, -1))
    rows, columns = moved.shape[-2:]
    is_there = torch.arange(columns) - torch.arange(rows)[:, None] == offset
    size = rows if offset >= 0 else columns
    line = F.pad(source, (0, size - source.shape[-1])).unsqueeze(-1 if offset >= 0 else -2)
    return torch.where(is_there, line, moved).movedim((-2, -1), (dim1, dim2))


@decomposition("as_strided_scatter")
def as_strided_scatter(
    x: Tensor, source: Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None = None
) -> Any:
    """To the places that a view by strides has in the elements as they lie."""
    if not x.is_contiguous():
        raise UnsupportedError("writes by strides where elements lie in another order", "call contiguous()")
    places = torch.arange(x.numel()).as_strided(size, stride, offset or 0).reshape(-1)
    return index_put(x.reshape(-1), [places], source.reshape(-1)).reshape(x.shape)


@decomposition("copy")
def copy(x: Tensor, source: Tensor, *_: object) -> Tensor:
    return source.expand(x.shape)
