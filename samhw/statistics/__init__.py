"""What is known of the stored coordinates of tensors, and of all that is computed from them."""

from samhw.statistics.degrees import DegreeConstraint, DegreeStatistics
from samhw.statistics.exact import DataStatistics
from samhw.statistics.make import from_densities, from_tensors
from samhw.statistics.statistics import KINDS, Kind, Statistics, Stock
from samhw.statistics.support import (
    Support,
    either,
    every,
    meeting,
    nothing,
    onto,
    relabelled,
    shifted,
    stored,
    thinned,
)
from samhw.statistics.uniform import UniformStatistics

__all__ = [
    "KINDS",
    "DataStatistics",
    "DegreeConstraint",
    "DegreeStatistics",
    "Kind",
    "Statistics",
    "Stock",
    "Support",
    "UniformStatistics",
    "either",
    "every",
    "from_densities",
    "from_tensors",
    "meeting",
    "nothing",
    "onto",
    "relabelled",
    "shifted",
    "stored",
    "thinned",
]
