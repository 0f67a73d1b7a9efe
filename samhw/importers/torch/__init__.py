"""Modules of PyTorch as programs (docs/pytorch.md)."""

from samhw.importers.core import Value
from samhw.importers.torch import decompositions, operators
from samhw.importers.torch.explain import Explanation, Step, explain
from samhw.importers.torch.given import annotate, check_arguments, module_of
from samhw.importers.torch.imported import ImportedModule
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.loops import UNROLL
from samhw.importers.torch.module import import_module
from samhw.importers.torch.registry import COMPLEX, DECOMPOSED, OPERATORS, mapping
from samhw.importers.torch.value import Host, Known

__all__ = [
    "COMPLEX",
    "DECOMPOSED",
    "OPERATORS",
    "UNROLL",
    "Explanation",
    "Host",
    "ImportedModule",
    "Importer",
    "Known",
    "Step",
    "Value",
    "annotate",
    "check_arguments",
    "decompositions",
    "explain",
    "import_module",
    "mapping",
    "module_of",
    "operators",
]
