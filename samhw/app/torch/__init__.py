"""Modules of PyTorch in, results out (docs/pytorch.md)."""

from samhw.app.torch.module_design import ModuleCheck, ModuleDesign, ModuleResult, compile
from samhw.importers.torch import Explanation, annotate, explain, mapping

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
