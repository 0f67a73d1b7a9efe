"""Time series: convolutions, bases, recurrences, moving averages."""

import torch
from torch import Tensor, nn

__all__ = ["EXAMPLES"]


class _Chomp(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, x: Tensor) -> Tensor:
        return x[:, :, : -self.size].contiguous()


class _TemporalBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, kernel: int, dilation: int) -> None:
        super().__init__()
        padding = (kernel - 1) * dilation
        self.net = nn.Sequential(
            nn.utils.parametrizations.weight_norm(
                nn.Conv1d(inputs, outputs, kernel, padding=padding, dilation=dilation)
            ),
            _Chomp(padding),
            nn.ReLU(),
            nn.Dropout(0.2),
        )
        self.downsample = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else None
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        res = x if self.downsample is None else self.downsample(x)
        return self.relu(self.net(x) + res)


class _Tcn(nn.Module):
    """Bai et al., 2018: causal convolutions whose dilation doubles."""

    def __init__(self) -> None:
        super().__init__()
        self.network = nn.Sequential(_TemporalBlock(2, 4, 2, 1), _TemporalBlock(4, 4, 2, 2))
        self.linear = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(self.network(x)[:, :, -1])


def tcn():
    torch.manual_seed(83)
    return _Tcn().eval(), (torch.randn(2, 2, 8),)


class _NBeatsBlock(nn.Module):
    def __init__(self, past: int, future: int, degree: int) -> None:
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(past, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU())
        self.theta_b, self.theta_f = (nn.Linear(8, degree, bias=False) for _ in range(2))
        for name, steps in (("backcast", past), ("forecast", future)):
            time = torch.arange(steps).float() / steps
            self.register_buffer(f"{name}_basis", torch.stack([time**i for i in range(degree)]))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = self.fc(x)
        return self.theta_b(h) @ self.backcast_basis, self.theta_f(h) @ self.forecast_basis


class _NBeats(nn.Module):
    """Oreshkin et al., 2020: blocks take what they explain off the past, and add up the future."""

    def __init__(self, past: int = 8, future: int = 4) -> None:
        super().__init__()
        self.future = future
        self.blocks = nn.ModuleList(_NBeatsBlock(past, future, 3) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        forecast = torch.zeros(x.size(0), self.future)
        for block in self.blocks:
            b, f = block(x)
            x = x - b
            forecast = forecast + f
        return forecast


def n_beats():
    torch.manual_seed(84)
    return _NBeats().eval(), (torch.randn(3, 8),)


class _Lstm(nn.Module):
    """A language model of a few tokens, with PyTorch's own LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(12, 5)
        self.lstm = nn.LSTM(5, 4, batch_first=True)
        self.decode = nn.Linear(4, 12)

    def forward(self, tokens: Tensor) -> Tensor:
        out, _ = self.lstm(self.embed(tokens))
        return self.decode(out[:, -1])


def lstm():
    torch.manual_seed(85)
    return _Lstm().eval(), (torch.randint(12, (2, 3)),)


class _DLinear(nn.Module):
    """Zeng et al., 2023: a moving average and its rest, each with a linear layer."""

    def __init__(self, past: int = 10, future: int = 4, kernel: int = 5) -> None:
        super().__init__()
        self.kernel = kernel
        self.avg = nn.AvgPool1d(kernel_size=kernel, stride=1, padding=0)
        self.Linear_Seasonal, self.Linear_Trend = nn.Linear(past, future), nn.Linear(past, future)

    def forward(self, x: Tensor) -> Tensor:
        front = x[:, 0:1, :].repeat(1, (self.kernel - 1) // 2, 1)
        end = x[:, -1:, :].repeat(1, (self.kernel - 1) // 2, 1)
        trend = self.avg(torch.cat([front, x, end], dim=1).permute(0, 2, 1)).permute(0, 2, 1)
        seasonal = (x - trend).permute(0, 2, 1)
        out = self.Linear_Seasonal(seasonal) + self.Linear_Trend(trend.permute(0, 2, 1))
        return out.permute(0, 2, 1)


def d_linear():
    torch.manual_seed(86)
    return _DLinear().eval(), (torch.randn(2, 10, 3),)


EXAMPLES = (
    tcn,
    n_beats,
    lstm,
    d_linear,
)
