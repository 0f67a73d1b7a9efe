"""Windows: what selects them is looked up, with zeros outside of an image."""

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
