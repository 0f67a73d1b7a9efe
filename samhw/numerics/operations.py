"""The names of all operations, and how many operands each takes."""

from samhw.numerics.valuetype import ARITY

__all__ = ["OPERATIONS", "REDUCTIONS"]

OPERATIONS = {
    **ARITY,
    "abs": 1,
    "lt": 2,
    "le": 2,
    "eq": 2,
    "select": 3,
    "relu": 1,
    "leaky_relu": 2,
    "div": 2,
    "sqrt": 1,
    "reciprocal": 1,
    "rsqrt": 1,
    "exp": 1,
    "log": 1,
    "sigmoid": 1,
    "tanh": 1,
    "silu": 1,
    "gelu": 1,
}
"""By name. Comparisons give one or zero. `select` has the condition first, `leaky_relu` the slope last."""

REDUCTIONS = {"sum": "add", "max": "max", "min": "min"}
"""The operation that each reduction repeats."""
