"""The operators that the importer knows, by group: importing this folder registers them."""

from samhw.importers.onnx.operators import (
    control,
    elementwise,
    fourier,
    indices,
    pooling,
    products,
    quantised,
    recurrent,
    reductions,
    views,
)

__all__ = [
    "control",
    "elementwise",
    "fourier",
    "indices",
    "pooling",
    "products",
    "quantised",
    "recurrent",
    "reductions",
    "views",
]
