"""Tensor programs, as text and in Python.

A `Program` is a list of einsum statements over named tensors, with storage formats, loop orders and regions
of statements to be fused. It comes from text (`parse`, `load`), from Python (`ProgramBuilder`, `load_object`)
or from the built-in kernels (`load_kernel`), and is always checked:

>>> from samhw.lang import dumps, parse
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

What a program means is in `reference`. `brackets`, `splits` and `cascade` rewrite it, `fusion` makes regions
of its statements, and `nested` has functions of nested lists.
"""

from samhw.lang.blocking import block_sizes, is_zero_beyond, reaching_beyond
from samhw.lang.capacity import (
    Capacity,
    bank_room,
    check_size,
    greatest_extents,
    rounded_entries,
    rounded_extent,
)
from samhw.lang.check import cautions, check_program
from samhw.lang.declaration import MAX_EXTENT, TensorDecl
from samhw.lang.dimensions import Dimensions
from samhw.lang.expr import (
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
)
from samhw.lang.index import ComputedIndex, IndexExpr, Indirect, Name, StepIndex
from samhw.lang.models import (
    built_in_names,
    built_in_programs,
    cascade_names,
    kernel_description,
    kernel_names,
    load_cascade,
    load_kernel,
    load_model,
    load_named,
    load_program,
    load_sequence,
    model_data,
    model_description,
    model_names,
    sequence_names,
    titled,
)
from samhw.lang.objects import Example, MlirFile, Named, OnnxFile, load_object
from samhw.lang.parse import dumps, load, parse, parse_expression
from samhw.lang.pattern import Pattern, result_patterns
from samhw.lang.program import Program
from samhw.lang.python_form import DeclaredTensor, Index, ProgramBuilder
from samhw.lang.source import Source, Span
from samhw.lang.statement import COORDINATES, MOST_RANKS, RANKINGS, Region, Scan, Statement
from samhw.lang.traverse import accesses, free_indices, renamed, rewritten, terms, walk, with_accesses

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
    "Named",
    "Neg",
    "OnnxFile",
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
    "bank_room",
    "block_sizes",
    "built_in_names",
    "built_in_programs",
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
    "rounded_entries",
    "rounded_extent",
    "sequence_names",
    "terms",
    "titled",
    "walk",
    "with_accesses",
]
