"""Graph networks over lists of edges, sparse and dense adjacencies."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["EXAMPLES"]


class _GinReadout(nn.Module):
    """GIN (Xu et al., 2019) over lists of edges, with a readout for each graph of a batch."""

    def __init__(self, layers: int = 2, width: int = 6) -> None:
        super().__init__()
        self.encode = nn.Linear(4, width)
        self.mlps = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 8), nn.ReLU(), nn.Linear(8, width)) for _ in range(layers)
        )
        self.eps = nn.Parameter(torch.full((layers,), 0.1))
        self.head = nn.Linear(width * (layers + 1), 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        source, target = edge_index
        h = self.encode(x)
        pooled = [torch.zeros(2, h.size(1)).index_add(0, batch, h)]
        for i, mlp in enumerate(self.mlps):
            total = torch.zeros_like(h).index_add_(0, target, h[source])
            h = F.relu(mlp((1 + self.eps[i]) * h + total))
            pooled.append(torch.zeros(2, h.size(1)).index_add(0, batch, h))
        return self.head(torch.cat(pooled, dim=1))


def gin_readout():
    torch.manual_seed(63)
    edges = torch.tensor([[0, 1, 1, 2, 3, 4, 5, 5, 6], [1, 0, 2, 1, 4, 3, 6, 3, 5]])
    return _GinReadout().eval(), (torch.randn(7, 4), edges, torch.tensor([0, 0, 0, 1, 1, 1, 1]))


def _normalised(nodes: int) -> Tensor:
    a = (torch.rand(nodes, nodes) < 0.25).float()
    a = torch.maximum(a, a.T).fill_diagonal_(1.0)
    d = a.sum(1).pow(-0.5)
    return d[:, None] * a * d[None, :]


class _Sgc(nn.Module):
    """Wu et al., 2019: the adjacency's power, and one linear layer."""

    def __init__(self, hops: int = 3) -> None:
        super().__init__()
        self.hops = hops
        self.linear = nn.Linear(6, 3)

    def forward(self, x: Tensor, adj: Tensor) -> Tensor:
        for _ in range(self.hops):
            x = torch.spmm(adj, x)
        return F.log_softmax(self.linear(x), dim=-1)


def sgc():
    torch.manual_seed(64)
    return _Sgc().eval(), (torch.randn(9, 6), _normalised(9).to_sparse())


class _GatV2(nn.Module):
    """Brody et al., 2022, with two heads over a dense adjacency."""

    def __init__(self, inputs: int = 5, width: int = 4, heads: int = 2) -> None:
        super().__init__()
        self.heads, self.width = heads, width
        self.linear_l = nn.Linear(inputs, heads * width, bias=False)
        self.linear_r = nn.Linear(inputs, heads * width, bias=False)
        self.attn = nn.Linear(width, 1, bias=False)

    def forward(self, h: Tensor, adj: Tensor) -> Tensor:
        n = h.shape[0]
        g_l = self.linear_l(h).view(n, self.heads, self.width)
        g_r = self.linear_r(h).view(n, self.heads, self.width)
        g_sum = g_l.unsqueeze(0) + g_r.unsqueeze(1)
        e = self.attn(F.leaky_relu(g_sum, 0.2)).squeeze(-1)
        e = e.masked_fill(adj.unsqueeze(-1) == 0, float("-inf"))
        a = F.softmax(e, dim=1)
        return torch.einsum("ijh,jhf->ihf", a, g_l).reshape(n, -1)


def gat_v2():
    torch.manual_seed(65)
    return _GatV2().eval(), (torch.randn(7, 5), (_normalised(7) > 0).float())


class _SagePool(nn.Module):
    """GraphSAGE with a maximum over the neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.pool, self.own, self.neighbours = nn.Linear(5, 6), nn.Linear(5, 4), nn.Linear(6, 4)

    def forward(self, x: Tensor, adj: Tensor) -> Tensor:
        h = torch.relu(self.pool(x))
        spread = h.unsqueeze(0).expand(adj.size(0), -1, -1)
        most = spread.masked_fill(adj.unsqueeze(-1) == 0, -1e9).max(dim=1).values
        out = self.own(x) + self.neighbours(most)
        return F.normalize(out, dim=-1)


def sage_pool():
    torch.manual_seed(66)
    return _SagePool().eval(), (torch.randn(7, 5), (_normalised(7) > 0).float())


class _GatedGraph(nn.Module):
    """Li et al., 2016: a GRU cell takes what the neighbours send, for some steps."""

    def __init__(self, width: int = 5, steps: int = 2) -> None:
        super().__init__()
        self.steps = steps
        self.weight = nn.Parameter(torch.randn(steps, width, width) / math.sqrt(width))
        self.cell = nn.GRUCell(width, width)
        self.gate, self.value = nn.Linear(2 * width, 1), nn.Linear(width, 3)

    def forward(self, x: Tensor, adj: Tensor) -> Tensor:
        h = F.pad(x, (0, self.weight.size(-1) - x.size(-1)))
        first = h
        for step in range(self.steps):
            m = torch.matmul(h, self.weight[step])
            h = self.cell(torch.sparse.mm(adj, m), h)
        gate = torch.sigmoid(self.gate(torch.cat([h, first], dim=1)))
        return (gate * self.value(h).tanh()).sum(0)


def gated_graph():
    torch.manual_seed(67)
    return _GatedGraph().eval(), (torch.randn(6, 3), _normalised(6).to_sparse_csr())


class _EdgeConv(nn.Module):
    """DGCNN (Wang et al., 2019): a network over pairs of neighbours, and a maximum."""

    def __init__(self) -> None:
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 4))

    def forward(self, points: Tensor, adj: Tensor) -> Tensor:
        n = points.size(0)
        x_i = points.unsqueeze(1).expand(n, n, -1)
        x_j = points.unsqueeze(0).expand(n, n, -1)
        e = self.mlp(torch.cat([x_i, x_j - x_i], dim=-1))
        e = torch.where(adj.bool().unsqueeze(-1), e, torch.full_like(e, -1e30))
        return e.max(dim=1)[0]


def edge_conv():
    torch.manual_seed(68)
    return _EdgeConv().eval(), (torch.randn(6, 3), (_normalised(6) > 0).float())


class _Gcn2(nn.Module):
    """GCNII (Chen et al., 2020): initial residuals and identity mappings."""

    def __init__(self, layers: int = 3, alpha: float = 0.1, lamda: float = 0.5) -> None:
        super().__init__()
        self.convs = nn.ModuleList(nn.Linear(6, 6, bias=False) for _ in range(layers))
        self.fcs = nn.ModuleList([nn.Linear(5, 6), nn.Linear(6, 3)])
        self.alpha, self.lamda = alpha, lamda

    def forward(self, x: Tensor, adj: Tensor) -> Tensor:
        x = h0 = F.relu(self.fcs[0](F.dropout(x, 0.6, training=self.training)))
        for i, con in enumerate(self.convs):
            theta = math.log(self.lamda / (i + 1) + 1)
            support = (1 - self.alpha) * torch.spmm(adj, x) + self.alpha * h0
            x = F.relu(theta * con(support) + (1 - theta) * support)
        return F.log_softmax(self.fcs[1](x), dim=1)


def gcn2():
    torch.manual_seed(70)
    return _Gcn2().eval(), (torch.randn(8, 5), _normalised(8).to_sparse_csr())


EXAMPLES = (
    gin_readout,
    sgc,
    gat_v2,
    sage_pool,
    gated_graph,
    edge_conv,
    gcn2,
)
