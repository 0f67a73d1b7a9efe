"""Modules of PyTorch in, results out (docs/pytorch.md)."""

from samhw.importers.torch import Explanation, annotate, explain, mapping
from samhw.torch.check import ModuleCheck
from samhw.torch.design import ModuleDesign, compile
from samhw.torch.result import ModuleResult

__all__ = [
    "Explanation",
    "ModuleCheck",
    "ModuleDesign",
    "ModuleResult",
    "annotate",
    "compile",
    "explain",
    "mapping",
]
