"""Normalisations, as inference has them."""

import math
from typing import Any

import torch
from torch import Tensor

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.operators.reductions import total, variance
from samhw.importers.torch.registry import Results, operator
from samhw.importers.torch.value import Known
from samhw.lang.functions import rsqrt

__all__: list[str] = []


def normalised(importer: Importer, x: Value, dims: list[int], eps: float) -> Value:
    """(x - mean) / sqrt(variance + eps) along some modes."""
    apart, found = variance(importer, x, dims, 0, True)
    root = importer.materialized(importer.elementwise(lambda v: rsqrt(v + eps), importer.materialized(found)))
    return importer.elementwise(lambda d, r: d * r, apart, root)


@operator("layer_norm", "native_layer_norm")
def import_layer_norm(
    importer: Importer,
    x: Operand,
    shape: list[int],
    weight: Operand | None = None,
    bias: Operand | None = None,
    eps: float = 1e-5,
    *_: object,
) -> Results:
    x = importer.value(x)
    rank = len(x.modes)
    made = importer.affine(normalised(importer, x, list(range(rank - len(shape), rank)), eps), weight, bias)
    return made if importer.operator == "aten.layer_norm" else with_missing_statistics(importer, made)


@operator("rms_norm")
def import_rms_norm(
    importer: Importer, x: Operand, shape: list[int], weight: Operand | None = None, eps: float | None = None
) -> Value:
    x = importer.materialized(x)
    rank = len(x.modes)
    squares = importer.elementwise(lambda e: e * e, x)
    mean = total(importer, squares, list(range(rank - len(shape), rank)), True, 1 / math.prod(shape))
    least = 1.1920929e-07 if eps is None else eps
    root = importer.elementwise(lambda v: rsqrt(v + least), importer.materialized(mean))
    root = importer.materialized(root)
    return importer.affine(importer.elementwise(lambda e, r: e * r, x, root), weight, None)


@operator("batch_norm", "_native_batch_norm_legit_no_training")
def import_batch_norm(
    importer: Importer,
    x: Operand,
    weight: Operand | None,
    bias: Operand | None,
    mean: Operand | None,
    var: Operand | None,
    *rest: Any,
) -> Results:
    training = rest[0] if importer.operator != "aten._native_batch_norm_legit_no_training" else False
    if importer.operator == "aten.batch_norm" and (training is True or mean is None):
        raise UnsupportedError("takes the statistics of the batch", "call model.eval() before")
    assert mean is not None
    assert var is not None
    # Scale and offset are constants, and so is what they make.
    eps = rest[2] if importer.operator == "aten.batch_norm" else rest[1]
    scale, offset = _folded(weight, bias, mean, var, eps)
    made = importer.affine(importer.value(x), scale, offset, mode=1)
    return made if importer.operator == "aten.batch_norm" else with_missing_statistics(importer, made)


def _constant(x: Operand) -> Tensor:
    """In double precision."""
    if not isinstance(x, Known):
        raise UnsupportedError(
            "takes statistics or weights that are no constants",
            "make them buffers and parameters, or write (x - mean) * torch.rsqrt(var + eps)",
        )
    return x.dense().double()


def with_missing_statistics(importer: Importer, x: Value) -> tuple[Value, UnsupportedError, UnsupportedError]:
    """A normalisation with the statistics that training would keep."""
    statistics = importer.missing("the statistics of training", "use the normalised tensor")
    return x, statistics, statistics


def _folded(
    weight: Operand | None, bias: Operand | None, mean: Operand, var: Operand, eps: float
) -> tuple[Known, Known]:
    """The scale and the offset of a batch norm, worked out before."""
    scale = 1 / torch.sqrt(_constant(var) + eps)
    if weight is not None:
        scale = scale * _constant(weight)
    offset = -_constant(mean) * scale
    if bias is not None:
        offset = offset + _constant(bias)
    name = mean.name.removesuffix("running_mean") if isinstance(mean, Known) else ""
    return Known(scale.float(), f"{name}scale"), Known(offset.float(), f"{name}offset")
