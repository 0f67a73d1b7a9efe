"""Images: patches through networks, and a few convolutions."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["EXAMPLES"]


class _MixerBlock(nn.Module):
    def __init__(self, patches: int, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = nn.Sequential(nn.Linear(patches, 12), nn.GELU(), nn.Linear(12, patches))
        self.channels = nn.Sequential(nn.Linear(width, 16), nn.GELU(), nn.Linear(16, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


class _Mixer(nn.Module):
    """Tolstikhin et al., 2021; patches by a convolution with a stride of its size."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Conv2d(3, 8, 4, stride=4)
        self.blocks = nn.Sequential(_MixerBlock(4, 8), _MixerBlock(4, 8))
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.embed(x).flatten(2).transpose(1, 2)
        return self.head(self.norm(self.blocks(x)).mean(dim=1))


def mlp_mixer():
    torch.manual_seed(37)
    return _Mixer().eval(), (torch.randn(1, 3, 8, 8),)


class _GMlp(nn.Module):
    """Liu et al., 2021: half of the channels gate the other half, across the tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.gate_norm = nn.LayerNorm(8), nn.LayerNorm(10)
        self.enter, self.leave = nn.Linear(8, 20), nn.Linear(10, 8)
        self.spatial = nn.Conv1d(6, 6, kernel_size=1)

    def forward(self, x: Tensor) -> Tensor:
        u, v = F.gelu(self.enter(self.norm(x))).chunk(2, dim=-1)
        return x + self.leave(u * self.spatial(self.gate_norm(v)))


def g_mlp():
    torch.manual_seed(38)
    return _GMlp().eval(), (torch.randn(2, 6, 8),)


class _Vit(nn.Module):
    """Patches by reshaping, a class token, learned positions, one encoder layer."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(48, 16)
        self.cls_token = nn.Parameter(torch.randn(1, 1, 16))
        self.pos_embed = nn.Parameter(torch.randn(1, 5, 16) / 4)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(16, 2, 24, batch_first=True, activation=F.gelu),
            1,
            enable_nested_tensor=False,
        )
        self.head = nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 4))

    def forward(self, x: Tensor) -> Tensor:
        b, c, h, w = x.shape
        x = x.reshape(b, c, h // 4, 4, w // 4, 4).permute(0, 2, 4, 1, 3, 5).reshape(b, 4, -1)
        x = torch.cat((self.cls_token.expand(b, -1, -1), self.project(x)), dim=1) + self.pos_embed
        return self.head(self.encoder(x)[:, 0])


def vit():
    torch.manual_seed(39)
    return _Vit().eval(), (torch.randn(1, 3, 8, 8),)


class _LeNet(nn.Module):
    """The convolutional network of PyTorch's MNIST example, in small."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, 1)
        self.conv2 = nn.Conv2d(4, 6, 3, 1)
        self.fc1 = nn.Linear(24, 8)
        self.fc2 = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = torch.flatten(F.max_pool2d(x, 2), 1)
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)


def le_net():
    torch.manual_seed(40)
    return _LeNet().eval(), (torch.randn(1, 1, 8, 8),)


EXAMPLES = (mlp_mixer, g_mlp, vit, le_net)
