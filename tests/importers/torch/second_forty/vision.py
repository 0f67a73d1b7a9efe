"""Small vision models: convolutions, pooling, patches."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["EXAMPLES"]


class _Affine(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.alpha, self.beta = (
            nn.Parameter(torch.ones(1, 1, dim) * 0.9),
            nn.Parameter(torch.zeros(1, 1, dim)),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.alpha * x + self.beta


class _ResMlp(nn.Module):
    """Touvron et al., 2021: patches, affine transforms instead of norms."""

    def __init__(self, dim: int = 6, patches: int = 4) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, dim, kernel_size=4, stride=4)
        self.pre, self.post = _Affine(dim), _Affine(dim)
        self.token = nn.Linear(patches, patches)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.g1, self.g2 = nn.Parameter(0.1 * torch.ones(dim)), nn.Parameter(0.1 * torch.ones(dim))
        self.head = nn.Linear(dim, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = x + self.g1 * self.token(self.pre(x).transpose(1, 2)).transpose(1, 2)
        x = x + self.g2 * self.ff(self.post(x))
        return self.head(x.mean(dim=1))


def res_mlp():
    torch.manual_seed(77)
    return _ResMlp().eval(), (torch.randn(1, 3, 8, 8),)


class _ConvNext(nn.Module):
    """A block of Liu et al., 2022, as in their code."""

    def __init__(self, dim: int = 4, kernel: int = 3) -> None:
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=kernel, padding=kernel // 2, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1, self.act = nn.Linear(dim, 4 * dim), nn.GELU()
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(0.5 * torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x
        x = self.dwconv(x)
        x = x.permute(0, 2, 3, 1)
        x = self.pwconv2(self.act(self.pwconv1(self.norm(x))))
        x = self.gamma * x
        return shortcut + x.permute(0, 3, 1, 2)


def conv_next():
    torch.manual_seed(78)
    return _ConvNext().eval(), (torch.randn(1, 4, 5, 5),)


class _SqueezeExcite(nn.Module):
    """A residual block of two convolutions with squeeze and excitation (Hu et al., 2018)."""

    def __init__(self, inputs: int = 3, planes: int = 4, stride: int = 2) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(planes), nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.fc1, self.fc2 = nn.Conv2d(planes, 2, kernel_size=1), nn.Conv2d(2, planes, kernel_size=1)
        self.shortcut = nn.Sequential(
            nn.Conv2d(inputs, planes, 1, stride=stride, bias=False), nn.BatchNorm2d(planes)
        )

    def forward(self, x: Tensor) -> Tensor:
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        w = F.avg_pool2d(out, out.size(2))
        w = torch.sigmoid(self.fc2(F.relu(self.fc1(w))))
        out = out * w
        out += self.shortcut(x)
        return F.relu(out)


def squeeze_excite():
    torch.manual_seed(79)
    return _SqueezeExcite().eval(), (torch.randn(1, 3, 6, 6),)


class _InvertedResidual(nn.Module):
    """MobileNetV2 (Sandler et al., 2018), with a classifier."""

    def __init__(self, channels: int = 4, expand: int = 2) -> None:
        super().__init__()
        hidden = channels * expand
        self.stem = nn.Sequential(
            nn.Conv2d(1, channels, 3, 2, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU6(inplace=True)
        )
        self.conv = nn.Sequential(
            nn.Conv2d(channels, hidden, 1, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, hidden, 3, padding=1, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, channels, 1, bias=False),
            nn.BatchNorm2d(channels),
        )
        self.pool, self.classifier = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(channels, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        x = x + self.conv(x)
        return self.classifier(torch.flatten(self.pool(x), 1))


def inverted_residual():
    torch.manual_seed(80)
    return _InvertedResidual().eval(), (torch.randn(1, 1, 8, 8),)


class _PoolFormer(nn.Module):
    """Yu et al., 2022: pooling instead of attention."""

    def __init__(self, dim: int = 4) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(1, dim), nn.GroupNorm(1, dim)
        self.pool = nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)
        self.fc1, self.fc2 = nn.Conv2d(dim, 2 * dim, 1), nn.Conv2d(2 * dim, dim, 1)
        self.layer_scale_1 = nn.Parameter(0.5 * torch.ones(dim))
        self.layer_scale_2 = nn.Parameter(0.5 * torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        h = self.norm1(x)
        x = x + self.layer_scale_1.unsqueeze(-1).unsqueeze(-1) * (self.pool(h) - h)
        h = self.fc2(F.gelu(self.fc1(self.norm2(x))))
        return x + self.layer_scale_2.unsqueeze(-1).unsqueeze(-1) * h


def pool_former():
    torch.manual_seed(81)
    return _PoolFormer().eval(), (torch.randn(1, 4, 5, 5),)


class _DoubleConv(nn.Sequential):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, 3, padding=1),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, padding=1),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
        )


class _UNet(nn.Module):
    """Ronneberger et al., 2015, one level deep, with upsampling."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.bottom, self.up = _DoubleConv(1, 3), _DoubleConv(3, 4), _DoubleConv(7, 3)
        self.pool = nn.MaxPool2d(2)
        self.upsample = nn.Upsample(scale_factor=2, mode="nearest")
        self.out = nn.Conv2d(3, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        skip = self.down(x)
        x = self.upsample(self.bottom(self.pool(skip)))
        return self.out(self.up(torch.cat([skip, x], dim=1)))


def u_net():
    torch.manual_seed(82)
    return _UNet().eval(), (torch.randn(1, 1, 6, 6),)


EXAMPLES = (
    res_mlp,
    conv_next,
    squeeze_excite,
    inverted_residual,
    pool_former,
    u_net,
)
