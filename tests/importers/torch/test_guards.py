"""What looks at data only to check them, and what parameters decide."""

import pytest
import torch
from torch import Tensor, nn

from samhw.errors import InputError
from samhw.importers.torch import import_module
from tests.importers.torch.agree import agree
from tests.importers.torch.edge_values import Module


def raises_unless(x: Tensor) -> Tensor:
    if not torch.isfinite(x).all():
        raise ValueError("not finite")
    return x * 2


def raises_if(x: Tensor) -> Tensor:
    if (x > 100).any():
        raise ValueError("too large")
    return x * 2


def raises_unless_both(x: Tensor) -> Tensor:
    if not torch.isfinite(x).all() or not (x < 100).all():
        raise ValueError("not finite, or too large")
    return x * 2


def raises_if_either(x: Tensor) -> Tensor:
    if (x > 100).any() or not (x.isfinite().all() and not (x < -100).any()):
        raise ValueError("not finite, or too large")
    return x * 2


def raises_where_asked(x: Tensor) -> Tensor:
    checks = True
    if checks and not x.isfinite().all():
        raise ValueError("not finite")
    return x * 2


def raises_outside(x: Tensor) -> Tensor:
    if not -10 < x.sum() < 10 or (x[0] > 50 and x.max() > 100):
        raise ValueError("too large")
    return x * 2


def log_probability(x: Tensor) -> Tensor:
    return torch.distributions.Normal(x, torch.ones(3)).log_prob(x * 0.5)


GUARDS = [
    *(raises_unless, raises_if, raises_unless_both, raises_if_either, raises_where_asked, raises_outside),
    log_probability,
]


@pytest.mark.parametrize("function", GUARDS)
def test_a_guard_that_raises_is_taken_to_hold(function, capfd) -> None:
    agree(Module(function), (torch.tensor([1.0, -2.0, 0.5]),))
    assert not capfd.readouterr().err


class Switched(nn.Module):
    def __init__(self, number: float) -> None:
        super().__init__()
        self.switch = nn.Parameter(torch.tensor(number))

    def forward(self, x: Tensor) -> Tensor:
        return x * 2 if self.switch > 0 else x * 3


@pytest.mark.parametrize("number", [1.0, -1.0])
def test_a_parameter_decides(number: float) -> None:
    agree(Switched(number), (torch.randn(3),))


REFUSED = {
    "complex": (lambda z: torch.view_as_real(z), torch.ones(2, dtype=torch.complex64), "view_as_real"),
    "hybrid": (
        lambda s: s.to_dense() * 2,
        torch.sparse_coo_tensor([[0, 2]], torch.ones(2, 3), (4, 3), check_invariants=True),
        "with dense dimensions",
    ),
    "integers": (lambda x: x * x, torch.tensor([1, 2]), "integers and conditions alone"),
    "bits": (lambda x: x.view(torch.int32), torch.ones(2), "reads the bits of numbers"),
    "random": (lambda x: x + torch.randn_like(x), torch.ones(2), "draws random numbers"),
    "normal": (lambda x: torch.normal(x, 1.0), torch.ones(2), "draws random numbers"),
    "gradient": (
        lambda x: torch.autograd.grad(x.sum(), [x])[0],
        torch.ones(2),
        "takes gradients of its arguments as it runs, .*torch.func.grad",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_says_why(name: str) -> None:
    function, argument, said = REFUSED[name]
    with pytest.raises(InputError, match=said):
        import_module(Module(function), (argument,))
