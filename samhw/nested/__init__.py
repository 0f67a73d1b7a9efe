"""Nested lists of tensors: programs of maps, folds and scans, traced, analysed and reordered."""

from samhw.nested.arrays import full, nested_tensor, sigmoid
from samhw.nested.evaluate import evaluate
from samhw.nested.function import NestedFunction
from samhw.nested.lists import ListType, NestedTensor, Zipped, join, product
from samhw.nested.lists import zip_lists as zip
from samhw.nested.tracing import trace

__all__ = [
    "ListType",
    "NestedFunction",
    "NestedTensor",
    "Zipped",
    "evaluate",
    "full",
    "join",
    "nested_tensor",
    "product",
    "sigmoid",
    "trace",
    "zip",
]
