"""Modules of PyTorch in, results out (docs/pytorch.md)."""

from samhw.app.torch.module_design import ModuleDesign, compile
from samhw.app.torch.module_result import ModuleCheck, ModuleResult
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
