"""Transformer variants: norms, heads, masks, experts."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["EXAMPLES"]


class _PreNormEncoder(nn.Module):
    def __init__(self, vocabulary: int = 20, width: int = 8) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=0)
        layer = nn.TransformerEncoderLayer(
            width, 2, 16, dropout=0.1, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(width), enable_nested_tensor=False)
        self.classify = nn.Linear(width, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        padding = tokens == 0
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        x = self.encoder(x, src_key_padding_mask=padding)
        x = x.masked_fill(padding.unsqueeze(-1), 0.0)
        return self.classify(x.sum(1) / (~padding).sum(1, keepdim=True))


def pre_norm_encoder():
    torch.manual_seed(55)
    tokens = torch.randint(1, 20, (2, 5))
    tokens[1, 3:] = 0
    return _PreNormEncoder().eval(), (tokens,)


class _CrossAttention(nn.Module):
    """Text attends to an image: keys and values of another width, post norm, a gate as in Flamingo."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, kdim=6, vdim=6, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.feed = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))
        self.gate = nn.Parameter(torch.tensor([0.3]))

    def forward(self, text: Tensor, image: Tensor) -> tuple[Tensor, Tensor]:
        h, weights = self.attention(text, image, image)
        text = self.norm1(text + self.gate.tanh() * h)
        return self.norm2(text + self.gate.tanh() * self.feed(text)), weights


def cross_attention():
    torch.manual_seed(56)
    return _CrossAttention().eval(), (torch.randn(2, 4, 8), torch.randn(2, 5, 6))


class _GroupedQuery(nn.Module):
    """Ainslie et al., 2023: four heads of queries share two of keys, with SwiGLU and RMS norm."""

    def __init__(self, dim: int = 8, heads: int = 4, kv_heads: int = 2) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, dim // heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wkv = nn.Linear(dim, 2 * kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        self.w1, self.w3 = nn.Linear(dim, 12, bias=False), nn.Linear(dim, 12, bias=False)
        self.w2 = nn.Linear(12, dim, bias=False)
        self.attention_norm, self.ffn_norm = nn.RMSNorm(dim), nn.RMSNorm(dim)

    def forward(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        h = self.attention_norm(x)
        q = self.wq(h).view(b, n, self.heads, self.head_dim).transpose(1, 2)
        k, v = self.wkv(h).view(b, n, 2, self.kv_heads, self.head_dim).unbind(2)
        k, v = k.transpose(1, 2), v.transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.wo(y.transpose(1, 2).contiguous().view(b, n, d))
        h = self.ffn_norm(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


def grouped_query():
    torch.manual_seed(57)
    return _GroupedQuery().eval(), (torch.randn(1, 5, 8),)


class _SlidingWindow(nn.Module):
    """Attention to the last few tokens, with the mask built as the module runs."""

    def __init__(self, dim: int = 8, heads: int = 2, window: int = 3) -> None:
        super().__init__()
        self.heads, self.window = heads, window
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        qkv = self.qkv(self.norm(x)).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(d // self.heads)
        position = torch.arange(n, device=x.device)
        distance = position[:, None] - position[None, :]
        visible = (distance >= 0) & (distance < self.window)
        scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
        out = (scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, n, d)
        return x + self.proj(out)


def sliding_window():
    torch.manual_seed(58)
    return _SlidingWindow().eval(), (torch.randn(1, 6, 8),)


class _WindowAttention(nn.Module):
    """Swin (Liu et al., 2021): attention in windows of an image, with a table of relative biases."""

    def __init__(self, dim: int = 4, window: int = 2, heads: int = 2) -> None:
        super().__init__()
        self.window, self.heads, self.scale = window, heads, (dim // heads) ** -0.5
        self.norm = nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.table = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads) * 0.2)
        coords = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij"))
        coords = torch.flatten(coords, 1)
        relative = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0).contiguous()
        relative[:, :, 0] += window - 1
        relative[:, :, 1] += window - 1
        relative[:, :, 0] *= 2 * window - 1
        self.register_buffer("relative_position_index", relative.sum(-1))

    def forward(self, x: Tensor) -> Tensor:
        B, H, W, C = x.shape
        w = self.window
        shortcut = x
        x = self.norm(x).view(B, H // w, w, W // w, w, C).permute(0, 1, 3, 2, 4, 5)
        x = x.contiguous().view(-1, w * w, C)
        n = x.shape[0]
        qkv = self.qkv(x).reshape(n, w * w, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        bias = self.table[self.relative_position_index.view(-1)].view(w * w, w * w, -1)
        attn = attn + bias.permute(2, 0, 1).contiguous().unsqueeze(0)
        x = self.proj((attn.softmax(-1) @ v).transpose(1, 2).reshape(n, w * w, C))
        x = x.view(B, H // w, W // w, w, w, C).permute(0, 1, 3, 2, 4, 5).contiguous().view(B, H, W, C)
        return shortcut + x


def window_attention():
    torch.manual_seed(59)
    return _WindowAttention().eval(), (torch.randn(1, 4, 4, 4),)


class _MaskedExperts(nn.Module):
    """Switch-like: each token to the expert with the greatest weight, all experts computed under masks."""

    def __init__(self, dim: int = 6, experts: int = 3) -> None:
        super().__init__()
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 8), nn.ReLU(), nn.Linear(8, dim)) for _ in range(experts)
        )

    def forward(self, x: Tensor) -> Tensor:
        weights = self.gate(x).softmax(-1)
        best = weights.amax(-1, keepdim=True)
        weights = torch.where(weights == best, weights, torch.zeros_like(weights))
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            out += weights[..., i : i + 1] * expert(x)
        return out


def masked_experts():
    torch.manual_seed(60)
    return _MaskedExperts().eval(), (torch.randn(2, 4, 6),)


class _ParallelBlock(nn.Module):
    """PaLM: attention with one head of keys and values, beside the MLP, of one projection."""

    def __init__(self, dim: int = 8, heads: int = 2) -> None:
        super().__init__()
        head = dim // heads
        self.heads, self.sizes = heads, (dim, head, head, 2 * dim)
        self.norm = nn.LayerNorm(dim, bias=False)
        self.fused = nn.Linear(dim, sum(self.sizes), bias=False)
        self.attn_out, self.ff_out = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.register_buffer("mask", torch.triu(torch.ones(16, 16), 1).bool(), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        n = x.size(1)
        q, k, v, ff = self.fused(self.norm(x)).split(self.sizes, dim=-1)
        q = q.unflatten(-1, (self.heads, -1)) * k.size(-1) ** -0.5
        sim = torch.einsum("b i h d, b j d -> b h i j", q, k)
        attn = sim.masked_fill(self.mask[:n, :n], -torch.finfo(sim.dtype).max).softmax(dim=-1)
        out = torch.einsum("b h i j, b j d -> b i h d", attn, v).flatten(2)
        a, gate = ff.chunk(2, dim=-1)
        return x + self.attn_out(out) + self.ff_out(a * F.silu(gate))


def parallel_block():
    torch.manual_seed(61)
    return _ParallelBlock().eval(), (torch.randn(1, 5, 8),)


class _Retention(nn.Module):
    """RetNet (Sun et al., 2023) in its parallel form: scores decay with the distance, and no softmax."""

    def __init__(self, dim: int = 8, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.g = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.out = nn.Linear(dim, dim, bias=False)
        self.group_norm = nn.GroupNorm(heads, dim)
        self.register_buffer("gamma", 1 - 2.0 ** (-5 - torch.arange(heads, dtype=torch.float)))

    def forward(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        index = torch.arange(n).float()
        exponent = index[:, None] - index[None, :]
        decay = torch.where(exponent >= 0, self.gamma[:, None, None] ** exponent.clamp(min=0), 0.0)
        scores = (q @ k.transpose(-1, -2)) * (d // self.heads) ** -0.5 * decay
        y = (scores @ v).transpose(1, 2).reshape(b * n, d)
        y = self.group_norm(y).view(b, n, d)
        return self.out(F.silu(self.g(x)) * y)


def retention():
    torch.manual_seed(62)
    return _Retention().eval(), (torch.randn(1, 6, 8),)


EXAMPLES = (
    pre_norm_encoder,
    cross_attention,
    grouped_query,
    sliding_window,
    window_attention,
    masked_experts,
    parallel_block,
    retention,
)
