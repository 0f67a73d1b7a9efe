"""Samples of images at places that a module computes: along each dimension every element has a weight, most
of them zero, and a sample is the sum of the elements times their weights."""

import torch

from samhw.importers.core import UnsupportedError, Value, contract
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import operator
from samhw.importers.torch.value import Known
from samhw.lang.expr import Expr
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import eq, relu, rint
from samhw.lang.functions import max as max_
from samhw.lang.functions import min as min_

__all__: list[str] = []

_BILINEAR, _NEAREST = 0, 1
"""PyTorch's numbers of interpolations."""
_BORDER, _REFLECTION = 1, 2
"""PyTorch's numbers of what is around an image; 0 is zeros."""


@operator("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def import_grid_sampler(
    importer: Importer, x: Operand, grid: Operand, interpolation: int, padding: int, align_corners: bool
) -> Value:
    """x of batch, channels and 2 or 3 dimensions; the grid holds places from -1 to 1, the last dimension of x
    first."""
    if interpolation not in (_BILINEAR, _NEAREST):
        raise UnsupportedError("samples between 4 elements", "sample linearly, or the nearest element")
    sizes = importer.shape(x)[2:]
    own, out = "xyz"[: len(sizes)], "abd"[: len(sizes)]
    places = importer.materialized(grid)
    weights = []
    for dim, size in enumerate(sizes):
        place = importer.call("select", places, -1, len(sizes) - 1 - dim)
        kept = importer.elementwise(lambda e, n=size: _inside(e, n, padding, align_corners), place)
        spread = importer.call("unsqueeze", importer.materialized(kept), -1)
        number = Known(torch.arange(size).float(), f"places_{size}")
        weight = _nearest if interpolation == _NEAREST else _linear
        weights.append(importer.materialized(importer.elementwise(weight, spread, number)))
    inputs = ",".join([f"nc{own}", *(f"n{out}{letter}" for letter in own)])
    return contract(importer.tensors, f"{inputs}->nc{out}", importer.value(x), *weights)


def _linear(place: Expr, number: Expr) -> Expr:
    """1 at an element, and falling to 0 at its neighbours."""
    return relu(1 - abs_(place - number))


def _nearest(place: Expr, number: Expr) -> Expr:
    return eq(rint(place), number)


def _inside(place: Expr, size: int, padding: int, align_corners: bool) -> Expr:
    """A place between -1 and 1 as one among `size` elements, counted from 0. The corners are the middles of
    the outermost elements, or their outer edges; what lies outside is pulled to the border, or mirrored at
    the corners."""
    span, first = (size - 1, 0.0) if align_corners else (size, -0.5)
    found: Expr = place * (span / 2) + (span / 2 + first)
    if padding == _REFLECTION:
        behind = found - first
        found = abs_(behind - rint(behind * (0.5 / span)) * (2 * span)) + first if span else found * 0
    return min_(max_(found, 0), size - 1) if padding in (_BORDER, _REFLECTION) else found
