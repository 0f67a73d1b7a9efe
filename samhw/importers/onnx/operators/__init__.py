"""The operators that the importer knows, by group: importing this folder registers them."""

from samhw.importers.onnx.operators import (
    casts,
    control,
    elementwise,
    fourier,
    indices,
    pooling,
    products,
    qonnx,
    quantised,
    quotients,
    recurrent,
    reductions,
    views,
)

__all__ = [
    "casts",
    "control",
    "elementwise",
    "fourier",
    "indices",
    "pooling",
    "products",
    "qonnx",
    "quantised",
    "quotients",
    "recurrent",
    "reductions",
    "views",
]
