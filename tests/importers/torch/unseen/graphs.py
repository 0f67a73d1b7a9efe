"""Layers of graphs by hand, with edge lists and without a library."""

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["EXAMPLES"]


def _edges(nodes=6, count=12):
    return torch.randint(0, nodes, (2, count))


class _MeanSage(nn.Module):
    def __init__(self, inputs=4, outputs=3):
        super().__init__()
        self.lin_l, self.lin_r = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs, bias=False)

    def forward(self, x, edge_index):
        src, dst = edge_index
        agg = torch.zeros_like(x).index_add_(0, dst, x[src])
        deg = torch.zeros(x.size(0)).scatter_add_(0, dst, torch.ones(dst.size(0))).clamp_(min=1)
        out = self.lin_l(agg / deg.unsqueeze(-1)) + self.lin_r(x)
        return F.normalize(out, p=2.0, dim=-1)


def mean_sage():
    return _MeanSage().eval(), (torch.randn(6, 4), _edges())


class _BasisRgcn(nn.Module):
    """Schlichtkrull et al., 2018: relations as mixtures of bases, each normalised by its degree."""

    def __init__(self, relations=3, bases=2, inputs=4, outputs=3):
        super().__init__()
        self.relations = relations
        self.basis = nn.Parameter(torch.randn(bases, inputs, outputs) * 0.4)
        self.comp = nn.Parameter(torch.randn(relations, bases))
        self.root = nn.Parameter(torch.randn(inputs, outputs) * 0.4)

    def forward(self, x, edge_index, edge_type):
        weight = (self.comp @ self.basis.view(self.basis.size(0), -1)).view(self.relations, x.size(1), -1)
        out = x @ self.root
        for r in range(self.relations):
            mask = (edge_type == r).float()
            src, dst = edge_index[0], edge_index[1]
            count = torch.zeros(x.size(0)).index_add(0, dst, mask).clamp(min=1.0)
            message = (x @ weight[r])[src] * (mask / count[dst]).unsqueeze(-1)
            out = out.index_add(0, dst, message)
        return out.relu()


def basis_rgcn():
    return _BasisRgcn().eval(), (torch.randn(6, 4), _edges(), torch.randint(0, 3, (12,)))


class _LabelPropagation(nn.Module):
    """Correct and smooth: known labels are clamped after each step."""

    def __init__(self, steps=3, alpha=0.8):
        super().__init__()
        self.steps, self.alpha = steps, alpha

    def forward(self, y, edge_index, train_mask):
        n = y.size(0)
        adj = torch.zeros(n, n)
        adj[edge_index[0], edge_index[1]] = 1.0
        adj = ((adj + adj.t()) > 0).to(y.dtype)
        d = adj.sum(1).pow(-0.5)
        d[torch.isinf(d)] = 0
        s = d[:, None] * adj * d[None]
        out = torch.where(train_mask[:, None], y, torch.zeros_like(y))
        for _ in range(self.steps):
            out = (self.alpha * (s @ out) + (1 - self.alpha) * y).clamp_(0.0, 1.0)
            out = torch.where(train_mask[:, None], y, out)
        return out


def label_propagation():
    return _LabelPropagation().eval(), (torch.rand(6, 3), _edges(), torch.rand(6) < 0.5)


class _DiffPool(nn.Module):
    def __init__(self, inputs=4, d=4, clusters=2):
        super().__init__()
        self.embed, self.assign = nn.Linear(inputs, d), nn.Linear(inputs, clusters)

    def forward(self, x, adj, mask):
        m = mask.unsqueeze(-1).to(x.dtype)
        z = (adj @ self.embed(x)).relu() * m
        s = torch.softmax(adj @ self.assign(x), dim=-1) * m
        out, pooled = s.transpose(1, 2) @ z, s.transpose(1, 2) @ adj @ s
        link = torch.norm(adj - s @ s.transpose(1, 2), p=2) / adj.numel()
        entropy = (-s * torch.log(s + 1e-15)).sum(dim=-1).mean()
        return out, pooled, link, entropy


def diff_pool():
    adj = (torch.rand(2, 5, 5) < 0.4).float()
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], dtype=torch.bool)
    return _DiffPool().eval(), (torch.randn(2, 5, 4), adj, mask)


class _Angles(nn.Module):
    """Triplets of a molecule: distances in a radial basis, angles between bonds, messages over both."""

    def __init__(self, basis=4, d=5, cutoff=3.0):
        super().__init__()
        self.cutoff = cutoff
        self.register_buffer("centers", torch.linspace(0, cutoff, basis))
        self.emb = nn.Embedding(10, d)
        self.filt, self.ang = nn.Linear(basis, d), nn.Linear(2, d)
        self.out = nn.Sequential(nn.Linear(d, d), nn.SiLU(), nn.Linear(d, 1))

    def forward(self, z, pos):
        diff = pos[:, None] - pos[None]
        dist = (diff.pow(2).sum(-1) + 1e-12).sqrt()
        eye = torch.eye(z.size(0), dtype=torch.bool)
        near = (dist < self.cutoff) & ~eye
        rbf = torch.exp(-2.0 * (dist[..., None] - self.centers) ** 2)
        cut = 0.5 * (torch.cos(torch.pi * dist / self.cutoff) + 1) * near
        unit = diff / dist[..., None].clamp(min=1e-6)
        cos = torch.einsum("ijc,ikc->ijk", unit, unit).clamp(-1, 1)
        h = self.emb(z)
        message = self.filt(rbf) * cut[..., None] * h[None]
        angular = self.ang(torch.stack([cos, cos**2 - 1], -1)) * (cut[:, :, None] * cut[:, None])[..., None]
        h = h + message.sum(1) + angular.sum((1, 2)) / 8
        return self.out(h).sum()


def angles():
    return _Angles().eval(), (torch.tensor([6, 1, 1, 8]), torch.randn(4, 3))


class _GraphTransformerPe(nn.Module):
    """Random-walk encodings, then attention with a bias for each edge and for degrees (Graphormer)."""

    def __init__(self, d=4, heads=2, walks=3):
        super().__init__()
        self.walks, self.heads = walks, heads
        self.pe, self.degree = nn.Linear(walks, d), nn.Embedding(8, d)
        self.edge_bias = nn.Parameter(torch.randn(heads, 2))
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, adj):
        n = x.size(0)
        deg = adj.sum(-1)
        walk = adj / deg.clamp(min=1)[:, None]
        power, diag = walk, []
        for _ in range(self.walks):
            diag.append(torch.diagonal(power))
            power = power @ walk
        x = x + self.pe(torch.stack(diag, -1)) + self.degree(deg.long().clamp(max=7))
        q, k, v = self.qkv(x).view(n, 3, self.heads, -1).permute(1, 2, 0, 3)
        bias = self.edge_bias[:, 1, None, None] * adj + self.edge_bias[:, 0, None, None] * (1 - adj)
        att = torch.softmax(q @ k.transpose(-1, -2) * k.size(-1) ** -0.5 + bias, -1)
        return self.o((att @ v).transpose(0, 1).reshape(n, -1)) + x


def graph_transformer_pe():
    adj = (torch.rand(5, 5) < 0.5).float()
    return _GraphTransformerPe().eval(), (torch.randn(5, 4), torch.maximum(adj, adj.t()))


EXAMPLES = [mean_sage, basis_rgcn, label_propagation, diff_pool, angles, graph_transformer_pe]
