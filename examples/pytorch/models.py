"""Modules of PyTorch in small, each by a function that gives it with example arguments.

samhw run examples/pytorch/models.py:gcn --value f32 --backend verilator
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import prune


def graph(nodes: int) -> Tensor:
    """A graph with loops, its rows divided by the degrees, as CSR."""
    a = ((torch.rand(nodes, nodes) < 0.25) | torch.eye(nodes, dtype=torch.bool)).float()
    return (a / a.sum(1, keepdim=True)).to_sparse_csr()


class GCN(nn.Module):
    """Kipf and Welling, 2017."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, adjacency: Tensor, x: Tensor) -> Tensor:
        x = F.relu(torch.sparse.mm(adjacency, self.fc1(x)))
        return torch.sparse.mm(adjacency, self.fc2(x))


def gcn():
    torch.manual_seed(0)
    return GCN().eval(), (graph(8), torch.randn(8, 6))


class GraphSAGE(nn.Module):
    """Hamilton et al., 2017: the mean of the neighbours after a node's own features."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(12, 8), nn.Linear(16, 3)])

    def forward(self, adjacency: Tensor, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(torch.cat([F.relu(x), adjacency @ x], dim=-1))
        return x


def graph_sage():
    torch.manual_seed(1)
    return GraphSAGE().eval(), (graph(8), torch.randn(8, 6))


class GAT(nn.Module):
    """Velickovic et al., 2018: attention to the neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(6, 5, bias=False)
        self.source, self.target = nn.Linear(5, 1), nn.Linear(5, 1, bias=False)

    def forward(self, adjacency: Tensor, x: Tensor) -> Tensor:
        h = self.project(x)
        scores = F.leaky_relu(self.source(h) + self.target(h).T, 0.2)
        return F.elu(scores.masked_fill(adjacency == 0, float("-inf")).softmax(dim=-1) @ h)


def gat():
    torch.manual_seed(2)
    return GAT().eval(), (graph(8).to_dense(), torch.randn(8, 6))


def pruned_mlp():
    """Half of the weights are zero; `samhw.torch.compile(.., sparsify=0.5)` stores the others alone."""
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4))
    for layer in (model[0], model[2]):
        prune.l1_unstructured(layer, "weight", amount=0.6)
    return model.eval(), (torch.randn(3, 10),)


class Autoencoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3))
        self.decoder = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 12), nn.Sigmoid())

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.encoder(x.flatten(1))).view_as(x)


def autoencoder():
    torch.manual_seed(4)
    return Autoencoder().eval(), (torch.rand(2, 3, 4),)


class GPT2Block(nn.Module):
    """Radford et al., 2019, with the mask of BigBird (Zaheer et al., 2020)."""

    def __init__(self, width: int, heads: int, tokens: int) -> None:
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width)
        )
        near = torch.ones(tokens, tokens).tril().triu(-2)
        near[:, 0] = 1
        self.register_buffer("mask", near.bool())

    def forward(self, x: Tensor) -> Tensor:
        b, n, width = x.shape
        q, k, v = self.c_attn(self.ln_1(x)).split(width, dim=-1)
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask)
        x = x + self.c_proj(y.transpose(1, 2).reshape(b, n, width))
        return x + self.mlp(self.ln_2(x))


def gpt2_block():
    torch.manual_seed(5)
    return GPT2Block(8, 2, 6).eval(), (torch.randn(1, 6, 8),)


def gpt2_small_block():
    """Of the real size: 12 heads, a width of 768."""
    torch.manual_seed(5)
    return GPT2Block(768, 12, 64).eval(), (torch.randn(1, 64, 768),)


def encoder_block():
    torch.manual_seed(6)
    return nn.TransformerEncoderLayer(8, 2, 12, batch_first=True).eval(), (torch.randn(1, 5, 8),)


class RotaryAttention(nn.Module):
    """Su et al., 2021: queries and keys are turned by angles that grow with their positions."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24, bias=False), nn.Linear(8, 8, bias=False)

    @staticmethod
    def turned(x: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        angles = torch.outer(torch.arange(x.shape[-2]), 10000.0 ** (-torch.arange(half) / half)).repeat(1, 2)
        return x * angles.cos() + torch.cat((-x[..., half:], x[..., :half]), -1) * angles.sin()

    def forward(self, x: Tensor) -> Tensor:
        b, n, width = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, 2, width // 2).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(self.turned(q), self.turned(k), v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


def rotary_attention():
    torch.manual_seed(7)
    return RotaryAttention().eval(), (torch.randn(1, 5, 8),)


class Siren(nn.Module):
    """Sitzmann et al., 2020: layers of sines, from coordinates to colours."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(2, 8), nn.Linear(8, 8), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.sin(30 * self.fc1(x))
        return self.fc3(torch.sin(30 * self.fc2(x)))


def siren():
    torch.manual_seed(8)
    return Siren().eval(), (2 * torch.rand(5, 2) - 1,)


class LanguageModel(nn.Module):
    """Words, an LSTM and scores of the next word: a scan over the words."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(10, 6)
        self.lstm = nn.LSTM(6, 5, batch_first=True)
        self.scores = nn.Linear(5, 10)

    def forward(self, words: Tensor) -> Tensor:
        found, _ = self.lstm(self.words(words))
        return self.scores(found)


def language_model():
    torch.manual_seed(9)
    return LanguageModel().eval(), (torch.randint(0, 10, (2, 7)),)


class SelectiveScan(nn.Module):
    """The heart of Mamba (Gu and Dao, 2023): h = exp(delta A) h + delta B x, y = C h. Its loop is a scan."""

    def __init__(self) -> None:
        super().__init__()
        self.rates = nn.Parameter(-torch.rand(4, 3))
        self.pace, self.take, self.give = nn.Linear(4, 4), nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        pace = F.softplus(self.pace(x))
        decay = torch.exp(pace.unsqueeze(-1) * self.rates)
        added = (pace * x).unsqueeze(-1) * self.take(x).unsqueeze(2)
        weights = self.give(x)
        state, found = x.new_zeros(x.shape[0], 4, 3), []
        for step in range(x.shape[1]):
            state = decay[:, step] * state + added[:, step]
            found.append((state * weights[:, step].unsqueeze(1)).sum(-1))
        return torch.stack(found, 1)


def selective_scan():
    torch.manual_seed(10)
    return SelectiveScan().eval(), (torch.randn(2, 8, 4),)
