"""Graph networks: with sparse adjacencies, with masks, and with lists of edges."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["EXAMPLES"]


def _adjacency(nodes: int, loops: bool = True) -> Tensor:
    """A symmetric graph, its rows and columns divided by the roots of the degrees."""
    a = (torch.rand(nodes, nodes) < 0.25).float()
    a = ((a + a.T) > 0).float().fill_diagonal_(1.0 if loops else 0.0)
    degree = a.sum(1).clamp(min=1).rsqrt()
    return degree[:, None] * a * degree[None, :]


class _Gcn(nn.Module):
    """Kipf and Welling, 2017, with PyTorch's sparse product."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(7, 8)
        self.fc2 = nn.Linear(8, 3)

    def forward(self, adjacency: Tensor, x: Tensor) -> Tensor:
        x = F.relu(torch.sparse.mm(adjacency, self.fc1(x)))
        x = F.dropout(x, 0.5, training=self.training)
        return F.log_softmax(torch.sparse.mm(adjacency, self.fc2(x)), dim=1)


def gcn():
    torch.manual_seed(23)
    return _Gcn().eval(), (_adjacency(10).to_sparse_csr(), torch.randn(10, 7))


class _Sage(nn.Module):
    """GraphSAGE with the mean of the neighbours after the node's own features."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(14, 8), nn.Linear(16, 4)])

    def forward(self, adjacency: Tensor, x: Tensor) -> Tensor:
        for number, layer in enumerate(self.layers):
            x = layer(torch.cat([x, adjacency @ x], dim=-1))
            if number < len(self.layers) - 1:
                x = F.normalize(F.relu(x), p=2, dim=-1)
        return x


def graph_sage():
    torch.manual_seed(24)
    a = _adjacency(9, loops=False)
    a = a / a.sum(1, keepdim=True).clamp(min=1e-6)
    return _Sage().eval(), (a.to_sparse_csr(), torch.randn(9, 7))


class _Gin(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 6))

    def forward(self, adjacency: Tensor, x: Tensor) -> Tensor:
        h = self.mlp((1 + self.eps) * x + torch.sparse.mm(adjacency, x))
        return h.sum(dim=0, keepdim=True)


def gin():
    torch.manual_seed(25)
    return _Gin().eval(), (_adjacency(8, loops=False).to_sparse_coo(), torch.randn(8, 6))


class _Gat(nn.Module):
    """Velickovic et al., 2018, as in the widely copied dense implementation."""

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.W = nn.Parameter(torch.randn(6, 5) / 2)
        self.a = nn.Parameter(torch.randn(10, 1) / 2)
        self.leakyrelu = nn.LeakyReLU(alpha)

    def forward(self, h: Tensor, adjacency: Tensor) -> Tensor:
        Wh = torch.mm(h, self.W)
        e = self.leakyrelu(torch.matmul(Wh, self.a[:5]) + torch.matmul(Wh, self.a[5:]).T)
        attention = torch.where(adjacency > 0, e, -9e15 * torch.ones_like(e))
        attention = F.dropout(F.softmax(attention, dim=1), 0.6, training=self.training)
        return F.elu(torch.matmul(attention, Wh))


def gat():
    torch.manual_seed(26)
    return _Gat().eval(), (torch.randn(8, 6), _adjacency(8))


class _EdgeListGcn(nn.Module):
    """Messages along a list of edges, as PyTorch Geometric passes them."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(6, 4, bias=False)
        self.bias = nn.Parameter(torch.randn(4))

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        x = self.lin(x)
        source, target = edge_index
        messages = edge_weight.view(-1, 1) * x[source]
        out = torch.zeros(x.size(0), x.size(1)).index_add(0, target, messages)
        return F.relu(out + self.bias)


def edge_list_gcn():
    torch.manual_seed(27)
    edges = torch.stack([torch.randint(8, (14,)), torch.randint(8, (14,))])
    return _EdgeListGcn().eval(), (torch.randn(8, 6), edges, torch.rand(14))


class _MessagePassing(nn.Module):
    """Messages from both ends and the edge, summed by scatter_add, and a mean over the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.message = nn.Sequential(nn.Linear(13, 10), nn.ReLU(), nn.Linear(10, 5))
        self.update = nn.GRUCell(5, 5)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        row, col = edge_index[0], edge_index[1]
        messages = self.message(torch.cat([x[row], x[col], edge_attr], dim=1))
        total = torch.zeros_like(x).scatter_add_(0, col.unsqueeze(-1).expand_as(messages), messages)
        return self.update(total, x).mean(dim=0)


def message_passing():
    torch.manual_seed(28)
    edges = torch.randint(7, (2, 12))
    return _MessagePassing().eval(), (torch.randn(7, 5), edges, torch.randn(12, 3))


class _Appnp(nn.Module):
    """Klicpera et al., 2019: a network, then propagation with restarts."""

    def __init__(self, adjacency: Tensor) -> None:
        super().__init__()
        self.register_buffer("adjacency", adjacency)
        self.mlp = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        h = z = self.mlp(x)
        for _ in range(4):
            z = 0.9 * (self.adjacency @ z) + 0.1 * h
        return z.softmax(dim=1)


def appnp():
    torch.manual_seed(29)
    return _Appnp(_adjacency(9).to_sparse_csr()).eval(), (torch.randn(9, 6),)


class _Relational(nn.Module):
    """R-GCN: a weight matrix for each relation, made of shared bases."""

    def __init__(self, relations: int) -> None:
        super().__init__()
        self.bases = nn.Parameter(torch.randn(2, 6, 4) / 3)
        self.mix = nn.Parameter(torch.randn(relations, 2))
        self.loop = nn.Linear(6, 4)

    def forward(self, x: Tensor, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
        weights = torch.einsum("rb,bio->rio", self.mix, self.bases)
        out = self.loop(x)
        for number, adjacency in enumerate((first, second, third)):
            out = out + torch.sparse.mm(adjacency, x @ weights[number])
        return torch.relu(out)


def relational():
    torch.manual_seed(30)
    relations = [_adjacency(7, loops=False).to_sparse_csr() for _ in range(3)]
    return _Relational(3).eval(), (torch.randn(7, 6), *relations)


EXAMPLES = (gcn, graph_sage, gin, gat, edge_list_gcn, message_passing, appnp, relational)
