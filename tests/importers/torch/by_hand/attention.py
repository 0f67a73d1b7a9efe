"""Attention variants, caches and gates."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def rotate_half(x: Tensor) -> Tensor:
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


class _DecodeStep(nn.Module):
    """One token with a cache that grows, and rotary positions."""

    def __init__(self, dim: int = 16, heads: int = 4, kv_heads: int = 2) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, dim // heads
        self.wq = nn.Linear(dim, heads * self.head_dim, bias=False)
        self.wk = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        inv = 1.0 / (10000 ** (torch.arange(0, self.head_dim, 2).float() / self.head_dim))
        self.register_buffer("inv_freq", inv, persistent=False)

    def forward(self, x: Tensor, past_k: Tensor, past_v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        b, t, _ = x.shape
        past = past_k.shape[2]
        pos = torch.arange(past, past + t, device=x.device)
        freqs = torch.outer(pos.float(), self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        cos, sin = emb.cos()[None, None], emb.sin()[None, None]
        q = self.wq(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)
        k = self.wk(x).view(b, t, self.kv_heads, self.head_dim).transpose(1, 2)
        v = self.wv(x).view(b, t, self.kv_heads, self.head_dim).transpose(1, 2)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        k, v = torch.cat((past_k, k), dim=2), torch.cat((past_v, v), dim=2)
        groups = self.heads // self.kv_heads
        kk, vv = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)
        scores = q @ kk.transpose(2, 3) / math.sqrt(self.head_dim)
        out = F.softmax(scores, dim=-1) @ vv
        return self.wo(out.transpose(1, 2).reshape(b, t, -1)), k, v


def decode_step():
    return _DecodeStep(), (torch.randn(2, 1, 16), torch.randn(2, 2, 5, 4), torch.randn(2, 2, 5, 4))


class _StaticCache(nn.Module):
    """A cache of fixed length, written at a position."""

    def __init__(self, dim: int = 8) -> None:
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x: Tensor, k_cache: Tensor, v_cache: Tensor, input_pos: Tensor):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        k_cache = k_cache.index_copy(1, input_pos, k)
        v_cache = v_cache.index_copy(1, input_pos, v)
        span = torch.arange(k_cache.size(1), device=x.device)
        mask = span[None, :] <= input_pos[:, None]
        y = F.scaled_dot_product_attention(q, k_cache, v_cache, attn_mask=mask)
        return y, k_cache, v_cache


def static_cache():
    return _StaticCache(), (
        torch.randn(1, 2, 8),
        torch.zeros(1, 6, 8),
        torch.zeros(1, 6, 8),
        torch.tensor([3, 4]),
    )


class _SlidingWindow(nn.Module):
    """Gemma's kind: a window, normed queries and keys, soft caps."""

    def __init__(self, dim: int = 16, heads: int = 4, window: int = 3, cap: float = 20.0) -> None:
        super().__init__()
        self.heads, self.window, self.cap = heads, window, cap
        self.qkv, self.out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.q_norm, self.k_norm = nn.RMSNorm(dim // heads, eps=1e-6), nn.RMSNorm(dim // heads, eps=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = self.q_norm(q), self.k_norm(k)
        i = torch.arange(n, device=x.device)
        dist = i[:, None] - i[None, :]
        allowed = (dist >= 0) & (dist < self.window)
        logits = torch.einsum("bhid,bhjd->bhij", q, k) * (d // self.heads) ** -0.5
        logits = self.cap * torch.tanh(logits / self.cap)
        logits = logits.masked_fill(~allowed, torch.finfo(logits.dtype).min)
        out = torch.einsum("bhij,bhjd->bhid", logits.softmax(-1), v)
        return self.out(out.permute(0, 2, 1, 3).flatten(2))


def sliding_window():
    return _SlidingWindow(), (torch.randn(1, 7, 16),)


class _RelativeBuckets(nn.Module):
    """T5's buckets, computed in forward."""

    def __init__(self, heads: int = 2, buckets: int = 8, max_distance: int = 16) -> None:
        super().__init__()
        self.buckets, self.max_distance = buckets, max_distance
        self.bias = nn.Embedding(buckets, heads)

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        n, m = q.shape[2], k.shape[2]
        relative = torch.arange(m)[None, :] - torch.arange(n)[:, None]
        half = self.buckets // 2
        bucket = (relative > 0).long() * half
        distance = relative.abs()
        exact = half // 2
        large = (
            exact
            + (
                torch.log(distance.float().clamp(min=1) / exact)
                / math.log(self.max_distance / exact)
                * (half - exact)
            ).long()
        )
        large = torch.min(large, torch.full_like(large, half - 1))
        bucket = bucket + torch.where(distance < exact, distance, large)
        bias = self.bias(bucket).permute(2, 0, 1).unsqueeze(0)
        return torch.softmax(q @ k.mT + bias, dim=-1) @ v


def relative_buckets():
    return _RelativeBuckets(), (torch.randn(2, 2, 6, 4), torch.randn(2, 2, 6, 4), torch.randn(2, 2, 6, 4))


def window_partition(x: Tensor, size: int) -> Tensor:
    b, h, w, c = x.shape
    x = x.view(b, h // size, size, w // size, size, c)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, size * size, c)


def window_reverse(windows: Tensor, size: int, h: int, w: int) -> Tensor:
    b = windows.shape[0] // (h * w // size // size)
    x = windows.view(b, h // size, w // size, size, size, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(b, h, w, -1)


class _ShiftedWindow(nn.Module):
    """Swin's second version: cosines, a learned scale, a mask made in forward."""

    def __init__(self, dim: int = 8, heads: int = 2, size: int = 2, shift: int = 1) -> None:
        super().__init__()
        self.size, self.shift, self.heads = size, shift, heads
        self.norm, self.qkv, self.proj = nn.LayerNorm(dim), nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.logit_scale = nn.Parameter(torch.log(10 * torch.ones(heads, 1, 1)))

    def forward(self, x: Tensor) -> Tensor:
        b, h, w, c = x.shape
        shifted = torch.roll(x, shifts=(-self.shift, -self.shift), dims=(1, 2))
        windows = window_partition(shifted, self.size)
        img_mask = torch.zeros((1, h, w, 1), device=x.device)
        count = 0
        for hs in (slice(0, -self.size), slice(-self.size, -self.shift), slice(-self.shift, None)):
            for ws in (slice(0, -self.size), slice(-self.size, -self.shift), slice(-self.shift, None)):
                img_mask[:, hs, ws, :] = count
                count += 1
        mask = window_partition(img_mask, self.size).squeeze(-1)
        mask = mask.unsqueeze(1) - mask.unsqueeze(2)
        mask = mask.masked_fill(mask != 0, -100.0).masked_fill(mask == 0, 0.0)
        n = self.size**2
        qkv = self.qkv(windows).reshape(-1, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        attn = attn * torch.clamp(self.logit_scale, max=math.log(100.0)).exp()
        attn = attn.view(b, -1, self.heads, n, n) + mask.unsqueeze(1).unsqueeze(0)
        attn = attn.view(-1, self.heads, n, n).softmax(-1)
        y = self.proj((attn @ v).transpose(1, 2).reshape(-1, n, c))
        y = torch.roll(window_reverse(y, self.size, h, w), (self.shift, self.shift), dims=(1, 2))
        return x + self.norm(y)


def shifted_window():
    return _ShiftedWindow(), (torch.randn(1, 4, 4, 8),)


class _Retention(nn.Module):
    """The parallel form, with a decay for each head and a norm for each."""

    def __init__(self, dim: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.g, self.o = (nn.Linear(dim, dim, bias=False) for _ in range(5))
        self.norm = nn.GroupNorm(heads, dim)
        self.register_buffer("decay", torch.log(1 - 2 ** (-5 - torch.arange(heads, dtype=torch.float))))

    def forward(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        shape = (b, n, self.heads, d // self.heads)
        q, k, v = (f(x).view(shape).transpose(1, 2) for f in (self.q, self.k, self.v))
        index = torch.arange(n).to(self.decay)
        mask = torch.tril(torch.ones(n, n, dtype=self.decay.dtype))
        mask = torch.masked_fill(index[:, None] - index[None, :], ~mask.bool(), float("inf"))
        mask = torch.exp(mask * self.decay[:, None, None])
        mask = torch.nan_to_num(mask)
        mask = mask / mask.sum(dim=-1, keepdim=True).sqrt()
        scores = q @ k.transpose(-1, -2) * mask
        scores = scores / scores.detach().sum(dim=-1, keepdim=True).abs().clamp(min=1)
        y = (scores @ v).transpose(1, 2).reshape(b * n, d)
        y = self.norm(y).view(b, n, d)
        return self.o(F.silu(self.g(x)) * y)


def retention():
    return _Retention(), (torch.randn(1, 6, 16),)


class _DeltaNet(nn.Module):
    """The delta rule over time: a state of outer products that is corrected step by step."""

    def __init__(self, dim: int = 8) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.beta = nn.Linear(dim, 1)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = F.silu(self.q(x)), F.normalize(F.silu(self.k(x)), dim=-1), self.v(x)
        beta = self.beta(x).sigmoid()
        state = x.new_zeros(x.shape[0], x.shape[2], x.shape[2])
        outs = []
        for t in range(x.shape[1]):
            kt, vt = k[:, t], v[:, t]
            old = torch.einsum("bij,bj->bi", state, kt)
            state = state + torch.einsum("bi,bj->bij", beta[:, t] * (vt - old), kt)
            outs.append(torch.einsum("bij,bj->bi", state, q[:, t]))
        return torch.stack(outs, dim=1)


def delta_net():
    return _DeltaNet(), (torch.randn(2, 5, 8),)


class _ChunkedLinearAttention(nn.Module):
    """Gated linear attention in chunks, with a decay mask from running sums."""

    def __init__(self, dim: int = 8, chunk: int = 4) -> None:
        super().__init__()
        self.chunk = chunk
        self.qkv, self.gate = nn.Linear(dim, 3 * dim), nn.Linear(dim, 1)

    def forward(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        q, k, v = (y.view(b, n // self.chunk, self.chunk, d) for y in self.qkv(x).chunk(3, dim=-1))
        g = F.logsigmoid(self.gate(x)).view(b, n // self.chunk, self.chunk).cumsum(-1)
        decay = (g.unsqueeze(-1) - g.unsqueeze(-2)).tril().exp().tril()
        inside = (q @ k.transpose(-1, -2) * decay) @ v
        state, outs = x.new_zeros(b, d, d), []
        for i in range(n // self.chunk):
            across = (q[:, i] * g[:, i, :, None].exp()) @ state
            outs.append(inside[:, i] + across)
            last = g[:, i, -1, None, None]
            state = state * last.exp() + (k[:, i] * (last - g[:, i, :, None]).exp()).mT @ v[:, i]
        return torch.cat(outs, dim=1)


def chunked_linear_attention():
    return _ChunkedLinearAttention(), (torch.randn(1, 8, 8),)


class _SoftmaxPlusOne(nn.Module):
    """Attention with slopes of distance and a sink."""

    def __init__(self, dim: int = 8, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.to_q, self.to_kv = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim)
        slopes = torch.tensor([2 ** (-8 * (h + 1) / heads) for h in range(heads)])
        self.register_buffer("slopes", slopes.view(-1, 1, 1))

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        b, n, d = x.shape
        q = self.to_q(x).reshape(b, n, self.heads, -1).transpose(1, 2)
        k, v = (y.reshape(b, n, self.heads, -1).transpose(1, 2) for y in self.to_kv(x).split(d, -1))
        place = torch.arange(n)
        bias = -self.slopes * (place[None] - place[:, None]).abs()
        sim = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1)) + bias
        sim = sim.masked_fill(padding[:, None, None, :], float("-inf"))
        top = sim.amax(-1, keepdim=True).clamp(min=0).detach()
        e = torch.exp(sim - top)
        weights = e / (torch.exp(-top) + e.sum(-1, keepdim=True))
        return (weights @ v).transpose(1, 2).reshape(b, n, d)


def softmax_plus_one():
    padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    return _SoftmaxPlusOne(), (torch.randn(2, 5, 8), padding)


class _MixtureOfDepths(nn.Module):
    """The router picks tokens, which pass through the block and are put back."""

    def __init__(self, dim: int = 8, capacity: int = 2) -> None:
        super().__init__()
        self.capacity, self.router = capacity, nn.Linear(dim, 1)
        self.block = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 16), nn.GELU(), nn.Linear(16, dim))

    def forward(self, x: Tensor) -> Tensor:
        weights = self.router(x).squeeze(-1)
        top, idx = torch.topk(weights, self.capacity, dim=1, sorted=False)
        index = idx.unsqueeze(-1).expand(-1, -1, x.size(-1))
        chosen = torch.gather(x, 1, index)
        update = self.block(chosen) * torch.sigmoid(top).unsqueeze(-1)
        return x.scatter_add(1, index, update)


def mixture_of_depths():
    return _MixtureOfDepths(), (torch.randn(2, 6, 8),)


class _LatentAttention(nn.Module):
    """Keys and values from one small latent, and one rotary key for all heads."""

    def __init__(self, dim: int = 16, heads: int = 2, rank: int = 6, nope: int = 4, rope: int = 4) -> None:
        super().__init__()
        self.heads, self.nope, self.rope = heads, nope, rope
        self.q = nn.Linear(dim, heads * (nope + rope), bias=False)
        self.down = nn.Linear(dim, rank + rope, bias=False)
        self.norm = nn.RMSNorm(rank)
        self.up = nn.Linear(rank, heads * 2 * nope, bias=False)
        self.o = nn.Linear(heads * nope, dim, bias=False)

    def turn(self, x: Tensor) -> Tensor:
        t = torch.arange(x.size(-2), device=x.device)
        f = 1.0 / (100 ** (torch.arange(0, x.size(-1), 2, device=x.device) / x.size(-1)))
        angles = torch.polar(torch.ones(t.numel(), f.numel()), torch.outer(t, f))
        x_ = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(x_ * angles).flatten(-2).type_as(x)

    def forward(self, x: Tensor) -> Tensor:
        b, n, _ = x.shape
        q = self.q(x).view(b, n, self.heads, -1).transpose(1, 2)
        q_nope, q_rope = torch.split(q, [self.nope, self.rope], dim=-1)
        kv, k_rope = torch.split(self.down(x), [self.up.in_features, self.rope], dim=-1)
        k_nope, v = self.up(self.norm(kv)).view(b, n, self.heads, -1).transpose(1, 2).chunk(2, dim=-1)
        q = torch.cat([q_nope, self.turn(q_rope)], dim=-1)
        k_rope = self.turn(k_rope.unsqueeze(1)).expand(-1, self.heads, -1, -1)
        y = F.scaled_dot_product_attention(q, torch.cat([k_nope, k_rope], -1), v, is_causal=True)
        return self.o(y.transpose(1, 2).contiguous().view(b, n, -1))


def latent_attention():
    return _LatentAttention(), (torch.randn(1, 5, 16),)


__all__ = ["EXAMPLES"]

EXAMPLES = (
    *(decode_step, static_cache, sliding_window, relative_buckets, shifted_window, retention),
    *(delta_net, chunked_linear_attention, softmax_plus_one, mixture_of_depths, latent_attention),
)
