"""What a condition of the data picks, and what is put back by it."""

import pytest
import torch
from torch import nn

from samhw.errors import InputError
from samhw.importers.torch import import_module
from tests.importers.torch.agree import Of, agree


def elements(x, y):
    above = x > 0.3
    out = y.clone()
    out[above] = torch.sqrt(x[above]) * 2 + y[above]
    return out


def rows(x, y):
    above = x.sum(-1) > 0
    out = torch.zeros_like(y)
    out[above] = x[above] + y[above] * y[0]
    out[~above] = y[~above]
    return out


def of_a_column(x, y):
    above = x[:, 0] > 0
    out = y.clone()
    out[above, 1] = x[above, 2]
    return out


def capped(x, y):
    out = x * 1
    out[out > y] = y[out > y]
    return out


@pytest.mark.parametrize("function", [elements, rows, of_a_column, capped])
def test_put_back(function):
    torch.manual_seed(0)
    agree(Of(function), (torch.randn(4, 3), torch.randn(4, 3)))


def of_their_mean(x, y):
    above = x > 0.3
    out = y.clone()
    out[above] = x[above] - x[above].mean()
    return out


def running(x, y):
    above = x > 0.3
    out = y.clone()
    out[above] = x[above].cumsum(0)
    return out


def elsewhere(x, y):
    out = y.clone()
    out[y > 0.3] = x[x > 0.3]
    return out


def given_back(x, y):
    above = x > 0.3
    return x[above] * 2


@pytest.mark.parametrize("function", [of_their_mean, running, given_back])
def test_what_their_number_decides_is_refused(function):
    with pytest.raises(InputError, match="gives as many elements as the data say"):
        import_module(Of(function), (torch.randn(4, 3), torch.randn(4, 3)))


def test_another_condition_is_refused():
    x = torch.randn(4, 3)
    with pytest.raises(InputError):
        import_module(Of(elsewhere), (x, x.clone()))


class Best(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("best", torch.zeros(4, 3))

    def forward(self, x):
        better = x > self.best
        self.best[better] = x[better]
        return self.best


def test_into_a_buffer():
    torch.manual_seed(0)
    assert list(agree(Best(), (torch.randn(4, 3),)).updates) == ["best"]
