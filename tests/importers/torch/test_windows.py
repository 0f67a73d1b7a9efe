"""Windows: what selects them is looked up, with zeros outside of an image."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

import samhw.torch


@pytest.mark.parametrize("padding", [0, 1])
def test_windows_of_a_convolution_are_picked(padding: int) -> None:
    module = nn.Conv1d(1, 2, 3, padding=padding, stride=2, bias=False)
    module.weight.data = torch.tensor([[[1.0, 2, 3]], [[-1, 0, 1]]])
    x = torch.arange(1.0, 10)[None, None]
    result = samhw.torch.compile(module, (x,)).run(x)
    assert result.output.tolist() == module(x).tolist()
    assert "pick" in {node.kind for _, node in result.result.compiled.design.nodes}


class UpAndAside(nn.Module):
    """As in a U-Net: an image that has been made larger beside another, whose rows and columns are split by
    that, and windows over both."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.conv = nn.ConvTranspose2d(2, 2, 2, 2), nn.Conv2d(4, 2, 3, padding=1)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.conv(torch.cat([self.up(x), y], 1))


def test_windows_over_split_axes_are_picked() -> None:
    arguments = torch.randn(1, 2, 2, 2), torch.randn(1, 2, 4, 4)
    samhw.torch.compile(UpAndAside(), arguments, value="f32").run().check()


def at(function: Callable[..., torch.Tensor]) -> nn.Module:
    """A function as a module."""
    module = nn.Module()
    module.forward = function
    return module


PICKED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "roll": lambda x: x.roll(2, 0),
    "flip": lambda x: x.flip(1),
    "pad": lambda x: nn.functional.pad(x, (2, 0, 1, 3)),
    "cut and pad": lambda x: nn.functional.pad(x, (-1, 2)),
    "reflected": lambda x: nn.functional.pad(x[None], (2, 1), mode="reflect"),
    "nearest": lambda x: nn.functional.interpolate(x[None], 7),
    "pairs": lambda x: x[torch.tensor([3, 0, 3]), torch.tensor([1, 1, 4])],
    "pairs in rows": lambda x: x.reshape(2, 2, 5)[torch.tensor([[1], [0]]), torch.tensor([[1, 0, 0]])],
}
"""What names places that are known."""


@pytest.mark.parametrize("name", PICKED)
def test_known_places_are_picked(name: str) -> None:
    """Where nothing is found infinities are not multiplied by zero, but left out."""
    x = torch.arange(20.0).reshape(4, 5)
    x[0, 0] = torch.inf
    result = samhw.torch.compile(at(PICKED[name]), (x,), value="f32").run()
    assert torch.equal(result.output, PICKED[name](x))
    kinds = {node.kind for _, node in result.result.compiled.design.nodes}
    assert "pick" in kinds
    assert "reduce_vector" not in kinds


@pytest.mark.parametrize(("padding", "is_picked"), [(1, True), (8, False)])
def test_windows_that_are_mostly_outside_are_summed(padding: int, is_picked: bool) -> None:
    """Zeros would be picked for what lies outside, one after the other."""
    torch.manual_seed(0)
    result = samhw.torch.compile(nn.Conv1d(2, 3, 3, padding=padding), (torch.randn(1, 2, 4),)).run()
    result.check()
    assert is_picked == ("pick" in {node.kind for _, node in result.result.compiled.design.nodes})
    assert padding == 1 or result.cycles < 580
