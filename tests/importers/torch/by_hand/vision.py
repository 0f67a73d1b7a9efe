"""Convolutions, images, sounds."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class _UNet(nn.Module):
    def __init__(self, c: int = 3) -> None:
        super().__init__()

        def double(i: int, o: int) -> nn.Sequential:
            return nn.Sequential(
                *(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True)),
                *(nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True)),
            )

        self.down, self.middle, self.up = double(1, c), double(c, 2 * c), double(2 * c, c)
        self.pool, self.t = nn.MaxPool2d(2), nn.ConvTranspose2d(2 * c, c, 2, stride=2)
        self.out = nn.Conv2d(c, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        skip = self.down(x)
        y = self.t(self.middle(self.pool(skip)))
        dy, dx = skip.size(2) - y.size(2), skip.size(3) - y.size(3)
        y = F.pad(y, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.out(self.up(torch.cat([skip, y], dim=1)))


def u_net():
    return _UNet(), (torch.randn(1, 1, 5, 5),)


class _SpatialTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.loc = nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2), nn.ReLU(True))
        self.fc = nn.Linear(2 * 2 * 2, 6)
        self.fc.weight.data.mul_(0.1)
        self.fc.bias.data.copy_(torch.tensor([1, 0, 0.1, 0, 1, -0.1]))

    def forward(self, x: Tensor) -> Tensor:
        theta = self.fc(self.loc(x).flatten(1)).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)


def spatial_transformer():
    return _SpatialTransformer(), (torch.randn(1, 1, 6, 6),)


class _Cbam(nn.Module):
    """Attention over channels, then over places."""

    def __init__(self, channels: int = 4) -> None:
        super().__init__()
        self.mlp = nn.Sequential(nn.Flatten(), nn.Linear(channels, 2), nn.ReLU(), nn.Linear(2, channels))
        self.spatial = nn.Conv2d(2, 1, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        att = self.mlp(F.avg_pool2d(x, x.shape[2:])) + self.mlp(F.adaptive_max_pool2d(x, 1))
        x = x * torch.sigmoid(att).unsqueeze(2).unsqueeze(3).expand_as(x)
        pooled = torch.cat((torch.max(x, 1)[0].unsqueeze(1), torch.mean(x, 1).unsqueeze(1)), dim=1)
        return x * torch.sigmoid(self.spatial(pooled))


def cbam():
    return _Cbam(), (torch.randn(1, 4, 4, 4),)


class _DynamicConv(nn.Module):
    """A kernel for each sample, by a grouped convolution."""

    def __init__(self, i: int = 2, o: int = 3, k: int = 3, n: int = 4) -> None:
        super().__init__()
        self.o, self.k = o, k
        self.att, self.weight = nn.Linear(i, n), nn.Parameter(torch.randn(n, o, i, k, k))

    def forward(self, x: Tensor) -> Tensor:
        b, c, h, w = x.shape
        share = F.softmax(self.att(x.mean((2, 3))) / 4.0, dim=1)
        weight = torch.mm(share, self.weight.view(self.weight.size(0), -1))
        weight = weight.view(b * self.o, c, self.k, self.k)
        y = F.conv2d(x.view(1, b * c, h, w), weight, padding=1, groups=b)
        return y.view(b, self.o, h, w)


def dynamic_conv():
    return _DynamicConv(), (torch.randn(2, 2, 4, 4),)


class _Involution(nn.Module):
    def __init__(self, channels: int = 4, k: int = 3, groups: int = 2) -> None:
        super().__init__()
        self.k, self.groups = k, groups
        self.reduce, self.span = nn.Conv2d(channels, 2, 1), nn.Conv2d(2, k * k * groups, 1)
        self.unfold = nn.Unfold(k, padding=k // 2)

    def forward(self, x: Tensor) -> Tensor:
        b, c, h, w = x.shape
        kernel = self.span(F.relu(self.reduce(x))).view(b, self.groups, 1, self.k**2, h, w)
        patches = self.unfold(x).view(b, self.groups, c // self.groups, self.k**2, h, w)
        return (kernel * patches).sum(dim=3).view(b, c, h, w)


def involution():
    return _Involution(), (torch.randn(1, 4, 4, 4),)


class WsConv2d(nn.Conv2d):
    def forward(self, x: Tensor) -> Tensor:
        w = self.weight
        mean = w.mean(dim=(1, 2, 3), keepdim=True)
        var = torch.var(w, dim=(1, 2, 3), keepdim=True, unbiased=False)
        return self._conv_forward(x, (w - mean) / torch.sqrt(var + 1e-5), self.bias)


class _ResidualPixelShuffle(nn.Module):
    """Standardised weights, squeezes, dilations, and a shuffle to twice the size."""

    def __init__(self, c: int = 4) -> None:
        super().__init__()
        self.conv1, self.conv2 = WsConv2d(c, c, 3, padding=1), WsConv2d(c, c, 3, padding=2, dilation=2)
        self.norm1, self.norm2 = nn.GroupNorm(2, c), nn.GroupNorm(2, c)
        self.se = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, 2, 1), nn.SiLU(), nn.Conv2d(2, c, 1), nn.Sigmoid()
        )
        self.up, self.shuffle = nn.Conv2d(c, 2 * 4, 1), nn.PixelShuffle(2)

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv2(F.mish(self.norm1(self.conv1(x))))
        y = self.norm2(y)
        return self.shuffle(self.up(F.mish(x + y * self.se(y))))


def residual_pixel_shuffle():
    return _ResidualPixelShuffle(), (torch.randn(1, 4, 4, 4),)


class _HaarPyramid(nn.Module):
    """Down and up again by slices, with shrunk details."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        a, b = x[:, :, 0::2, 0::2], x[:, :, 0::2, 1::2]
        c, d = x[:, :, 1::2, 0::2], x[:, :, 1::2, 1::2]
        low = (a + b + c + d) / 2
        high = torch.stack([(-a + b - c + d) / 2, (-a - b + c + d) / 2, (a - b - c + d) / 2], dim=2)
        high = F.softshrink(high, 0.1)
        h1, h2, h3 = high.unbind(2)
        out = x.new_zeros(x.shape)
        out[:, :, 0::2, 0::2] = (low - h1 - h2 + h3) / 2
        out[:, :, 0::2, 1::2] = (low + h1 - h2 - h3) / 2
        out[:, :, 1::2, 0::2] = (low - h1 + h2 - h3) / 2
        out[:, :, 1::2, 1::2] = (low + h1 + h2 + h3) / 2
        return low, out


def haar_pyramid():
    return _HaarPyramid(), (torch.randn(1, 2, 4, 6),)


class _GroupConv(nn.Module):
    """Lifts to rotations by a quarter, convolves with turned kernels, and pools over the group."""

    def __init__(self, c: int = 2) -> None:
        super().__init__()
        self.lift, self.conv = nn.Parameter(torch.randn(c, 1, 3, 3)), nn.Parameter(torch.randn(c, c, 4, 3, 3))

    def forward(self, x: Tensor) -> Tensor:
        w = torch.cat([torch.rot90(self.lift, k, dims=(-2, -1)) for k in range(4)], dim=0)
        y = F.conv2d(x, w, padding=1)
        b, _, h, wd = y.shape
        y = F.relu(y.view(b, 4, -1, h, wd)).transpose(1, 2)
        turned = [torch.rot90(torch.roll(self.conv, shifts=k, dims=2), k, dims=(-2, -1)) for k in range(4)]
        w = torch.stack(turned, dim=1).flatten(0, 1).flatten(1, 2)
        z = F.conv2d(y.reshape(b, -1, h, wd), w, padding=1)
        return z.view(b, -1, 4, h, wd).amax(dim=2).mean((-2, -1))


def group_conv():
    return _GroupConv(), (torch.randn(1, 1, 4, 4),)


class _WaveNet(nn.Module):
    """Causal, dilated, gated, with skips."""

    def __init__(self, c: int = 4, layers: int = 3) -> None:
        super().__init__()
        self.start = nn.Conv1d(1, c, 1)
        self.filters = nn.ModuleList(nn.Conv1d(c, c, 2, dilation=2**i) for i in range(layers))
        self.gates = nn.ModuleList(nn.Conv1d(c, c, 2, dilation=2**i) for i in range(layers))
        self.skips = nn.ModuleList(nn.Conv1d(c, c, 1) for _ in range(layers))
        self.residuals = nn.ModuleList(nn.Conv1d(c, c, 1) for _ in range(layers))
        self.end = nn.Conv1d(c, 5, 1)

    def forward(self, x: Tensor) -> Tensor:
        x, skip = self.start(x), 0
        layers = zip(self.filters, self.gates, self.skips, self.residuals, strict=True)
        for i, (f, g, s, r) in enumerate(layers):
            padded = F.pad(x, (2**i, 0))
            h = torch.tanh(f(padded)) * torch.sigmoid(g(padded))
            skip = skip + s(h)
            x = x + r(h)
        return self.end(F.relu(skip))


def wave_net():
    return _WaveNet(), (torch.randn(1, 1, 8),)


class _LogMel(nn.Module):
    """Frames, a window, a DFT by products, a bank of filters, and a norm over time."""

    def __init__(self, n: int = 8, hop: int = 4, mels: int = 3) -> None:
        super().__init__()
        self.n, self.hop = n, hop
        k = torch.arange(n // 2 + 1).unsqueeze(1) * torch.arange(n) * 2 * math.pi / n
        self.register_buffer("cos", torch.cos(k))
        self.register_buffer("sin", torch.sin(k))
        self.register_buffer("window", torch.hann_window(n))
        self.register_buffer("bank", torch.rand(n // 2 + 1, mels))

    def forward(self, wave: Tensor) -> Tensor:
        wave = F.pad(wave.unsqueeze(1), (self.n // 2, self.n // 2), mode="reflect").squeeze(1)
        frames = wave.unfold(-1, self.n, self.hop) * self.window
        power = (frames @ self.cos.T).pow(2) + (frames @ self.sin.T).pow(2)
        mel = torch.log10(torch.clamp(power @ self.bank, min=1e-10))
        mel = torch.maximum(mel, mel.max() - 8.0)
        return (mel - mel.mean(1, keepdim=True)) / (mel.std(1, keepdim=True) + 1e-5)


def log_mel():
    return _LogMel(), (torch.randn(2, 20),)


class _AntiAliased(nn.Module):
    """An inverted residual with blurred strides."""

    def __init__(self, c: int = 3) -> None:
        super().__init__()
        self.expand, self.depth = nn.Conv2d(c, 2 * c, 1), nn.Conv2d(2 * c, 2 * c, 3, padding=1, groups=2 * c)
        self.project, self.act = nn.Conv2d(2 * c, 2 * c, 1), nn.Hardswish()
        a = torch.tensor([1.0, 2.0, 1.0])
        self.register_buffer("blur", ((a[:, None] * a) / 16)[None, None].repeat(2 * c, 1, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        y = self.act(self.depth(self.act(self.expand(x))))
        y = F.conv2d(F.pad(y, (1, 1, 1, 1), mode="replicate"), self.blur, stride=2, groups=y.shape[1])
        y = self.project(y)
        y1, y2 = y.chunk(2, dim=1)
        return torch.stack((y1, y2), dim=2).flatten(1, 2)


def anti_aliased():
    return _AntiAliased(), (torch.randn(1, 3, 4, 4),)


class _DetectionHead(nn.Module):
    """Boxes by softmaxed distances from anchors, as in YOLOv8, and the IoU with given boxes."""

    def __init__(self, c: int = 4, bins: int = 4) -> None:
        super().__init__()
        self.bins, self.box, self.cls = bins, nn.Conv2d(c, 4 * bins, 1), nn.Conv2d(c, 3, 1)

    def forward(self, x: Tensor, target: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        b, _, h, w = x.shape
        dist = self.box(x).view(b, 4, self.bins, h * w).softmax(2)
        dist = torch.einsum("bkna,n->bka", dist, torch.arange(self.bins, dtype=x.dtype))
        sy, sx = torch.meshgrid(torch.arange(h) + 0.5, torch.arange(w) + 0.5, indexing="ij")
        anchors = torch.stack((sx, sy)).view(1, 2, -1)
        lt, rb = dist.chunk(2, 1)
        boxes = torch.cat((anchors - lt, anchors + rb), 1).transpose(1, 2)
        inter_lt = torch.max(boxes[..., None, :2], target[:, None, :, :2])
        inter_rb = torch.min(boxes[..., None, 2:], target[:, None, :, 2:])
        inter = (inter_rb - inter_lt).clamp(min=0).prod(-1)
        area = (boxes[..., 2:] - boxes[..., :2]).prod(-1)
        other = (target[..., 2:] - target[..., :2]).prod(-1)
        iou = inter / (area[..., None] + other[:, None] - inter + 1e-7)
        scores, _ = self.cls(x).flatten(2).sigmoid().max(1)
        return boxes, iou, scores


def detection_head():
    target = torch.tensor([[[0.0, 0.0, 2.0, 2.0], [1.0, 1.0, 3.0, 2.5]]])
    return _DetectionHead(), (torch.randn(1, 4, 3, 3), target)


__all__ = ["EXAMPLES"]

EXAMPLES = (
    *(u_net, spatial_transformer, cbam, dynamic_conv, involution, residual_pixel_shuffle),
    *(haar_pyramid, group_conv, wave_net, log_mel, anti_aliased, detection_head),
)
