"""Modules that transform functions as they run: what torch.func gives is traced with them."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap

import samhw.torch
from samhw.errors import InputError
from samhw.importers.torch import import_module
from tests.importers.torch.agree import agree


class Module(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given: Tensor) -> Any:
        return self.function(*given)


def cube(x: Tensor) -> Tensor:
    return (x**3).sum()


TRANSFORMS: dict[str, Callable[[Tensor], Any]] = {
    "grad": grad(cube),
    "value": lambda x: grad_and_value(cube)(x),
    "jacrev": jacrev(lambda x: torch.tanh(x) * x[0]),
    "jacfwd": jacfwd(lambda x: x.sin() * x.sum()),
    "hessian": hessian(cube),
    "vjp": lambda x: vjp(torch.exp, x)[1](x),
    "jvp": lambda x: jvp(lambda y: y.softmax(0), (x,), (torch.ones_like(x),)),
    "each": lambda x: vmap(grad(lambda y: y.sin() * y))(x),
    "twice": lambda x: vmap(grad(grad(lambda y: y.exp() * y)))(x),
    "places": lambda x: vmap(lambda place: x[place] * 2)(torch.tensor([2, 0])),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transform(name: str) -> None:
    agree(Module(TRANSFORMS[name]), (torch.tensor([1.0, -2.0, 0.5]),))


def test_a_gradient_by_hand() -> None:
    """Of x^3 it is 3 x^2."""
    design = samhw.torch.compile(Module(grad(cube)), (torch.tensor([1.0, -2.0]),), value="f32")
    assert design.run().output.tolist() == [3, 12]
    assert design.run(torch.tensor([3.0, 0.5])).output.tolist() == [27, 0.75]


class Step(nn.Module):
    """A step of training of a layer of any kind, by the gradient of its loss."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor, y: Tensor) -> Any:
        def loss(state: dict[str, Tensor]) -> Tensor:
            return F.mse_loss(functional_call(self.net, state, (x,)), y)

        state = dict(self.net.named_parameters())
        slopes, value = grad_and_value(loss)(state)
        return value, {name: state[name] - 0.1 * slopes[name] for name in state}


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.qkv = nn.LayerNorm(4), nn.Linear(4, 12)

    def forward(self, x: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(*self.qkv(self.norm(x)).chunk(3, -1)) + x


NETS: dict[str, Callable[[], tuple[nn.Module, Tensor]]] = {
    "mlp": lambda: (nn.Sequential(nn.Linear(4, 3), nn.GELU(), nn.Linear(3, 4)), torch.randn(5, 4)),
    "attention": lambda: (Attention(), torch.randn(1, 3, 4)),
    "convolution": lambda: (
        nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, stride=2), nn.ReLU(), nn.Conv2d(2, 1, 1)),
        torch.randn(2, 1, 4, 5),
    ),
    "groups": lambda: (nn.Conv1d(2, 4, 2, groups=2, dilation=2), torch.randn(2, 2, 6)),
    "group norm": lambda: (nn.Sequential(nn.GroupNorm(2, 4), nn.SiLU()), torch.randn(2, 4, 3)),
    "embedding": lambda: (nn.Embedding(5, 3), torch.tensor([[0, 3], [3, 1]])),
}


@pytest.mark.parametrize("name", NETS)
def test_a_step_of_training(name: str) -> None:
    torch.manual_seed(0)
    net, x = NETS[name]()
    agree(Step(net), (x, torch.randn_like(net(x))))


def test_a_step_that_knows_its_line() -> None:
    def through_bits(x: Tensor) -> Tensor:
        return grad(lambda y: (y * y.view(torch.int32).view(torch.float32)).sum())(x)

    with pytest.raises(InputError, match=r"test_derivatives.py:\d+: "):
        import_module(Module(through_bits), (torch.ones(2),))
