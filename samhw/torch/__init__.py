"""Modules of PyTorch in, results out (docs/pytorch.md)."""

from samhw.importers.torch import annotate, mapping
from samhw.torch.check import ModuleCheck
from samhw.torch.design import ModuleDesign, compile
from samhw.torch.result import ModuleResult

__all__ = ["ModuleCheck", "ModuleDesign", "ModuleResult", "annotate", "compile", "mapping"]
