"""Functions with thresholds at their edges, beyond them, and at what is no number; and stacks of every rank:
against PyTorch."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.importers.torch.agree import agree


class Of(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return self.function(*arguments)


EDGES = [
    0,
    -0.0,
    0.5,
    -0.5,
    1,
    -1,
    2,
    -2,
    2.4,
    2.5,
    3,
    -3,
    6,
    20,
    -20,
    50,
    1e4,
    -1e4,
    1e-30,
    math.inf,
    math.nan,
]

FUNCTIONS = {
    "softplus": F.softplus,
    "softplus, threshold 1": lambda x: F.softplus(x, 1, 1),
    "softplus, beta 2, threshold 5": lambda x: F.softplus(x, 2, 5),
    "softplus, threshold below 0": lambda x: F.softplus(x, 1, -1),
    "softplus, beta below 0": lambda x: F.softplus(x, -1, 3),
    "threshold": lambda x: F.threshold(x, 1.0, -7.0),
    "hardshrink": F.hardshrink,
    "hardtanh": lambda x: F.hardtanh(x, -2, 2),
    "relu6": F.relu6,
    "hardsigmoid": F.hardsigmoid,
    "elu": lambda x: F.elu(x, 2.0),
    "celu": lambda x: F.celu(x, 3.0),
    "selu": F.selu,
    "log_sigmoid": F.logsigmoid,
    "mish": F.mish,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "log1p": torch.log1p,
    "expm1": torch.expm1,
    "rsqrt": torch.rsqrt,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_edges(name):
    agree(Of(FUNCTIONS[name]), (torch.tensor(EDGES, dtype=torch.float64),))


STACKS = (torch.hstack, torch.vstack, torch.dstack, torch.column_stack, torch.row_stack)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4)])
@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: stack.__name__)
def test_stacks(stack, shape):
    torch.manual_seed(0)
    agree(Of(lambda x, y: stack([x, y * 2])), (torch.randn(shape), torch.randn(shape)))


@pytest.mark.parametrize("dim", [0, 1, -1, -2])
@pytest.mark.parametrize("join", [torch.cat, torch.stack], ids=["cat", "stack"])
def test_along_a_dimension(join, dim):
    torch.manual_seed(0)
    agree(Of(lambda x, y: join([x, y * 2], dim)), (torch.randn(2, 3), torch.randn(2, 3)))


def test_an_instance_norm_by_running_statistics():
    torch.manual_seed(0)
    norm = nn.InstanceNorm1d(3, affine=True, track_running_stats=True)
    norm(torch.randn(4, 3, 5) * 2 + 1)
    agree(norm, (torch.randn(2, 3, 5),))
