"""Nested lists of tensors: programs of maps, folds and scans, traced, analysed and reordered."""

from samhw.lang.nested.copies import items_apart, side_by_side
from samhw.lang.nested.dependences import Dependences, coarsened, dependences, merge_loops
from samhw.lang.nested.distances import distances, regions
from samhw.lang.nested.evaluate import evaluate
from samhw.lang.nested.evaluated_lists import full, nested_tensor, sigmoid
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.hyperplane import Wavefront, hyperplane, wavefronts
from samhw.lang.nested.lists import ListType, NestedTensor, Zipped, join, product
from samhw.lang.nested.lists import zip_lists as zip
from samhw.lang.nested.lowered import LoweredFunction
from samhw.lang.nested.lowering import lowered
from samhw.lang.nested.merging import (
    composed,
    fuse_access_maps,
    merge_horizontally,
    merge_vertically,
    perfect_nests,
)
from samhw.lang.nested.numbers_as_loops import operations_as_loops
from samhw.lang.nested.stacks import Stack, stacks
from samhw.lang.nested.tracing import TaskGraph, task_graph, trace

__all__ = [
    "Dependences",
    "ListType",
    "LoweredFunction",
    "NestedFunction",
    "NestedTensor",
    "Stack",
    "TaskGraph",
    "Wavefront",
    "Zipped",
    "coarsened",
    "composed",
    "dependences",
    "distances",
    "evaluate",
    "full",
    "fuse_access_maps",
    "hyperplane",
    "items_apart",
    "join",
    "lowered",
    "merge_horizontally",
    "merge_loops",
    "merge_vertically",
    "nested_tensor",
    "operations_as_loops",
    "perfect_nests",
    "product",
    "regions",
    "side_by_side",
    "sigmoid",
    "stacks",
    "task_graph",
    "trace",
    "wavefronts",
    "zip",
]
