"""Statistics of a kind, from tensors or from densities."""

from collections.abc import Collection, Mapping
from math import prod

from samhw.cost.statistics.degrees import DegreeStatistics
from samhw.cost.statistics.exact import DataStatistics
from samhw.cost.statistics.statistics import Kind, Stock, TensorStatistics
from samhw.cost.statistics.uniform import UniformStatistics
from samhw.tensors import Tensor

__all__ = ["from_densities", "from_tensors"]


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
