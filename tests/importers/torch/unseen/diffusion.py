"""Blocks of diffusion and flow-matching models, and steps of their samplers."""

import math

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["EXAMPLES"]


def timestep_embedding(t, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(0, half, dtype=torch.float32) / half)
    args = t[:, None].float() * freqs[None]
    emb = torch.cat([torch.cos(args), torch.sin(args)], dim=-1)
    if dim % 2:
        emb = torch.cat([emb, torch.zeros_like(emb[:, :1])], dim=-1)
    return emb


class _TimeResBlock(nn.Module):
    def __init__(self, cin=2, cout=4, temb=5):
        super().__init__()
        self.temb = temb
        self.norm1, self.conv1 = nn.GroupNorm(1, cin), nn.Conv2d(cin, cout, 3, padding=1)
        self.emb = nn.Sequential(nn.SiLU(), nn.Linear(temb, 2 * cout))
        self.norm2, self.conv2 = nn.GroupNorm(2, cout), nn.Conv2d(cout, cout, 3, padding=1)
        self.skip = nn.Conv2d(cin, cout, 1)

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x)))
        emb = self.emb(timestep_embedding(t, self.temb)).type(h.dtype)
        while len(emb.shape) < len(h.shape):
            emb = emb[..., None]
        scale, shift = torch.chunk(emb, 2, dim=1)
        h = self.norm2(h) * (1 + scale) + shift
        return self.skip(x) + self.conv2(F.silu(h))


def time_res_block():
    return _TimeResBlock().eval(), (torch.randn(1, 2, 4, 4), torch.tensor([17]))


def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class _DitBlock(nn.Module):
    """Peebles and Xie, 2023."""

    def __init__(self, d=6, heads=2):
        super().__init__()
        self.norm1 = nn.LayerNorm(d, elementwise_affine=False, eps=1e-6)
        self.norm2 = nn.LayerNorm(d, elementwise_affine=False, eps=1e-6)
        self.heads = heads
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(approximate="tanh"), nn.Linear(2 * d, d))
        self.ada = nn.Sequential(nn.SiLU(), nn.Linear(d, 6 * d))

    def attention(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        return self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, N, C))

    def forward(self, x, c):
        s1, c1, g1, s2, c2, g2 = self.ada(c).chunk(6, dim=1)
        x = x + g1.unsqueeze(1) * self.attention(modulate(self.norm1(x), s1, c1))
        return x + g2.unsqueeze(1) * self.mlp(modulate(self.norm2(x), s2, c2))


def dit_block():
    return _DitBlock().eval(), (torch.randn(1, 4, 6), torch.randn(1, 6))


class _Ddim(nn.Module):
    """Three steps with a cosine schedule, classifier-free guidance and dynamic thresholds."""

    def __init__(self, d=4, steps=3, guidance=2.0):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d + 4 + 3, 8), nn.SiLU(), nn.Linear(8, d))
        self.null = nn.Parameter(torch.randn(3))
        self.guidance = guidance
        t = torch.linspace(0, 1, 101)
        alphas = torch.cos((t + 0.008) / 1.008 * math.pi / 2) ** 2
        self.register_buffer("alphas_cumprod", (alphas / alphas[0]).clamp(1e-4, 0.9999))
        self.register_buffer("timesteps", torch.linspace(90, 0, steps + 1).long())

    def eps(self, x, t, y):
        temb = timestep_embedding(t.expand(x.size(0)), 4)
        both = torch.cat([x, x])
        cond = torch.cat([y, self.null.expand_as(y)])
        out = self.net(torch.cat([both, torch.cat([temb, temb]), cond], -1))
        c, u = out.chunk(2)
        return u + self.guidance * (c - u)

    @torch.no_grad()
    def forward(self, x, y):
        for i in range(len(self.timesteps) - 1):
            t, s = self.timesteps[i], self.timesteps[i + 1]
            at, as_ = self.alphas_cumprod[t], self.alphas_cumprod[s]
            e = self.eps(x, t, y)
            x0 = (x - (1 - at).sqrt() * e) / at.sqrt()
            bound = torch.clamp(x0.abs().amax(dim=1, keepdim=True), min=1.0)
            x0 = torch.clamp(x0, min=-bound, max=bound) / bound
            x = as_.sqrt() * x0 + (1 - as_).sqrt() * e
        return x


def ddim():
    return _Ddim().eval(), (torch.randn(2, 4), torch.randn(2, 3))


class _FlowMatching(nn.Module):
    """The loss on the straight path, and a step of Heun."""

    def __init__(self, d=3):
        super().__init__()
        self.v = nn.Sequential(nn.Linear(d + 1, 8), nn.Softplus(), nn.Linear(8, d))

    def velocity(self, x, t):
        return self.v(torch.cat([x, t.reshape(-1, 1).expand(x.shape[0], 1)], dim=1))

    def forward(self, x0, x1, t):
        xt = torch.lerp(x0, x1, t[:, None])
        loss = ((self.velocity(xt, t) - (x1 - x0)) ** 2).flatten(1).mean(1)
        weight = torch.exp(-((t - 0.5) ** 2) / 0.08)
        h = torch.tensor(0.25)
        k1 = self.velocity(x0, torch.zeros(1))
        k2 = self.velocity(x0 + h * k1, h[None])
        return (loss * weight).sum() / weight.sum(), x0 + h * 0.5 * (k1 + k2)


def flow_matching():
    return _FlowMatching().eval(), (torch.randn(4, 3), torch.randn(4, 3), torch.rand(4))


class _CrossSpatial(nn.Module):
    """The transformer block of Stable Diffusion: over pixels, over the prompt, and GEGLU."""

    def __init__(self, c=4, ctx=3, heads=2):
        super().__init__()
        self.heads = heads
        self.norm = nn.GroupNorm(2, c)
        self.q, self.k, self.v = nn.Linear(c, c, False), nn.Linear(ctx, c, False), nn.Linear(ctx, c, False)
        self.o = nn.Linear(c, c)
        self.n1, self.n2 = nn.LayerNorm(c), nn.LayerNorm(c)
        self.ff_in, self.ff_out = nn.Linear(c, 4 * c), nn.Linear(2 * c, c)

    def forward(self, x, context, mask=None):
        b, c, h, w = x.shape
        y = self.norm(x).permute(0, 2, 3, 1).reshape(b, h * w, c)
        n = self.n1(y)
        split = lambda t: t.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # noqa: E731
        q, k, v = split(self.q(n)), split(self.k(context)), split(self.v(context))
        sim = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            sim = sim.masked_fill(~mask[:, None, None], -torch.finfo(sim.dtype).max)
        out = torch.einsum("bhij,bhjd->bhid", sim.softmax(-1), v).transpose(1, 2).flatten(2)
        y = y + self.o(out)
        a, gate = self.ff_in(self.n2(y)).chunk(2, dim=-1)
        y = y + self.ff_out(a * F.gelu(gate))
        return x + y.reshape(b, h, w, c).permute(0, 3, 1, 2)


def cross_spatial():
    mask = torch.tensor([[True, True, False]])
    return _CrossSpatial().eval(), (torch.randn(1, 4, 3, 3), torch.randn(1, 3, 3), mask)


EXAMPLES = [time_res_block, dit_block, ddim, flow_matching, cross_spatial]
