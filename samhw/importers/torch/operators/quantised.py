"""Quantised tensors, as PT2E and torchao write them: integers with scales and zero points."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import Tensor

from samhw.importers.core import UnsupportedError, Value, contract, scaled
from samhw.importers.torch import host
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import decomposition, operator
from samhw.importers.torch.value import Host, Known

__all__: list[str] = []

LIBRARY = "quantized_decomposed"


def _operators() -> Any:
    """PyTorch's own, which it registers as it imports them."""
    import_module("torch.ao.quantization.fx._decomposed")
    return torch.ops.quantized_decomposed


def _numbers(importer: Importer, x: Operand) -> Any:
    """A scale or a zero point: a number, an array, or a value that hardware computes."""
    if isinstance(x, Known):
        return x.dense().numpy()
    return importer.value(x) if isinstance(x, Value | Host) else x


@operator("quantize_per_channel", library=LIBRARY)
def quantised(
    importer: Importer,
    x: Operand,
    scale: Operand,
    zero: Operand,
    axis: int | None,
    least: int,
    greatest: int,
    kind: torch.dtype,
) -> Operand:
    """Constants and arguments as PyTorch itself quantises them. Without an axis, all by one scale."""
    if kind.is_floating_point:
        raise UnsupportedError(f"quantises to {kind}", "use integers")

    def how(tensor: Tensor) -> Tensor:
        held: list[Any] = [n.dense() if isinstance(n, Known) else n for n in (scale, zero)]
        if axis is None:
            one, other = (n.item() if isinstance(n, Tensor) else n for n in held)
            made: Tensor = _operators().quantize_per_tensor(
                tensor, float(one), int(other), least, greatest, kind
            )
        else:
            made = _operators().quantize_per_channel(tensor, *held, axis, least, greatest, kind)
        return made

    if isinstance(x, Known | Host) and not any(isinstance(n, Value | Host) for n in (scale, zero)):
        return host.mapped(x, how)
    size, added = _numbers(importer, scale), _whole(importer, zero, least, greatest)
    of_run = isinstance(size, Value) or isinstance(added, Value)
    own = None if of_run else (lambda array: _on_host(how, array))
    return importer.quantised.quantise(importer.value(x), size, added, least, greatest, axis, own)


@operator("quantize_per_tensor", library=LIBRARY)
def import_quantize(importer: Importer, x: Operand, scale: Operand, zero: Operand, *rest: Any) -> Operand:
    return quantised(importer, x, scale, zero, None, *rest)


def _whole(importer: Importer, zero: Operand, least: int, greatest: int) -> Any:
    """A zero point; one that hardware computes as a tensor of integers."""
    found = _numbers(importer, zero)
    if not isinstance(found, Value) or scaled(importer.build, found.expr) is not None:
        return found
    return importer.quantised.quantise(found, 1, 0, least, greatest)


def _on_host(how: Callable[[Tensor], Tensor], array: Any) -> Any:
    return how(torch.from_numpy(np.ascontiguousarray(array, np.float32))).numpy()


@operator("dequantize_per_tensor", library=LIBRARY)
def import_dequantize(
    importer: Importer,
    x: Operand,
    scale: Operand,
    zero: Operand,
    least: int,
    greatest: int,
    *_: object,
    **named: object,
) -> Value:
    size, added = _numbers(importer, scale), _whole(importer, zero, least, greatest)
    return importer.quantised.dequantise(importer.integers(x), size, added)


@operator("dequantize_per_channel", library=LIBRARY)
def import_dequantize_channels(
    importer: Importer,
    x: Operand,
    scales: Operand,
    zeros: Operand | None,
    axis: int,
    *_: object,
    **named: object,
) -> Value:
    size, zero = _numbers(importer, scales), 0 if zeros is None else _numbers(importer, zeros)
    return importer.quantised.dequantise(importer.integers(x), size, zero, axis)


@operator("_int_mm")
def import_int_mm(importer: Importer, a: Operand, b: Operand) -> Value:
    given = [importer.integers(x) for x in (a, b)]
    return contract(importer.tensors, "ik,kj->ij", *given)


# Quantised, and back


@operator("fake_quantize_per_channel_affine")
def fake(
    importer: Importer,
    x: Operand,
    scale: Operand,
    zero: Operand,
    axis: int | None,
    least: int,
    greatest: int,
) -> Value:
    """Without an axis, all by one scale."""
    made = quantised(importer, x, scale, zero, axis, least, greatest, _narrow(least, greatest))
    if axis is None:
        return import_dequantize(importer, made, scale, zero, least, greatest)
    return import_dequantize_channels(importer, made, scale, zero, axis)


@operator("fake_quantize_per_tensor_affine")
def import_fake(importer: Importer, x: Operand, scale: Operand, zero: Operand, *ends: int) -> Value:
    return fake(importer, x, scale, zero, None, *ends)


def _no_mask(importer: Importer) -> UnsupportedError:
    return importer.missing("where it cuts off", "use its first result")


@operator("fake_quantize_per_tensor_affine_cachemask")
def import_fake_and_mask(importer: Importer, *given: Any) -> list[Any]:
    return [import_fake(importer, *given), _no_mask(importer)]


@operator("fake_quantize_per_channel_affine_cachemask")
def import_fake_channels_and_mask(importer: Importer, *given: Any) -> list[Any]:
    return [fake(importer, *given), _no_mask(importer)]


@operator("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams")
def import_fake_if_enabled(
    importer: Importer, x: Operand, scale: Operand, zero: Operand, enabled: Operand, *ends: int
) -> list[Any]:
    made = import_fake(importer, x, scale, zero, *ends) if _is_on(enabled) else importer.value(x)
    return [made, _no_mask(importer)]


@operator("_fused_moving_avg_obs_fq_helper_functional", "_fused_moving_avg_obs_fq_helper")
def import_observed(
    importer: Importer,
    x: Operand,
    observes: Operand,
    quantises: Operand,
    lowest: Operand,
    highest: Operand,
    scale: Operand,
    zero: Operand,
    _: float,
    least: int,
    greatest: int,
    axis: int,
    by_row: bool = False,
    symmetric: bool = False,
) -> list[Any]:
    """What training has put into a module: in evaluation, without looking at ranges any more."""
    if _is_on(observes):
        raise UnsupportedError(
            "observes ranges, and changes buffers", "call model.apply(torch.ao.quantization.disable_observer)"
        )
    made: Operand = x
    if _is_on(quantises):
        made = fake(importer, x, scale, zero, axis if by_row else None, least, greatest)
    return [made, _no_mask(importer), lowest, highest, scale, zero]


def _is_on(flag: Operand) -> bool:
    return bool(flag.dense().any()) if isinstance(flag, Known) else bool(flag)


def _narrow(least: int, greatest: int) -> torch.dtype:
    """A type of PyTorch that has integers of a range."""
    for kind in (torch.int8, torch.uint8, torch.int16, torch.int32):
        if torch.iinfo(kind).min <= least and greatest <= torch.iinfo(kind).max:
            return kind
    raise UnsupportedError("has integers of more than 32 bits", "use fewer")


# As torchao writes them: a number for each block, which has one coordinate of a dimension or all


def _by_block(importer: Importer, n: Operand | None, x: Operand, block: Sequence[int]) -> Any:
    """A scale or a zero point: a number, or what has a mode for each of x."""
    if n is None:
        return 0
    shape = importer.shape(x)
    if any(b not in (1, size) for b, size in zip(block, shape, strict=True)):
        raise UnsupportedError("has several scales along a dimension", "use a scale for each row, or for all")
    if isinstance(n, Known) and (number := host.uniform(n.dense())) is not None:
        return number
    held = importer.integers(n)
    if len(held.modes) < len(shape):
        left = iter(held.modes)
        kept = [b != size for b, size in zip(block, shape, strict=True)]
        held = replace(held, modes=tuple(next(left) if own else () for own in kept))
    return held


@operator("quantize_affine", library="torchao")
def import_quantize_blocks(
    importer: Importer,
    x: Operand,
    block: Sequence[int],
    scale: Operand,
    zero: Operand | None,
    kind: torch.dtype,
    least: int | None = None,
    greatest: int | None = None,
    *_: object,
) -> Operand:
    if kind.is_floating_point:
        raise UnsupportedError(f"quantises to {kind}", "use integers")
    ends = torch.iinfo(kind)
    low, high = (ends.min if least is None else least), (ends.max if greatest is None else greatest)
    given = (x, scale) if zero is None else (x, scale, zero)
    if all(isinstance(n, Known) for n in given):
        held = [n.dense() for n in given if isinstance(n, Known)]
        rest = held[1:] if zero is not None else [*held[1:], None]
        return Known(torch.ops.torchao.quantize_affine(held[0], block, *rest, kind, low, high), "quantised")
    size, added = (_by_block(importer, n, x, block) for n in (scale, zero))
    return importer.quantised.quantise(importer.value(x), size, added, low, high)


@operator("dequantize_affine", library="torchao")
def import_dequantize_blocks(
    importer: Importer,
    x: Operand,
    block: Sequence[int],
    scale: Operand,
    zero: Operand | None,
    *_: object,
    **named: object,
) -> Value:
    size, added = (_by_block(importer, n, x, block) for n in (scale, zero))
    return importer.quantised.dequantise(importer.integers(x), size, added)


# Ranges that a run finds


@decomposition("choose_qparams", library=LIBRARY)
def choose_numbers(
    x: Tensor, least: int, greatest: int, eps: float, kind: torch.dtype
) -> tuple[Tensor, Tensor]:
    return _chosen(x.amin(), x.amax(), least, greatest, eps)


@decomposition("choose_qparams_affine", library="torchao")
def choose_by_block(
    x: Tensor,
    mapping: str,
    block: Sequence[int],
    kind: torch.dtype,
    least: int | None = None,
    greatest: int | None = None,
    eps: float | None = None,
    scale_kind: torch.dtype | None = None,
    zero_kind: torch.dtype | None = None,
    keepdim: bool = False,
    *_: object,
) -> tuple[Tensor, Tensor]:
    if any(b not in (1, size) for b, size in zip(block, x.shape, strict=True)):
        raise UnsupportedError("has several scales along a dimension", "use a scale for each row, or for all")
    ends = torch.iinfo(kind)
    low, high = (ends.min if least is None else least), (ends.max if greatest is None else greatest)
    dims = [d for d, (b, size) in enumerate(zip(block, x.shape, strict=True)) if b == size]
    small = torch.finfo(torch.float32).eps if eps is None else eps
    lowest, highest = x.amin(dims, keepdim), x.amax(dims, keepdim)
    if mapping != "SYMMETRIC":
        return _chosen(lowest, highest, low, high, small)
    most = torch.maximum(-lowest.clamp(max=0), highest.clamp(min=0))
    scale = (most / ((high - low) / 2)).clamp(min=small)
    return scale, torch.full(scale.shape, (low + high + 1) // 2, dtype=zero_kind or torch.int32)


def _chosen(lowest: Tensor, highest: Tensor, least: int, greatest: int, eps: float) -> tuple[Tensor, Tensor]:
    """A scale and a zero point for numbers of a range, 0 among them."""
    low, high = lowest.clamp(max=0), highest.clamp(min=0)
    scale = ((high - low) / float(greatest - least)).clamp(min=eps)
    return scale, (least - torch.round(low / scale)).clamp(least, greatest)
