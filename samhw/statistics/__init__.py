"""What is known of the stored coordinates of tensors, and of all that is computed from them."""

from samhw.statistics.degrees import DegreeConstraint, DegreeStatistics
from samhw.statistics.exact import DataStatistics
from samhw.statistics.make import from_densities, from_tensors
from samhw.statistics.statistics import KINDS, Dealt, Kind, Stock, TensorStatistics
from samhw.statistics.support import (
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
from samhw.statistics.uniform import UniformStatistics

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
