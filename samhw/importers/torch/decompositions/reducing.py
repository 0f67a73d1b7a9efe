"""Norms, distances, softmax and attention, and what puts elements in order."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from samhw.importers.core import UnsupportedError, letters
from samhw.importers.torch.decompositions.windows import spread
from samhw.importers.torch.own_operators import alone, contract, taken_apart
from samhw.importers.torch.registry import decomposition

__all__: list[str] = []

Dims = int | Sequence[int] | None


def chosen(x: Tensor, dim: Dims) -> list[int]:
    """The dimensions that are reduced, by default all."""
    if dim is None or dim == []:
        return list(range(x.dim()))
    return [dim] if isinstance(dim, int) else list(dim)


# Variances and norms


def variance(
    x: Tensor,
    dim: Dims | bool = None,
    correction: float | None = 1,
    keepdim: bool = False,
    *,
    unbiased: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The mean of the squares of the differences from the mean, that mean, and the differences."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    correction = correction if unbiased is None else float(unbiased)
    dims = chosen(x, dim)
    size = math.prod(x.shape[n] for n in dims)
    number = size - (1 if correction is None else correction)
    if number <= 0:
        raise UnsupportedError(
            f"takes the variance of {size} elements with a correction of {size - number:g}, which is NaN or "
            "infinite",
            "set correction=0, or give it more elements",
        )
    mean = x.mean(dims, keepdim=True)
    apart = x - mean
    found = (apart * apart * (1 / number)).sum(dims, keepdim=keepdim)
    return found, mean if keepdim else mean.squeeze(dims), apart


@decomposition("var")
def var(x: Tensor, *given: Any, **named: Any) -> Tensor:
    return variance(x, *given, **named)[0]


@decomposition("var_mean")
def var_mean(x: Tensor, *given: Any, **named: Any) -> tuple[Tensor, Tensor]:
    return variance(x, *given, **named)[:2]


def affine(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def along_channels(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """The same along the second dimension."""
    behind = x.dim() - 2
    return affine(x, *(None if held is None else spread(held, behind) for held in (weight, bias)))


def normalised(x: Tensor, dims: Sequence[int], eps: float) -> tuple[Any, Any, Tensor]:
    """(x - mean) / sqrt(variance + eps) along some dimensions; and what gradients take, the mean and one by
    the root."""
    found, mean, apart = variance(x, dims, 0, True)
    root = alone(torch.rsqrt(found + eps))
    return apart * root, mean, root


@decomposition("layer_norm")
def layer_norm(
    x: Tensor,
    shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    *_: object,
) -> Tensor:
    return affine(normalised(x, range(-len(shape), 0), eps)[0], weight, bias)


@decomposition("native_layer_norm")
def native_layer_norm(
    x: Tensor, shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    found, mean, root = normalised(x, range(-len(shape), 0), eps)
    return affine(found, weight, bias), mean, root


@decomposition("rms_norm")
def rms_norm(
    x: Tensor, shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    mean = (x * x).mean(list(range(-len(shape), 0)), keepdim=True)
    least = torch.finfo(x.dtype).eps if eps is None else eps
    return affine(x * alone(torch.rsqrt(mean + least)), weight, None)


@decomposition("group_norm")
def group_norm(
    x: Tensor,
    groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    *_: Any,
) -> Tensor:
    split = taken_apart(x, 1, (groups, -1))
    return along_channels(normalised(split, range(2, split.dim()), eps)[0].reshape(x.shape), weight, bias)


@decomposition("native_group_norm")
def native_group_norm(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, *sizes_groups_eps: Any
) -> tuple[Tensor, Tensor, Tensor]:
    groups, eps = sizes_groups_eps[-2:]
    split = taken_apart(x, 1, (groups, -1))
    found, mean, root = normalised(split, range(2, split.dim()), eps)
    return along_channels(found.reshape(x.shape), weight, bias), mean.flatten(1), root.flatten(1)


@decomposition("batch_norm")
def batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor | None,
    var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    *_: object,
) -> Tensor:
    """Scale and offset are constants, which are worked out in double precision."""
    if training or mean is None or var is None:
        raise UnsupportedError("takes the statistics of the batch", "call model.eval() before")
    scale = 1 / torch.sqrt(var.double() + eps)
    scale = scale if weight is None else scale * weight
    offset = -mean * scale if bias is None else bias - mean * scale
    return along_channels(x, scale.to(x.dtype), offset.to(x.dtype))


@decomposition("_native_batch_norm_legit_no_training")
def native_batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, None, None]:
    return batch_norm(x, weight, bias, mean, var, False, momentum, eps), None, None


@decomposition("_native_batch_norm_legit")
def batch_statistics(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, *rest: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """`rest`, where there are no running statistics: whether it trains, a momentum, and epsilon."""
    if len(rest) != 3:
        raise UnsupportedError("takes the statistics of the batch", "call model.eval() before")
    found, mean, root = normalised(x, [dim for dim in range(x.dim()) if dim != 1], rest[2])
    return along_channels(found, weight, bias), mean.flatten(), root.flatten()


@decomposition("linalg_vector_norm", "norm")
def vector_norm(
    x: Tensor, ord: float | None = 2, dim: Dims = None, keepdim: bool = False, **_: object
) -> Tensor:
    dims = chosen(x, dim)
    if ord in (2, None):
        return (x * x).sum(dims, keepdim=keepdim).sqrt()
    if ord == 0:
        return (x != 0).to(x.dtype).sum(dims, keepdim=keepdim)
    if ord in (math.inf, -math.inf):
        return x.abs().amax(dims, keepdim) if ord > 0 else x.abs().amin(dims, keepdim)
    if ord < 0:
        raise UnsupportedError(f"is a norm of order {ord}", "use -inf, or one that is not negative")
    size = x.abs()
    return (
        size.sum(dims, keepdim=keepdim) if ord == 1 else (size**ord).sum(dims, keepdim=keepdim) ** (1 / ord)
    )


@decomposition("cdist", "_cdist_forward", "_euclidean_dist")
def cdist(x: Tensor, y: Tensor, p: float = 2.0, *_: object) -> Tensor:
    """The norm of the difference of each row of one with each row of the other."""
    return vector_norm(x.unsqueeze(-2) - y.unsqueeze(-3), p, -1)


@decomposition("pdist", "_pdist_forward")
def pdist(x: Tensor, p: float = 2.0) -> Tensor:
    """The norm of the difference of each row with each one after it."""
    first, second = torch.triu_indices(len(x), len(x), 1)
    return vector_norm(x[first] - x[second], p, -1)


@decomposition("dot")
def dot(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum()


@decomposition("outer")
def outer(a: Tensor, b: Tensor) -> Tensor:
    return a.unsqueeze(1) * b


@decomposition("addbmm")
def addbmm(c: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Any:
    """The sum of a batch of products."""
    return contract("nij,njk->ik", a, b) * alpha + c * beta


# Exponentials, of which those of -inf are 0


@decomposition("log_softmax", "_log_softmax")
def log_softmax(x: Tensor, dim: int, *_: object, **__: object) -> Tensor:
    apart = x - x.amax(dim, True)
    return apart - apart.exp().sum(dim, keepdim=True).log()


@decomposition("logsumexp")
def logsumexp(x: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    dims = chosen(x, dim)
    most = x.amax(dims, True)
    # An infinity has no difference from itself.
    most = torch.where(most.abs() == math.inf, 0.0, most)
    sums = (x - most).exp().sum(dims, keepdim=keepdim)
    return sums.log() + (most if keepdim else most.squeeze(dims))


@decomposition("logcumsumexp")
def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    """A logsumexp for each place, over the row of a triangle: of the places up to it."""
    if not x.dim():
        return x.clone()
    dim %= x.dim()
    size = x.shape[dim]
    triangle = torch.ones(size, size, dtype=torch.bool).tril()
    triangle = triangle.reshape(size, size, *[1] * (x.dim() - 1 - dim))
    return logsumexp(torch.where(triangle, x.unsqueeze(dim), -math.inf), dim + 1)


@decomposition("scaled_dot_product_attention")
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Shapes (batch..., rows, features). Rows that are masked out entirely give 0."""
    if dropout_p:
        raise UnsupportedError("draws random numbers (dropout)", "call model.eval() before")
    if enable_gqa and query.shape[-3] != key.shape[-3]:
        times = query.shape[-3] // key.shape[-3]
        key, value = (each.repeat_interleave(times, -3) for each in (key, value))
    one, other, last = (letters(each.dim() - 2, "A") for each in (query, key, value))
    scores = contract(f"{one}ik,{other}jk->{max(one, other, key=len)}ij", query, key)
    scores = scores * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        causal = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril()
        scores = torch.where(causal, scores, -math.inf)
    if attn_mask is not None:
        is_condition = attn_mask.dtype == torch.bool
        scores = torch.where(attn_mask, scores, -math.inf) if is_condition else scores + attn_mask
    batch = letters(scores.dim() - 2, "A")
    return contract(f"{batch}ij,{last}jk->{batch}ik", scores.softmax(-1), value)


# Extremes, and elements in order


def extreme(kind: str, x: Tensor, dim: int | Tensor | None = None, keepdim: bool = False) -> Any:
    """Of two tensors, of all elements, or along a dimension with the places."""
    if isinstance(dim, Tensor):
        return getattr(torch, f"{kind}imum")(x, dim)
    if dim is None:
        return getattr(torch, f"a{kind}")(x)
    return getattr(torch, f"a{kind}")(x, dim, keepdim), getattr(torch, f"arg{kind}")(x, dim, keepdim)


decomposition("max")(partial(extreme, "max"))
decomposition("min")(partial(extreme, "min"))


@decomposition("sort")
def sort(x: Tensor, dim: int = -1, descending: bool = False, **_: object) -> tuple[Tensor, Tensor]:
    return torch.topk(x, x.shape[dim], dim, descending)


@decomposition("argsort")
def argsort(x: Tensor, dim: int = -1, descending: bool = False, **_: object) -> Tensor:
    return sort(x, dim, descending)[1]


@decomposition("kthvalue")
def kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> list[Tensor]:
    """The k-th least element along a dimension, counted from 1, and its place."""
    found = [each.narrow(dim, k - 1, 1) for each in torch.topk(x, k, dim, False)]
    return found if keepdim else [each.squeeze(dim) for each in found]


@decomposition("median")
def median(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower one of two in the middle, of a dimension or of all elements."""
    if dim is None:
        return kthvalue(x.flatten(), (x.numel() + 1) // 2, 0)[0]
    return kthvalue(x, (x.shape[dim] + 1) // 2, dim, keepdim)


@decomposition("bucketize")
def bucketize(x: Tensor, bounds: Tensor, *, right: bool = False, **_: object) -> Tensor:
    """How many of the bounds, which are in order, lie below each number; with `right` also those at it."""
    numbers = x.unsqueeze(-1)
    return (bounds <= numbers if right else bounds < numbers).sum(-1)


@decomposition("searchsorted")
def searchsorted(
    bounds: Tensor,
    x: Tensor,
    *,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
    **_: object,
) -> Tensor:
    """Each row of numbers may have its own bounds."""
    if sorter is not None:
        raise UnsupportedError("takes bounds in another order", "give them in order")
    rows = bounds if bounds.dim() == 1 else bounds.unsqueeze(-2)
    return bucketize(x, rows, right=right or side == "right")
