"""Recommenders: crosses, gates, and attention over fields and histories."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["EXAMPLES"]


class _WideAndDeep(nn.Module):
    """Cheng et al., 2016: crossed features beside embeddings and numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.EmbeddingBag(30, 1, mode="sum")
        self.tables = nn.ModuleList([nn.Embedding(n, 4) for n in (10, 6)])
        self.deep = nn.Sequential(nn.Linear(11, 8), nn.ReLU(), nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1))

    def forward(self, crossed: Tensor, categories: Tensor, numbers: Tensor) -> Tensor:
        embedded = [table(categories[:, i]) for i, table in enumerate(self.tables)]
        deep = self.deep(torch.cat([*embedded, torch.log1p(numbers)], dim=1))
        return torch.sigmoid(self.wide(crossed) + deep).squeeze(1)


def wide_and_deep():
    torch.manual_seed(71)
    categories = torch.stack([torch.randint(10, (5,)), torch.randint(6, (5,))], 1)
    return _WideAndDeep().eval(), (torch.randint(30, (5, 3)), categories, torch.rand(5, 3))


class _AutoInt(nn.Module):
    """Song et al., 2019: self-attention over the fields."""

    def __init__(self, fields: tuple[int, ...] = (8, 6, 9), width: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(sum(fields), width)
        offsets = torch.tensor((0, *fields[:-1])).cumsum(0)
        self.register_buffer("offsets", offsets)
        self.attentions = nn.ModuleList(nn.MultiheadAttention(width, 2) for _ in range(2))
        self.residual = nn.Linear(width, width)
        self.fc = nn.Linear(len(fields) * width, 1)

    def forward(self, x: Tensor) -> Tensor:
        e = self.embedding(x + self.offsets)
        cross = e.transpose(0, 1)
        for attention in self.attentions:
            cross, _ = attention(cross, cross, cross)
        cross = F.relu(cross.transpose(0, 1) + self.residual(e))
        return torch.sigmoid(self.fc(cross.contiguous().view(x.size(0), -1)).squeeze(1))


def auto_int():
    torch.manual_seed(72)
    x = torch.stack([torch.randint(n, (4,)) for n in (8, 6, 9)], 1)
    return _AutoInt().eval(), (x,)


class _InterestNetwork(nn.Module):
    """DIN (Zhou et al., 2018): the candidate weighs the user's history."""

    def __init__(self, items: int = 20, width: int = 4) -> None:
        super().__init__()
        self.items = nn.Embedding(items, width, padding_idx=0)
        self.attention = nn.Sequential(nn.Linear(4 * width, 8), nn.PReLU(), nn.Linear(8, 1))
        self.mlp = nn.Sequential(nn.Linear(2 * width, 8), nn.PReLU(8), nn.Linear(8, 1))

    def forward(self, history: Tensor, candidate: Tensor) -> Tensor:
        keys, query = self.items(history), self.items(candidate)
        q = query.unsqueeze(1).expand_as(keys)
        scores = self.attention(torch.cat([q, keys, q - keys, q * keys], dim=-1))
        scores = scores * (history > 0).unsqueeze(-1)
        interest = torch.sum(scores * keys, dim=1)
        return self.mlp(torch.cat([interest, query], dim=-1)).sigmoid().flatten()


def interest_network():
    torch.manual_seed(73)
    history = torch.randint(1, 20, (3, 5))
    history[0, 3:] = 0
    return _InterestNetwork().eval(), (history, torch.randint(1, 20, (3,)))


class _SasRec(nn.Module):
    """Kang and McAuley, 2018: a causal transformer over items, whose scores are products with their table."""

    def __init__(self, items: int = 15, width: int = 6, length: int = 5) -> None:
        super().__init__()
        self.item_emb = nn.Embedding(items + 1, width, padding_idx=0)
        self.pos_emb = nn.Embedding(length, width)
        self.attention_norm, self.forward_norm, self.last_norm = (
            nn.LayerNorm(width, eps=1e-8) for _ in range(3)
        )
        self.attention = nn.MultiheadAttention(width, 1, 0.2)
        self.conv1, self.conv2 = nn.Conv1d(width, width, 1), nn.Conv1d(width, width, 1)

    def forward(self, log_seqs: Tensor) -> Tensor:
        seqs = self.item_emb(log_seqs) * self.item_emb.embedding_dim**0.5
        seqs = seqs + self.pos_emb(torch.arange(log_seqs.shape[1]))
        timeline = log_seqs == 0
        seqs = seqs * ~timeline.unsqueeze(-1)
        n = seqs.shape[1]
        causal = ~torch.tril(torch.ones((n, n), dtype=torch.bool))
        seqs = torch.transpose(seqs, 0, 1)
        q = self.attention_norm(seqs)
        out, _ = self.attention(q, seqs, seqs, attn_mask=causal)
        seqs = torch.transpose(q + out, 0, 1)
        h = self.forward_norm(seqs)
        seqs = h + self.conv2(F.relu(self.conv1(h.transpose(-1, -2)))).transpose(-1, -2)
        feats = self.last_norm(seqs)[:, -1, :]
        return feats.matmul(self.item_emb.weight.T)


def sas_rec():
    torch.manual_seed(74)
    seqs = torch.randint(1, 16, (2, 5))
    seqs[1, :2] = 0
    return _SasRec().eval(), (seqs,)


class _DcnV2(nn.Module):
    """Wang et al., 2021: crosses of low rank by several experts."""

    def __init__(self, width: int = 6, rank: int = 2, experts: int = 2, layers: int = 2) -> None:
        super().__init__()
        self.U = nn.Parameter(torch.randn(layers, experts, width, rank) / 2)
        self.V = nn.Parameter(torch.randn(layers, experts, width, rank) / 2)
        self.C = nn.Parameter(torch.randn(layers, experts, rank, rank) / 2)
        self.bias = nn.Parameter(torch.zeros(layers, width))
        self.gating = nn.ModuleList(nn.Linear(width, 1, bias=False) for _ in range(experts))
        self.layers, self.experts = layers, experts

    def forward(self, x: Tensor) -> Tensor:
        x_0, x_l = x, x
        for i in range(self.layers):
            outputs, gates = [], []
            for e in range(self.experts):
                gates.append(self.gating[e](x_l))
                v = torch.tanh(torch.matmul(x_l, self.V[i][e]))
                v = torch.tanh(torch.matmul(v, self.C[i][e].t()))
                uv = torch.matmul(v, self.U[i][e].t())
                outputs.append(x_0 * (uv + self.bias[i]))
            stacked = torch.stack(outputs, 2)
            gate = torch.stack(gates, 1).softmax(1)
            x_l = torch.matmul(stacked, gate).squeeze(2) + x_l
        return x_l


def dcn_v2():
    torch.manual_seed(75)
    return _DcnV2().eval(), (torch.randn(4, 6),)


class _MultiGate(nn.Module):
    """MMoE (Ma et al., 2018): tasks weigh the same experts by gates of their own."""

    def __init__(self, tasks: int = 2, experts: int = 3) -> None:
        super().__init__()
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(6, 5), nn.ReLU()) for _ in range(experts))
        self.gates = nn.ModuleDict({f"task{i}": nn.Linear(6, experts) for i in range(tasks)})
        self.towers = nn.ModuleDict(
            {f"task{i}": nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 1)) for i in range(tasks)}
        )

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        experts = torch.stack([expert(x) for expert in self.experts], dim=1)
        found = {}
        for name, gate in self.gates.items():
            weight = F.softmax(gate(x), dim=1)
            mixed = torch.bmm(weight.unsqueeze(1), experts).squeeze(1)
            found[name] = torch.sigmoid(self.towers[name](mixed))
        return found


def multi_gate():
    torch.manual_seed(76)
    return _MultiGate().eval(), (torch.randn(4, 6),)


EXAMPLES = (
    wide_and_deep,
    auto_int,
    interest_network,
    sas_rec,
    dcn_v2,
    multi_gate,
)
