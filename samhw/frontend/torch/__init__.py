"""Modules of PyTorch as programs (docs/pytorch.md)."""

from samhw.frontend.torch import operators
from samhw.frontend.torch.annotations import annotate
from samhw.frontend.torch.given import check_arguments
from samhw.frontend.torch.imported import ImportedModule
from samhw.frontend.torch.importer import Importer, Refusal
from samhw.frontend.torch.module import import_module
from samhw.frontend.torch.registry import OPERATORS, mapping
from samhw.frontend.torch.value import Host, Known, Value

__all__ = [
    "OPERATORS",
    "Host",
    "ImportedModule",
    "Importer",
    "Known",
    "Refusal",
    "Value",
    "annotate",
    "check_arguments",
    "import_module",
    "mapping",
    "operators",
]
