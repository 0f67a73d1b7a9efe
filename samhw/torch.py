"""Modules of PyTorch in, results out (docs/pytorch.md): what people import of `samhw.app.torch`."""

from samhw.interpreter import no_collection

with no_collection():  # PyTorch has made millions of objects, which a collection goes through in 0.3 s.
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
