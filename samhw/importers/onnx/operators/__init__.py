"""The operators that the importer knows, by group: importing this folder registers them."""

from samhw.importers.onnx.operators import (
    control,
    elementwise,
    indices,
    pooling,
    products,
    recurrent,
    reductions,
    views,
)

__all__ = ["control", "elementwise", "indices", "pooling", "products", "recurrent", "reductions", "views"]
