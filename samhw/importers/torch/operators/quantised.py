"""Quantised tensors, as PT2E and torchao write them: integers with scales and zero points."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from samhw.importers.core import UnsupportedError, Value, contract
from samhw.importers.torch import host
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import operator
from samhw.importers.torch.value import Host, Known

__all__: list[str] = []

LIBRARY = "quantized_decomposed"
_OPS = torch.ops.quantized_decomposed


def _numbers(importer: Importer, x: Operand) -> Any:
    """A scale or a zero point: a number, an array, or a value that hardware computes."""
    if isinstance(x, Known):
        return x.dense().numpy()
    return importer.value(x) if isinstance(x, Value | Host) else x


def _quantised(
    importer: Importer,
    x: Operand,
    scale: Operand,
    zero: Operand,
    least: int,
    greatest: int,
    kind: torch.dtype,
    axis: int | None,
    how: Callable[[Tensor], Tensor],
) -> Operand:
    """Constants and arguments as PyTorch itself quantises them."""
    if kind.is_floating_point:
        raise UnsupportedError(f"quantises to {kind}", "use integers")
    if isinstance(x, Known | Host) and not isinstance(scale, Value) and not isinstance(zero, Value):
        return host.mapped(x, how)
    numbers = [_numbers(importer, n) for n in (scale, zero)]
    own = None if any(isinstance(n, Value) for n in numbers) else (lambda array: _on_host(how, array))
    return importer.quantised.quantise(importer.value(x), *numbers, least, greatest, axis, own)


def _on_host(how: Callable[[Tensor], Tensor], array: Any) -> Any:
    return how(torch.from_numpy(np.ascontiguousarray(array, np.float32))).numpy()


@operator("quantize_per_tensor", library=LIBRARY)
def import_quantize(
    importer: Importer,
    x: Operand,
    scale: Operand,
    zero: Operand,
    least: int,
    greatest: int,
    kind: torch.dtype,
) -> Operand:
    def how(tensor: Tensor) -> Tensor:
        numbers = [n.item() if isinstance(n, Tensor) else n for n in (_held(scale), _held(zero))]
        return _OPS.quantize_per_tensor(tensor, float(numbers[0]), int(numbers[1]), least, greatest, kind)

    return _quantised(importer, x, scale, zero, least, greatest, kind, None, how)


@operator("quantize_per_channel", library=LIBRARY)
def import_quantize_channels(
    importer: Importer,
    x: Operand,
    scales: Operand,
    zeros: Operand,
    axis: int,
    least: int,
    greatest: int,
    kind: torch.dtype,
) -> Operand:
    def how(tensor: Tensor) -> Tensor:
        return _OPS.quantize_per_channel(tensor, _held(scales), _held(zeros), axis, least, greatest, kind)

    return _quantised(importer, x, scales, zeros, least, greatest, kind, axis, how)


def _held(x: Any) -> Any:
    return x.dense() if isinstance(x, Known | Host) else x


@operator("dequantize_per_tensor", library=LIBRARY)
def import_dequantize(
    importer: Importer, x: Operand, scale: Operand, zero: Operand, *_: object, **named: object
) -> Value:
    numbers = [_numbers(importer, n) for n in (scale, zero)]
    return importer.quantised.dequantise(importer.integers(x), *numbers)


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
    numbers = [0 if n is None else _numbers(importer, n) for n in (scales, zeros)]
    return importer.quantised.dequantise(importer.integers(x), *numbers, axis)


@operator("_int_mm")
def import_int_mm(importer: Importer, a: Operand, b: Operand) -> Value:
    given = [importer.integers(x) for x in (a, b)]
    return contract(importer.tensors, "ik,kj->ij", *given)
