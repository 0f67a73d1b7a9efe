"""A sum that PyTorch takes reaches as far as PyTorch says, whatever stands around it."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from tests.importers.torch.agree import agree


@pytest.mark.parametrize(
    "compute",
    [
        lambda a, b: (a - (b[:, None] + a)).sum(0),
        lambda a, b: (-(a - b[:, None])).sum(0),
        lambda a, b: a - (a - (a * b[:, None]).sum(0)),
        lambda a, b: -(a - (b[:, None] + 0 * a).sum(0)),
    ],
)
def test_it_is_pytorchs(compute: Callable[[Tensor, Tensor], Tensor]) -> None:
    class Module(nn.Module):
        def forward(self, a: Tensor, b: Tensor) -> Tensor:
            return compute(a, b)

    agree(Module(), (torch.arange(3.0), torch.arange(4.0) + 1))
