"""The operators that the importer knows, by group: importing this folder registers them."""

from samhw.importers.torch.operators import (
    complex_numbers,
    elementwise,
    index_tensors,
    products,
    quantised,
    recurrent,
    reductions,
    views,
)

__all__ = [
    "complex_numbers",
    "elementwise",
    "index_tensors",
    "products",
    "quantised",
    "recurrent",
    "reductions",
    "views",
]
