"""Networks of the layers of `torch.nn`, as its own tutorials and examples have them."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["EXAMPLES"]


def classifier():
    """The feed-forward network of PyTorch's quick start, with dropout."""
    torch.manual_seed(1)
    model = nn.Sequential(
        nn.Flatten(),
        nn.Linear(36, 20),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(20, 20),
        nn.ReLU(),
        nn.Linear(20, 10),
    )
    return model.eval(), (torch.randn(3, 1, 6, 6),)


def batch_norm_mlp():
    torch.manual_seed(2)
    model = nn.Sequential(
        nn.Linear(12, 16), nn.BatchNorm1d(16), nn.LeakyReLU(0.1), nn.Linear(16, 4), nn.LogSoftmax(dim=1)
    )
    model[1].running_mean.normal_()
    model[1].running_var.uniform_(0.5, 2)
    return model.eval(), (torch.randn(5, 12),)


class _Autoencoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(20, 12), nn.ReLU(True), nn.Linear(12, 4), nn.ReLU(True))
        self.decoder = nn.Sequential(nn.Linear(4, 12), nn.ReLU(True), nn.Linear(12, 20), nn.Tanh())

    def forward(self, x: Tensor) -> Tensor:
        x = x.view(x.size(0), -1)
        return self.decoder(self.encoder(x)).view(-1, 4, 5)


def autoencoder():
    torch.manual_seed(3)
    return _Autoencoder().eval(), (torch.randn(3, 4, 5),)


class _VariationalAutoencoder(nn.Module):
    """PyTorch's example, which samples only while it trains."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(16, 10)
        self.fc21 = nn.Linear(10, 3)
        self.fc22 = nn.Linear(10, 3)
        self.fc3 = nn.Linear(3, 10)
        self.fc4 = nn.Linear(10, 16)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        h = F.relu(self.fc1(x.view(-1, 16)))
        mu, logvar = self.fc21(h), self.fc22(h)
        z = mu
        if self.training:
            z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z)))), mu, logvar


def variational_autoencoder():
    torch.manual_seed(4)
    return _VariationalAutoencoder().eval(), (torch.rand(3, 4, 4),)


class _GroupNormResidual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(4, 16)
        self.fc1 = nn.Linear(16, 24)
        self.fc2 = nn.Linear(24, 16)
        self.act = nn.Mish()

    def forward(self, x: Tensor) -> Tensor:
        return x + self.fc2(self.act(self.fc1(self.norm(x))))


def group_norm_residual():
    torch.manual_seed(5)
    return _GroupNormResidual().eval(), (torch.randn(4, 16),)


class _Highway(nn.Module):
    def __init__(self, size: int, layers: int) -> None:
        super().__init__()
        self.gates = nn.ModuleList([nn.Linear(size, size) for _ in range(layers)])
        self.plain = nn.ModuleList([nn.Linear(size, size) for _ in range(layers)])

    def forward(self, x: Tensor) -> Tensor:
        for gate, plain in zip(self.gates, self.plain, strict=True):
            g = torch.sigmoid(gate(x))
            x = g * F.elu(plain(x)) + (1 - g) * x
        return x


def highway():
    torch.manual_seed(6)
    return _Highway(10, 3).eval(), (torch.randn(4, 10),)


class _Bilinear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bilinear = nn.Bilinear(6, 5, 4)
        self.head = nn.Sequential(nn.Softplus(), nn.Linear(4, 2), nn.Hardswish())

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return self.head(self.bilinear(a, b))


def bilinear():
    torch.manual_seed(7)
    return _Bilinear().eval(), (torch.randn(3, 6), torch.randn(3, 5))


class _Siamese(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(12, 16), nn.PReLU(), nn.Linear(16, 8))
        self.similarity = nn.CosineSimilarity(dim=1)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return self.similarity(self.trunk(a), F.normalize(self.trunk(b), dim=1))


def siamese():
    torch.manual_seed(8)
    return _Siamese().eval(), (torch.randn(3, 12), torch.randn(3, 12))


class _RecurrentCells(nn.Module):
    """A sequence through a GRU cell and an LSTM cell, step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRUCell(6, 8)
        self.lstm = nn.LSTMCell(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        h = x.new_zeros(x.size(1), 8)
        hc = (x.new_zeros(x.size(1), 5), x.new_zeros(x.size(1), 5))
        for step in x:
            h = self.gru(step, h)
            hc = self.lstm(h, hc)
        return hc[0]


def recurrent_cells():
    torch.manual_seed(9)
    return _RecurrentCells().eval(), (torch.randn(3, 2, 6),)


def encoder_layer():
    torch.manual_seed(10)
    layer = nn.TransformerEncoderLayer(16, 4, 32, activation="gelu", batch_first=True, norm_first=True)
    return layer.eval(), (torch.randn(2, 6, 16),)


EXAMPLES = (
    classifier,
    batch_norm_mlp,
    autoencoder,
    variational_autoencoder,
    group_norm_residual,
    highway,
    bilinear,
    siamese,
    recurrent_cells,
    encoder_layer,
)
