"""A decoder of GPT-2's shape: layers with weights of their own, and attention under a sparse mask.

samhw build examples/pytorch/decoder.py:twelve --fuse none --share-hardware all --fixed-extents \\
  --memory sdram --target board:ulx3s -o out
"""

import math

import torch
from torch import Tensor, nn


def big_bird(length: int) -> Tensor:
    """Zaheer et al., 2020, causal: neighbors, the first place, and a random one for each row."""
    places = torch.arange(length)
    near = (places[:, None] - places).abs() <= 1
    near[:, 0] = True
    near[places, torch.randint(length, (length,), generator=torch.Generator().manual_seed(0))] = True
    return near.tril()


class Layer(nn.Module):
    """Attention of several heads, and a hidden layer, each after a norm and beside a residual."""

    mask: Tensor

    def __init__(self, width: int, heads: int, hidden: int, length: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.register_buffer("mask", big_bird(length))

    def forward(self, x: Tensor) -> Tensor:
        length, width = x.shape
        y = self.before(x)
        query, key, value = (
            linear(y).view(length, self.heads, -1).transpose(0, 1)
            for linear in (self.query, self.key, self.value)
        )
        scores = query @ key.transpose(1, 2) / math.sqrt(width // self.heads)
        weights = torch.softmax(scores.masked_fill(~self.mask, -math.inf), -1)
        x = x + self.out((weights @ value).transpose(0, 1).reshape(length, width))
        return x + self.down(torch.relu(self.up(self.between(x))))


def decoder(layers: int, width: int = 64, heads: int = 4, hidden: int = 256, length: int = 64):
    torch.manual_seed(0)
    stack = [Layer(width, heads, hidden, length) for _ in range(layers)]
    return nn.Sequential(*stack).eval(), (torch.randn(length, width),)


def one():
    return decoder(1)


def twelve():
    return decoder(12)


def small():
    return decoder(2, width=8, heads=2, hidden=16, length=6)
