"""Attention and what is built on it."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["EXAMPLES"]


class _CausalSelfAttention(nn.Module):
    """As in nanoGPT, written out."""

    def __init__(self, width: int, heads: int, block: int) -> None:
        super().__init__()
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)
        self.resid_dropout = nn.Dropout(0.1)
        self.attn_dropout = nn.Dropout(0.1)
        self.n_head, self.n_embd = heads, width
        self.register_buffer("bias", torch.tril(torch.ones(block, block)).view(1, 1, block, block))

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = self.attn_dropout(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class _GptBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(16)
        self.attn = _CausalSelfAttention(16, 4, 12)
        self.ln_2 = nn.LayerNorm(16)
        self.mlp = nn.Sequential(nn.Linear(16, 64), nn.GELU(approximate="tanh"), nn.Linear(64, 16))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


def gpt_block():
    torch.manual_seed(11)
    return _GptBlock().eval(), (torch.randn(2, 6, 16),)


class _RmsNorm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        return x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class _LlamaBlock(nn.Module):
    """RMS norm, rotary embeddings by halves, grouped queries and SwiGLU, as in Hugging Face's Llama."""

    def __init__(self) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.size = 4, 2, 8
        width = self.heads * self.size
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, self.kv_heads * self.size, bias=False)
        self.v_proj = nn.Linear(width, self.kv_heads * self.size, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)
        self.gate_proj = nn.Linear(width, 48, bias=False)
        self.up_proj = nn.Linear(width, 48, bias=False)
        self.down_proj = nn.Linear(48, width, bias=False)
        self.input_layernorm, self.post_attention_layernorm = _RmsNorm(width), _RmsNorm(width)
        inv_freq = 1.0 / (10000 ** (torch.arange(0, self.size, 2).float() / self.size))
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    @staticmethod
    def rotate_half(x: Tensor) -> Tensor:
        x1 = x[..., : x.shape[-1] // 2]
        x2 = x[..., x.shape[-1] // 2 :]
        return torch.cat((-x2, x1), dim=-1)

    def repeat_kv(self, x: Tensor) -> Tensor:
        batch, heads, length, size = x.shape
        repeats = self.heads // self.kv_heads
        return (
            x[:, :, None, :, :].expand(batch, heads, repeats, length, size).reshape(batch, -1, length, size)
        )

    def attention(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q = self.q_proj(x).view(batch, length, -1, self.size).transpose(1, 2)
        k = self.k_proj(x).view(batch, length, -1, self.size).transpose(1, 2)
        v = self.v_proj(x).view(batch, length, -1, self.size).transpose(1, 2)
        freqs = torch.outer(torch.arange(length).float(), self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        cos, sin = emb.cos()[None, None], emb.sin()[None, None]
        q = q * cos + self.rotate_half(q) * sin
        k = k * cos + self.rotate_half(k) * sin
        y = F.scaled_dot_product_attention(q, self.repeat_kv(k), self.repeat_kv(v), is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.input_layernorm(x))
        y = self.post_attention_layernorm(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))


def llama_block():
    torch.manual_seed(12)
    return _LlamaBlock().eval(), (torch.randn(1, 6, 32),)


class _Bert(nn.Module):
    """Embeddings of tokens and positions, one layer, and a pooler over the first token."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(40, 16)
        self.positions = nn.Embedding(12, 16)
        self.norm = nn.LayerNorm(16, eps=1e-12)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, activation="gelu", batch_first=True)
        self.pooler = nn.Linear(16, 16)

    def forward(self, ids: Tensor, attention_mask: Tensor) -> Tensor:
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.norm(self.tokens(ids) + self.positions(positions)[None])
        x = self.layer(x, src_key_padding_mask=attention_mask == 0)
        return torch.tanh(self.pooler(x[:, 0]))


def bert():
    torch.manual_seed(13)
    mask = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
    return _Bert().eval(), (torch.randint(40, (2, 6)), mask)


class _T5Attention(nn.Module):
    """Learned biases by bucketed distance."""

    def __init__(self) -> None:
        super().__init__()
        self.heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(8, self.heads)

    def bias(self, length: int) -> Tensor:
        context = torch.arange(length)[:, None]
        memory = torch.arange(length)[None, :]
        buckets = (memory - context).clamp(-4, 3) + 4
        return self.relative_attention_bias(buckets).permute(2, 0, 1).unsqueeze(0)

    def forward(self, x: Tensor) -> Tensor:
        b, n, _ = x.shape
        q, k, v = (f(x).view(b, n, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = torch.matmul(q, k.transpose(3, 2)) + self.bias(n)
        weights = F.softmax(scores.float(), dim=-1).type_as(scores)
        return self.o(torch.matmul(weights, v).transpose(1, 2).contiguous().view(b, n, -1))


def t5_attention():
    torch.manual_seed(14)
    return _T5Attention().eval(), (torch.randn(2, 6, 16),)


class _BigBird(nn.Module):
    """Block-sparse attention by a boolean mask that is a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)
        blocks = torch.eye(6) + torch.diag(torch.ones(5), 1) + torch.diag(torch.ones(5), -1)
        blocks[0], blocks[:, 0] = 1, 1
        self.register_buffer("mask", torch.kron(blocks, torch.ones(2, 2)).bool())

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, 2, C // 2).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask)
        return self.out(y.transpose(1, 2).reshape(B, T, C))


def bigbird():
    torch.manual_seed(15)
    return _BigBird().eval(), (torch.randn(1, 12, 16),)


class _LinearAttention(nn.Module):
    """Katharopoulos et al., 2020."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(12, 12) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        n, length, _ = x.shape
        q = F.elu(self.query(x).view(n, length, 3, 4)) + 1
        k = F.elu(self.key(x).view(n, length, 3, 4)) + 1
        v = self.value(x).view(n, length, 3, 4)
        kv = torch.einsum("nshd,nshm->nhmd", k, v)
        z = 1 / (torch.einsum("nlhd,nhd->nlh", q, k.sum(dim=1)) + 1e-6)
        return torch.einsum("nlhd,nhmd,nlh->nlhm", q, kv, z).reshape(n, length, -1)


def linear_attention():
    torch.manual_seed(16)
    return _LinearAttention().eval(), (torch.randn(2, 5, 12),)


class _Linformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.to_q = nn.Linear(16, 16, bias=False)
        self.to_kv = nn.Linear(16, 32, bias=False)
        self.proj_k = nn.Parameter(torch.randn(8, 3) / 3)
        self.proj_v = nn.Parameter(torch.randn(8, 3) / 3)
        self.to_out = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        q = self.to_q(x)
        k, v = self.to_kv(x).chunk(2, dim=-1)
        k = torch.einsum("bnd,nk->bkd", k, self.proj_k)
        v = torch.einsum("bnd,nk->bkd", v, self.proj_v)
        q = q.reshape(b, n, 4, -1).transpose(1, 2)
        k, v = (t.reshape(b, 3, 4, -1).transpose(1, 2) for t in (k, v))
        dots = torch.einsum("bhnd,bhkd->bhnk", q, k) * (d // 4) ** -0.5
        out = torch.einsum("bhnk,bhkd->bhnd", dots.softmax(dim=-1), v)
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))


def linformer():
    torch.manual_seed(17)
    return _Linformer().eval(), (torch.randn(2, 8, 16),)


class _Alibi(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
        slopes = torch.tensor([2.0 ** -(2 * (h + 1)) for h in range(4)])
        self.register_buffer("slopes", slopes)

    def forward(self, x: Tensor) -> Tensor:
        b, n, _ = x.shape
        distance = torch.arange(n)[None, :] - torch.arange(n)[:, None]
        bias = self.slopes.view(-1, 1, 1) * distance
        bias = bias.masked_fill(torch.triu(torch.ones(n, n), 1).bool(), float("-inf"))
        y, _ = self.attention(x, x, x, attn_mask=bias.repeat(b, 1, 1), need_weights=False)
        return x + y


def alibi():
    torch.manual_seed(18)
    return _Alibi().eval(), (torch.randn(2, 5, 16),)


class _Perceiver(nn.Module):
    """A few latents attend to many inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.latents = nn.Parameter(torch.randn(3, 16))
        self.norm_x, self.norm_l = nn.LayerNorm(10), nn.LayerNorm(16)
        self.cross = nn.MultiheadAttention(16, 2, kdim=10, vdim=10, batch_first=True)
        self.mlp = nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))

    def forward(self, x: Tensor) -> Tensor:
        z = self.latents.unsqueeze(0).expand(x.shape[0], -1, -1)
        context = self.norm_x(x)
        z = z + self.cross(self.norm_l(z), context, context)[0]
        return (z + self.mlp(z)).mean(dim=1)


def perceiver():
    torch.manual_seed(19)
    return _Perceiver().eval(), (torch.randn(2, 9, 10),)


def decoder_layer():
    torch.manual_seed(20)
    layer = nn.TransformerDecoderLayer(16, 2, 32, batch_first=True)
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    return layer.eval(), (torch.randn(2, 4, 16), torch.randn(2, 6, 16), mask)


class _SoftExperts(nn.Module):
    """A mixture of experts in which all of them compute."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(10, 4)
        self.experts = nn.ModuleList(
            [nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 10)) for _ in range(4)]
        )

    def forward(self, x: Tensor) -> Tensor:
        weights = F.softmax(self.gate(x), dim=-1)
        outputs = torch.stack([expert(x) for expert in self.experts], dim=-1)
        return (outputs * weights.unsqueeze(1)).sum(dim=-1)


def soft_experts():
    torch.manual_seed(21)
    return _SoftExperts().eval(), (torch.randn(5, 10),)


class _TopKExperts(_SoftExperts):
    """A mixture of experts in which the best two compute, as in Mixtral."""

    def forward(self, x: Tensor) -> Tensor:
        scores, chosen = torch.topk(self.gate(x), 2, dim=-1)
        weights = F.softmax(scores, dim=-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            rows, slot = torch.where(chosen == number)
            out[rows] += weights[rows, slot, None] * expert(x[rows])
        return out


def top_k_experts():
    torch.manual_seed(22)
    return _TopKExperts().eval(), (torch.randn(5, 10),)


EXAMPLES = (
    gpt_block,
    llama_block,
    bert,
    t5_attention,
    bigbird,
    linear_attention,
    linformer,
    alibi,
    perceiver,
    decoder_layer,
    soft_experts,
    top_k_experts,
)
