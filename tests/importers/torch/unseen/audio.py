"""Speech and sound."""

import math

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["EXAMPLES"]


class _SincConv(nn.Module):
    """Ravanelli and Bengio, 2018: band-pass filters of two learned edges."""

    def __init__(self, channels=3, kernel=9, rate=16000):
        super().__init__()
        self.rate = rate
        self.low_hz_ = nn.Parameter(torch.tensor([[50.0], [400.0], [1500.0]]))
        self.band_hz_ = nn.Parameter(torch.tensor([[300.0], [900.0], [2500.0]]))
        n = (kernel - 1) / 2
        self.register_buffer("n_", 2 * math.pi * torch.arange(-n, 0).view(1, -1) / rate)
        self.register_buffer("window_", 0.54 - 0.46 * torch.cos(2 * math.pi * torch.arange(n) / kernel))

    def forward(self, x):
        low = 50 + torch.abs(self.low_hz_)
        high = torch.clamp(low + 50 + torch.abs(self.band_hz_), 50, self.rate / 2)
        band = (high - low)[:, 0]
        left = (torch.sin(high @ self.n_) - torch.sin(low @ self.n_)) / (self.n_ / 2) * self.window_
        center = 2 * band.view(-1, 1)
        filters = torch.cat([left, center, torch.flip(left, dims=[1])], dim=1) / (2 * band[:, None])
        return F.conv1d(x, filters.unsqueeze(1), padding=4)


def sinc_conv():
    return _SincConv().eval(), (torch.randn(1, 1, 20),)


class _GlobalLayerNorm(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.ones(1, c, 1)), nn.Parameter(torch.zeros(1, c, 1))

    def forward(self, y):
        mean = y.mean(dim=1, keepdim=True).mean(dim=2, keepdim=True)
        var = (torch.pow(y - mean, 2)).mean(dim=1, keepdim=True).mean(dim=2, keepdim=True)
        return self.gamma * (y - mean) / torch.pow(var + 1e-8, 0.5) + self.beta


class _ConvTasNet(nn.Module):
    def __init__(self, n=4, length=4, b=3, speakers=2):
        super().__init__()
        self.c = speakers
        self.encoder = nn.Conv1d(1, n, length, stride=length // 2, bias=False)
        self.norm, self.bottleneck = _GlobalLayerNorm(n), nn.Conv1d(n, b, 1)
        self.block = nn.Sequential(
            *(nn.Conv1d(b, n, 1), nn.PReLU(), _GlobalLayerNorm(n)),
            *(nn.Conv1d(n, n, 3, padding=2, dilation=2, groups=n), nn.PReLU(), nn.Conv1d(n, b, 1)),
        )
        self.mask = nn.Conv1d(b, speakers * n, 1)
        self.decoder = nn.ConvTranspose1d(n, 1, length, stride=length // 2, bias=False)

    def forward(self, mix):
        w = F.relu(self.encoder(mix.unsqueeze(1)))
        M, N, K = w.size()
        y = self.bottleneck(self.norm(w))
        y = y + self.block(y)
        mask = F.relu(self.mask(y).view(M, self.c, N, K))
        est = (w.unsqueeze(1) * mask).view(M * self.c, N, K)
        return self.decoder(est).view(M, self.c, -1)


def conv_tas_net():
    return _ConvTasNet().eval(), (torch.randn(1, 16),)


class _Mfcc(nn.Module):
    """Frames by unfold, a mel filter bank by hand, and a DCT as a matrix."""

    def __init__(self, n_fft=16, hop=8, mels=5, coeffs=4):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))
        centers = torch.linspace(0, n_fft // 2, mels + 2)
        freqs = torch.arange(n_fft // 2 + 1).float()
        up = (freqs[None] - centers[:-2, None]) / (centers[1:-1] - centers[:-2])[:, None]
        down = (centers[2:, None] - freqs[None]) / (centers[2:] - centers[1:-1])[:, None]
        self.register_buffer("fb", torch.minimum(up, down).clamp(min=0))
        n = torch.arange(mels).float()
        dct = torch.cos(math.pi / mels * (n + 0.5) * torch.arange(coeffs).float()[:, None])
        dct[0] *= 1 / math.sqrt(2)
        self.register_buffer("dct", dct * math.sqrt(2 / mels))

    def forward(self, wave):
        wave = torch.cat([wave[:, :1], wave[:, 1:] - 0.97 * wave[:, :-1]], dim=1)
        frames = wave.unfold(-1, self.n_fft, self.hop) * self.window
        power = torch.fft.rfft(frames).abs().pow(2) / self.n_fft
        mel = torch.log(power @ self.fb.T + 1e-6)
        mfcc = mel @ self.dct.T
        return mfcc - mfcc.mean(1, keepdim=True)


def mfcc():
    return _Mfcc().eval(), (torch.randn(1, 40),)


class _GreedyCtc(nn.Module):
    """The best path with repeats and blanks masked, and its confidence."""

    def __init__(self, blank=0):
        super().__init__()
        self.blank = blank
        self.proj = nn.Linear(4, 5)

    def forward(self, x):
        logp = self.proj(x).log_softmax(-1)
        best, ids = logp.max(-1)
        previous = F.pad(ids[:, :-1], (1, 0), value=-1)
        keep = (ids != self.blank) & (ids != previous)
        position = keep.long().cumsum(1) - 1
        score = (best * keep).sum(1) / keep.sum(1).clamp(min=1)
        return torch.where(keep, ids, torch.full_like(ids, -1)), position, score


def greedy_ctc():
    return _GreedyCtc().eval(), (torch.randn(2, 7, 4),)


class _Snake(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(1, channels, 1) + 0.3 * torch.rand(1, channels, 1))

    def forward(self, x):
        return x + (self.alpha + 1e-9).reciprocal() * torch.sin(self.alpha * x).pow(2)


class _VocoderBlock(nn.Module):
    """HiFi-GAN with snakes: transposed convolutions and the mean of several receptive fields."""

    def __init__(self):
        super().__init__()
        self.up = nn.utils.parametrizations.weight_norm(nn.ConvTranspose1d(3, 3, 4, 2, padding=1))
        self.res = nn.ModuleList(
            nn.ModuleList(nn.Conv1d(3, 3, k, dilation=d, padding=(k * d - d) // 2) for d in (1, 2))
            for k in (3, 5)
        )
        self.acts = nn.ModuleList(_Snake(3) for _ in range(4))
        self.post = nn.Conv1d(3, 1, 3, padding=1)

    def forward(self, x):
        x = self.up(F.leaky_relu(x, 0.1))
        xs = None
        for i, convs in enumerate(self.res):
            y = x
            for j, conv in enumerate(convs):
                y = conv(self.acts[2 * i + j](y)) + y
            xs = y if xs is None else xs + y
        return torch.tanh(self.post(xs / len(self.res))).squeeze(1)


def vocoder_block():
    return _VocoderBlock().eval(), (torch.randn(1, 3, 6),)


class _Specialist(nn.Module):
    """SpecAugment with given bands, statistics over the valid frames, and attentive pooling (ECAPA)."""

    def __init__(self, d=4):
        super().__init__()
        self.tdnn = nn.Conv1d(d, d, 3, padding=1)
        self.attn = nn.Sequential(nn.Conv1d(3 * d, 3, 1), nn.Tanh(), nn.Conv1d(3, d, 1))

    def forward(self, x, lengths, band):
        T = x.size(-1)
        mask = (torch.arange(T)[None] < lengths[:, None]).unsqueeze(1)
        f = torch.arange(x.size(1))[None, :, None]
        x = x.masked_fill((f >= band[:, :1, None]) & (f < band[:, 1:, None]), 0.0)
        x = torch.relu(self.tdnn(x)) * mask
        total = mask.sum(2, keepdim=True).float()
        mean = (x * mask).sum(2, keepdim=True) / total
        std = ((x - mean).pow(2) * mask).sum(2, keepdim=True).div(total).clamp(1e-4).sqrt()
        a = self.attn(torch.cat([x, mean.expand_as(x), std.expand_as(x)], dim=1))
        a = F.softmax(a.masked_fill(~mask, float("-inf")), dim=2)
        mu = (a * x).sum(2)
        sigma = ((a * x.square()).sum(2) - mu.square()).clamp(min=1e-6).sqrt()
        return F.normalize(torch.cat([mu, sigma], 1))


def specialist():
    return _Specialist().eval(), (torch.randn(2, 4, 6), torch.tensor([6, 4]), torch.tensor([[0, 1], [2, 4]]))


EXAMPLES = [sinc_conv, conv_tas_net, mfcc, greedy_ctc, vocoder_block, specialist]
