"""The operators that the importer knows, by group: importing this folder registers them."""

from samhw.importers.torch.operators import (
    attention,
    convolutions,
    elementwise,
    gather,
    norms,
    products,
    put,
    ranking,
    reductions,
    resizing,
    scatter,
    views,
    windows,
)

__all__ = [
    "attention",
    "convolutions",
    "elementwise",
    "gather",
    "norms",
    "products",
    "put",
    "ranking",
    "reductions",
    "resizing",
    "scatter",
    "views",
    "windows",
]
