"""Recommenders and ranking."""

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["EXAMPLES"]


class _LightGcn(nn.Module):
    """He et al., 2020, with the Bayesian personalised ranking loss."""

    def __init__(self, users=4, items=5, d=3, layers=2):
        super().__init__()
        self.user_emb, self.item_emb = nn.Embedding(users, d), nn.Embedding(items, d)
        self.users, self.layers = users, layers

    def forward(self, adj, u, pos, neg):
        e = torch.cat([self.user_emb.weight, self.item_emb.weight])
        embs = [e]
        for _ in range(self.layers):
            e = torch.sparse.mm(adj, e)
            embs.append(e)
        out = torch.stack(embs, dim=1).mean(dim=1)
        us, its = torch.split(out, [self.users, out.size(0) - self.users])
        uv, pv, nv = us[u], its[pos], its[neg]
        loss = F.softplus((uv * nv).sum(1) - (uv * pv).sum(1)).mean()
        reg = 0.5 * (uv.norm(2).pow(2) + pv.norm(2).pow(2) + nv.norm(2).pow(2)) / len(u)
        return loss + 1e-2 * reg


def light_gcn():
    r = (torch.rand(4, 5) < 0.5).float()
    a = torch.zeros(9, 9)
    a[:4, 4:], a[4:, :4] = r, r.t()
    d = a.sum(1).clamp(min=1).rsqrt()
    adj = (d[:, None] * a * d).to_sparse_coo().coalesce()
    return _LightGcn().eval(), (
        adj,
        torch.tensor([0, 2, 3]),
        torch.tensor([1, 4, 0]),
        torch.tensor([2, 2, 3]),
    )


class _FieldAware(nn.Module):
    """Juan et al., 2016: each feature has a vector for each other field."""

    def __init__(self, dims=(3, 4, 5), k=2):
        super().__init__()
        self.linear = nn.Embedding(sum(dims), 1)
        self.embeddings = nn.ModuleList(nn.Embedding(sum(dims), k) for _ in dims)
        self.bias = nn.Parameter(torch.zeros(1))
        self.register_buffer("offsets", torch.tensor([0, *torch.tensor(dims).cumsum(0)[:-1].tolist()]))

    def forward(self, x):
        x = x + self.offsets.unsqueeze(0)
        xs = [emb(x) for emb in self.embeddings]
        ix = []
        for i in range(len(xs) - 1):
            for j in range(i + 1, len(xs)):
                ix.append(xs[j][:, i] * xs[i][:, j])
        ix = torch.stack(ix, dim=1).sum(dim=1).sum(dim=1, keepdim=True)
        return torch.sigmoid(self.linear(x).sum(1) + self.bias + ix).squeeze(1)


def field_aware():
    return _FieldAware().eval(), (torch.tensor([[0, 1, 2], [2, 3, 4], [1, 0, 0]]),)


class _InBatchSoftmax(nn.Module):
    """Yi et al., 2019: the other items of the batch as negatives, corrected by their frequency."""

    def __init__(self, items=7, d=4):
        super().__init__()
        self.item = nn.Embedding(items, d)
        self.query = nn.Sequential(nn.Linear(3, d), nn.ReLU(), nn.Linear(d, d))
        self.log_t = nn.Parameter(torch.tensor(0.5))
        self.register_buffer("freq", torch.rand(items) + 0.1)

    def forward(self, features, ids):
        q = F.normalize(self.query(features), dim=-1)
        v = F.normalize(self.item(ids), dim=-1)
        logits = q @ v.t() * self.log_t.exp() - self.freq[ids].log()
        same = ids[:, None] == ids[None]
        same.fill_diagonal_(False)
        logits = logits.masked_fill(same, -1e9)
        loss = F.cross_entropy(logits, torch.arange(len(ids)))
        rank = (logits > logits.diagonal()[:, None]).sum(1)
        return loss, (1.0 / (rank + 1).float()).mean()


def in_batch_softmax():
    return _InBatchSoftmax().eval(), (torch.randn(4, 3), torch.tensor([3, 5, 3, 0]))


class _ListWise(nn.Module):
    """LambdaRank's weights from the ideal and the present ranking, over padded lists."""

    def __init__(self):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1))

    def forward(self, x, rel, mask):
        s = self.score(x).squeeze(-1).masked_fill(~mask, -1e4)
        order = s.argsort(dim=-1, descending=True)
        rank = order.argsort(dim=-1) + 1
        gain = (2.0**rel - 1) * mask
        discount = 1 / torch.log2(rank.float() + 1)
        ideal = torch.sort(gain, dim=-1, descending=True)[0]
        idcg = (ideal / torch.log2(torch.arange(2, x.size(1) + 2).float())).sum(-1).clamp(min=1e-6)
        ndcg = (gain * discount).sum(-1) / idcg
        delta = (gain[:, :, None] - gain[:, None]).abs() * (discount[:, :, None] - discount[:, None]).abs()
        pairs = (rel[:, :, None] > rel[:, None]) & mask[:, :, None] & mask[:, None]
        loss = F.softplus(-(s[:, :, None] - s[:, None])) * delta / idcg[:, None, None]
        return (loss * pairs).sum(), ndcg


def list_wise():
    mask = torch.tensor([[True] * 5, [True, True, True, False, False]])
    return _ListWise().eval(), (torch.randn(2, 5, 4), torch.randint(0, 4, (2, 5)).float(), mask)


class _SessionGru(nn.Module):
    """GRU4Rec with the TOP1 loss over sampled items."""

    def __init__(self, items=8, d=4):
        super().__init__()
        self.emb = nn.Embedding(items, d, padding_idx=0)
        self.gru = nn.GRU(d, d, batch_first=True)
        self.bias = nn.Embedding(items, 1)

    def forward(self, session, lengths, sampled):
        out, _ = self.gru(self.emb(session))
        last = out[torch.arange(out.size(0)), lengths - 1]
        logits = last @ self.emb(sampled).T + self.bias(sampled).T
        diff = torch.sigmoid(logits - logits.diag().view(-1, 1)) + torch.sigmoid(logits**2)
        return logits, diff.mean()


def session_gru():
    session = torch.tensor([[1, 4, 2, 0], [3, 3, 5, 7]])
    return _SessionGru().eval(), (session, torch.tensor([3, 4]), torch.tensor([6, 2]))


EXAMPLES = [light_gcn, field_aware, in_batch_softmax, list_wise, session_gru]
