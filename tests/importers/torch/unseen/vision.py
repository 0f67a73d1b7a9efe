"""Vision: pyramids, heads, classical filters, and blocks of efficient networks."""

import torch
import torch.nn.functional as F
from torch import nn

__all__ = ["EXAMPLES"]


class _Fpn(nn.Module):
    def __init__(self, channels=(2, 3, 4), out=3):
        super().__init__()
        self.lateral = nn.ModuleList(nn.Conv2d(c, out, 1) for c in channels)
        self.smooth = nn.ModuleList(nn.Conv2d(out, out, 3, padding=1) for _ in channels)

    def forward(self, features: list[torch.Tensor]):
        laterals = [conv(f) for conv, f in zip(self.lateral, features, strict=True)]
        for i in range(len(laterals) - 1, 0, -1):
            up = F.interpolate(laterals[i], size=laterals[i - 1].shape[-2:], mode="nearest")
            laterals[i - 1] = laterals[i - 1] + up
        return [conv(x) for conv, x in zip(self.smooth, laterals, strict=True)]


def fpn():
    return _Fpn().eval(), ([torch.randn(1, 2, 8, 8), torch.randn(1, 3, 4, 4), torch.randn(1, 4, 2, 2)],)


class _Aspp(nn.Module):
    """DeepLab v3: dilated convolutions beside the picture's mean."""

    def __init__(self, cin=2, cout=2, rates=(1, 2, 3)):
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(cin, cout, 3, padding=r, dilation=r, bias=False), nn.BatchNorm2d(cout), nn.ReLU()
            )
            for r in rates
        )
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(cin, cout, 1), nn.ReLU())
        self.project = nn.Conv2d(cout * (len(rates) + 1), 3, 1)

    def forward(self, x):
        res = [conv(x) for conv in self.convs]
        res.append(F.interpolate(self.pool(x), size=x.shape[-2:], mode="bilinear", align_corners=False))
        logits = self.project(torch.cat(res, dim=1))
        return F.interpolate(logits, scale_factor=2, mode="bilinear", align_corners=True)


def aspp():
    return _Aspp().eval(), (torch.randn(1, 2, 6, 6),)


class _RegisterVit(nn.Module):
    """Darcet et al., 2024: registers beside patches, positions resized to the picture."""

    def __init__(self, d=6, patch=2, trained=3):
        super().__init__()
        self.patch = nn.Conv2d(1, d, patch, patch)
        self.cls, self.reg = nn.Parameter(torch.randn(1, 1, d)), nn.Parameter(torch.randn(1, 2, d))
        self.pos = nn.Parameter(torch.randn(1, trained * trained, d))
        self.trained = trained
        self.norm = nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, 2, batch_first=True)
        self.gamma = nn.Parameter(1e-1 * torch.ones(d))

    def forward(self, img):
        x = self.patch(img)
        _, c, h, w = x.shape
        pos = self.pos.reshape(1, self.trained, self.trained, c).permute(0, 3, 1, 2)
        pos = F.interpolate(pos, size=(h, w), mode="bicubic", align_corners=False)
        x = x.flatten(2).transpose(1, 2) + pos.flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.size(0), -1, -1), self.reg.expand(x.size(0), -1, -1), x], dim=1)
        y = self.norm(x)
        x = x + self.gamma * self.attn(y, y, y, need_weights=False)[0]
        return x[:, 0], x[:, 3:].mean(1)


def register_vit():
    return _RegisterVit().eval(), (torch.randn(1, 1, 8, 8),)


class _PatchMerging(nn.Module):
    def __init__(self, dim=3):
        super().__init__()
        self.norm = nn.LayerNorm(4 * dim)
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)

    def forward(self, x):
        x0, x1 = x[:, 0::2, 0::2, :], x[:, 1::2, 0::2, :]
        x2, x3 = x[:, 0::2, 1::2, :], x[:, 1::2, 1::2, :]
        x = torch.cat([x0, x1, x2, x3], -1)
        return self.reduction(self.norm(x.flatten(1, 2)))


def patch_merging():
    return _PatchMerging().eval(), (torch.randn(1, 6, 6, 3),)


class _GhostModule(nn.Module):
    def __init__(self, inp=2, oup=5, ratio=2, dw_size=3):
        super().__init__()
        self.oup = oup
        init = -(-oup // ratio)
        self.primary = nn.Sequential(
            nn.Conv2d(inp, init, 1, bias=False), nn.BatchNorm2d(init), nn.ReLU(inplace=True)
        )
        self.cheap = nn.Sequential(
            nn.Conv2d(init, init * (ratio - 1), dw_size, 1, dw_size // 2, groups=init, bias=False),
            nn.BatchNorm2d(init * (ratio - 1)),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        x1 = self.primary(x)
        return torch.cat([x1, self.cheap(x1)], dim=1)[:, : self.oup, :, :]


def ghost_module():
    return _GhostModule().eval(), (torch.randn(1, 2, 5, 5),)


class _CoordinateAttention(nn.Module):
    """Hou et al., 2021."""

    def __init__(self, c=4, mip=3):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(c, mip, 1), nn.BatchNorm2d(mip)
        self.conv_h, self.conv_w = nn.Conv2d(mip, c, 1), nn.Conv2d(mip, c, 1)

    def forward(self, x):
        _n, _c, h, w = x.size()
        x_h = x.mean(dim=3, keepdim=True)
        x_w = x.mean(dim=2, keepdim=True).permute(0, 1, 3, 2)
        y = self.bn1(self.conv1(torch.cat([x_h, x_w], dim=2)))
        y = y * F.relu6(y + 3) / 6
        x_h, x_w = torch.split(y, [h, w], dim=2)
        return x * self.conv_w(x_w.permute(0, 1, 3, 2)).sigmoid() * self.conv_h(x_h).sigmoid()


def coordinate_attention():
    return _CoordinateAttention().eval(), (torch.randn(1, 4, 4, 5),)


class _ShuffleUnit(nn.Module):
    def __init__(self, c=4):
        super().__init__()
        b = c // 2
        self.branch = nn.Sequential(
            nn.Conv2d(b, b, 1),
            nn.ReLU(),
            nn.Conv2d(b, b, 3, padding=1, groups=b),
            nn.Conv2d(b, b, 1),
            nn.ReLU(),
        )

    @staticmethod
    def channel_shuffle(x, groups):
        n, c, h, w = x.shape
        return x.view(n, groups, c // groups, h, w).transpose(1, 2).contiguous().view(n, -1, h, w)

    def forward(self, x):
        x = F.pixel_unshuffle(x, 2)
        x1, x2 = x.chunk(2, dim=1)
        return self.channel_shuffle(torch.cat((x1, self.branch(x2)), dim=1), 2)


def shuffle_unit():
    return _ShuffleUnit().eval(), (torch.randn(1, 1, 8, 8),)


class _CenterDecode(nn.Module):
    """CenterNet: peaks of a heat map by pooling, the best of them, and what other maps say there."""

    def __init__(self, k=4):
        super().__init__()
        self.k = k
        self.hm, self.wh = nn.Conv2d(3, 2, 1), nn.Conv2d(3, 2, 1)

    def forward(self, feat):
        heat = self.hm(feat).sigmoid()
        hmax = F.max_pool2d(heat, 3, stride=1, padding=1)
        heat = heat * (hmax == heat).float()
        b, _c, h, w = heat.shape
        scores, inds = torch.topk(heat.view(b, -1), self.k)
        classes = torch.div(inds, h * w, rounding_mode="floor")
        inds = inds % (h * w)
        ys, xs = (inds // w).float(), (inds % w).float()
        wh = self.wh(feat).permute(0, 2, 3, 1).reshape(b, -1, 2)
        wh = wh.gather(1, inds.unsqueeze(2).expand(-1, -1, 2))
        boxes = torch.stack(
            [xs - wh[..., 0] / 2, ys - wh[..., 1] / 2, xs + wh[..., 0] / 2, ys + wh[..., 1] / 2], -1
        )
        return boxes, scores, classes


def center_decode():
    return _CenterDecode().eval(), (torch.randn(1, 3, 5, 5),)


class _Harris(nn.Module):
    """Sobel's gradients, their second moments under a Gaussian, and the corner response."""

    def __init__(self, k=0.05, sigma=1.0):
        super().__init__()
        sobel = torch.tensor([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]])
        self.register_buffer("kx", sobel.view(1, 1, 3, 3))
        self.register_buffer("ky", sobel.t().reshape(1, 1, 3, 3))
        g = torch.exp(-((torch.arange(3) - 1.0) ** 2) / (2 * sigma**2))
        self.register_buffer("gauss", torch.outer(g, g)[None, None] / g.sum() ** 2)
        self.k = k

    def forward(self, img):
        img = F.pad(img, (1, 1, 1, 1), mode="reflect")
        ix, iy = F.conv2d(img, self.kx), F.conv2d(img, self.ky)
        blur = lambda t: F.conv2d(t, self.gauss, padding=1)  # noqa: E731
        a, b, c = blur(ix * ix), blur(iy * iy), blur(ix * iy)
        response = a * b - c**2 - self.k * (a + b) ** 2
        return torch.where(response > 0.01 * response.max(), response, torch.zeros_like(response))


def harris():
    return _Harris().eval(), (torch.rand(1, 1, 7, 7),)


class _CostVolume(nn.Module):
    """PWC-Net: correlations of displaced features, and the soft flow that they vote for."""

    def __init__(self, d=1):
        super().__init__()
        self.d = d
        self.conv = nn.Conv2d(1, 3, 3, padding=1)

    def forward(self, a, b):
        fa, fb = F.normalize(self.conv(a), dim=1), F.normalize(self.conv(b), dim=1)
        H, W = fa.shape[-2:]
        fb = F.pad(fb, [self.d] * 4)
        costs, offs = [], []
        for dy in range(2 * self.d + 1):
            for dx in range(2 * self.d + 1):
                costs.append((fa * fb[:, :, dy : dy + H, dx : dx + W]).mean(1))
                offs.append((float(dx - self.d), float(dy - self.d)))
        cost = torch.stack(costs, 1)
        flow = torch.einsum("bkhw,kc->bchw", (10 * cost).softmax(1), torch.tensor(offs))
        return cost, flow


def cost_volume():
    return _CostVolume().eval(), (torch.randn(1, 1, 5, 5), torch.randn(1, 1, 5, 5))


class _SoftArgMax(nn.Module):
    """Integral pose regression: expected coordinates of heat maps, and their spread."""

    def __init__(self, joints=3):
        super().__init__()
        self.head = nn.ConvTranspose2d(4, joints, 4, stride=2, padding=1)

    def forward(self, x):
        hm = self.head(x)
        n, j, h, w = hm.shape
        p = hm.flatten(2).softmax(-1).view(n, j, h, w)
        ys = torch.linspace(-1, 1, h, device=x.device, dtype=x.dtype)
        xs = torch.linspace(-1, 1, w, device=x.device, dtype=x.dtype)
        coords = torch.stack(((p.sum(2) * xs).sum(-1), (p.sum(3) * ys).sum(-1)), dim=-1)
        yy, xx = torch.meshgrid(ys, xs, indexing="ij")
        grid = torch.stack([xx, yy], -1)
        var = (p[..., None] * (grid - coords[:, :, None, None]).pow(2)).sum((2, 3))
        return coords, var.sqrt()


def soft_arg_max():
    return _SoftArgMax().eval(), (torch.randn(1, 4, 3, 3),)


EXAMPLES = [
    *(fpn, aspp, register_vit, patch_merging, ghost_module, coordinate_attention, shuffle_unit),
    *(center_decode, harris, cost_volume, soft_arg_max),
]
