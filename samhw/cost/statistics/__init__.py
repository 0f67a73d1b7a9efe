"""What is known of the stored coordinates of tensors, and of all that is computed from them."""

from samhw.cost.statistics.degrees import DegreeConstraint, DegreeStatistics
from samhw.cost.statistics.exact import DataStatistics
from samhw.cost.statistics.make import from_densities, from_tensors
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
