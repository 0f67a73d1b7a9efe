"""Routers: what topk picks, weights by conditions."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import samhw.torch
from samhw.errors import InputError
from samhw.lang.reference import evaluate_program
from tests.importers.torch.agree import agree


class Router(nn.Module):
    """A mixture of experts in which the best two of each row count, all of which compute."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(6, 5)
        self.experts = nn.ModuleList([nn.Linear(6, 6) for _ in range(5)])

    def forward(self, x: Tensor) -> Tensor:
        scores, chosen = self.gate(x).topk(2, -1)
        weights = scores.softmax(-1)
        parts = [((chosen == n) * weights).sum(-1, keepdim=True) * e(x) for n, e in enumerate(self.experts)]
        return torch.stack(parts).sum(0)


class Rows(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        rows, _ = torch.where(x > 0)
        return x[rows]


class Median(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.median()


class Extremes(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x.argmax(-1), x.argmin(-1)


def test_a_mixture_of_experts() -> None:
    torch.manual_seed(0)
    module, x = Router().eval(), torch.randn(7, 6)
    found = samhw.torch.compile(module, (x,), value="f32").run()
    assert found.check().good
    torch.testing.assert_close(found.output, module(x).detach(), rtol=1e-4, atol=1e-4)


def test_places_are_whole_numbers() -> None:
    x = torch.tensor([[1.0, 3.0, 3.0, -1.0], [0.0, -0.0, -2.0, -2.0]])
    found = samhw.torch.compile(Extremes(), (x,), value="f32").run()
    assert [part.tolist() for part in found.output] == [[1, 0], [3, 2]]
    assert {part.dtype for part in found.output} == {torch.int64}


def test_rows_whose_number_depends_on_data_are_refused() -> None:
    with pytest.raises(InputError, match=r"'aten\.where' gives as many elements as the data say"):
        samhw.torch.compile(Rows(), (torch.randn(3, 4),))


def test_more_than_hardware_keeps_is_refused() -> None:
    with pytest.raises(InputError, match=r"'aten\.median' takes 65 elements of a row in order"):
        samhw.torch.compile(Median(), (torch.randn(129),))


class InGroups(nn.Module):
    """A router that looks at the better group of its experts alone."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        best = x.view(-1, 2, 4).amax(-1).topk(1)[1]
        kept = torch.zeros(len(x), 2).scatter_(1, best, 1).repeat_interleave(4, 1)
        weights, chosen = x.masked_fill(~kept.bool(), float("-inf")).topk(3)
        return weights.softmax(-1), chosen


def test_what_is_minus_infinity_comes_last() -> None:
    torch.manual_seed(3)
    x = torch.randn(6, 8)
    found = samhw.torch.compile(InGroups(), (x,), value="f32").run()
    assert found.check().good
    weights, chosen = InGroups()(x)
    torch.testing.assert_close(found.output[0], weights, rtol=1e-5, atol=1e-6)
    assert found.output[1].tolist() == chosen.tolist()


def test_the_place_of_the_greatest_that_is_not_hidden() -> None:
    """As a second expert is chosen: -inf hides the first one."""

    class Second(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            first = F.one_hot(x.argmax(1), x.shape[1])
            return x.masked_fill(first.bool(), -torch.inf).argmax(1)

    x = torch.tensor([[3.0, 1.0, 2.0], [-5.0, -7.0, -6.0]])
    imported = agree(Second(), (x,))
    found = evaluate_program(imported.program, imported.tensors((x,)))
    assert imported.outputs(found, (x,)).tolist() == [2, 2]
