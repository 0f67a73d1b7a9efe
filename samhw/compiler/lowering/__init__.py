"""The lowering: the einsum of a region becomes a filled fusion table."""

from samhw.compiler.lowering.fill import TOO_DEEP, lower, lower_copy, lower_reshape
from samhw.compiler.lowering.values import StoredResult

__all__ = ["TOO_DEEP", "StoredResult", "lower", "lower_copy", "lower_reshape"]
