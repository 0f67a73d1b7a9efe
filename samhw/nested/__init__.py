"""Nested lists of tensors: programs of maps, folds and scans, traced, analysed and reordered."""

from samhw.nested.arrays import full, nested_tensor, sigmoid
from samhw.nested.axes import merge_loops
from samhw.nested.copies import items_apart, side_by_side
from samhw.nested.dependences import Dependences, coarsened, dependences
from samhw.nested.distances import distances, regions
from samhw.nested.evaluate import evaluate
from samhw.nested.function import NestedFunction
from samhw.nested.fuse_maps import fuse_access_maps
from samhw.nested.hyperplane import Wavefront, hyperplane, wavefronts
from samhw.nested.lists import ListType, NestedTensor, Zipped, join, product
from samhw.nested.lists import zip_lists as zip
from samhw.nested.lowered import LoweredFunction
from samhw.nested.lowering import lowered
from samhw.nested.merging import composed, merge_horizontally, merge_vertically
from samhw.nested.nesting import perfect_nests
from samhw.nested.scalars import operations_as_loops
from samhw.nested.stacks import Stack, stacks
from samhw.nested.task_graph import TaskGraph, task_graph
from samhw.nested.tracing import trace

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
