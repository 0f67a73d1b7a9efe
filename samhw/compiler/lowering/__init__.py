"""The lowering: the einsum of a region becomes a filled fusion table."""

from samhw.compiler.lowering.fill import lower, lower_copy, lower_reshape
from samhw.compiler.lowering.stored_result import StoredResult

__all__ = ["StoredResult", "lower", "lower_copy", "lower_reshape"]
