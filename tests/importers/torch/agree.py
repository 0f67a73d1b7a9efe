"""A module against its program, both in float64; and a module of a function."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from samhw.importers.torch import ImportedModule, import_module
from samhw.lang.reference import evaluate_program

__all__ = ["Of", "agree"]


class Of(nn.Module):
    """A module that is a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def agree(module: nn.Module, arguments: Sequence[Any], **options: Any) -> ImportedModule:
    """Imports a module, and compares what its program means with what the module gives."""
    imported = import_module(module.eval(), arguments, **options)
    found = evaluate_program(imported.program, imported.tensors(arguments))
    with torch.no_grad():
        wanted = module(*arguments)
    ours = torch.utils._pytree.tree_leaves(imported.outputs(found, arguments, exact=True))
    theirs = torch.utils._pytree.tree_leaves(wanted)
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.shape == other.shape
        torch.testing.assert_close(mine.double(), other.double(), rtol=1e-6, atol=1e-6, equal_nan=True)
    return imported
