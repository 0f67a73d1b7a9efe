"""Every operator of the table at its edges, against PyTorch."""

import pytest
import torch

from samhw.errors import InputError
from samhw.importers.torch import import_module
from samhw.lang.reference import evaluate_program
from tests.importers.torch.agree import agree
from tests.importers.torch.edge_values import CASES, Module

leaves = torch.utils._pytree.tree_leaves


@pytest.mark.nightly(but=9)
@pytest.mark.parametrize("name", CASES)
def test_edge_values(name: str) -> None:
    case = CASES[name]
    module = Module(case.function).eval()
    imported = import_module(module, case.arguments)
    found = evaluate_program(imported.program, imported.tensors(case.arguments))
    ours = leaves(imported.outputs(found, case.arguments, exact=True))
    for mine, theirs in zip(ours, leaves(module(*case.arguments)), strict=True):
        assert mine.shape == theirs.shape
        held, right = mine.double(), theirs.double()
        if case.zero_wins:
            right = torch.where(right.isnan() & (held == 0), 0.0, right)
        torch.testing.assert_close(held, right, rtol=1e-6, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("name", ["var", "std", "var_mean"])
def test_the_variance_of_one_element_is_refused(name: str) -> None:
    module = Module(lambda x: getattr(torch, name)(x, 1))
    with pytest.raises(InputError, match="variance of 1 elements with a correction of 1, which"):
        import_module(module, (torch.randn(3, 1),))


@pytest.mark.parametrize("function", [torch.cov, lambda x: torch.cov(x[0])])
def test_covariances(function) -> None:
    torch.manual_seed(0)
    agree(Module(function), (torch.randn(3, 5),))
