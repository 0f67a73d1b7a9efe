"""Tensor programs, as text and in Python.

A `Program` is a list of einsum statements over named tensors, with storage formats, loop orders and regions
of statements to be fused. It comes from text (`parse`, `load`), from Python (`ProgramBuilder`, `load_object`)
or from the built-in kernels (`load_kernel`), and is always checked:

>>> from samhw.frontend import dumps, parse
>>> program = parse('''
... tensor A[i, k] : csr
... tensor X[k, j=16] : dense
... T[i, j] = A[i, k] * X[k, j]    order i, k, j
... ''')
>>> print(dumps(program.bind({"A": (34, 34)})), end="")
tensor A[i=34, k=34] : csr
tensor X[k=34, j=16] : dense
tensor T[i=34, j=16] : dense
T[i, j] = A[i, k] * X[k, j]    order i, k, j
"""

from samhw.frontend.beyond import is_zero_beyond, reaching_beyond
from samhw.frontend.build import DeclaredTensor, Index, ProgramBuilder
from samhw.frontend.capacity import Capacity, greatest_extents
from samhw.frontend.cascades import cascade_description, cascade_names, load_cascade
from samhw.frontend.caution import cautions
from samhw.frontend.check import check_program
from samhw.frontend.declaration import MAX_EXTENT, TensorDecl
from samhw.frontend.dimensions import Dimensions
from samhw.frontend.expr import (
    Access,
    Add,
    Binary,
    Call,
    Concat,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Parens,
    Recurrence,
    Reshape,
    RunningReduction,
    Sub,
    accesses,
    free_indices,
    renamed,
    rewritten,
    terms,
    walk,
    with_accesses,
)
from samhw.frontend.index import ComputedIndex, IndexExpr, Indirect, Name, StepIndex
from samhw.frontend.kernels import kernel_description, kernel_names, load_kernel
from samhw.frontend.models import load_model, model_data, model_description, model_names
from samhw.frontend.named import built_in_names, built_in_programs, load_named, load_program
from samhw.frontend.objects import Example, MlirFile, load_object
from samhw.frontend.parse import dumps, load, parse, parse_expression
from samhw.frontend.pattern import Pattern, result_patterns
from samhw.frontend.program import Program
from samhw.frontend.sequences import load_sequence, sequence_description, sequence_names
from samhw.frontend.size import check_size
from samhw.frontend.source import Source, Span
from samhw.frontend.statement import COORDINATES, MOST_RANKS, RANKINGS, Region, Scan, Statement

__all__ = [
    "COORDINATES",
    "MAX_EXTENT",
    "MOST_RANKS",
    "RANKINGS",
    "Access",
    "Add",
    "Binary",
    "Call",
    "Capacity",
    "ComputedIndex",
    "Concat",
    "DeclaredTensor",
    "Dimensions",
    "Div",
    "Example",
    "Expr",
    "Index",
    "IndexExpr",
    "Indirect",
    "Literal",
    "MlirFile",
    "Mul",
    "Name",
    "Neg",
    "Parens",
    "Pattern",
    "Program",
    "ProgramBuilder",
    "Recurrence",
    "Region",
    "Reshape",
    "RunningReduction",
    "Scan",
    "Source",
    "Span",
    "Statement",
    "StepIndex",
    "Sub",
    "TensorDecl",
    "accesses",
    "built_in_names",
    "built_in_programs",
    "cascade_description",
    "cascade_names",
    "cautions",
    "check_program",
    "check_size",
    "dumps",
    "free_indices",
    "greatest_extents",
    "is_zero_beyond",
    "kernel_description",
    "kernel_names",
    "load",
    "load_cascade",
    "load_kernel",
    "load_model",
    "load_named",
    "load_object",
    "load_program",
    "load_sequence",
    "model_data",
    "model_description",
    "model_names",
    "parse",
    "parse_expression",
    "reaching_beyond",
    "renamed",
    "result_patterns",
    "rewritten",
    "sequence_description",
    "sequence_names",
    "terms",
    "walk",
    "with_accesses",
]
