"""What changes nothing, or only the sign of a zero, is not computed."""

import pytest
import torch
from torch import nn

from tests.importers.torch.agree import agree
from tests.importers.torch.edge_values import Module

IDENTITIES = {
    "* 1.0": lambda x: x * 1.0,
    "1 *": lambda x: torch.ones(3, 1) * x,
    "/ 1": lambda x: x / torch.ones(4),
    "+ 0": lambda x: x + torch.zeros(4),
    "0 +": lambda x: 0 + x,
    "- 0": lambda x: x - 0.0,
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_an_identity_is_dropped(name: str) -> None:
    torch.manual_seed(0)
    imported = agree(Module(lambda x: torch.relu(IDENTITIES[name](x))), (torch.randn(3, 4),))
    (statement,) = imported.program.statements
    assert str(statement.rhs).startswith("relu(arguments_0[")


def test_it_broadcasts_all_the_same() -> None:
    agree(Module(lambda x: x * torch.ones(3, 4)), (torch.randn(4),))


def test_a_condition_becomes_numbers() -> None:
    agree(Module(lambda x: (x > 0) * 1.0 + (x > 1) * 1.0), (torch.tensor([-1.0, 0.5, 2.0]),))


def test_a_new_layer_norm_has_no_weights_in_it() -> None:
    torch.manual_seed(0)
    norm = nn.LayerNorm(4)
    x = torch.randn(3, 4)
    assert list(agree(norm, (x,)).inputs) == ["input"]
    nn.init.normal_(norm.weight)
    assert "weight" in agree(norm, (x,)).inputs
