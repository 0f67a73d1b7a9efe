"""What is refused says why, in the words of the module's author; and numbers that are not finite."""

import re

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import samhw.torch
from samhw.errors import InputError
from samhw.importers.torch import import_module
from tests.importers.torch.agree import agree


class Slope(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return F.leaky_relu(x, float("inf"))


class Complex(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.to(torch.complex64).acos()


class Spectrum(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.fft.rfft(x, n=2048).real


class Parts(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.sparse.softmax(x, 1)


@pytest.mark.parametrize(
    ("module", "line", "words"),
    [
        (Slope(), "F.leaky_relu", "'aten.leaky_relu' has the number inf; use a finite one"),
        (Complex(), "acos()", "'aten.acos' takes or gives complex numbers; compute with their real"),
        (Spectrum(), "torch.fft.rfft", "transforms 2,048 elements as a product with a matrix"),
    ],
    ids=lambda item: type(item).__name__ if isinstance(item, nn.Module) else "",
)
def test_refused_in_the_words_of_the_module(module, line, words):
    x = torch.eye(4)
    with pytest.raises(InputError, match=words) as refusal:
        import_module(module, (x,))
    assert re.match(rf"{re.escape(__file__)}:\d+: ", str(refusal.value))
    assert line in str(refusal.value)


def test_nothing_but_what_decides():
    words = "Parts computes with x alone, which decides what is computed and is a constant of the design"
    with pytest.raises(InputError, match=words):
        import_module(Parts(), (torch.eye(4).to_sparse(),))


class Infinite(nn.Module):
    """As graph networks do it with the degrees of nodes that have no neighbours."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        root = x.rsqrt()
        return (
            root.masked_fill(root == float("inf"), 0.0),
            torch.where(x > 0, x, float("inf")),
            x.clamp(-float("inf"), 1.5),
            (x + 1) / 0.0,
            x + float("nan"),
            F.threshold(x, 0.5, float("inf")),
        )


def test_numbers_that_are_not_finite():
    samhw.torch.compile(Infinite(), (torch.tensor([0.0, 1.0, 4.0]),), value="f32").run().check()


def test_a_comparison_of_whole_tensors_decides():
    class Gram(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return x @ x.T if torch.equal(x, y) else x @ y.T

    with pytest.raises(InputError, match="Gram decides by its data what it computes"):
        import_module(Gram(), (torch.randn(2, 3), torch.randn(2, 3)))


def test_a_batch_norm_by_what_is_computed():
    class Normed(nn.Module):
        def forward(self, x: Tensor, mean: Tensor, weight: Tensor) -> Tensor:
            return F.batch_norm(x, mean, torch.ones_like(mean), weight)

    agree(Normed(), tuple(torch.randn(*shape, dtype=torch.float64) for shape in ((2, 3), (3,), (3,))))


def test_an_index_that_is_one_list_in_the_example_only():
    class Scatter(nn.Module):
        def forward(self, x: Tensor, ids: Tensor) -> Tensor:
            return torch.zeros(3, 2).scatter_add(0, ids, x)

    x, ids = torch.randn(2, 2), torch.tensor([[0], [2]]).expand(-1, 2)
    design = samhw.torch.compile(Scatter(), (x, ids), value="f32")
    design.run(x, ids.contiguous()).check()
    with pytest.raises(InputError, match=r"give an example without expand\(\)"):
        design.run(x, torch.tensor([[0, 1], [2, 2]]))
