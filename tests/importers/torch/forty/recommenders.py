"""Recommenders: numbers of users and items go through tables."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["EXAMPLES"]


class _Factorisation(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.users, self.items = nn.Embedding(12, 6), nn.Embedding(15, 6)
        self.user_bias, self.item_bias = nn.Embedding(12, 1), nn.Embedding(15, 1)
        self.mean = nn.Parameter(torch.tensor(3.5))

    def forward(self, user: Tensor, item: Tensor) -> Tensor:
        dot = (self.users(user) * self.items(item)).sum(1)
        return dot + self.user_bias(user).squeeze() + self.item_bias(item).squeeze() + self.mean


def matrix_factorisation():
    torch.manual_seed(31)
    return _Factorisation().eval(), (torch.randint(12, (5,)), torch.randint(15, (5,)))


class _NeuralFiltering(nn.Module):
    """NCF (He et al., 2017): a factorisation and a network, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.user_gmf, self.item_gmf = nn.Embedding(12, 4), nn.Embedding(15, 4)
        self.user_mlp, self.item_mlp = nn.Embedding(12, 6), nn.Embedding(15, 6)
        self.mlp = nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 4), nn.ReLU())
        self.predict = nn.Linear(8, 1)

    def forward(self, user: Tensor, item: Tensor) -> Tensor:
        product = self.user_gmf(user) * self.item_gmf(item)
        deep = self.mlp(torch.cat((self.user_mlp(user), self.item_mlp(item)), -1))
        return torch.sigmoid(self.predict(torch.cat((product, deep), -1))).view(-1)


def neural_filtering():
    torch.manual_seed(32)
    return _NeuralFiltering().eval(), (torch.randint(12, (5,)), torch.randint(15, (5,)))


class _DeepFm(nn.Module):
    """Guo et al., 2017: fields share one table by offsets."""

    def __init__(self, fields: tuple[int, ...] = (5, 7, 4)) -> None:
        super().__init__()
        starts = torch.tensor((0, *torch.tensor(fields[:-1]).cumsum(0).tolist()))
        self.register_buffer("offsets", starts)
        self.embedding, self.linear = nn.Embedding(sum(fields), 4), nn.Embedding(sum(fields), 1)
        self.bias = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(12, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.offsets.unsqueeze(0)
        e = self.embedding(x)
        pairs = 0.5 * (e.sum(dim=1) ** 2 - (e**2).sum(dim=1)).sum(dim=1, keepdim=True)
        logit = self.linear(x).sum(dim=1) + self.bias + pairs + self.mlp(e.view(-1, 12))
        return torch.sigmoid(logit.squeeze(1))


def deep_fm():
    torch.manual_seed(33)
    x = torch.stack([torch.randint(size, (4,)) for size in (5, 7, 4)], dim=1)
    return _DeepFm().eval(), (x,)


class _Dlrm(nn.Module):
    """Naumov et al., 2019: bags of items, and dot products of all pairs."""

    def __init__(self) -> None:
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 4), nn.ReLU())
        self.tables = nn.ModuleList([nn.EmbeddingBag(n, 4, mode="sum") for n in (9, 6)])
        self.top = nn.Sequential(nn.Linear(4 + 3, 6), nn.ReLU(), nn.Linear(6, 1), nn.Sigmoid())

    def forward(self, dense: Tensor, first: Tensor, second: Tensor) -> Tensor:
        x = self.bottom(dense)
        bags = [table(ids) for table, ids in zip(self.tables, (first, second), strict=True)]
        t = torch.cat([x, *bags], dim=1).view(x.size(0), -1, 4)
        z = torch.bmm(t, torch.transpose(t, 1, 2))
        i, j = torch.tril_indices(3, 3, offset=-1)
        return self.top(torch.cat([x, z[:, i, j]], dim=1))


def dlrm():
    torch.manual_seed(34)
    return _Dlrm().eval(), (torch.randn(4, 5), torch.randint(9, (4, 3)), torch.randint(6, (4, 2)))


class _CrossNetwork(nn.Module):
    """DCN-v2 (Wang et al., 2021): crosses of low rank."""

    def __init__(self, width: int = 10, rank: int = 3, layers: int = 2) -> None:
        super().__init__()
        self.U = nn.ParameterList([nn.Parameter(torch.randn(width, rank) / 3) for _ in range(layers)])
        self.V = nn.ParameterList([nn.Parameter(torch.randn(width, rank) / 3) for _ in range(layers)])
        self.b = nn.ParameterList([nn.Parameter(torch.randn(width)) for _ in range(layers)])

    def forward(self, x0: Tensor) -> Tensor:
        x = x0
        for u, v, b in zip(self.U, self.V, self.b, strict=True):
            x = x0 * (torch.tanh(x @ v) @ u.t() + b) + x
        return x


def cross_network():
    torch.manual_seed(35)
    return _CrossNetwork().eval(), (torch.randn(4, 10),)


class _TwoTower(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.user = nn.Sequential(nn.Linear(8, 10), nn.ReLU(), nn.Linear(10, 6))
        self.item = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 6))

    def forward(self, features: Tensor, items: Tensor) -> Tensor:
        user = F.normalize(self.user(features), dim=-1)
        item = F.normalize(self.item(items), dim=-1)
        return (user @ item.T / 0.1).softmax(dim=-1)


def two_tower():
    torch.manual_seed(36)
    return _TwoTower().eval(), (torch.randn(3, 8), torch.randint(20, (5,)))


EXAMPLES = (matrix_factorisation, neural_filtering, deep_fm, dlrm, cross_network, two_tower)
