"""Each operator of docs/pytorch.md on drawn tensors: of random shapes, broadcast, batched, transposed and
split."""

import math
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["CASES", "Draw", "Several"]

Call = Callable[..., Any]


class Draw:
    """Draws arguments. The module gets some of them transposed or split, and undoes that first."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.arguments: list[Tensor] = []

    def size(self) -> int:
        return self.random.choice((2, 3, 4, 6))

    def shape(self, least: int = 1, most: int = 4) -> list[int]:
        return [self.size() for _ in range(self.random.randint(least, most))]

    def numbers(self, *shape: int, positive: bool = False) -> Tensor:
        drawn = torch.randn(shape, generator=self.generator, dtype=torch.float64)
        return drawn.abs() + 0.25 if positive else drawn

    def tensor(self, *shape: int, positive: bool = False) -> Call:
        """An argument; gives what the module has of its arguments."""
        held = self.numbers(*shape, positive=positive)
        place = len(self.arguments)
        kind = self.random.choice(("plain", "transposed", "split"))
        if kind == "transposed" and len(shape) > 1:
            one, other = self.random.sample(range(len(shape)), 2)
            self.arguments.append(held.transpose(one, other).contiguous())
            return lambda given: given[place].transpose(one, other)
        if kind == "split" and (whole := [n for n, size in enumerate(shape) if size in (4, 6)]):
            dim = self.random.choice(whole)
            self.arguments.append(held.reshape(*shape[:dim], 2, shape[dim] // 2, *shape[dim + 1 :]))
            return lambda given: given[place].reshape(shape)
        self.arguments.append(held)
        return lambda given: given[place]

    def indices(self, *shape: int, below: int) -> Call:
        place = len(self.arguments)
        self.arguments.append(torch.randint(below, shape, generator=self.generator))
        return lambda given: given[place]

    def narrower(self, shape: Sequence[int]) -> list[int]:
        """A shape that broadcasts to this one."""
        kept = [size if self.random.random() < 0.6 else 1 for size in shape]
        return kept[self.random.randint(0, len(kept) - 1) :]

    def dim(self, shape: Sequence[int]) -> int:
        return self.random.randint(-len(shape), len(shape) - 1)


class Several(nn.Module):
    """Several calls side by side."""

    def __init__(self, calls: Sequence[Call]) -> None:
        super().__init__()
        self.calls = calls

    def forward(self, *given: Tensor) -> Any:
        return [call(given) for call in self.calls]


def unary(function: Call, *, positive: bool = False) -> Callable[[Draw], Call]:
    def case(draw: Draw) -> Call:
        x = draw.tensor(*draw.shape(), positive=positive)
        return lambda given: function(x(given))

    return case


def binary(function: Call, *, positive: bool = False) -> Callable[[Draw], Call]:
    """Of two tensors that broadcast, either way round."""

    def case(draw: Draw) -> Call:
        shape = draw.shape()
        shapes = [shape, draw.narrower(shape)]
        draw.random.shuffle(shapes)
        a, b = (draw.tensor(*each, positive=positive) for each in shapes)
        return lambda given: function(a(given), b(given))

    return case


def along(function: Call, least: int = 1) -> Callable[[Draw], Call]:
    """Along a dimension."""

    def case(draw: Draw) -> Call:
        shape = draw.shape(least)
        x, dim, keep = draw.tensor(*shape), draw.dim(shape), draw.random.random() < 0.5
        return lambda given: function(x(given), dim, keep)

    return case


def ranked(function: Call) -> Callable[[Draw], Call]:
    """Of some of the elements along a dimension, all of which differ, seen through a view."""

    def case(draw: Draw) -> Call:
        shape = draw.shape(1)
        x, dim = draw.tensor(*shape), draw.dim(shape)
        k = draw.random.randint(1, shape[dim])
        return lambda given: function(x(given), k, dim)

    return case


def hidden(x: Tensor, dim: int) -> Tensor:
    """With -inf for the elements below 0, but for the first along a dimension."""
    first = (torch.arange(x.shape[dim]) == 0).reshape(-1, *[1] * (x.dim() - 1 - dim % x.dim()))
    return torch.where((x > 0) | first, x, -math.inf)


def regular(x: Tensor) -> Tensor:
    """With an inverse, and the greatest elements not in their rows."""
    return x * 0.3 + torch.eye(x.shape[-1]).roll(1, 0) * 2 + torch.eye(x.shape[-1])


def definite(x: Tensor) -> Tensor:
    return x @ x.mT + torch.eye(x.shape[-1])


def shaped(function: Call, *shapes: str) -> Callable[[Draw], Call]:
    """Of tensors whose dimensions are letters, each of one drawn size; y is 3, z is 2."""

    def case(draw: Draw) -> Call:
        size = {letter: draw.size() for letter in "abcdefghijklmn"} | {"y": 3, "z": 2}
        held = [draw.tensor(*(size[letter] for letter in shape)) for shape in shapes]
        return lambda given: function(*(each(given) for each in held))

    return case


def indexed(function: Call, *shapes: str) -> Callable[[Draw], Call]:
    """The same, with a list of indices below the first dimension at the end, of as many as there are `e`."""

    def case(draw: Draw) -> Call:
        size = {letter: draw.size() for letter in "abcdefghijklmn"}
        held = [draw.tensor(*(size[letter] for letter in shape)) for shape in shapes]
        ids = draw.indices(size["e"], below=size["a"])
        return lambda given: function(*(each(given) for each in held), ids(given))

    return case


def masked_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril(k.shape[-2] - 1)
    mask[:, 0] = True
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def scattered(x: Tensor, source: Tensor, ids: Tensor) -> Tensor:
    return x.scatter_add(0, ids[:, None].expand(-1, source.shape[1]), source)


def reduced_scatter(draw: Draw) -> Call:
    """By a list of indices, and by indices of their own for each element, of a part of the source; into
    numbers, and into zeros, which many begin with."""
    shape = draw.shape()
    dim = draw.dim(shape) % len(shape)
    kind, with_self = draw.random.choice(("sum", "mean", "amax", "amin")), draw.random.random() < 0.5
    count = draw.size()
    whole = [*shape[:dim], count, *shape[dim + 1 :]]
    part = [max(1, size - draw.random.randint(0, 1)) for size in whole]
    x, source = draw.tensor(*shape), draw.tensor(*whole)
    ids, line = draw.indices(*part, below=shape[dim]), draw.indices(count, below=shape[dim])

    def call(given: Sequence[Tensor]) -> Iterator[Tensor]:
        spread = line(given).view(-1, *[1] * (len(shape) - dim - 1)).expand(whole)
        for into in (x(given), torch.zeros_like(x(given))):
            for places in (ids(given), spread):
                yield into.scatter_reduce(dim, places, source(given), kind, include_self=with_self)

    return lambda given: tuple(call(given))


def put(draw: Draw) -> Call:
    """By one index tensor and by two, in any neighbouring dimensions; what is put broadcasts."""
    shape = draw.shape(2)
    first = draw.random.randrange(len(shape) - 1)
    places = draw.shape(1, 2)
    x, source = draw.tensor(*shape), draw.tensor(*draw.narrower([*places, *shape[first + 2 :]]))
    ids = [draw.indices(*places, below=size) for size in shape[first : first + 2]]
    line, lines = draw.indices(3, below=shape[first]), draw.tensor(*shape[:first], 3, *shape[first + 1 :])
    before = [slice(None)] * first

    def call(given: Sequence[Tensor]) -> Iterator[Tensor]:
        x_, both = x(given), (None,) * first + tuple(each(given) for each in ids)
        for accumulate in (False, True):
            value = source(given)
            if first:
                value = value.expand(*places, *shape[first + 2 :])
            yield torch.ops.aten.index_put(x_, both, value, accumulate)
        yield torch.ops.aten.index_put(x_, (None,) * first + (line(given),), lines(given))
        filled = x_.clone()
        filled[(*before, line(given))] = 0.5
        yield filled
        filled = torch.zeros_like(x_)
        filled[x_ > 0] = 1.5
        yield filled

    return lambda given: tuple(call(given))


def scattered_once(x: Tensor, y: Tensor, ids: Tensor) -> tuple[Tensor, ...]:
    """To a place each; and a number."""
    whole = ids[:, None].expand(-1, y.shape[1])
    return x.scatter(0, whole, y), x.scatter(0, whole[:, 1:], y), x.scatter(0, whole, 0.5)


def put_slices(x: Tensor, y: Tensor, w: Tensor) -> tuple[Tensor, ...]:
    """A whole, a part, every second one and none of a dimension."""
    made, step = x @ w, y[:, : (x.shape[1] + 1) // 2, :1]
    return (
        made.slice_scatter(made[:, 1:] * 2, 1, 1),
        made.slice_scatter(step.expand(-1, -1, made.shape[2]), 1, 0, None, 2),
        made.slice_scatter(made[:, :0], 1, 1, 1),
        made.slice_scatter(x @ w.abs(), 1),
    )


def written_diagonals(x: Tensor) -> Tensor:
    """Above and below the middle, of which the one is of numbers and the other of the tensor's."""
    made = x.clone()
    made.diagonal(1, 0, 2).zero_()
    made.diagonal(-1, 1, 2).copy_(x.diagonal(-1, 1, 2) * 2)
    return made


def spread(x: Tensor, w: Tensor, b: Tensor) -> Iterator[Tensor]:
    """Transposed convolutions: windows side by side, apart and one over the other, and in groups."""
    wide = torch.cat([w, w], 2)[:, :, :3, None]
    yield F.conv_transpose2d(x, w[:, :, :2, None], b, stride=(2, 1))
    yield F.conv_transpose2d(x, wide, b, stride=2, padding=(1, 0), output_padding=1, dilation=2)
    yield F.conv_transpose1d(torch.cat([x, x], 1)[..., 0], torch.cat([w, w]), None, 3, 1, 2, groups=2)


def below(x: Tensor, least: float = -math.inf) -> Tensor:
    """The tensor without its greatest element, which is -inf."""
    return x.masked_fill(x == x.max(), least)


def losses(call: Call) -> Callable[[Draw], Call]:
    """Of scores with batch and further dimensions, and of classes, some of which are ignored."""

    def case(draw: Draw) -> Call:
        kinds = draw.size()
        shape = [draw.size(), kinds, *draw.shape(0, 2)]
        x, weight = draw.tensor(*shape), draw.tensor(kinds, positive=True)
        ids = draw.indices(shape[0], *shape[2:], below=kinds)
        wanted = draw.tensor(*shape)

        def several(given: Sequence[Tensor]) -> Iterator[Tensor]:
            classes = torch.where(ids(given) == 1, -100, ids(given))
            for reduction in ("none", "sum", "mean"):
                yield call(x(given), ids(given), reduction=reduction, ignore_index=0)
                yield call(x(given), classes, weight(given), reduction=reduction)
            yield call(x(given)[0].flatten(1).T[0], ids(given).flatten()[0], weight(given))
            if call is F.cross_entropy:
                yield call(x(given), classes, weight(given), label_smoothing=0.2)
                yield call(x(given), classes, label_smoothing=0.2, reduction="none")
                yield call(x(given), wanted(given).softmax(1), weight(given), label_smoothing=0.1)

        return lambda given: tuple(several(given))

    return case


def strided(x: Tensor, w: Tensor) -> Iterator[Tensor]:
    """Windows over rows, over elements, from an offset, and the same again."""
    made = (x @ w).contiguous()
    rows, columns = made.shape
    yield made.as_strided((rows - 1, 2, columns), (columns, columns, 1))
    yield made.as_strided((rows * columns - 1, 2), (1, 1))
    yield made.as_strided((2, columns - 1), (columns, 1), 1)
    yield made.as_strided((rows, columns), (columns, 1))
    heads = made[:, None].expand(-1, 3, -1).contiguous().transpose(0, 1)
    yield heads.as_strided((3, rows - 1, 2, columns), (columns, 3 * columns, 3 * columns, 1))
    yield made[None].as_strided((1, 2, rows - 1, columns), (7, columns, columns, 1))


def spectra(x: Tensor) -> Iterator[Tensor]:
    """Of the last dimension, of two, of another one; forth and back; with and without scales."""
    half = torch.fft.rfft(x, norm="ortho")
    yield half.real
    yield half.imag
    yield torch.fft.fft(torch.fft.fft(x, dim=-1), dim=0).real
    yield torch.fft.rfft2(x, dim=(0, 1)).abs()
    yield torch.fft.irfft(half * torch.fft.rfft(x.flip(-1)), n=x.shape[-1])
    yield torch.fft.irfft(half, n=x.shape[-1] + 1, dim=-1, norm="forward")
    yield torch.fft.ifft(torch.fft.fft2(x, norm="forward")).imag


def turned(x: Tensor, y: Tensor) -> Iterator[Tensor]:
    """Rotary positions as they were first written, and what else complex numbers do."""
    a, b = (torch.view_as_complex(each.contiguous()) for each in (x, y))
    angles = torch.polar(torch.ones(x.shape[1]), torch.arange(x.shape[1]).float())
    yield torch.view_as_real(a * angles).flatten(1)
    yield (a / (b * b.conj() + 1) + 2j * b).abs()
    yield torch.view_as_real(torch.cat([a, b]).sum(0, keepdim=True) - a[:1])[..., 1]
    yield torch.einsum("ab,cb->ac", a, b).real
    yield torch.exp(1j * a.real).imag + torch.complex(a.imag, b.real).imag
    yield torch.view_as_real(F.linear(a, b, b[:, 0]) + torch.addmm(b, a, a.mT @ b, alpha=2j).sum())
    yield torch.view_as_real(F.conv1d(a[None], b[None], padding=1) * F.conv1d(a[None].real + 0j, b[None]))
    yield torch.view_as_real(a.log() + a.sqrt() + a.tanh() + (a * a.conj() + 1).reciprocal() + b.square())


def recurrent(function: Call, gates: int, states: int = 1) -> Callable[[Draw], Call]:
    """A layer in one direction or in both, whose weights and first states are arguments."""

    def case(draw: Draw) -> Call:
        steps, batch, size, hidden = (draw.size() for _ in range(4))
        both = draw.random.random() < 0.3
        x = draw.tensor(steps, batch, size)
        start = [draw.tensor(1 + both, batch, hidden) for _ in range(states)]
        shapes = [[gates * hidden, size], [gates * hidden, hidden], [gates * hidden], [gates * hidden]]
        weights = [draw.tensor(*shape) for _ in range(1 + both) for shape in shapes]

        def call(given: Sequence[Tensor]) -> Any:
            held = [each(given) for each in start]
            state = tuple(held) if states > 1 else held[0]
            parameters = [each(given) for each in weights]
            return function(x(given), state, parameters, True, 1, 0.0, False, both, False)

        return call

    return case


def cell(function: Call, gates: int, states: int = 1) -> Callable[[Draw], Call]:
    """A step of a layer."""

    def case(draw: Draw) -> Call:
        batch, size, hidden = (draw.size() for _ in range(3))
        x = draw.tensor(batch, size)
        start = [draw.tensor(batch, hidden) for _ in range(states)]
        shapes = [[gates * hidden, size], [gates * hidden, hidden], [gates * hidden], [gates * hidden]]
        weights = [draw.tensor(*shape) for shape in shapes]

        def call(given: Sequence[Tensor]) -> Any:
            held = [each(given) for each in start]
            return function(x(given), held if states > 1 else held[0], *(each(given) for each in weights))

        return call

    return case


CASES: dict[str, Callable[[Draw], Call]] = {
    "linear": shaped(F.linear, "abi", "ci", "c"),
    "matmul": shaped(torch.matmul, "abij", "bjk"),
    "mm": shaped(torch.mm, "ij", "jk"),
    "bmm": shaped(torch.bmm, "aij", "ajk"),
    "_int_mm": shaped(lambda a, b: torch._int_mm((a * 9).to(torch.int8), (b * 9).to(torch.int8)), "ij", "jk"),
    "mv": shaped(torch.mv, "ij", "j"),
    "dot": shaped(torch.dot, "i", "i"),
    "addmm": shaped(lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), "k", "ij", "jk"),
    "baddbmm": shaped(torch.baddbmm, "aik", "aij", "ajk"),
    "einsum": shaped(
        lambda a, b, c, d: (torch.einsum("abi,bij,aj->ba", a, b, c), torch.einsum("jajj,bij->ab", d, b)),
        *("abi", "bij", "aj", "jajj"),
    ),
    "outer": shaped(lambda a, b: (torch.outer(a, b), torch.inner(a[:, None], b[:, None])), "i", "j"),
    "bilinear": shaped(F.bilinear, "ai", "aj", "kij", "k"),
    "lstm": recurrent(torch.lstm, 4, 2),
    "gru": recurrent(torch.gru, 3),
    "rnn_tanh": recurrent(torch.rnn_tanh, 1),
    "rnn_relu": recurrent(torch.rnn_relu, 1),
    "lstm_cell": cell(torch.lstm_cell, 4, 2),
    "gru_cell": cell(torch.gru_cell, 3),
    "rnn_tanh_cell": cell(torch.rnn_tanh_cell, 1),
    "rnn_relu_cell": cell(torch.rnn_relu_cell, 1),
    "_sparse_mm": shaped(torch.sparse.mm, "ij", "jk"),
    "add": binary(lambda a, b: (torch.add(a, b, alpha=2), ((a > 0) + (b > 0)).double() * 2)),
    "sub": binary(torch.sub),
    "rsub": unary(lambda x: 3 - x),
    "mul": binary(lambda a, b: (a * b, torch.where(~((a > 0) * (b > 0)), a, b), ~torch.isfinite(a))),
    "div": binary(torch.div, positive=True),
    "neg": unary(torch.neg),
    "floor_divide": binary(
        lambda a, b: (torch.floor_divide(a, b), torch.div(a, b, rounding_mode="trunc")), positive=True
    ),
    "remainder": binary(torch.remainder, positive=True),
    "fmod": binary(torch.fmod, positive=True),
    "round": unary(lambda x: (x * 4).round() + x.round(decimals=1)),
    **{name: unary(getattr(torch, name)) for name in ("floor", "ceil", "trunc", "frac")},
    "histc": unary(lambda x: torch.histc(x, bins=5, min=-1, max=1)),
    "reciprocal": unary(torch.reciprocal, positive=True),
    "square": unary(torch.square),
    "pow": unary(
        lambda x: (
            x**3 + x**0.5 + x**-0.5 + x**1.5 + x**-1 + x**-2 + x**0 + x ** torch.full((2, *x.shape), 3.0)
        ),
        positive=True,
    ),
    **{
        name: unary(getattr(torch, name))
        for name in ("abs", "sigmoid", "tanh", "exp2", "expm1", "relu", "celu", "selu", "sign", "sin")
    },
    **{
        name: unary(getattr(torch, name), positive=True)
        for name in ("log", "log1p", "log2", "log10", "sqrt", "rsqrt")
    },
    **{
        name: unary(getattr(F, name))
        for name in ("silu", "elu", "mish", "softsign", "tanhshrink", "relu6", "hardsigmoid", "hardswish")
    },
    "cos": unary(lambda x: torch.cos(x * 100)),
    "tan": unary(torch.tan),
    "sinc": unary(lambda x: torch.sinc(F.relu(x))),
    "log_sigmoid": unary(F.logsigmoid),
    "gelu": unary(lambda x: F.gelu(x) + F.gelu(x, approximate="tanh")),
    "softplus": unary(lambda x: F.softplus(x) + F.softplus(x, beta=2)),
    "hardtanh": unary(lambda x: F.hardtanh(x, -0.5, 0.75)),
    "leaky_relu": unary(lambda x: F.leaky_relu(x, 0.2)),
    "prelu": shaped(F.prelu, "abc", "b"),
    "threshold": unary(lambda x: F.threshold(x, 0.5, -3)),
    "clamp": unary(lambda x: x.clamp(-0.5, 0.5) + x.clamp(min=0) + x.clamp(max=0.25)),
    "clamp_min": unary(lambda x: x.clamp_min(0.25)),
    "clamp_max": unary(lambda x: x.clamp_max(0.25)),
    "maximum": binary(torch.maximum),
    "minimum": binary(torch.minimum),
    **{
        name: binary(lambda a, b, name=name: torch.where(getattr(torch, name)(a, b), a, 2.0))
        for name in ("lt", "le", "gt", "ge", "eq", "ne")
    },
    "logical_not": binary(lambda a, b: torch.where(torch.logical_not(a > b), a, b)),
    "logical_and": binary(lambda a, b: torch.where((a > 0) & (b > 0), a, b)),
    "logical_or": binary(lambda a, b: torch.where((a > 0) | (b > 0), a, b)),
    "where": binary(lambda a, b: torch.where(a > b, a, b)),
    "masked_fill": binary(lambda a, b: (a + b).masked_fill(a > 0, 1.5)),
    "sum": along(torch.sum),
    "mean": along(torch.mean),
    "var": along(lambda x, dim, keep: x.var(dim, keepdim=keep)),
    "std": along(lambda x, dim, keep: x.std(dim, correction=0, keepdim=keep)),
    "amax": along(lambda x, dim, keep: (torch.amax(x, dim, keep), below(x).amax(dim, keep))),
    "amin": along(torch.amin),
    "max": along(
        lambda x, dim, keep: (*x.max(dim, keep), x.max(dim, keep)[0] + x.max() + below(x, -1e9).max())
    ),
    "min": along(lambda x, dim, keep: (*x.relu().min(dim, keep), x.min(dim, keep)[0] + x.min())),
    "cumsum": along(lambda x, dim, _: x.cumsum(dim)),
    "linalg_vector_norm": along(
        lambda x, dim, keep: sum(
            torch.linalg.vector_norm(x, p, dim, keep) for p in (0, 0.5, 1, 2, 3, math.inf, -math.inf)
        )
    ),
    "softmax": along(lambda x, dim, _: x.softmax(dim)),
    "log_softmax": along(lambda x, dim, _: (x.log_softmax(dim), hidden(x, dim).log_softmax(dim).exp())),
    "cdist": shaped(
        lambda x, y: torch.cdist(x, y) + torch.cdist(x, y, 1.0) + torch.cdist(x, y, 3.0), *("abcd", "bed")
    ),
    "pdist": shaped(lambda x: F.pdist(x) + F.pdist(x, 1.0) + F.pdist(x, math.inf), "da"),
    "logcumsumexp": along(lambda x, dim, keep: torch.logcumsumexp(x * 8, dim)),
    "logsumexp": along(
        lambda x, dim, keep: torch.logsumexp(x, dim, keep) + torch.logsumexp(hidden(x, dim), dim, keep)
    ),
    "layer_norm": shaped(lambda x, w, b: F.layer_norm(x, w.shape, w, b), "abcd", "cd", "cd"),
    "rms_norm": shaped(lambda x, w: F.rms_norm(x, w.shape, w, 1e-6), "abc", "c"),
    "group_norm": shaped(lambda x, y: F.group_norm(torch.cat([x, y], 1), 2), "abc", "abc"),
    "batch_norm": shaped(
        lambda x, w: (
            F.batch_norm(x, x.new_zeros(x.shape[1]), x.new_ones(x.shape[1])),
            F.batch_norm(x, None, None, w, w, training=True),
        ),
        *("abc", "b"),
    ),
    "instance_norm": shaped(F.instance_norm, "abcd"),
    "scaled_dot_product_attention": shaped(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True) + masked_attention(q, k, v),
        *("abij", "abkj", "abkl"),
    ),
    "view": shaped(lambda x: x.transpose(0, 1).contiguous().view(x.shape[1], -1), "abc"),
    "reshape": shaped(lambda x: x.permute(2, 0, 1).reshape(-1, x.shape[1]), "abc"),
    "flatten": shaped(lambda x: x.flatten(1) + x.flatten(1, 2).flatten(1), "abcd"),
    "unflatten": shaped(lambda x, y: x.flatten().unflatten(0, (x.shape[0], -1)) * y[:, None], "abc", "a"),
    "permute": shaped(lambda x: x.permute(2, 0, 1), "abc"),
    "movedim": shaped(lambda x: x.movedim(0, 2) + x.movedim((0, 1), (2, 0)).transpose(0, 0), "aaa"),
    "transpose": shaped(lambda x: x.transpose(-1, 0), "abc"),
    "t": shaped(lambda x, y: x.t() @ y, "ij", "ik"),
    "unsqueeze": shaped(lambda x, y: x.unsqueeze(1) + y, "ab", "acb"),
    "squeeze": shaped(lambda x: x.unsqueeze(0).unsqueeze(2).squeeze().squeeze(0), "ab"),
    "expand": shaped(lambda x, y: x[:, None].expand(-1, y.shape[0], -1) * 2, "ab", "c"),
    "repeat": shaped(lambda x: x.repeat(2, 3, 1), "ab"),
    "repeat_interleave": shaped(lambda x: x.repeat_interleave(3, dim=1), "ab"),
    "select": shaped(lambda x: x[1] + x[:, -1], "aab"),
    "slice": shaped(lambda x: x[:, 1:] @ x[:, :-1].transpose(-1, -2), "abc"),
    "narrow": shaped(lambda x, w: (x @ w).narrow(1, 0, 2).tanh() + 1, "ab", "bc"),
    "split": shaped(lambda x, w: torch.mul(*(x @ w).split(w.shape[1] // 2, -1)[:2]), "abc", "cd"),
    "chunk": shaped(lambda x: torch.cat(x.chunk(2, -1)[::-1], -1), "abc"),
    "unbind": shaped(lambda x: x.unbind(1)[0] - x.unbind(1)[1], "abc"),
    "cat": shaped(
        lambda x, y, z, v: (
            torch.cat([x, y, z.unsqueeze(1)], 1),
            torch.cat([(x * 2).flatten(0, 1), (v * 2).reshape(-1, 1)], 1),
            torch.cat([(v * 2).reshape(-1, 1), (x * 2).flatten(0, 1)], 1),
        ),
        *("abc", "adc", "ac", "ba"),
    ),
    "stack": shaped(lambda x, y: torch.stack([x, y, x * y], 1), "ab", "ab"),
    "flip": shaped(lambda x: x.flip(0, 1), "abc"),
    "roll": shaped(lambda x: x.roll((1, -1), (0, 1)), "ab"),
    "clone": unary(lambda x: x.clone() + 1),
    "contiguous": shaped(lambda x: x.transpose(0, 1).contiguous() * 2, "ab"),
    "dropout": unary(lambda x: F.dropout(x, 0.5, training=False) * 2),
    "embedding": indexed(lambda w, ids: F.embedding(ids, w), "ab"),
    "_embedding_bag": indexed(
        lambda w, ids: sum(
            F.embedding_bag(ids.reshape(1, -1), w, mode=mode) for mode in ("sum", "mean", "max")
        ),
        "ab",
    ),
    "index": indexed(lambda x, ids: x[ids].sum(1) + x[ids, ids], "aab"),
    "index_select": indexed(lambda x, ids: x.index_select(0, ids), "abc"),
    "gather": indexed(lambda x, ids: x.gather(0, ids[:, None].expand(-1, x.shape[1])), "ab"),
    "index_add": indexed(lambda x, y, ids: x.index_add(0, ids, y), "ab", "eb"),
    "scatter_add": indexed(scattered, "ab", "eb"),
    "scatter_reduce": reduced_scatter,
    "scatter": indexed(scattered_once, "ab", "eb"),
    "index_put": put,
    "index_copy": indexed(lambda x, y, ids: x.index_copy(0, ids, y), "ab", "eb"),
    "index_fill": indexed(lambda x, ids: (x.index_fill(0, ids, 0.5), x.index_fill(0, ids, x[0, 0])), "ab"),
    "slice_scatter": shaped(put_slices, "abc", "abc", "cd"),
    "select_scatter": shaped(lambda x, y: x.select_scatter(y, 1, -1), "abc", "ac"),
    "copy": shaped(lambda x, y: torch.zeros_like(x).copy_(y) + x, "abc", "bc"),
    "index_reduce": indexed(
        lambda x, y, ids: tuple(
            x.index_reduce(0, ids, y, kind, include_self=with_self)
            for kind in ("amax", "amin", "mean")
            for with_self in (True, False)
        ),
        *("ab", "eb"),
    ),
    "convolution": shaped(
        lambda x, w, b: (
            F.conv2d(torch.cat([x, x], 2), w[:, :, :2, None], b, padding=(1, 0), stride=(1, 2))
            + F.conv2d(torch.cat([x, x], 2), w[:, :, :1, None], b, stride=(2, 2)).sum(),
            F.conv2d(x[0], w[:, :, :2, None], b, padding="same"),
            *spread(x, w.transpose(0, 1), b),
        ),
        *("aicd", "bij", "b"),
    ),
    "max_pool3d": shaped(lambda x: F.max_pool3d(x, 2, padding=1), "abcde"),
    "avg_pool3d": shaped(lambda x: F.avg_pool3d(x, 2, padding=1), "abcde"),
    "unfold": shaped(
        lambda x, w: (
            x.unfold(1, 2, 1),
            x.unfold(-1, 2, 2) * 2,
            (x @ w).unfold(0, 1, 3).softmax(1),
            x.unfold(0, 2, 3).unfold(1, 2, 1),
        ),
        *("abc", "cd"),
    ),
    "im2col": shaped(
        lambda x: (
            F.unfold(x, 2),
            F.unfold(x, (2, 1), dilation=(1, 2), padding=1, stride=2),
            F.unfold(x[0], 2, stride=2),
        ),
        "abcd",
    ),
    "max_pool1d": shaped(lambda x: F.max_pool1d(x, 2), "abc"),
    "max_pool2d": shaped(
        lambda x: (
            F.max_pool2d(x, 2),
            F.max_pool2d(x, 3, 2, 1),
            F.max_pool2d(x, 2, 3, 1, ceil_mode=True),
            F.max_pool2d(x, 2, 1, 1, dilation=2),
        ),
        "abcd",
    ),
    "avg_pool1d": shaped(lambda x: F.avg_pool1d(x, 2), "abc"),
    "avg_pool2d": shaped(
        lambda x: (
            F.avg_pool2d(x, (2, 1)),
            F.avg_pool2d(x, 3, 2, 1),
            F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
            F.avg_pool2d(x, 2, 1, divisor_override=3),
            *(F.avg_pool2d(x, 2, 3, 1, ceil_mode=True, count_include_pad=pads) for pads in (True, False)),
            F.avg_pool2d(x, 2, 3, 1, ceil_mode=True, divisor_override=3),
        ),
        "abcd",
    ),
    "adaptive_avg_pool2d": shaped(
        lambda x: (F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (3, 2))), "abcd"
    ),
    "constant_pad_nd": shaped(
        lambda x: (F.pad(x, (1, 2)), F.pad(x, (-1, 1, 2, 0), value=1.5), F.pad(x, (0, 0, 1, 1))), "abc"
    ),
    "reflection_pad2d": shaped(lambda x: F.pad(x, (1, 0, 1, 1), mode="reflect"), "abcd"),
    "replication_pad1d": shaped(
        lambda x: (F.pad(x, (2, 1), mode="replicate"), F.pad(x, (1, 1), mode="circular")), "abc"
    ),
    "upsample_nearest2d": shaped(
        lambda x: (
            F.interpolate(x, scale_factor=2),
            F.interpolate(x, size=(5, 7)),
            F.interpolate(x, size=(5, 3), mode="nearest-exact"),
        ),
        "abcd",
    ),
    "upsample_bilinear2d": shaped(
        lambda x: (
            F.interpolate(x, scale_factor=1.5, mode="bilinear"),
            F.interpolate(x, size=(5, 4), mode="bilinear", align_corners=True),
        ),
        "abcd",
    ),
    "to": shaped(
        lambda x: (
            torch.where(x.relu().to(torch.bool), x, -x)
            + (300 * x).to(torch.float8_e4m3fn).to(x.dtype)
            + x.to(torch.float8_e5m2).to(x.dtype)
        ),
        "ab",
    ),
    "nll_loss": losses(lambda x, *args, **named: F.nll_loss(x.log_softmax(int(x.dim() > 1)), *args, **named)),
    "cross_entropy_loss": losses(F.cross_entropy),
    "cumprod": along(lambda x, dim, _: x.cumprod(dim)),
    "cummax": along(lambda x, dim, _: x.cummax(dim)[0] + x.cumsum(0).cummax(dim)[0]),
    "argmax": along(
        lambda x, dim, keep: (
            x.argmax(dim, keep),
            x.argmax(),
            x[:, None].expand(-1, 2, *x.shape[1:]).argmax(0) + 1,
        )
    ),
    "argmin": along(lambda x, dim, keep: (x.relu().argmin(dim, keep), x.flatten().argmin(keepdim=True))),
    "topk": ranked(lambda x, k, dim: (*x.topk(k, dim), x.relu().flatten().topk(1, 0, largest=False)[0])),
    "sort": ranked(lambda x, k, dim: (*x.sort(dim), x.sort(dim, descending=True)[0].relu())),
    "argsort": ranked(lambda x, k, dim: (x.argsort(dim), (-x).argsort(dim, descending=True) * 2)),
    "msort": ranked(lambda x, k, dim: x.transpose(0, dim).msort()),
    "kthvalue": ranked(lambda x, k, dim: (*x.kthvalue(k, dim), *x.kthvalue(1, dim, keepdim=True))),
    "median": ranked(lambda x, k, dim: (*x.median(dim), x[:1].relu().median(dim, keepdim=True)[0])),
    "cummin": along(lambda x, dim, _: x.cummin(dim)[0][:1].relu()),
    "prod": along(
        lambda x, dim, keep: (x.prod(dim, keep), x.prod(), x[:, None].expand(-1, 2, *x.shape[1:]).prod(1))
    ),
    "any": along(lambda x, dim, keep: torch.where((x > 0.5).any(dim, keep), 1.0, 2.0)),
    "all": along(lambda x, dim, keep: (x > -0.5).all(dim, keep) * (x > 0).sum(dim, keep)),
    "var_mean": along(lambda x, dim, keep: torch.var_mean(x, dim, keepdim=keep)),
    "std_mean": along(lambda x, dim, keep: torch.std_mean(x, dim, keepdim=keep)),
    "logical_xor": binary(
        lambda a, b: (torch.where((a > 0) ^ (b > 0), a, b), ~((a + b) > 0)[1:] ^ ((a + b) > 1)[:1])
    ),
    "sinh": unary(torch.sinh),
    "cosh": unary(torch.cosh),
    "bucketize": unary(
        lambda x: [
            torch.bucketize(x.round(), bounds, right=right)
            for bounds in (x.new_tensor([-1.0, 0.0, 1.0]), x.flatten()[:3].sort()[0])
            for right in (False, True)
        ]
    ),
    "searchsorted": shaped(
        lambda x, y: (
            torch.searchsorted(x.sort(-1)[0].contiguous(), y),
            torch.searchsorted(x[0].sort()[0].contiguous(), y, side="right"),
        ),
        *("ab", "ac"),
    ),
    "rrelu": unary(lambda x: F.rrelu(x, 0.2, 0.5)),
    "addbmm": shaped(lambda c, a, b: torch.addbmm(c, a, b, beta=0.5, alpha=2), "ad", "eab", "ebd"),
    "angle": shaped(
        lambda x, y: (torch.complex(x, y).angle(), x.to(torch.complex128).angle()), *("ab", "ab")
    ),
    "asin": unary(lambda x: (torch.asin(x.sin()), torch.asin(x.sin() * 0.01) * 100)),
    "acos": unary(lambda x: torch.acos(x.cos())),
    "atan": unary(lambda x: (torch.atan(x**3), torch.atan(x * 0.01) * 100)),
    "atan2": binary(lambda a, b: (torch.atan2(a, b), torch.atan2(F.relu(a), F.relu(b)))),
    "asinh": unary(lambda x: torch.asinh(x**3)),
    "acosh": unary(lambda x: torch.acosh(x + 1), positive=True),
    "atanh": unary(lambda x: torch.atanh(x.sin())),
    "erf": unary(lambda x: (torch.erf(x * 2), torch.erf(F.relu(x)))),
    "erfc": unary(torch.erfc),
    "heaviside": binary(lambda a, b: torch.heaviside(F.relu(a), b) + torch.heaviside(a, b)),
    "hypot": binary(torch.hypot),
    "copysign": binary(torch.copysign),
    "erfinv": unary(lambda x: torch.erfinv(torch.tanh(x))),
    "lgamma": unary(torch.lgamma),
    "fmax": binary(lambda a, b: torch.fmax(a.log(), b)),
    "fmin": binary(lambda a, b: torch.fmin(a, b.log())),
    "nan_to_num": unary(lambda x: x.log().nan_to_num(0.5)),
    "isnan": unary(lambda x: x.log().isnan()),
    "isinf": unary(lambda x: F.relu(x).log().isinf()),
    "signbit": unary(torch.signbit),
    "nansum": along(lambda x, dim, keep: x.log().nansum(dim, keep)),
    "diagonal_scatter": shaped(lambda x: written_diagonals(x), "abc"),
    "as_strided_scatter": shaped(lambda x: x.clone().fill_diagonal_(0.5), "ab"),
    "logaddexp": binary(torch.logaddexp),
    "xlogy": binary(lambda a, b: torch.xlogy(F.relu(a), b), positive=True),
    "pairwise_distance": shaped(
        lambda x, y: F.pairwise_distance(x, y) + F.pairwise_distance(x, y, 1), "abc", "bc"
    ),
    "linalg_cross": shaped(
        lambda x, y: torch.linalg.cross(x[:, :1].expand(-1, 3, -1), y.repeat(1, 3, 1)[:, :3], dim=1),
        *("abc", "abc"),
    ),
    "diagonal": shaped(
        lambda x: (x.diagonal(), x.diagonal(1, -1, 0), x.diagonal(-1, 1, 2).relu(), x[0, :2, :2].trace()),
        "abc",
    ),
    "diag_embed": shaped(
        lambda x: (torch.diag_embed(x), torch.diag_embed(x, 1, 0, 2), torch.diag(x[0], -1)), "ab"
    ),
    "trace": shaped(torch.trace, "ab"),
    "as_strided": shaped(lambda x, w: tuple(strided(x, w)), "ab", "bc"),
    "col2im": shaped(
        lambda x: (
            F.fold(F.unfold(x, 2), x.shape[2:], 2),
            F.fold(F.unfold(x, 2, 1, 1, 2) * 2, x.shape[2:], 2, 1, 1, 2),
            F.fold(F.unfold(x[0], (1, 2)), x.shape[2:], (1, 2)),
        ),
        "abcd",
    ),
    "adaptive_max_pool2d": shaped(
        lambda x: (
            F.adaptive_max_pool2d(x, 1),
            F.adaptive_max_pool1d(x[0], x.shape[3]),
            F.adaptive_max_pool3d(torch.cat([x, x], 1)[None], 1),
        ),
        "abcd",
    ),
    "adaptive_avg_pool3d": shaped(lambda x: F.adaptive_avg_pool3d(x, (2, 1, 3)), "abcd"),
    "grid_sampler": shaped(
        lambda x, flat, y, deep: (
            F.grid_sample(x, flat, padding_mode="border", align_corners=False),
            F.grid_sample(x, flat, mode="nearest", padding_mode="reflection", align_corners=True),
            F.grid_sample(y, deep, padding_mode="zeros", align_corners=True),
            F.grid_sample(y, deep, padding_mode="reflection", align_corners=False),
        ),
        *("abcd", "aefz", "abcde", "aefgy"),
    ),
    "upsample_bicubic2d": shaped(
        lambda x: (
            F.interpolate(x, (5, 7), mode="bicubic"),
            F.interpolate(x, (3, 2), mode="bilinear", antialias=True),
            F.interpolate(x, (3, 5), mode="bicubic", antialias=True, align_corners=True),
        ),
        "abcd",
    ),
    "linalg_inv": shaped(lambda x: torch.linalg.inv(regular(x)), "abb"),
    "linalg_solve": shaped(
        lambda x, y: (
            torch.linalg.solve(regular(x), y[..., 0]),
            torch.linalg.solve(regular(x[0]), y[0].mT, left=False),
        ),
        *("abb", "abc"),
    ),
    "linalg_det": shaped(torch.linalg.det, "abb"),
    "linalg_slogdet": shaped(lambda x: tuple(torch.linalg.slogdet(regular(x))), "abb"),
    "linalg_cholesky": shaped(
        lambda x: (torch.linalg.cholesky(definite(x)), torch.linalg.cholesky(definite(x[0]), upper=True)),
        "abb",
    ),
    "linalg_solve_triangular": shaped(
        lambda x, y: (
            torch.linalg.solve_triangular(regular(x), y, upper=False),
            torch.linalg.solve_triangular(regular(x), y, upper=True, unitriangular=True),
            torch.linalg.solve_triangular(regular(x), y.mT, upper=True, left=False),
        ),
        *("abb", "abc"),
    ),
    "cholesky_solve": shaped(
        lambda x, y: (torch.cholesky_solve(y, regular(x)), torch.cholesky_solve(y, regular(x), upper=True)),
        *("abb", "abc"),
    ),
    "cholesky_inverse": shaped(lambda x: torch.cholesky_inverse(regular(x[0])), "abb"),
    "exp": along(lambda x, dim, keep: (x.exp(), (below(x) - x.amax(dim, True)).exp(), below(x).sigmoid())),
    "stft": shaped(
        lambda x, w: tuple(
            torch.view_as_real(torch.stft(F.pad(x, (8, 8)), 6, **options, return_complex=True))
            for options in (
                {"hop_length": 2, "win_length": 3, "window": w[0]},
                {"center": False, "normalized": True, "onesided": False},
            )
        ),
        *("ab", "ay"),
    ),
    **dict.fromkeys(("_fft_r2c", "_fft_c2c", "_fft_c2r"), shaped(lambda x: tuple(spectra(x)), "abc")),
    **dict.fromkeys(
        ("view_as_complex", "view_as_real", "complex", "polar", "real", "imag", "conj"),
        shaped(lambda x, y: tuple(turned(torch.stack([x, y], 2), torch.stack([y, y - x], 2))), "ab", "ab"),
    ),
}
