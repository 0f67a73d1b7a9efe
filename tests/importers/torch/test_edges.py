"""Functions with thresholds at their edges, beyond them, and at what is not a number; and stacks of every
rank: against PyTorch."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import samhw.torch
from samhw.errors import InputError
from samhw.importers.torch import import_module
from tests.importers.torch.agree import Of, agree

EDGES = [
    0,
    -0.0,
    0.5,
    -0.5,
    1,
    -1,
    2,
    -2,
    2.4,
    2.5,
    3,
    -3,
    6,
    20,
    -20,
    50,
    1e4,
    -1e4,
    1e-30,
    math.inf,
    math.nan,
]

FUNCTIONS = {
    "softplus": F.softplus,
    "softplus, threshold 1": lambda x: F.softplus(x, 1, 1),
    "softplus, beta 2, threshold 5": lambda x: F.softplus(x, 2, 5),
    "softplus, threshold below 0": lambda x: F.softplus(x, 1, -1),
    "softplus, beta below 0": lambda x: F.softplus(x, -1, 3),
    "threshold": lambda x: F.threshold(x, 1.0, -7.0),
    "hardshrink": F.hardshrink,
    "hardtanh": lambda x: F.hardtanh(x, -2, 2),
    "relu6": F.relu6,
    "hardsigmoid": F.hardsigmoid,
    "elu": lambda x: F.elu(x, 2.0),
    "celu": lambda x: F.celu(x, 3.0),
    "selu": F.selu,
    "log_sigmoid": F.logsigmoid,
    "mish": F.mish,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "log1p": torch.log1p,
    "expm1": torch.expm1,
    "rsqrt": torch.rsqrt,
}


@pytest.mark.nightly(but=6)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_edges(name):
    agree(Of(FUNCTIONS[name]), (torch.tensor(EDGES, dtype=torch.float64),))


STACKS = (torch.hstack, torch.vstack, torch.dstack, torch.column_stack, torch.row_stack)


@pytest.mark.nightly(but=6)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4)])
@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: stack.__name__)
def test_stacks(stack, shape):
    torch.manual_seed(0)
    agree(Of(lambda x, y: stack([x, y * 2])), (torch.randn(shape), torch.randn(shape)))


@pytest.mark.parametrize("dim", [0, 1, -1, -2])
@pytest.mark.parametrize("join", [torch.cat, torch.stack], ids=["cat", "stack"])
def test_along_a_dimension(join, dim):
    torch.manual_seed(0)
    agree(Of(lambda x, y: join([x, y * 2], dim)), (torch.randn(2, 3), torch.randn(2, 3)))


def test_an_instance_norm_by_running_statistics():
    torch.manual_seed(0)
    norm = nn.InstanceNorm1d(3, affine=True, track_running_stats=True)
    norm(torch.randn(4, 3, 5) * 2 + 1)
    agree(norm, (torch.randn(2, 3, 5),))


class Hidden(nn.Module):
    """What is -inf stays so wherever it is moved."""

    def forward(self, x: Tensor, shown: Tensor) -> list[Tensor]:
        scores = torch.where(shown, x, -math.inf)
        written = scores.clone()
        written[1:3] = scores[:2]
        moved = [scores.flip(0), scores.roll(1, 0), scores[[2, 0]], scores.slice_scatter(x[:2], 0, 1, 3)]
        moved += [written, x.select_scatter(scores[0], 0, 1), torch.cat([scores, x])]
        return [each.softmax(-1) for each in (*moved, F.pad(x, (1, 1), value=-math.inf))]


def test_hidden_elements_that_are_moved() -> None:
    shown = torch.tensor([[True, False, True], [True, True, False], [True] * 3, [True, False, False]])
    agree(Hidden(), (torch.randn(4, 3, dtype=torch.float64), shown))


class MovedPairs(nn.Module):
    """Complex numbers that are moved and put elsewhere."""

    def forward(self, x: Tensor, y: Tensor, ids: Tensor) -> list[Tensor]:
        z = torch.complex(x, y)
        into = torch.zeros(4, 3, dtype=z.dtype)
        into[ids] = z[:2]
        written = z.clone()
        written[1], written[:, 1:] = z[0], z[:, :2]
        moved = [z.roll(1, 0), z.flip(1), z[ids], z.gather(0, ids[:, None].expand(-1, 3)), F.pad(z, (1, 2))]
        return [torch.view_as_real(each) for each in (*moved, z.diagonal(), into, written)]


def test_complex_numbers_that_are_moved() -> None:
    x, y = torch.randn(2, 4, 3, dtype=torch.float64)
    agree(MovedPairs(), (x, y, torch.tensor([2, 0])))


class Pooled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return F.max_pool2d(x, 2, return_indices=True)[1]


def test_places_of_a_pool_are_refused_where_they_are_asked_for() -> None:
    with pytest.raises(
        InputError, match="max_pool2d_with_indices' gives a result for which there is no hardw"
    ):
        import_module(Pooled(), (torch.randn(1, 1, 4, 4),))


class ComplexWeights(nn.Module):
    """Layers whose parameters are complex."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(2, 3, 2, dtype=torch.cfloat)
        self.linear = nn.Linear(3, 2, dtype=torch.cfloat)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = self.convolution(torch.complex(x, x.flip(-1)))
        z = torch.polar(z.abs().tanh(), z.angle())
        return torch.view_as_real(self.linear(z) ** 2)


def test_complex_parameters() -> None:
    torch.manual_seed(0)
    agree(ComplexWeights().to(torch.cdouble), (torch.randn(1, 2, 4, dtype=torch.float64),))


class MakesSingles(nn.Module):
    """Makes f32 of whatever it is given; its result is small beside what it is a difference of."""

    def forward(self, x: Tensor) -> Tensor:
        share = (x > 0).float().mean(0)
        chosen = F.one_hot(x.argmax(1), 3).float()
        return (x.float() @ chosen.T - x.float() @ chosen.T.contiguous() * (1 + 2**-20)) * share[0] / 0.3


def test_a_module_that_makes_f32_is_compared_in_float64() -> None:
    torch.manual_seed(1)
    assert samhw.torch.compile(MakesSingles(), (torch.randn(5, 3),), value="f32").run().check().good


class ListsSlices(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x.clone()
        y[[slice(1, 2), slice(None)]] = 7.0
        return x[[slice(None), slice(1, 3)]] - y[[slice(None), slice(0, 2)]]


def test_a_list_of_slices_is_an_index() -> None:
    agree(ListsSlices(), (torch.randn(3, 4),))
