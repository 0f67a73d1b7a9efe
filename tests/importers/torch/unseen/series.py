"""Time series: forecasters, smoothing, and their losses."""

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["EXAMPLES"]


class _RevIn(nn.Module):
    def __init__(self, features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.affine_weight = nn.Parameter(torch.ones(features))
        self.affine_bias = nn.Parameter(torch.zeros(features))

    def forward(self, x, mode: str):
        if mode == "norm":
            self.mean = torch.mean(x, dim=1, keepdim=True).detach()
            self.stdev = torch.sqrt(torch.var(x, dim=1, keepdim=True, unbiased=False) + self.eps).detach()
            return (x - self.mean) / self.stdev * self.affine_weight + self.affine_bias
        x = (x - self.affine_bias) / (self.affine_weight + self.eps * self.eps)
        return x * self.stdev + self.mean


class _PatchTst(nn.Module):
    def __init__(self, features=2, patch=4, stride=2, d=6, horizon=3):
        super().__init__()
        self.revin = _RevIn(features)
        self.patch, self.stride = patch, stride
        self.pad = nn.ReplicationPad1d((0, stride))
        self.embed = nn.Linear(patch, d)
        self.pos = nn.Parameter(torch.randn(5, d) * 0.1)
        self.encoder = nn.TransformerEncoderLayer(d, 2, 8, activation="gelu", batch_first=True)
        self.head = nn.Linear(5 * d, horizon)

    def forward(self, x):
        x = self.revin(x, "norm").permute(0, 2, 1)
        b, c, _ = x.shape
        z = self.pad(x).unfold(dimension=-1, size=self.patch, step=self.stride)
        z = self.encoder((self.embed(z) + self.pos).reshape(b * c, -1, self.pos.size(-1)))
        y = self.head(z.reshape(b, c, -1)).permute(0, 2, 1)
        return self.revin(y, "denorm")


def patch_tst():
    return _PatchTst().eval(), (torch.randn(1, 10, 2),)


class _AutoCorrelation(nn.Module):
    """Autoformer: lags of the highest autocorrelation, and the series rolled by them."""

    def __init__(self, d=3, top_k=2):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))
        self.top_k = top_k
        self.avg = nn.AvgPool1d(3, stride=1, padding=1, count_include_pad=False)

    def forward(self, x):
        trend = self.avg(x.transpose(1, 2)).transpose(1, 2)
        x = x - trend
        q, k, v = (f(x).transpose(1, 2) for f in (self.q, self.k, self.v))
        L = q.size(-1)
        corr = torch.fft.irfft(torch.fft.rfft(q) * torch.conj(torch.fft.rfft(k)), n=L)
        mean = corr.mean(dim=1)
        weights, delay = torch.topk(mean, self.top_k, dim=-1)
        weights = torch.softmax(weights, dim=-1)
        index = torch.arange(L)[None, None]
        tmp = v.repeat(1, 1, 2)
        out = torch.zeros_like(v)
        for i in range(self.top_k):
            where = (index + delay[:, i, None, None]).expand_as(v)
            out = out + torch.gather(tmp, -1, where) * weights[:, i, None, None]
        return out.transpose(1, 2) + trend


def auto_correlation():
    return _AutoCorrelation().eval(), (torch.randn(1, 8, 3),)


class _HoltWinters(nn.Module):
    """Level, trend and a season of three, one step after the other."""

    def __init__(self, season=3):
        super().__init__()
        self.logits = nn.Parameter(torch.tensor([0.2, -1.0, -0.5]))
        self.season = season

    def forward(self, y):
        alpha, beta, gamma = torch.sigmoid(self.logits).unbind()
        level, trend = y[:, 0], y[:, 1] - y[:, 0]
        seasons = [torch.zeros_like(level) for _ in range(self.season)]
        fitted = []
        for t in range(y.shape[1]):
            s = seasons[t % self.season]
            fitted.append(level + trend + s)
            last = level
            level = alpha * (y[:, t] - s) + (1 - alpha) * (level + trend)
            trend = beta * (level - last) + (1 - beta) * trend
            seasons[t % self.season] = gamma * (y[:, t] - level) + (1 - gamma) * s
        return torch.stack(fitted, 1), level + trend + seasons[0]


def holt_winters():
    return _HoltWinters().eval(), (torch.randn(2, 9),)


class _Grn(nn.Module):
    def __init__(self, inputs, d, outputs):
        super().__init__()
        self.skip = nn.Linear(inputs, outputs) if inputs != outputs else nn.Identity()
        self.fc1, self.fc2 = nn.Linear(inputs, d), nn.Linear(d, d)
        self.context = nn.Linear(2, d, bias=False)
        self.glu, self.norm = nn.Linear(d, 2 * outputs), nn.LayerNorm(outputs)

    def forward(self, x, c=None):
        h = self.fc1(x)
        if c is not None:
            h = h + self.context(c).unsqueeze(1)
        h = F.glu(self.glu(self.fc2(F.elu(h))), dim=-1)
        return self.norm(self.skip(x) + h)


class _VariableSelection(nn.Module):
    """Temporal fusion transformers: gated residual networks, and quantiles for the loss."""

    def __init__(self, variables=3, d=4):
        super().__init__()
        self.each = nn.ModuleList(_Grn(1, d, d) for _ in range(variables))
        self.weights = _Grn(variables, d, variables)
        self.out = nn.Linear(d, 3)
        self.register_buffer("quantiles", torch.tensor([0.1, 0.5, 0.9]))

    def forward(self, x, static, target):
        w = self.weights(x, static).softmax(-1).unsqueeze(-2)
        feats = torch.stack([grn(x[..., i : i + 1]) for i, grn in enumerate(self.each)], dim=-1)
        pred = self.out((feats * w).sum(-1))
        err = target.unsqueeze(-1) - pred
        loss = torch.max((self.quantiles - 1) * err, self.quantiles * err).sum(-1).mean()
        return pred, loss


def variable_selection():
    return _VariableSelection().eval(), (torch.randn(1, 4, 3), torch.randn(1, 2), torch.randn(1, 4))


class _Seq2Seq(nn.Module):
    """Bahdanau's attention, teacher-forced."""

    def __init__(self, d=4):
        super().__init__()
        self.encoder = nn.GRU(2, d, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * d, d)
        self.wa, self.ua, self.va = nn.Linear(d, d), nn.Linear(2 * d, d), nn.Linear(d, 1)
        self.cell = nn.GRUCell(1 + 2 * d, d)
        self.out = nn.Linear(3 * d, 1)

    def forward(self, src, tgt):
        enc, h = self.encoder(src)
        h = torch.tanh(self.bridge(torch.cat([h[-2], h[-1]], dim=1)))
        keys = self.ua(enc)
        outs, weights = [], []
        for t in range(tgt.size(1)):
            scores = self.va(torch.tanh(self.wa(h).unsqueeze(1) + keys)).squeeze(-1)
            a = F.softmax(scores, dim=-1)
            ctx = torch.bmm(a.unsqueeze(1), enc).squeeze(1)
            h = self.cell(torch.cat([tgt[:, t : t + 1], ctx], dim=-1), h)
            outs.append(self.out(torch.cat([h, ctx], -1)))
            weights.append(a)
        return torch.cat(outs, 1), torch.stack(weights, 1)


def seq2seq():
    return _Seq2Seq().eval(), (torch.randn(1, 4, 2), torch.randn(1, 3))


EXAMPLES = [patch_tst, auto_correlation, holt_winters, variable_selection, seq2seq]
