"""Layers and containers: tables, conditions, mixtures, sets."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["EXAMPLES"]


class _TabularBlock(nn.Module):
    def __init__(self, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.linear_in = nn.Linear(width, hidden)
        self.linear_out = nn.Linear(hidden, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        h = self.dropout(F.relu(self.linear_in(self.norm(x))))
        return x + self.dropout(self.linear_out(h))


class _TabularResNet(nn.Module):
    """Gorishniy et al., 2021: residual blocks over the columns of a table."""

    def __init__(self, columns: int, width: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(columns, width)
        self.blocks = nn.Sequential(*(_TabularBlock(width, 2 * width, 0.1) for _ in range(2)))
        self.head = nn.Sequential(nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, classes))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(self.first(x))).softmax(-1)


def tabular_res_net():
    torch.manual_seed(51)
    return _TabularResNet(7, 6, 3).eval(), (torch.randn(5, 7),)


class _Film(nn.Module):
    """Perez et al., 2018: a condition scales and shifts the features of each layer."""

    def __init__(self) -> None:
        super().__init__()
        self.inp = nn.Linear(6, 8)
        self.generators = nn.ModuleList([nn.Linear(4, 16) for _ in range(2)])
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(2)])
        self.norms = nn.ModuleList([nn.LayerNorm(8, elementwise_affine=False) for _ in range(2)])
        self.out = nn.Linear(8, 2)

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        x = self.inp(x)
        for layer, norm, generator in zip(self.layers, self.norms, self.generators, strict=True):
            gamma, beta = generator(condition).chunk(2, dim=-1)
            x = x + F.silu(norm(layer(x)) * (1 + gamma.unsqueeze(1)) + beta.unsqueeze(1))
        return self.out(x)


def film():
    torch.manual_seed(52)
    return _Film().eval(), (torch.randn(2, 5, 6), torch.randn(2, 4))


class _MixtureDensity(nn.Module):
    """Bishop, 1994: the log-likelihood of targets under a mixture that the network gives."""

    def __init__(self, mixtures: int = 3) -> None:
        super().__init__()
        self.mixtures = mixtures
        self.body = nn.Sequential(nn.Linear(5, 10), nn.Tanh())
        self.pi, self.mu, self.log_sigma = (nn.Linear(10, mixtures) for _ in range(3))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        h = self.body(x)
        log_pi = F.log_softmax(self.pi(h), dim=-1)
        mu, log_sigma = self.mu(h), self.log_sigma(h).clamp(-5, 5)
        z = (y.unsqueeze(-1) - mu) / torch.exp(log_sigma)
        log_prob = -0.5 * z**2 - log_sigma - 0.5 * math.log(2 * math.pi)
        nll = -torch.logsumexp(log_pi + log_prob, dim=-1)
        return nll.mean(), (log_pi.exp() * mu).sum(-1)


def mixture_density():
    torch.manual_seed(53)
    return _MixtureDensity().eval(), (torch.randn(6, 5), torch.randn(6))


class _DeepSets(nn.Module):
    """Zaheer et al., 2017: padded sets of other lengths, as a mean and a maximum over their elements."""

    def __init__(self) -> None:
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(4, 8), nn.ELU(), nn.Linear(8, 6), nn.ELU())
        self.rho = nn.Sequential(nn.Linear(12, 8), nn.ELU(), nn.Linear(8, 1))

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        mask = torch.arange(x.size(1))[None, :] < lengths[:, None]
        h = self.phi(x)
        mean = (h * mask.unsqueeze(-1)).sum(1) / lengths.unsqueeze(-1).float()
        most = h.masked_fill(~mask.unsqueeze(-1), float("-inf")).max(dim=1)[0]
        return self.rho(torch.cat([mean, most], dim=1)).squeeze(-1)


def deep_sets():
    torch.manual_seed(54)
    return _DeepSets().eval(), (torch.randn(3, 5, 4), torch.tensor([5, 2, 3]))


EXAMPLES = (
    tabular_res_net,
    film,
    mixture_density,
    deep_sets,
)
