"""State space models, long convolutions, and other recurrences that run in parallel."""

import math

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["EXAMPLES"]


class _DoublingScan(nn.Module):
    """A linear recurrence by recursive doubling (Hillis and Steele)."""

    def __init__(self, d=3):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        a, b = torch.sigmoid(self.a(x)), self.b(x)
        L, step = x.size(1), 1
        while step < L:
            b = b + a * F.pad(b[:, :-step], (0, 0, step, 0))
            a = a * F.pad(a[:, :-step], (0, 0, step, 0), value=1.0)
            step *= 2
        return self.c(b)


def doubling_scan():
    return _DoublingScan().eval(), (torch.randn(1, 7, 3),)


class _Hyena(nn.Module):
    """Poli et al., 2023: a filter from positions, applied by FFT, between gates."""

    def __init__(self, d=3, length=8, emb=3):
        super().__init__()
        self.in_proj, self.out_proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.short = nn.Conv1d(3 * d, 3 * d, 3, padding=2, groups=3 * d)
        t = torch.linspace(0, 1, length)[:, None]
        w = 2 * math.pi * torch.arange(length)[:, None] / length
        self.register_buffer("z", torch.cat([t, torch.cos(w), -torch.sin(w)], -1))
        self.register_buffer("t", t)
        self.implicit = nn.Sequential(nn.Linear(emb, 6), nn.SiLU(), nn.Linear(6, d, bias=False))
        self.deltas = nn.Parameter(torch.linspace(1.0, 4.0, d))
        self.bias = nn.Parameter(torch.randn(d))

    def forward(self, u):
        L = u.size(1)
        uc = self.short(self.in_proj(u).transpose(1, 2))[..., :L]
        x1, x2, v = uc.chunk(3, dim=1)
        k = (self.implicit(self.z) * torch.exp(-self.t * self.deltas.abs())).transpose(0, 1)
        v = v * x1
        n = 2 * L
        y = torch.fft.irfft(torch.fft.rfft(v, n=n) * torch.fft.rfft(k, n=n) / n, n=n, norm="forward")[..., :L]
        y = (y + v * self.bias.unsqueeze(-1)) * x2
        return self.out_proj(y.transpose(1, 2))


def hyena():
    return _Hyena().eval(), (torch.randn(1, 8, 3),)


class _Lru(nn.Module):
    """Orvieto et al., 2023: a diagonal complex recurrence with exponential parameters."""

    def __init__(self, d=3, n=4):
        super().__init__()
        u1, u2 = torch.rand(n), torch.rand(n)
        self.nu_log = nn.Parameter(torch.log(-0.5 * torch.log(u1 * 0.5 + 0.4)))
        self.theta_log = nn.Parameter(torch.log(u2 * 3.14))
        self.B_re, self.B_im = nn.Parameter(torch.randn(n, d) / 3), nn.Parameter(torch.randn(n, d) / 3)
        self.C = nn.Parameter(torch.randn(d, n, dtype=torch.cfloat) / 3)
        self.D = nn.Parameter(torch.randn(d))

    def forward(self, u):
        lam = torch.exp(-torch.exp(self.nu_log) + 1j * torch.exp(self.theta_log))
        gamma = torch.sqrt(1 - torch.abs(lam) ** 2)
        driven = u.to(torch.cfloat) @ ((self.B_re + 1j * self.B_im) * gamma[:, None]).T
        h = torch.zeros(u.size(0), lam.size(0), dtype=torch.cfloat)
        out = []
        for t in range(u.size(1)):
            h = lam * h + driven[:, t]
            out.append((h @ self.C.T).real)
        return torch.stack(out, 1) + self.D * u


def lru():
    return _Lru().eval(), (torch.randn(1, 6, 3),)


class _MLstm(nn.Module):
    """xLSTM's matrix memory in its parallel form, stabilised by the row's maximum."""

    def __init__(self, d=4):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))
        self.i, self.f = nn.Linear(d, 1), nn.Linear(d, 1)
        self.o = nn.Linear(d, d)

    def forward(self, x):
        B, S, D = x.shape
        q, k, v = self.q(x), self.k(x), self.v(x)
        log_f = F.logsigmoid(self.f(x))
        cum = torch.cat([torch.zeros(B, 1, 1), torch.cumsum(log_f, dim=1)], dim=1)
        matrix = (cum - cum.transpose(-2, -1))[:, 1:, 1:]
        ltr = torch.tril(torch.ones(S, S, dtype=torch.bool))
        log_d = torch.where(ltr, matrix, -float("inf")) + self.i(x).transpose(-2, -1)
        max_d, _ = torch.max(log_d, dim=-1, keepdim=True)
        c = q @ (k / math.sqrt(D)).transpose(-2, -1) * torch.exp(log_d - max_d)
        norm = torch.maximum(c.sum(dim=-1, keepdim=True).abs(), torch.exp(-max_d))
        return torch.sigmoid(self.o(x)) * ((c / (norm + 1e-6)) @ v)


def m_lstm():
    return _MLstm().eval(), (torch.randn(1, 5, 4),)


class _SelectiveCell(nn.Module):
    """A step of Mamba at inference: its two states are buffers."""

    def __init__(self, d=3, n=2, kernel=3):
        super().__init__()
        self.in_proj, self.out_proj = nn.Linear(d, 2 * d), nn.Linear(d, d)
        self.conv_weight = nn.Parameter(torch.randn(d, kernel) * 0.5)
        self.x_proj, self.dt_proj = nn.Linear(d, 1 + 2 * n), nn.Linear(1, d)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, n + 1).float()).repeat(d, 1))
        self.D, self.n = nn.Parameter(torch.ones(d)), n
        self.register_buffer("conv_state", torch.randn(1, d, kernel))
        self.register_buffer("ssm_state", torch.randn(1, d, n))

    def forward(self, token):
        x, z = self.in_proj(token).chunk(2, dim=-1)
        self.conv_state.copy_(torch.roll(self.conv_state, shifts=-1, dims=-1))
        self.conv_state[:, :, -1] = x
        x = F.silu(torch.sum(self.conv_state * self.conv_weight, dim=-1))
        dt, B, C = torch.split(self.x_proj(x), [1, self.n, self.n], dim=-1)
        dt = F.softplus(self.dt_proj(dt))
        dA = torch.exp(torch.einsum("bd,dn->bdn", dt, -torch.exp(self.A_log)))
        dB = torch.einsum("bd,bn->bdn", dt, B)
        self.ssm_state.copy_(self.ssm_state * dA + x.unsqueeze(-1) * dB)
        y = torch.einsum("bdn,bn->bd", self.ssm_state, C) + self.D * x
        return self.out_proj(y * F.silu(z))


def selective_cell():
    return _SelectiveCell().eval(), (torch.randn(1, 3),)


class _LegendreMemory(nn.Module):
    """Voelker et al., 2019: a fixed system of Legendre polynomials, discretised by bilinear transform."""

    def __init__(self, order=4, theta=6.0, d=3):
        super().__init__()
        q = torch.arange(order, dtype=torch.float64)
        r = ((2 * q + 1) / theta)[:, None]
        i, j = torch.meshgrid(q, q, indexing="ij")
        a = torch.where(i < j, -1.0, (-1.0) ** (i - j + 1)) * r
        b = ((-1.0) ** q)[:, None] * r
        eye = torch.eye(order, dtype=torch.float64)
        left = torch.linalg.inv(eye - a / 2)
        self.register_buffer("A", (left @ (eye + a / 2)).float())
        self.register_buffer("B", (left @ b).float())
        self.e_x, self.e_h = nn.Linear(2, 1), nn.Linear(d, 1, bias=False)
        self.w_h, self.w_m = nn.Linear(d, d), nn.Linear(order, d)

    def forward(self, x):
        h, m = x.new_zeros(x.size(0), self.w_h.in_features), x.new_zeros(x.size(0), self.A.size(0))
        for x_t in x.unbind(1):
            u = self.e_x(x_t) + self.e_h(h)
            m = m @ self.A.T + u @ self.B.T
            h = torch.tanh(self.w_h(h) + self.w_m(m))
        return h, m


def legendre_memory():
    return _LegendreMemory().eval(), (torch.randn(1, 6, 2),)


EXAMPLES = [doubling_scan, hyena, lru, m_lstm, selective_cell, legendre_memory]
