"""Fields, splines, operators, flows, atoms."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["EXAMPLES"]


class _Siren(nn.Module):
    """Sitzmann et al., 2020: sines as activations."""

    def __init__(self, omega: float = 30.0) -> None:
        super().__init__()
        self.omega = omega
        self.layers = nn.ModuleList([nn.Linear(2, 8), nn.Linear(8, 8)])
        self.final = nn.Linear(8, 1)
        with torch.no_grad():
            self.layers[0].weight.uniform_(-1 / 2, 1 / 2)
            self.layers[1].weight.uniform_(-math.sqrt(6 / 8) / omega, math.sqrt(6 / 8) / omega)

    def forward(self, coords: Tensor) -> Tensor:
        x = coords
        for layer in self.layers:
            x = torch.sin(self.omega * layer(x))
        return self.final(x)


def siren():
    torch.manual_seed(87)
    return _Siren().eval(), (torch.rand(6, 2) * 2 - 1,)


class _KanLinear(nn.Module):
    """Liu et al., 2024, as in efficient-kan: B-splines by the recursion of Cox and de Boor."""

    def __init__(self, inputs: int, outputs: int, grid_size: int = 3, spline_order: int = 2) -> None:
        super().__init__()
        self.spline_order = spline_order
        step = 2 / grid_size
        grid = torch.arange(-spline_order, grid_size + spline_order + 1) * step - 1
        self.register_buffer("grid", grid.expand(inputs, -1).contiguous())
        self.base_weight = nn.Parameter(torch.randn(outputs, inputs) / 2)
        self.spline_weight = nn.Parameter(torch.randn(outputs, inputs, grid_size + spline_order) / 3)

    def b_splines(self, x: Tensor) -> Tensor:
        grid = self.grid
        x = x.unsqueeze(-1)
        bases = ((x >= grid[:, :-1]) & (x < grid[:, 1:])).to(x.dtype)
        for k in range(1, self.spline_order + 1):
            bases = (x - grid[:, : -(k + 1)]) / (grid[:, k:-1] - grid[:, : -(k + 1)]) * bases[:, :, :-1] + (
                grid[:, k + 1 :] - x
            ) / (grid[:, k + 1 :] - grid[:, 1:(-k)]) * bases[:, :, 1:]
        return bases.contiguous()

    def forward(self, x: Tensor) -> Tensor:
        base = F.linear(F.silu(x), self.base_weight)
        spline = F.linear(self.b_splines(x).view(x.size(0), -1), self.spline_weight.view(len(base[0]), -1))
        return base + spline


def kan():
    torch.manual_seed(88)
    return nn.Sequential(_KanLinear(3, 4), _KanLinear(4, 1)).eval(), (torch.rand(5, 3) * 2 - 1,)


class _DeepONet(nn.Module):
    """Lu et al., 2021: a branch for the function, a trunk for the places."""

    def __init__(self, sensors: int = 6, width: int = 8) -> None:
        super().__init__()
        self.branch = nn.Sequential(nn.Linear(sensors, width), nn.Tanh(), nn.Linear(width, width))
        self.trunk = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.b = nn.Parameter(torch.zeros(1))

    def forward(self, u: Tensor, y: Tensor) -> Tensor:
        return torch.einsum("bp,np->bn", self.branch(u), self.trunk(y)) + self.b


def deep_o_net():
    torch.manual_seed(89)
    return _DeepONet().eval(), (torch.randn(3, 6), torch.rand(5, 2))


class _Coupling(nn.Module):
    """RealNVP (Dinh et al., 2017): masked coupling layers with the logarithm of their determinant."""

    def __init__(self, dim: int = 4, layers: int = 2) -> None:
        super().__init__()
        masks = torch.stack([(torch.arange(dim) + i) % 2 for i in range(layers)]).float()
        self.register_buffer("masks", masks)
        self.s = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 6), nn.LeakyReLU(), nn.Linear(6, dim), nn.Tanh())
            for _ in range(layers)
        )
        self.t = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 6), nn.LeakyReLU(), nn.Linear(6, dim)) for _ in range(layers)
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        log_det, z = x.new_zeros(x.shape[0]), x
        for i in reversed(range(len(self.t))):
            z_ = self.masks[i] * z
            s = self.s[i](z_) * (1 - self.masks[i])
            t = self.t[i](z_) * (1 - self.masks[i])
            z = (1 - self.masks[i]) * (z - t) * torch.exp(-s) + z_
            log_det -= s.sum(dim=1)
        prior = -0.5 * (z**2 + math.log(2 * math.pi)).sum(1)
        return z, prior + log_det


def coupling():
    torch.manual_seed(90)
    return _Coupling().eval(), (torch.randn(5, 4),)


class _SchNet(nn.Module):
    """Schuett et al., 2018: filters of the distances between atoms, and an energy."""

    def __init__(self, width: int = 6, gaussians: int = 5, cutoff: float = 3.0) -> None:
        super().__init__()
        self.cutoff = cutoff
        self.embedding = nn.Embedding(10, width)
        self.register_buffer("offset", torch.linspace(0.0, cutoff, gaussians))
        self.coeff = -0.5 / (cutoff / (gaussians - 1)) ** 2
        self.filter1, self.filter2 = nn.Linear(gaussians, width), nn.Linear(width, width)
        self.lin1, self.lin2 = nn.Linear(width, width, bias=False), nn.Linear(width, width)
        self.out = nn.Sequential(nn.Linear(width, 4), nn.Softplus(), nn.Linear(4, 1))

    def forward(self, z: Tensor, pos: Tensor) -> Tensor:
        h = self.embedding(z)
        delta = pos[:, None, :] - pos[None, :, :]
        d = (delta.pow(2).sum(-1) + 1e-8).sqrt()
        rbf = torch.exp(self.coeff * (d.unsqueeze(-1) - self.offset) ** 2)
        w = self.filter2(F.softplus(self.filter1(rbf)) - math.log(2.0))
        w = w * (d < self.cutoff).unsqueeze(-1)
        m = (w * self.lin1(h).unsqueeze(0)).sum(1)
        h = h + self.lin2(m)
        return self.out(h).sum()


def sch_net():
    torch.manual_seed(91)
    return _SchNet().eval(), (torch.randint(1, 10, (5,)), torch.randn(5, 3))


EXAMPLES = (
    siren,
    kan,
    deep_o_net,
    coupling,
    sch_net,
)
