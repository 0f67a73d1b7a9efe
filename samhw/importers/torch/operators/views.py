"""Views: metadata of indices, and no statement where nothing moves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch

from samhw.importers.core import MOST_JOINED, Hints, UnsupportedError, Value, check_unmasked, grouped
from samhw.importers.core.operators import clamp
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Ints, Operand
from samhw.importers.torch.registry import operator
from samhw.lang.expr import Expr
from samhw.lang.functions import eq, f8e4m3, f8e5m2, to

__all__: list[str] = []


_ROUNDED: Mapping[torch.dtype, Callable[[Expr], Expr]] = {
    torch.float16: lambda e: to("f32", to("f16", e)),
    torch.bfloat16: lambda e: to("f32", to("bf16", e)),
    # PyTorch takes what is too large for it as its greatest number.
    torch.float8_e4m3fn: lambda e: f8e4m3(clamp(e, -448, 448)),
    torch.float8_e5m2: f8e5m2,
}


@operator("clone", "detach", "alias", "lift_fresh_copy", "_to_copy", view=True)
def import_same(importer: Importer, x: Operand, *_: object, **named: object) -> Value:
    dtype = named.get("dtype")
    assert dtype is None or isinstance(dtype, torch.dtype)
    if dtype == torch.bool and not importer.masks.is_condition(x):
        check_unmasked(x)
        return importer.elementwise(lambda e: 1 - eq(e, 0), x, condition=True)
    if importer.masks.is_condition(x) and dtype not in (None, torch.bool):
        return replace(importer.value(x), condition=False)
    if dtype is not None and dtype in _ROUNDED:
        check_unmasked(x)
        return importer.elementwise(_ROUNDED[dtype], x)
    if dtype is not None and dtype != torch.bool and not (dtype.is_floating_point or dtype.is_complex):
        check_unmasked(x)
        found: Value = importer.call("trunc", x)
        return found
    return importer.value(x)


@operator("dropout", "feature_dropout", "alpha_dropout", "native_dropout", view=True)
def import_dropout(importer: Importer, x: Operand, p: float, train: bool) -> Value:
    if train and p:
        raise UnsupportedError("draws random numbers", "call model.eval() before")
    return importer.value(x)


@operator("view", "reshape", view=True)
def import_view(importer: Importer, x: Operand, shape: Sequence[int] | torch.dtype, *_: object) -> Value:
    if isinstance(shape, torch.dtype):
        raise UnsupportedError(f"reads the bits of numbers as {shape}", "convert the numbers by .to()")
    return importer.views.view(importer.value(x), list(shape))


@operator("permute", view=True)
def import_permute(importer: Importer, x: Operand, dims: Sequence[int]) -> Value:
    x = importer.value(x)
    return replace(x, modes=tuple(x.modes[dim] for dim in dims))


@operator("unsqueeze", view=True)
def import_unsqueeze(importer: Importer, x: Operand, dim: int) -> Value:
    x = importer.value(x)
    modes = list(x.modes)
    modes.insert(dim % (len(modes) + 1), ())
    return replace(x, modes=tuple(modes))


@operator("squeeze", view=True)
def import_squeeze(importer: Importer, x: Operand, dim: Ints | None = None) -> Value:
    x = importer.build.resolve(importer.value(x))
    rank = len(x.modes)
    dims = range(rank) if dim is None else ([dim] if isinstance(dim, int) else dim)
    gone = {d % rank for d in dims} if rank else set()
    sizes = importer.build.shape(x)
    return replace(x, modes=tuple(mode for d, mode in enumerate(x.modes) if d not in gone or sizes[d] != 1))


@operator("expand", view=True)
def import_expand(importer: Importer, x: Operand, shape: Sequence[int], **_: object) -> Value:
    return importer.views.expand(importer.value(x), shape)


@operator("repeat", view=True)
def import_repeat(importer: Importer, x: Operand, repeats: Sequence[int]) -> Value:
    x = importer.value(x)
    modes = [()] * (len(repeats) - len(x.modes)) + list(x.modes)
    repeats = [1] * (len(modes) - len(repeats)) + list(repeats)
    axes = importer.build.axes
    outer = [(axes.index(n),) if n > 1 else () for n in repeats]
    return replace(x, modes=tuple(o + mode for o, mode in zip(outer, modes, strict=True)))


@operator("repeat_interleave", view=True)
def import_repeat_interleave(
    importer: Importer, x: Operand, repeats: Operand, dim: int | None = None, **_: object
) -> Value:
    if not isinstance(repeats, int) or dim is None:
        raise UnsupportedError("repeats by a tensor, or without a dimension", "give a number and a dimension")
    return importer.views.repeat_interleave(importer.value(x), dim, repeats)


@operator("select", view=True)
def import_select(importer: Importer, x: Operand, dim: int, place: int) -> Value:
    x = importer.value(x)
    size = importer.build.shape(x)[dim]
    part = _sliced(importer, x, dim, place % size, 1)
    modes = list(part.modes)
    del modes[dim % len(modes)]
    return replace(part, modes=tuple(modes))


@operator("slice", view=True)
def import_slice(
    importer: Importer,
    x: Operand,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Value:
    x = importer.value(x)
    size = importer.build.shape(x)[dim]
    first, last, step = slice(start, end, step).indices(size)
    return _sliced(importer, x, dim, first, len(range(first, last, step)), step)


def _sliced(importer: Importer, x: Value, dim: int, start: int, length: int, step: int = 1) -> Value:
    """Some of a mode's elements; where the mask cannot be cut with them, it is cut by itself."""
    try:
        return importer.views.slice(x, dim, start, length, step)
    except UnsupportedError:
        if x.mask is None:
            raise
    held, shown = (importer.value(each) for each in importer.masks.apart(x))
    parts = [importer.views.slice(each, dim, start, length, step) for each in (held, shown)]
    return importer.masks.masked(parts[0], replace(parts[1], condition=True))


@operator("cat")
def import_cat(importer: Importer, tensors: Sequence[Operand], dim: int = 0) -> Value:
    shapes = [importer.shape(tensor) for tensor in tensors]
    held = [importer.value(t) for t, shape in zip(tensors, shapes, strict=True) if 0 not in shape]
    dim %= len(held[0].modes)
    return importer.joined(held, dim)


@operator("stack")
def import_stack(importer: Importer, tensors: Sequence[Operand], dim: int = 0) -> Value:
    """Each part times a vector that is one at its place; of many parts, a few at a time."""
    rank = len(importer.shape(tensors[0])) + 1
    dim %= rank
    if len(tensors) > MOST_JOINED:
        stacks = [import_stack(importer, group, dim) for group in grouped(tensors)]
        return importer.joined(stacks, dim)
    parts = [importer.materialized(tensor) for tensor in tensors]
    units = [_unit(importer, len(parts), place) for place in range(len(parts))]
    held = []
    for part in parts:
        modes = list(part.modes)
        modes.insert(dim, ())
        held.append(replace(part, modes=tuple(modes)))
    spread = [replace(unit, modes=(unit.modes[0], *[()] * (rank - dim - 1))) for unit in units]

    def add(*exprs: Expr) -> Expr:
        made: Expr = exprs[0] * exprs[len(parts)]
        for n in range(1, len(parts)):
            made = made + exprs[n] * exprs[len(parts) + n]
        return made

    return importer.elementwise(add, *held, *spread)


def _unit(importer: Importer, size: int, place: int) -> Value:
    """A vector with a one at a place."""
    held = torch.zeros(size)
    held[place] = 1
    return importer.constant(held, f"unit_{place}", Hints("csf"))
