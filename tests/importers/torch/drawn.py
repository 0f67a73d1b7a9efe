"""Random modules: a dozen operators one after another, as models have them."""

from collections.abc import Callable
from random import Random
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["RandomModule", "random_module"]

Step = Callable[[Tensor], Tensor]


class RandomModule(nn.Module):
    """Steps on tensors of the shape (batch, rows, features); some come back to an earlier one."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = Random(seed)
        self.names: list[str] = []
        self.layers = nn.ModuleList()
        self.steps: list[tuple[Step, int]] = []
        width = self.width = self.random.choice((4, 6, 8))
        for _ in range(self.random.randint(4, 9)):
            name = self.random.choice(sorted(STEPS))
            step, width = STEPS[name](self, width)
            self.names.append(name)
            self.steps.append((step, width))

    def forward(self, x: Tensor) -> Tensor:
        before = x
        for step, _ in self.steps:
            made = step(x)
            before, x = x, made + before if made.shape == before.shape else made
        return x

    def layer(self, layer: nn.Module) -> nn.Module:
        self.layers.append(layer)
        return layer


Maker = Callable[[RandomModule, int], tuple[Step, int]]


def linear(module: RandomModule, width: int) -> tuple[Step, int]:
    out = module.random.choice((4, 6, 8))
    return module.layer(nn.Linear(width, out, bias=module.random.random() < 0.7)), out


def function(module: RandomModule, width: int) -> tuple[Step, int]:
    choices: list[Step] = [F.relu, F.gelu, F.silu, torch.tanh, torch.sigmoid, F.elu, F.softplus, F.hardswish]
    return module.random.choice(choices), width


def layer_norm(module: RandomModule, width: int) -> tuple[Step, int]:
    return module.layer(nn.LayerNorm(width)), width


def group_norm(module: RandomModule, width: int) -> tuple[Step, int]:
    norm = module.layer(nn.GroupNorm(2, width))
    return lambda x: norm(x.transpose(1, 2)).transpose(1, 2), width


def attention(module: RandomModule, width: int) -> tuple[Step, int]:
    heads, causal = module.random.choice((1, 2)), module.random.random() < 0.5
    qkv = module.layer(nn.Linear(width, 3 * width))

    def step(x: Tensor) -> Tensor:
        b, n, _ = x.shape
        q, k, v = (t.view(b, n, heads, -1).transpose(1, 2) for t in qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return y.transpose(1, 2).reshape(b, n, width)

    return step, width


def mixing(module: RandomModule, width: int) -> tuple[Step, int]:
    mix = module.layer(nn.Linear(3, 3))
    return lambda x: mix(x.transpose(1, 2)).transpose(1, 2), width


def gate(module: RandomModule, width: int) -> tuple[Step, int]:
    wide = module.layer(nn.Linear(width, 2 * width))

    def step(x: Tensor) -> Tensor:
        a, b = wide(x).split(width, -1)
        return a * torch.sigmoid(b)

    return step, width


def rotated(module: RandomModule, width: int) -> tuple[Step, int]:
    def step(x: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        return torch.cat((-x[..., half:], x[..., :half]), -1) * 0.5 + x

    return step, width


def softmax(module: RandomModule, width: int) -> tuple[Step, int]:
    dim = module.random.choice((-1, 1))
    return lambda x: x.softmax(dim), width


def centred(module: RandomModule, width: int) -> tuple[Step, int]:
    dim = module.random.choice((-1, 1))
    return lambda x: x - x.mean(dim, keepdim=True), width


def conditional(module: RandomModule, width: int) -> tuple[Step, int]:
    return lambda x: torch.where(x > 0.25, x, x * x).clamp(-2, 2), width


def gram(module: RandomModule, width: int) -> tuple[Step, int]:
    return lambda x: (x @ x.transpose(-2, -1)) @ x * 0.25, width


def split(module: RandomModule, width: int) -> tuple[Step, int]:
    def step(x: Tensor) -> Tensor:
        b, n, f = x.shape
        y = x.view(b, n, 2, f // 2).permute(0, 2, 1, 3)
        return (y * y.amax(2, keepdim=True)).permute(0, 2, 1, 3).reshape(b, n, f)

    return step, width


def stacked(module: RandomModule, width: int) -> tuple[Step, int]:
    return lambda x: torch.stack([x, torch.tanh(x)], -1).sum(-1), width


def einsum(module: RandomModule, width: int) -> tuple[Step, int]:
    return lambda x: torch.einsum("bnf,bmf,bmg->bng", x, x, x) * 0.1, width


STEPS: dict[str, Maker] = {
    maker.__name__: maker
    for maker in (
        *(linear, function, layer_norm, group_norm, attention, mixing, gate, rotated, softmax),
        *(centred, conditional, gram, split, stacked, einsum),
    )
}


def random_module(seed: int) -> tuple[RandomModule, tuple[Any, ...]]:
    """A module in evaluation mode, and its argument."""
    torch.manual_seed(seed)
    module = RandomModule(seed).double().eval()
    return module, (torch.randn(module.random.choice((1, 2)), 3, module.width, dtype=torch.float64),)
