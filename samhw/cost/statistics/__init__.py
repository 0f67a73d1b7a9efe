"""What is known of the stored coordinates of tensors, and of all that is computed from them."""

from collections.abc import Collection, Mapping
from math import prod

from samhw.cost.statistics.degrees import DegreeConstraint, DegreeStatistics
from samhw.cost.statistics.exact import DataStatistics
from samhw.cost.statistics.statistics import KINDS, Dealt, Kind, Stock, TensorStatistics
from samhw.cost.statistics.support import (
    Support,
    all_of,
    any_of,
    entries,
    every,
    nothing,
    onto,
    relabelled,
    shifted,
    thinned,
)
from samhw.cost.statistics.uniform import UniformStatistics
from samhw.tensors import Tensor

__all__ = [
    "KINDS",
    "DataStatistics",
    "Dealt",
    "DegreeConstraint",
    "DegreeStatistics",
    "Kind",
    "Stock",
    "Support",
    "TensorStatistics",
    "UniformStatistics",
    "all_of",
    "any_of",
    "entries",
    "every",
    "from_densities",
    "from_tensors",
    "nothing",
    "onto",
    "relabelled",
    "shifted",
    "thinned",
]


def from_tensors(
    tensors: Mapping[str, Tensor], kind: Kind = "exact", *, masks: Collection[str] = ()
) -> TensorStatistics:
    """The statistics of tensors.

    Args:
        masks: those of which only what is not zero counts, as where a design takes them for masks.
    """
    if kind == "degrees":
        return DegreeStatistics.of(tensors, masks)
    data = DataStatistics(tensors, "exact" if kind == "uniform" else kind, masks=masks)
    return UniformStatistics(data.stocks) if kind == "uniform" else data


def from_densities(
    shapes: Mapping[str, tuple[int, ...]], densities: Mapping[str, float], kind: Kind = "uniform"
) -> TensorStatistics:
    """The statistics of tensors of which nothing but shapes and some densities are known.

    Args:
        densities: 0 to 1, by tensor; what is not named is full.
        kind: `uniform`, or `degrees` for bounds.
    """
    stocks = {
        name: Stock(shape, densities.get(name, 1.0) * prod(map(float, shape)))
        for name, shape in shapes.items()
    }
    return DegreeStatistics(stocks) if kind == "degrees" else UniformStatistics(stocks)
