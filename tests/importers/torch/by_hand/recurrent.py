"""Recurrences written as loops, state spaces, and dynamic programs."""

import itertools
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class _LayerNormLstm(nn.Module):
    def __init__(self, inputs: int = 6, hidden: int = 5) -> None:
        super().__init__()
        self.hidden = hidden
        self.ih, self.hh = nn.Linear(inputs, 4 * hidden, bias=False), nn.Linear(hidden, 4 * hidden)
        self.ln_i, self.ln_h, self.ln_c = (nn.LayerNorm(w) for w in (4 * hidden, 4 * hidden, hidden))

    def forward(self, x: Tensor, state: tuple[Tensor, Tensor] | None = None):
        b, _, _ = x.size()
        if state is None:
            h, c = x.new_zeros(b, self.hidden), x.new_zeros(b, self.hidden)
        else:
            h, c = state
        outputs = []
        for step in x.unbind(1):
            gates = self.ln_i(self.ih(step)) + self.ln_h(self.hh(h))
            i, f, g, o = gates.chunk(4, 1)
            c = torch.sigmoid(f + 1.0) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(self.ln_c(c))
            outputs.append(h)
        return torch.stack(outputs, 1), (h, c)


def layer_norm_lstm():
    return _LayerNormLstm(), (torch.randn(2, 4, 6),)


class _ConvLstm(nn.Module):
    def __init__(self, channels: int = 2, hidden: int = 3) -> None:
        super().__init__()
        self.hidden = hidden
        self.conv = nn.Conv2d(channels + hidden, 4 * hidden, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        b, t, _, h, w = x.shape
        hx = torch.zeros(b, self.hidden, h, w, device=x.device)
        cx = torch.zeros_like(hx)
        for s in range(t):
            a = self.conv(torch.cat([x[:, s], hx], dim=1))
            i, f, o, g = torch.split(a, self.hidden, dim=1)
            cx = f.sigmoid() * cx + i.sigmoid() * g.tanh()
            hx = o.sigmoid() * cx.tanh()
        return hx


def conv_lstm():
    return _ConvLstm(), (torch.randn(1, 3, 2, 4, 4),)


class _GruD(nn.Module):
    """Missing values decay towards their means."""

    def __init__(self, features: int = 3, hidden: int = 4) -> None:
        super().__init__()
        self.gamma_x, self.gamma_h = nn.Parameter(torch.rand(features)), nn.Linear(features, hidden)
        self.cell = nn.GRUCell(2 * features, hidden)
        self.head = nn.Linear(hidden, 2)
        self.register_buffer("mean", torch.randn(features))

    def forward(self, x: Tensor, m: Tensor, delta: Tensor) -> Tensor:
        h = torch.zeros(x.size(0), self.cell.hidden_size)
        last = self.mean.expand(x.size(0), -1)
        for t in range(x.size(1)):
            xt, mt, dt = x[:, t], m[:, t], delta[:, t]
            last = torch.where(mt.bool(), xt, last)
            gx = torch.exp(-torch.relu(self.gamma_x * dt))
            xh = mt * xt + (1 - mt) * (gx * last + (1 - gx) * self.mean)
            h = h * torch.exp(-torch.max(torch.zeros_like(h), self.gamma_h(dt)))
            h = self.cell(torch.cat((xh, mt), dim=1), h)
        return self.head(h)


def gru_d():
    return _GruD(), (torch.randn(2, 4, 3), (torch.rand(2, 4, 3) < 0.6).float(), torch.rand(2, 4, 3))


class _Rwkv(nn.Module):
    """Time mixing with a shift and running, stabilised exponentials."""

    def __init__(self, dim: int = 6) -> None:
        super().__init__()
        self.shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.mix = nn.Parameter(torch.rand(3, 1, 1, dim))
        self.decay, self.first = nn.Parameter(torch.randn(dim)), nn.Parameter(torch.randn(dim))
        self.k, self.v, self.r, self.o = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        prev = self.shift(x)
        xk, xv, xr = (x * m + prev * (1 - m) for m in self.mix)
        k, v, r = self.k(xk), self.v(xv), torch.sigmoid(self.r(xr))
        w = -torch.exp(self.decay)
        num = torch.zeros_like(k[:, 0])
        den = torch.zeros_like(k[:, 0])
        top = torch.full_like(k[:, 0], -1e30)
        out = []
        for t in range(x.shape[1]):
            kt, vt = k[:, t], v[:, t]
            q = torch.maximum(top, self.first + kt)
            a, b = torch.exp(top - q), torch.exp(self.first + kt - q)
            out.append((a * num + b * vt) / (a * den + b))
            q = torch.maximum(top + w, kt)
            a, b = torch.exp(top + w - q), torch.exp(kt - q)
            num, den, top = a * num + b * vt, a * den + b, q
        return self.o(r * torch.stack(out, dim=1))


def rwkv():
    return _Rwkv(), (torch.randn(1, 4, 6),)


class _S4d(nn.Module):
    """A diagonal state space whose kernel is applied as a long convolution by FFT."""

    def __init__(self, dim: int = 3, state: int = 4) -> None:
        super().__init__()
        self.log_dt = nn.Parameter(torch.rand(dim) - 3)
        self.C = nn.Parameter(torch.view_as_real(torch.randn(dim, state, dtype=torch.cfloat)))
        self.log_A_real = nn.Parameter(torch.log(0.5 * torch.ones(dim, state)))
        self.A_imag = nn.Parameter(math.pi * torch.arange(state).repeat(dim, 1).float())
        self.D = nn.Parameter(torch.randn(dim))

    def forward(self, u: Tensor) -> Tensor:
        L = u.size(-1)
        dt, C = torch.exp(self.log_dt), torch.view_as_complex(self.C)
        A = -torch.exp(self.log_A_real) + 1j * self.A_imag
        dtA = A * dt.unsqueeze(-1)
        K = dtA.unsqueeze(-1) * torch.arange(L)
        C = C * (torch.exp(dtA) - 1.0) / A
        K = 2 * torch.einsum("hn,hnl->hl", C, torch.exp(K)).real
        k_f, u_f = torch.fft.rfft(K, n=2 * L), torch.fft.rfft(u, n=2 * L)
        y = torch.fft.irfft(u_f * k_f, n=2 * L)[..., :L]
        return F.gelu(y + u * self.D.unsqueeze(-1))


def s4d():
    return _S4d(), (torch.randn(2, 3, 6),)


def segsum(x: Tensor) -> Tensor:
    t = x.size(-1)
    x = x[..., None].expand(*x.shape, t)
    mask = torch.tril(torch.ones(t, t, dtype=torch.bool), diagonal=-1)
    x = x.masked_fill(~mask, 0).cumsum(dim=-2)
    mask = torch.tril(torch.ones(t, t, dtype=torch.bool), diagonal=0)
    return x.masked_fill(~mask, -torch.inf)


class _Ssd(nn.Module):
    """Mamba 2's minimal SSD over chunks."""

    def forward(self, X: Tensor, A: Tensor, B: Tensor, C: Tensor) -> tuple[Tensor, Tensor]:
        block = 2
        b, n, h, _ = X.shape
        X, B, C = (y.reshape(b, n // block, block, h, -1) for y in (X, B, C))
        A = -F.softplus(A).reshape(b, n // block, block, h).permute(0, 3, 1, 2)
        A_cumsum = torch.cumsum(A, dim=-1)
        L = torch.exp(segsum(A))
        Y_diag = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", C, B, L, X)
        decay_states = torch.exp(A_cumsum[:, :, :, -1:] - A_cumsum)
        states = torch.einsum("bclhn,bhcl,bclhp->bchpn", B, decay_states, X)
        states = torch.cat([torch.zeros_like(states[:, :1]), states], dim=1)
        decay_chunk = torch.exp(segsum(F.pad(A_cumsum[:, :, :, -1], (1, 0))))
        new_states = torch.einsum("bhzc,bchpn->bzhpn", decay_chunk, states)
        states, final = new_states[:, :-1], new_states[:, -1]
        Y_off = torch.einsum("bclhn,bchpn,bhcl->bclhp", C, states, torch.exp(A_cumsum))
        return (Y_diag + Y_off).reshape(b, n, h, -1), final


def ssd():
    return _Ssd(), (
        torch.randn(1, 4, 2, 3),
        torch.randn(1, 4, 2),
        torch.randn(1, 4, 2, 2),
        torch.randn(1, 4, 2, 2),
    )


class _CrfNll(nn.Module):
    """The likelihood of tags under a linear chain, with padding."""

    def __init__(self, tags: int = 4) -> None:
        super().__init__()
        self.start, self.end = nn.Parameter(torch.randn(tags)), nn.Parameter(torch.randn(tags))
        self.trans = nn.Parameter(torch.randn(tags, tags))

    def forward(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        b, n, _ = emissions.shape
        rows = torch.arange(b)
        score = self.start[tags[:, 0]] + emissions[rows, 0, tags[:, 0]]
        alpha = self.start + emissions[:, 0]
        for i in range(1, n):
            step = self.trans[tags[:, i - 1], tags[:, i]] + emissions[rows, i, tags[:, i]]
            score = score + step * mask[:, i]
            nxt = torch.logsumexp(alpha.unsqueeze(2) + self.trans + emissions[:, i].unsqueeze(1), dim=1)
            alpha = torch.where(mask[:, i].unsqueeze(1).bool(), nxt, alpha)
        last = tags[rows, mask.long().sum(1) - 1]
        score = score + self.end[last]
        return (torch.logsumexp(alpha + self.end, dim=1) - score).mean()


def crf_nll():
    mask = torch.tensor([[1.0, 1, 1, 1], [1, 1, 1, 0]])
    return _CrfNll(), (torch.randn(2, 4, 4), torch.randint(0, 4, (2, 4)), mask)


class _Viterbi(nn.Module):
    def __init__(self, tags: int = 3) -> None:
        super().__init__()
        self.trans = nn.Parameter(torch.randn(tags, tags))

    def forward(self, emissions: Tensor) -> tuple[Tensor, Tensor]:
        score, history = emissions[:, 0], []
        for i in range(1, emissions.size(1)):
            best, idx = (score.unsqueeze(2) + self.trans).max(dim=1)
            score = best + emissions[:, i]
            history.append(idx)
        value, tag = score.max(dim=1)
        path = [tag]
        for idx in reversed(history):
            tag = idx.gather(1, tag.unsqueeze(1)).squeeze(1)
            path.append(tag)
        return value, torch.stack(path[::-1], dim=1)


def viterbi():
    return _Viterbi(), (torch.randn(2, 4, 3),)


class _SpikingNet(nn.Module):
    """Leaky integrate-and-fire neurons over time; the rate of spikes is the logit."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(6, 8), nn.Linear(8, 3)
        self.beta, self.threshold = 0.9, 0.5

    def forward(self, x: Tensor) -> Tensor:
        mem1, mem2 = torch.zeros(x.size(1), 8), torch.zeros(x.size(1), 3)
        spikes = []
        for t in range(x.size(0)):
            mem1 = self.beta * mem1 + self.fc1(x[t])
            s1 = (mem1 > self.threshold).float()
            mem1 = mem1 - s1 * self.threshold
            mem2 = self.beta * mem2 + self.fc2(s1)
            s2 = (mem2 > self.threshold).float()
            mem2 = mem2 * (1 - s2)
            spikes.append(s2)
        return torch.stack(spikes).mean(0)


def spiking_net():
    return _SpikingNet(), (torch.randn(4, 2, 6),)


class _NeuralOde(nn.Module):
    """Steps of Runge and Kutta through a small field."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))

    def f(self, t: Tensor, y: Tensor) -> Tensor:
        return self.net(torch.cat([y, t.expand(y.shape[0], 1)], dim=-1))

    def forward(self, y: Tensor) -> Tensor:
        ts = torch.linspace(0.0, 1.0, 4)
        states = [y]
        for t0, t1 in itertools.pairwise(ts):
            h = t1 - t0
            k1 = self.f(t0, y)
            k2 = self.f(t0 + h / 2, y + h * k1 / 2)
            k3 = self.f(t0 + h / 2, y + h * k2 / 2)
            k4 = self.f(t1, y + h * k3)
            y = y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
            states.append(y)
        return torch.stack(states)


def neural_ode():
    return _NeuralOde(), (torch.randn(3, 2),)


class _SoftDtw(nn.Module):
    """A dynamic program over two short series."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        gamma = 0.1
        D = (x[:, None] - y[None, :]).pow(2).sum(-1)
        n, m = D.shape
        inf = torch.tensor(1e6)
        R: list[list[Tensor]] = [[inf] * (m + 1) for _ in range(n + 1)]
        R[0][0] = torch.tensor(0.0)
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                options = torch.stack([R[i - 1][j - 1], R[i - 1][j], R[i][j - 1]])
                R[i][j] = D[i - 1, j - 1] - gamma * torch.logsumexp(-options / gamma, dim=0)
        return R[n][m]


def soft_dtw():
    return _SoftDtw(), (torch.randn(3, 2), torch.randn(4, 2))


class _ParallelMinGru(nn.Module):
    """The log-space scan of a minimal GRU."""

    def __init__(self, dim: int = 4, inner: int = 6) -> None:
        super().__init__()
        self.to_hidden_gate = nn.Linear(dim, 2 * inner, bias=False)
        self.out = nn.Linear(inner, dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        hidden, gate = self.to_hidden_gate(x).chunk(2, dim=-1)
        log_coeffs = -F.softplus(gate)
        log_z = -F.softplus(-gate)
        log_g = torch.where(hidden >= 0, (F.relu(hidden) + 0.5).log(), -F.softplus(-hidden))
        a_star = log_coeffs.cumsum(dim=1)
        log_h0 = (log_z + log_g - a_star).logcumsumexp(dim=1)
        return self.out((a_star + log_h0).exp())


def parallel_min_gru():
    return _ParallelMinGru(), (torch.randn(2, 5, 4),)


__all__ = ["EXAMPLES"]

EXAMPLES = (
    *(layer_norm_lstm, conv_lstm, gru_d, rwkv, s4d, ssd, crf_nll, viterbi, spiking_net, neural_ode),
    *(soft_dtw, parallel_min_gru),
)
