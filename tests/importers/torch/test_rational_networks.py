"""Random quantised networks of four kinds, and those of PT2E, against integers and fractions that know
nothing of samhw (tests/support/rational_networks.py)."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
import torch.ao.quantization.fx._decomposed
import torch.nn.functional as F
from torch import Tensor, nn

import samhw.torch
from samhw.importers.torch import import_module
from samhw.lang.reference import evaluate_program
from tests.support.rational_networks import Exact, run, telling

Q = torch.ops.quantized_decomposed
Array = npt.NDArray[Any]

TIE = 2.0**-15
"""How near to a tie floating point may round either way: a softmax, or a sum with a product."""


class Draw:
    """Random choices."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def size(self, least: int, most: int) -> int:
        return int(self.rng.integers(least, most + 1))

    def one_of(self, *choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    def normal(self, *shape: int) -> Tensor:
        return torch.tensor(self.rng.standard_normal(shape), dtype=torch.float32)


class Steps(nn.Module):
    """Quantises and back, by the range of the first numbers that it sees, or some of it."""

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        self.ends = draw.one_of((-128, 127, torch.int8), (0, 255, torch.uint8))
        self.share = draw.one_of(1.0, 0.8)
        self.params: tuple[Any, ...] = ()

    def forward(self, x: Tensor) -> Tensor:
        if not self.params:
            ends = x.detach().min().clamp(max=0), x.detach().max().clamp(min=0)
            low, high = (float(end) * self.share for end in ends)
            scale = float(np.float32((high - low or 1) / 255))
            self.params = (scale, self.ends[0] - round(low / scale), *self.ends)
        return Q.dequantize_per_tensor(Q.quantize_per_tensor(x, *self.params), *self.params)


class Weight(nn.Module):
    """Integers, by channel or all of one scale, most of them zeros or few."""

    def __init__(self, draw: Draw, *shape: int) -> None:
        super().__init__()
        by_channel = draw.one_of(True, False)
        kept = draw.rng.random(shape) < draw.one_of(0.3, 1.0)
        self.register_buffer("w", torch.tensor(draw.rng.integers(-127, 128, shape) * kept, dtype=torch.int8))
        scales = draw.rng.uniform(0.002, 0.01, shape[0] if by_channel else 1)
        self.register_buffer("s", torch.tensor(scales, dtype=torch.float32))
        self.register_buffer("z", torch.zeros(len(scales), dtype=torch.int64))
        self.one = None if by_channel else float(self.s)

    def forward(self) -> Tensor:
        if self.one is not None:
            return Q.dequantize_per_tensor(self.w, self.one, 0, -127, 127, torch.int8)
        return Q.dequantize_per_channel(self.w, self.s, self.z, 0, -127, 127, torch.int8)


class Linear(nn.Module):
    """A layer of such weights, with a bias or none."""

    def __init__(self, draw: Draw, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = Weight(draw, outputs, inputs)
        self.bias = nn.Parameter(draw.normal(outputs)) if draw.one_of(True, False) else None

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight(), self.bias)


class Mlp(nn.Module):
    """One to three layers."""

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        widths = [draw.size(1, 12) for _ in range(draw.size(2, 4))]
        self.layers = nn.ModuleList(Linear(draw, *pair) for pair in pairwise(widths))
        self.steps = nn.ModuleList(Steps(draw) for _ in widths)
        self.between: list[Callable[[Tensor], Tensor]] = [
            draw.one_of(torch.relu, F.relu6, lambda x: x.clamp(-0.7, 0.4), lambda x: x) for _ in self.layers
        ]
        self.x = draw.normal(draw.size(1, 60), widths[0]) * 2

    def forward(self, x: Tensor) -> Tensor:
        for steps, layer, between in zip(self.steps, self.layers, self.between, strict=False):
            x = between(layer(steps(x)))
        return x


class Attention(nn.Module):
    """One head."""

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        width = draw.size(2, 8)
        self.q, self.k, self.v, self.o = (Linear(draw, width, width) for _ in range(4))
        self.steps = nn.ModuleList(Steps(draw) for _ in range(6))
        self.x, self.scale = draw.normal(draw.size(1, 12), width), width**-0.5

    def forward(self, x: Tensor) -> Tensor:
        given, queries, keys, values, shares, mixed = self.steps
        x = given(x)
        scores = torch.matmul(queries(self.q(x)), keys(self.k(x).transpose(-1, -2))) * self.scale
        return self.o(mixed(torch.matmul(shares(torch.softmax(scores, -1)), values(self.v(x)))))


class Residuals(nn.Module):
    """Two convolutions, of which the second's result, quantised or not, is added to the first's."""

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        channels, inputs = draw.size(1, 3), draw.size(1, 2)
        self.first, self.second = Weight(draw, channels, inputs, 3, 3), Weight(draw, channels, channels, 3, 3)
        self.biases = nn.ParameterList(draw.normal(channels) for _ in range(2))
        self.last = Linear(draw, channels, draw.size(1, 3))
        self.steps = nn.ModuleList(Steps(draw) for _ in range(6))
        self.folded = draw.one_of(True, False)
        self.stride = draw.size(1, 2)
        self.x = draw.normal(draw.size(1, 4), inputs, draw.size(4, 6), draw.size(4, 6))

    def forward(self, x: Tensor) -> Tensor:
        given, first, second, both, pooled, mean = self.steps
        x = first(torch.relu(F.conv2d(given(x), self.first(), self.biases[0], self.stride, 1)))
        y = F.conv2d(x, self.second(), self.biases[1], padding=1)
        x = both(torch.relu(x + (second(y) if self.folded else y)))
        x = pooled(F.max_pool2d(x, 2))
        return self.last(mean(F.adaptive_avg_pool2d(x, 1).flatten(1)))


class Gcn(nn.Module):
    """Two layers over a graph that is the same in every run."""

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        nodes, widths = draw.size(2, 30), [draw.size(1, 6) for _ in range(3)]
        edges = draw.rng.integers(1, 256, (nodes, nodes)) * (draw.rng.random((nodes, nodes)) < 0.4)
        self.register_buffer("edges", torch.tensor(edges, dtype=torch.uint8))
        self.layers = nn.ModuleList(Linear(draw, *pair) for pair in pairwise(widths))
        self.steps = nn.ModuleList(Steps(draw) for _ in range(4))
        self.x = draw.normal(nodes, widths[0]).relu()

    def forward(self, x: Tensor) -> Tensor:
        graph = Q.dequantize_per_tensor(self.edges, 0.0039, 0, 0, 255, torch.uint8)
        given, one, hidden, other = self.steps
        x = torch.relu(torch.matmul(graph, one(self.layers[0](given(x)))))
        return torch.matmul(graph, other(self.layers[1](hidden(x))))


KINDS: Mapping[str, Callable[[Draw], nn.Module]] = {
    "mlp": Mlp,
    "attention": Attention,
    "cnn": Residuals,
    "gcn": Gcn,
}


def exact_of(module: nn.Module, x: Tensor) -> tuple[nn.Module, Exact]:
    """A network that gives its integers too, and these by the oracle."""
    module.eval()(x)
    told = telling(torch.export.export(module, (x,)).module())
    return told, run(torch.export.export(told, (x,)), x)


def compare(found: tuple[Tensor, ...], exact: Exact, rounding: float) -> bool:
    """Whether all integers are the same, and if so numbers but for their rounding."""
    assert len(found) == len(exact.outputs)
    pairs = [(ours.detach().numpy(), theirs) for ours, theirs in zip(found, exact.outputs, strict=True)]
    whole = [(ours, theirs) for ours, theirs in pairs if ours.dtype.kind in "iu"]
    if not all(np.array_equal(*pair) for pair in whole):
        return False
    for ours, theirs in pairs:
        if ours.dtype.kind == "f":
            most = float(max(np.abs(theirs).max(), 1))
            np.testing.assert_allclose(ours, theirs.astype(float), rtol=0, atol=most * rounding)
    return True


@pytest.mark.nightly(but=10)
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("kind", KINDS)
def test_programs_are_exact(kind: str, seed: int) -> None:
    module = KINDS[kind](Draw(seed))
    told, exact = exact_of(module, module.x)
    imported = import_module(told, (module.x,))
    values = evaluate_program(imported.program, imported.tensors((module.x,)))
    found = imported.outputs(values, (module.x,), exact=True)
    assert compare(found, exact, 1e-12) or exact.beside_tie < TIE


@pytest.mark.parametrize("kind", KINDS)
def test_designs_are_exact(kind: str) -> None:
    for seed in (100, 101):
        module = KINDS[kind](Draw(seed))
        told, exact = exact_of(module, module.x)
        found = samhw.torch.compile(told, (module.x,), value="f32", sparsify=0.5).run().output
        assert compare(found, exact, 2.0**-20), exact.beside_tie


def test_the_oracle_by_hand() -> None:
    """(2 - 1)(3) + (-4 - 1)(-2) = 13 in units of 1/8, and a bias of 0.2, which is 2 of them: 15/8 are 1.875
    steps of 1, and 3.75 of 0.5."""

    class Small(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, ...]:
            x = Q.dequantize_per_tensor(x, 0.25, 1, -128, 127, torch.int8)
            weight = torch.tensor([[3, -2]], dtype=torch.int8)
            weight = Q.dequantize_per_tensor(weight, 0.5, 0, -128, 127, torch.int8)
            made = F.linear(x, weight, torch.tensor([0.2]))
            halves = Q.quantize_per_tensor(made, 0.5, -7, -128, 127, torch.int8)
            return halves, Q.quantize_per_tensor(made.clamp(max=1.5), 1.0, 0, 0, 255, torch.uint8), made

    x = torch.tensor([[2, -4]], dtype=torch.int8)
    exact = run(torch.export.export(Small(), (x,)), x)
    assert [found.item() for found in exact.outputs] == [
        -3,
        2,
        Fraction(13, 8) + Fraction(np.float32(0.2).item()),
    ]
    # 1.5 is a tie, and goes to the even 2.
    assert exact.beside_tie == 0
