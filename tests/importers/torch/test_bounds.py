"""More operands, steps and dimensions than one statement of hardware takes."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import samhw.torch
from samhw.importers.core import draft as bounds
from tests.importers.torch.agree import agree


class Joining(nn.Module):
    """Each way to join many tensors."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.weight = nn.Parameter(torch.randn(6, 3))

    def forward(self, x: Tensor, *given: Tensor) -> Tensor:
        if self.how == "cat":
            return torch.cat(given) @ self.weight
        if self.how == "stack":
            return torch.stack([each @ self.weight for each in given], 1).relu()
        made = given[0]
        for each in given[1:]:
            made = made * each if self.how == "multiply" else made + each
        return made.sum(0) if self.how == "multiply" else x @ self.weight.T + made


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize("how", ["cat", "stack", "add", "multiply"])
@pytest.mark.parametrize("count", [9, 10, 11, pytest.param(23, marks=pytest.mark.slow)])
def test_many_are_joined(how, count):
    """Of sparse tensors: each stream has coordinates of its own."""
    torch.manual_seed(0)
    share = 0.3 if how != "multiply" else 0.97
    given = [(torch.rand(5, 6) < share) * torch.randn(5, 6) for _ in range(count)]
    arguments = (torch.randn(5, 3), *(each.to_sparse_coo() for each in given))
    samhw.torch.compile(Joining(how).eval(), arguments, value="f32").run().check()


def test_very_many_are_joined_by_a_tree():
    class Parts(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            parts = [row * (n + 1) for n, row in enumerate(x.unbind(0))]
            return torch.stack(parts, -1).flatten() + torch.cat(parts)

    torch.manual_seed(0)
    agree(Parts(), (torch.randn(103, 2),))


class Steps(nn.Module):
    """A cell that is called in a loop, with what it gives collected."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(2, 3)

    def forward(self, x: Tensor) -> Tensor:
        h = c = x.new_zeros(1, 3)
        outputs = []
        for step in x:
            h, c = self.cell(step, (h, c))
            outputs.append(h)
        return torch.stack(outputs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", [Steps(), nn.GRU(2, 3, bidirectional=True), nn.RNN(2, 3)], ids=["cells", "gru", "rnn"]
)
def test_recurrent_networks_of_sixteen_steps(module):
    torch.manual_seed(0)
    samhw.torch.compile(module.eval(), (torch.randn(16, 1, 2),), value="f32").run().check()


class UNet(nn.Module):
    """Two levels down and up again, with two convolutions in each."""

    def __init__(self, up: str) -> None:
        super().__init__()

        def block(one: int, other: int) -> nn.Module:
            convolutions = nn.Conv2d(one, other, 3, padding=1), nn.Conv2d(other, other, 3, padding=1)
            return nn.Sequential(convolutions[0], nn.ReLU(), convolutions[1], nn.ReLU())

        def larger(one: int, other: int) -> nn.Module:
            if up == "transposed":
                return nn.ConvTranspose2d(one, other, 2, stride=2)
            return nn.Sequential(nn.Upsample(scale_factor=2, mode=up), nn.Conv2d(one, other, 1))

        self.down = nn.ModuleList([block(1, 2), block(2, 3), block(3, 4)])
        self.larger = nn.ModuleList([larger(4, 3), larger(3, 2)])
        self.up = nn.ModuleList([block(6, 3), block(4, 2)])

    def forward(self, x: Tensor) -> Tensor:
        first = self.down[0](x)
        second = self.down[1](F.max_pool2d(first, 2))
        third = self.down[2](F.max_pool2d(second, 2))
        second = self.up[0](torch.cat([second, self.larger[0](third)], 1))
        return self.up[1](torch.cat([first, self.larger[1](second)], 1))


@pytest.mark.parametrize("up", ["transposed", "nearest", "bilinear"])
def test_no_statement_of_a_unet_has_more_loops_than_a_stream_has_levels(up):
    torch.manual_seed(0)
    imported = agree(UNet(up), (torch.randn(2, 1, 8, 8),))
    assert max(len(statement.indices) for statement in imported.program.statements) <= bounds.DEEPEST
    assert any(statement.lhs.tensor.endswith("_whole") for statement in imported.program.statements)


@pytest.mark.slow
def test_a_unet_runs():
    torch.manual_seed(0)
    samhw.torch.compile(UNet("transposed").eval(), (torch.randn(2, 1, 8, 8),), value="f32").run().check()
