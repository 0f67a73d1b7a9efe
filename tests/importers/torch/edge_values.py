"""Every operator that has edges, and the values at which it has them: one table."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["CASES", "EdgeCase", "Module"]

GREATEST = torch.finfo(torch.float64).max
LEAST = torch.finfo(torch.float64).tiny

NUMBERS = (0.0, -0.0, 1e-310, LEAST, -LEAST, 1e-30, 0.3, -0.3, 0.5, -0.5, 1.0, -1.0, 1.5, 2.0, -2.5, 3.0)
GREAT = (20.0, -20.0, 1e4, -1e4, 1e18, -1e18, GREATEST, -GREATEST, math.inf, -math.inf, math.nan)
EDGES = (*NUMBERS, *GREAT)
FEW = (0.0, -0.0, LEAST, 0.3, -1.0, 2.0, -2.5, 1e4, GREATEST, -GREATEST, math.inf, -math.inf, math.nan)


@dataclass(frozen=True)
class EdgeCase:
    """An operator and tensors that have edges in them.

    Attributes:
        function: of the tensors.
        arguments: in float64, with the edges of that type.
        zero_wins: 0 * x and 0 / x are 0 for every x, as docs/numerics.md has it, where PyTorch may give NaN.
    """

    function: Callable[..., Any]
    arguments: Sequence[Tensor]
    zero_wins: bool = False


class Module(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments: Tensor) -> Any:
        return self.function(*arguments)


def doubles(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def of_one(function: Callable[..., Any], zero_wins: bool = False) -> EdgeCase:
    return EdgeCase(function, (doubles(EDGES),), zero_wins)


def of_two(function: Callable[..., Any], zero_wins: bool = False) -> EdgeCase:
    """Of all pairs."""
    pairs = doubles(list(product(FEW, FEW)))
    return EdgeCase(function, tuple(pairs.T.contiguous()), zero_wins)


DIVIDED = (0.0, -0.0, LEAST, 0.3, -0.3, 1.0, -1.0, 2.0, -2.5, 7.0, 1e4, -1e9, GREATEST, math.inf, math.nan)
DIVISORS = (0.0, 0.1, -0.1, 0.3, -1.0, 3.0, 3.14159274, 1e4, -1e9, GREATEST, math.inf, -math.inf, math.nan)
QUOTIENTS = [(a, b) for a, b in product(DIVIDED, DIVISORS) if not 2.0**36 < abs(a / (b or 1)) < math.inf]
"""Pairs of which docs/pytorch.md says what remains."""


def of_pairs(function: Callable[..., Any], zero_wins: bool) -> EdgeCase:
    return EdgeCase(function, tuple(doubles(QUOTIENTS).T.contiguous()), zero_wins)


ROWS = (
    *((0.0, -0.0, 0.0), (1.0, 1.0, 1.0), (2.0, -1.0, 2.0), (-3.0, -3.0, -3.0), (1e-310, 0.0, LEAST)),
    *((math.inf, 1.0, -1.0), (-math.inf, 1.0, 2.0), (math.inf, -math.inf, 0.0), (math.nan, 1.0, 2.0)),
    *(
        (-math.inf,) * 3,
        (math.inf,) * 3,
        (1e4, 1e4, -1e4),
        (1000.0, 1000.5, 999.0),
        (0.0, math.nan, math.inf),
    ),
)


def of_rows(function: Callable[..., Any], zero_wins: bool = False) -> EdgeCase:
    """Of rows with ties and with infinities, and of rows of one element."""

    def both(x: Tensor, one: Tensor) -> Any:
        return function(x), function(one)

    return EdgeCase(both, (doubles(ROWS), doubles(EDGES).unsqueeze(1)), zero_wins)


def of_great_rows(function: Callable[..., Any]) -> EdgeCase:
    """Of rows whose squares are out of range."""
    return EdgeCase(function, (doubles([[3e200, 4e200], [3e-200, 4e-200], [0, 0], [GREATEST / 2, 0]]),))


FUNCTIONS = (
    *(
        "relu",
        "abs",
        "sigmoid",
        "tanh",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "log2",
        "log10",
        "sqrt",
        "rsqrt",
    ),
    *("asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "erf", "erfc", "erfinv", "lgamma"),
    *("sign", "round", "floor", "ceil", "trunc", "frac", "neg", "reciprocal", "square", "signbit"),
    *("isnan", "isinf", "isfinite", "isposinf", "isneginf", "nan_to_num", "logical_not"),
)
ACTIVATIONS = (
    *("silu", "gelu", "elu", "celu", "selu", "mish", "softplus", "logsigmoid", "softsign", "tanhshrink"),
    *("hardtanh", "relu6", "hardsigmoid", "hardswish", "leaky_relu", "hardshrink", "softshrink"),
)
PRODUCTS_WITH_0 = ("silu", "gelu", "mish", "hardswish", "softshrink")
"""They give 0 for -inf or NaN, where PyTorch gives NaN."""

OF_TWO = (
    *("add", "sub", "maximum", "minimum", "fmax", "fmin", "copysign", "hypot", "logaddexp", "heaviside"),
    *("atan2", "lt", "le", "gt", "ge", "eq", "ne", "logical_and", "logical_or", "logical_xor"),
)
REMAINDERS = ("fmod", "remainder", "floor_divide")
OF_ROWS = (
    *("amax", "amin", "sum", "nansum", "mean", "prod", "softmax", "log_softmax", "logsumexp", "logcumsumexp"),
    *("cumsum", "cumprod", "any", "all", "argmax", "argmin"),
)
PRODUCTS = ("prod", "cumprod", "softmax")

NUMBERED: dict[str, tuple[Callable[..., Any], bool]] = {
    "clamp": (lambda x: x.clamp(-1, 2), False),
    "clamp_min": (lambda x: x.clamp(min=0), False),
    "threshold": (lambda x: F.threshold(x, 1.0, -7.0), False),
    "softplus with a threshold": (lambda x: F.softplus(x, 2, 1), False),
    "gelu by tanh": (lambda x: F.gelu(x, approximate="tanh"), True),
    "nan_to_num by numbers": (lambda x: x.nan_to_num(5.0, 7.0, -3.0), False),
    "rsub": (lambda x: torch.rsub(x, 1.5, alpha=2), False),
    "pow 2": (lambda x: x**2, False),
    "pow -1": (lambda x: x**-1, False),
    "pow 3": (lambda x: x**3, False),
    "pow 0.5": (lambda x: x**0.5, False),
    "pow 0.3": (lambda x: x**0.3, False),
    "power of 2": (lambda x: 2**x, False),
}
SMALL = doubles([x for x in EDGES if not 1e9 < abs(x) < math.inf])
BY_NUMBERS: dict[str, Callable[[Tensor], Any]] = {
    "fmod": lambda x: torch.fmod(x, 0.1),
    "remainder": lambda x: x % -0.3,
    "remainder of a number": lambda x: 7.5 % torch.where(x.abs() < 1e-9, 0.0, x),
    "floor_divide": lambda x: x // 0.1,
}
NORMS: dict[str, Callable[[Tensor], Any]] = {
    "norm": lambda x: torch.linalg.vector_norm(x, dim=-1),
    "norm of order 1": lambda x: torch.linalg.vector_norm(x, 1, -1),
    "norm of order inf": lambda x: torch.linalg.vector_norm(x, math.inf, -1),
    "abs of complex": lambda x: torch.view_as_complex(x).abs(),
    "hypot of rows": lambda x: torch.hypot(x[:, 0], x[:, 1]),
}


def _along(name: str) -> Callable[[Tensor], Any]:
    return lambda x: getattr(torch, name)(x, dim=-1)


CASES = {
    **{name: of_one(getattr(torch, name)) for name in FUNCTIONS},
    **{name: of_one(getattr(F, name), zero_wins=name in PRODUCTS_WITH_0) for name in ACTIVATIONS},
    **{name: of_one(*made) for name, made in NUMBERED.items()},
    **{name: of_two(getattr(torch, name)) for name in OF_TWO},
    **{name: of_two(getattr(torch, name), zero_wins=True) for name in ("mul", "div", "xlogy")},
    **{name: of_pairs(getattr(torch, name), name == "floor_divide") for name in REMAINDERS},
    **{f"{name} by a number": EdgeCase(function, (SMALL,)) for name, function in BY_NUMBERS.items()},
    "clamp by tensors": of_two(lambda x, y: x.clamp(y, y + 1)),
    **{f"{name} of rows": of_rows(_along(name), name in PRODUCTS) for name in OF_ROWS},
    "cummax of rows": of_rows(lambda x: x.cummax(-1)[0]),
    "sort of rows": of_rows(lambda x: x.nan_to_num().sort(-1)[0]),
    "topk of rows": of_rows(lambda x: x.nan_to_num().topk(1, -1)[0]),
    "var of rows": of_rows(lambda x: x.var(-1, correction=0)),
    "std of rows": of_rows(lambda x: x.std(-1, correction=0)),
    **{name: of_great_rows(function) for name, function in NORMS.items()},
}
