"""Messages over edges, points in space, sparse tensors, routing."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def edges(nodes: int, count: int) -> Tensor:
    return torch.stack([torch.randint(0, nodes, (count,)), torch.randint(0, nodes, (count,))])


class _EdgeSoftmaxGat(nn.Module):
    def __init__(self, dim: int = 5, heads: int = 2, out: int = 3) -> None:
        super().__init__()
        self.heads, self.out = heads, out
        self.lin = nn.Linear(dim, heads * out, bias=False)
        self.att_src, self.att_dst = (nn.Parameter(torch.randn(1, heads, out)) for _ in range(2))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n = x.size(0)
        src, dst = edge_index
        h = self.lin(x).view(n, self.heads, self.out)
        a = (h * self.att_src).sum(-1)[src] + (h * self.att_dst).sum(-1)[dst]
        a = F.leaky_relu(a, 0.2)
        index = dst.unsqueeze(-1).expand_as(a)
        top = torch.full((n, self.heads), float("-inf")).scatter_reduce(0, index, a, reduce="amax")
        e = (a - top[dst]).exp()
        total = torch.zeros(n, self.heads).index_add_(0, dst, e)
        alpha = e / (total[dst] + 1e-16)
        out = torch.zeros(n, self.heads, self.out).index_add_(0, dst, h[src] * alpha.unsqueeze(-1))
        return F.elu(out.flatten(1))


def edge_softmax_gat():
    return _EdgeSoftmaxGat(), (torch.randn(6, 5), edges(6, 12))


class _Egnn(nn.Module):
    """Features and coordinates are updated together."""

    def __init__(self, dim: int = 4, hidden: int = 8) -> None:
        super().__init__()
        self.edge_mlp = nn.Sequential(
            nn.Linear(2 * dim + 2, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU()
        )
        self.node_mlp = nn.Sequential(nn.Linear(dim + hidden, hidden), nn.SiLU(), nn.Linear(hidden, dim))
        self.coord_mlp = nn.Sequential(nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1, bias=False))

    def forward(self, h: Tensor, x: Tensor, edge_index: Tensor, edge_attr: Tensor):
        row, col = edge_index[0], edge_index[1]
        diff = x[row] - x[col]
        radial = torch.sum(diff**2, 1, keepdim=True)
        diff = diff / (torch.sqrt(radial).detach() + 1)
        m = self.edge_mlp(torch.cat([h[row], h[col], radial, edge_attr], dim=1))
        trans = diff * self.coord_mlp(m)
        agg = x.new_zeros(x.shape)
        agg.scatter_add_(0, row.unsqueeze(-1).expand(-1, 3), trans)
        count = torch.zeros(x.size(0), 1).index_add(0, row, torch.ones(row.size(0), 1))
        x = x + agg / count.clamp(min=1)
        messages = torch.zeros(h.size(0), m.size(1)).index_add(0, row, m)
        return h + self.node_mlp(torch.cat([h, messages], dim=1)), x


def egnn():
    return _Egnn(), (torch.randn(5, 4), torch.randn(5, 3), edges(5, 8), torch.rand(8, 1))


class _Pna(nn.Module):
    """Four aggregators times three scalers."""

    def __init__(self, dim: int = 4) -> None:
        super().__init__()
        self.pre, self.post = nn.Linear(2 * dim, dim), nn.Linear(13 * dim, dim)
        self.avg_log_degree = 1.2

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n, d = x.shape
        src, dst = edge_index.unbind(0)
        m = self.pre(torch.cat([x[dst], x[src]], -1))
        idx = dst[:, None].expand(-1, d)
        deg = torch.bincount(dst, minlength=n).clamp(min=1).to(x.dtype).unsqueeze(-1)
        zero = torch.zeros(n, d)
        mean = zero.scatter_add(0, idx, m) / deg
        mean2 = zero.scatter_add(0, idx, m * m) / deg
        std = (F.relu(mean2 - mean**2) + 1e-5).sqrt()
        high = zero.scatter_reduce(0, idx, m, "amax", include_self=False)
        low = zero.scatter_reduce(0, idx, m, "amin", include_self=False)
        agg = torch.cat([mean, low, high, std], dim=-1)
        scale = torch.log(deg + 1) / self.avg_log_degree
        return self.post(torch.cat([x, agg, agg * scale, agg / scale], dim=-1))


def pna():
    return _Pna(), (torch.randn(6, 4), edges(6, 14))


class _DynamicEdgeConv(nn.Module):
    """Neighbours are the nearest points in features."""

    def __init__(self, dim: int = 3, out: int = 6, k: int = 3) -> None:
        super().__init__()
        self.k = k
        self.conv = nn.Sequential(
            nn.Conv2d(2 * dim, out, 1, bias=False), nn.BatchNorm2d(out), nn.LeakyReLU(0.2)
        )

    def forward(self, x: Tensor) -> Tensor:
        b, d, n = x.shape
        inner = -2 * torch.matmul(x.transpose(2, 1), x)
        xx = torch.sum(x**2, dim=1, keepdim=True)
        idx = (-xx - inner - xx.transpose(2, 1)).topk(k=self.k, dim=-1)[1]
        idx = (idx + torch.arange(0, b).view(-1, 1, 1) * n).view(-1)
        flat = x.transpose(2, 1).contiguous().view(b * n, -1)
        feature = flat[idx, :].view(b, n, self.k, d)
        centre = x.transpose(2, 1).view(b, n, 1, d).repeat(1, 1, self.k, 1)
        feature = torch.cat((feature - centre, centre), dim=3).permute(0, 3, 1, 2).contiguous()
        return self.conv(feature).max(dim=-1, keepdim=False)[0]


def dynamic_edge_conv():
    return _DynamicEdgeConv(), (torch.randn(2, 3, 6),)


class _FarthestPoints(nn.Module):
    """Samples points far apart, and takes their features."""

    def forward(self, xyz: Tensor, features: Tensor) -> Tensor:
        b, n, _ = xyz.shape
        batch = torch.arange(b)
        distance = torch.ones(b, n) * 1e10
        farthest = torch.zeros(b, dtype=torch.long)
        chosen = []
        for _ in range(3):
            chosen.append(farthest)
            centroid = xyz[batch, farthest, :].view(b, 1, 3)
            dist = torch.sum((xyz - centroid) ** 2, -1)
            distance = torch.minimum(distance, dist)
            farthest = torch.max(distance, -1)[1]
        idx = torch.stack(chosen, 1)
        return torch.gather(features, 1, idx.unsqueeze(-1).expand(-1, -1, features.size(-1)))


def farthest_points():
    return _FarthestPoints(), (torch.randn(2, 6, 3), torch.randn(2, 6, 4))


class _SparseGcn(nn.Module):
    """Normalises a sparse adjacency in forward."""

    def __init__(self) -> None:
        super().__init__()
        self.w1, self.w2 = nn.Parameter(torch.randn(5, 8)), nn.Parameter(torch.randn(8, 3))

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        n = x.size(0)
        loops = torch.arange(n)
        index = torch.cat([edge_index, torch.stack([loops, loops])], dim=1)
        weight = torch.cat([edge_weight, torch.ones(n)])
        row, col = index
        deg = torch.zeros(n).scatter_add_(0, col, weight)
        dis = deg.pow(-0.5)
        dis = dis.masked_fill(dis == float("inf"), 0)
        norm = dis[row] * weight * dis[col]
        adj = torch.sparse_coo_tensor(torch.stack([col, row]), norm, (n, n))
        h = torch.sparse.mm(adj, x @ self.w1).relu()
        return F.log_softmax(torch.sparse.mm(adj, h @ self.w2), dim=-1)


def sparse_gcn():
    return _SparseGcn(), (torch.randn(6, 5), edges(6, 10), torch.rand(10) + 0.1)


class _MaskedGraphTransformer(nn.Module):
    """Dense attention under a sparse adjacency, with edge biases."""

    def __init__(self, dim: int = 8, heads: int = 2, edge: int = 3) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.e, self.o = nn.Linear(dim, 3 * dim), nn.Linear(edge, heads), nn.Linear(dim, dim)
        self.norm1, self.norm2 = nn.BatchNorm1d(dim), nn.BatchNorm1d(dim)
        self.ffn = nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))

    def forward(self, x: Tensor, adj: Tensor, e: Tensor) -> Tensor:
        n, d = x.shape
        q, k, v = self.qkv(x).reshape(n, 3, self.heads, -1).permute(1, 2, 0, 3)
        score = q @ k.transpose(1, 2) / (d // self.heads) ** 0.5
        score = score.clamp(-5, 5) + self.e(e).permute(2, 0, 1)
        score = score.masked_fill(adj == 0, -1e9)
        h = (torch.softmax(score, -1) @ v).permute(1, 0, 2).reshape(n, d)
        x = self.norm1(x + self.o(h))
        return self.norm2(x + self.ffn(x))


def masked_graph_transformer():
    adj = ((torch.rand(6, 6) < 0.4) | torch.eye(6, dtype=torch.bool)).float()
    return _MaskedGraphTransformer(), (torch.randn(6, 8), adj, torch.randn(6, 6, 3))


class _GlobalPools(nn.Module):
    """Readouts over a batch vector, and a gated attention."""

    def __init__(self, dim: int = 4) -> None:
        super().__init__()
        self.gate, self.head = nn.Linear(dim, 1), nn.Linear(3 * dim, 2)

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        size = int(batch.max()) + 1
        one_hot = F.one_hot(batch, size).to(x.dtype)
        mean = one_hot.t() @ x / one_hot.sum(0).clamp(min=1).unsqueeze(-1)
        high = torch.stack([x[batch == g].max(0).values for g in range(size)])
        g = torch.exp(self.gate(x))
        total = torch.zeros(size, 1).index_add_(0, batch, g)
        att = torch.zeros(size, x.size(1)).index_add_(0, batch, x * g / total[batch])
        return self.head(torch.cat([mean, high, att], dim=1))


def global_pools():
    return _GlobalPools(), (torch.randn(7, 4), torch.tensor([0, 0, 0, 1, 1, 2, 2]))


class _GShard(nn.Module):
    """Top-2 routing with capacities: places from running sums, dispatched by einsums."""

    def __init__(self, dim: int = 6, experts: int = 3, capacity: int = 3) -> None:
        super().__init__()
        self.experts, self.capacity = experts, capacity
        self.gate = nn.Linear(dim, experts, bias=False)
        self.w1, self.w2 = (
            nn.Parameter(torch.randn(experts, dim, 8)),
            nn.Parameter(torch.randn(experts, 8, dim)),
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        gates = F.softmax(self.gate(x), dim=1)
        first = torch.argmax(gates, dim=1)
        mask1 = F.one_hot(first, num_classes=self.experts)
        second = torch.argmax(gates.masked_fill(mask1.bool(), float("-inf")), dim=1)
        mask2 = F.one_hot(second, num_classes=self.experts)
        places1 = torch.cumsum(mask1, dim=0) - 1
        places2 = torch.cumsum(mask2, dim=0) - 1 + mask1.sum(0, keepdim=True)
        loss = torch.mean(gates.mean(0) * mask1.float().mean(0)) * self.experts**2
        mask1 = mask1 * torch.lt(places1, self.capacity)
        mask2 = mask2 * torch.lt(places2, self.capacity)
        at1, at2 = (places1 * mask1).sum(1), (places2 * mask2).sum(1)
        g1, g2 = (gates * mask1).sum(1), (gates * mask2).sum(1)
        total = torch.clamp(g1 + g2, min=torch.finfo(x.dtype).eps)
        combine = torch.einsum(
            "s,se,sc->sec", g1 / total, mask1.float(), F.one_hot(at1, self.capacity).float()
        )
        combine = combine + torch.einsum(
            "s,se,sc->sec", g2 / total, mask2.float(), F.one_hot(at2, self.capacity).float()
        )
        dispatched = torch.einsum("sec,sm->ecm", combine.bool().float(), x)
        y = torch.relu(torch.einsum("ecm,emh->ech", dispatched, self.w1))
        y = torch.einsum("ech,ehm->ecm", y, self.w2)
        return torch.einsum("sec,ecm->sm", combine, y), loss


def g_shard():
    return _GShard(), (torch.randn(5, 6),)


class _ExpertLoop(nn.Module):
    """Mixtral's block with experts in a list, weighted by what was scattered."""

    def __init__(self, dim: int = 6, experts: int = 4) -> None:
        super().__init__()
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 8), nn.SiLU(), nn.Linear(8, dim)) for _ in range(experts)
        )

    def forward(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        flat = x.view(-1, d)
        weights = F.softmax(self.gate(flat), dim=1, dtype=torch.float)
        top, chosen = torch.topk(weights, 2, dim=-1)
        top = (top / top.sum(dim=-1, keepdim=True)).to(x.dtype)
        out = torch.zeros_like(flat)
        for e, expert in enumerate(self.experts):
            share = torch.where(chosen == e, top, torch.zeros_like(top)).sum(-1, keepdim=True)
            out = out + share * expert(flat)
        return out.reshape(b, n, d)


def expert_loop():
    return _ExpertLoop(), (torch.randn(1, 4, 6),)


__all__ = ["EXAMPLES"]

EXAMPLES = (
    *(edge_softmax_gat, egnn, pna, dynamic_edge_conv, farthest_points, sparse_gcn),
    *(masked_graph_transformer, global_pools, g_shard, expert_loop),
)
