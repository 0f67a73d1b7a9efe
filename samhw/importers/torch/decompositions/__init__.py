"""Operators that are written with others in PyTorch, by group: importing this folder registers them.
Constants that they make are folded as a module is imported; double precision costs nothing."""

from samhw.importers.torch.decompositions import (
    cells,
    fourier,
    functions,
    indexing,
    linear_algebra,
    reducing,
    resizing,
    windows,
)

__all__ = [
    "cells",
    "fourier",
    "functions",
    "indexing",
    "linear_algebra",
    "reducing",
    "resizing",
    "windows",
]
