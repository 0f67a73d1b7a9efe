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
