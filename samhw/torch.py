"""Modules of PyTorch in, results out (docs/pytorch.md): what people import of `samhw.app.torch`."""

from samhw.app.torch import (
    Explanation,
    ModuleCheck,
    ModuleDesign,
    ModuleResult,
    annotate,
    compile,
    explain,
    mapping,
)

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
