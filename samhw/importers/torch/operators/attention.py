"""Attention as one operator."""

import math

import torch

from samhw.importers.core import UnsupportedError, Value, check_unmasked
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.operators.products import import_matmul
from samhw.importers.torch.operators.reductions import softmax
from samhw.importers.torch.operators.views import transposed
from samhw.importers.torch.registry import operator
from samhw.importers.torch.value import Known

__all__: list[str] = []


@operator("scaled_dot_product_attention", masked=True)
def import_attention(
    importer: Importer,
    query: Operand,
    key: Operand,
    value: Operand,
    attn_mask: Operand | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    """Shapes (batch.., rows, features). Rows that are masked out entirely give 0."""
    if dropout_p:
        raise UnsupportedError("draws random numbers (dropout)", "call model.eval() before")
    check_unmasked(query, key, value)
    query, key, value = importer.value(query), importer.value(key), importer.value(value)
    shapes = [importer.build.shape(each) for each in (query, key, value)]
    if enable_gqa and shapes[0][-3] != shapes[1][-3]:
        times = shapes[0][-3] // shapes[1][-3]
        key, value = (importer.views.repeat_interleave(each, -3, times) for each in (key, value))
    rows, columns = shapes[0][-2], shapes[1][-2]
    factor = 1 / math.sqrt(shapes[0][-1]) if scale is None else scale
    scores = import_matmul(importer, query, transposed(importer, key, -2, -1))
    scores = importer.elementwise(lambda s: s * factor, scores)
    if is_causal:
        # To what is not later.
        causal = Known(torch.ones(rows, columns, dtype=torch.bool).tril(), "causal")
        scores = importer.masks.masked(scores, causal)
    if attn_mask is not None:
        if importer.masks.is_condition(attn_mask):
            scores = importer.masks.masked(scores, attn_mask)
        else:
            scores = importer.elementwise(lambda a, b: a + b, *importer.masks.unmasked_sum(scores, attn_mask))
    return import_matmul(importer, softmax(importer, scores, -1), value)
