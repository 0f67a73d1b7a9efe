"""What a quantised network gives, in Python's integers and fractions: the second judge of networks that PT2E
has quantised, which shares no code with samhw.

It walks the graph of an `ExportedProgram` by itself. Products are of integers; whatever else there is are
fractions, and a softmax has 60 digits. A number becomes an integer again by one division and one rounding, to
nearest, ties to even. docs/pytorch.md has the three rules that are no arithmetic of fractions: arguments are
quantised as PyTorch does it, in f32; the bias of a product that is quantised is a whole number of its units;
and the sum of several quantised tensors has factors of 20 bits.
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view
from torch import Tensor
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.fx.graph import CodeGen

__all__ = ["Exact", "run", "telling"]

Array = npt.NDArray[Any]

_round: Any = np.frompyfunc(round, 1, 1)
_fraction: Any = np.frompyfunc(Fraction, 1, 1)
_greater: Any = np.frompyfunc(max, 2, 1)
_lesser: Any = np.frompyfunc(min, 2, 1)
_DECIMAL = Context(prec=60)


@dataclass(frozen=True)
class _Cut:
    """Numbers that end somewhere."""

    least: Fraction | None = field(default=None, kw_only=True)
    greatest: Fraction | None = field(default=None, kw_only=True)

    def cut(self, numbers: Any) -> Array:
        if self.least is not None:
            numbers = _greater(numbers, self.least)
        return numbers if self.greatest is None else _lesser(numbers, self.greatest)


@dataclass(frozen=True)
class _Sum(_Cut):
    """whole * unit + bias, in arrays of one shape: the result of a product, or what integers stand for."""

    whole: Array
    unit: Array
    bias: Array | None = None

    @property
    def real(self) -> Array:
        """The numbers."""
        exact = self.whole.astype(object) * self.unit
        return self.cut(exact if self.bias is None else exact + self.bias)

    def steps(self, step: Fraction) -> Array:
        """The same in units of a step, with a bias of whole units of its own."""
        bias = 0 if self.bias is None else _round(self.bias / self.unit)
        return self.cut((self.whole.astype(object) + bias) * self.unit) / step

    def moved(self, move: Callable[[Array], Array]) -> "_Sum":
        """Its elements elsewhere."""
        bias = None if self.bias is None else move(self.bias)
        return replace(self, whole=move(self.whole), unit=move(self.unit), bias=bias)


@dataclass(frozen=True)
class _Bytes(_Sum):
    """What integers stand for."""


@dataclass(frozen=True)
class _Several(_Cut):
    """A sum of several quantised tensors."""

    parts: Sequence[_Bytes]

    @property
    def real(self) -> Array:
        """The numbers."""
        return self.cut(sum(part.real for part in self.parts))

    def steps(self, step: Fraction) -> Array:
        """The same in units of a step, by factors of which the greatest has 20 bits."""
        factors = [_first(part.unit) / step for part in self.parts]
        digit = Fraction(2) ** (math.frexp(max(abs(factor) for factor in factors))[1] - 20)
        rounded = [round(factor / digit) * digit for factor in factors]
        total = sum(part.whole.astype(object) * n for part, n in zip(self.parts, rounded, strict=True))
        return self.cut(total * step) / step


@dataclass(frozen=True)
class Exact:
    """What a network gives.

    Attributes:
        outputs: fractions, or integers.
        beside_tie: how far a number that has been rounded is from a tie, at least, in units of its result.
    """

    outputs: Sequence[Array]
    beside_tie: float


def run(program: ExportedProgram, *arguments: Tensor) -> Exact:
    """What an exported network gives for its arguments."""
    return _Walk(program, arguments).made()


def telling(module: GraphModule) -> GraphModule:
    """A network that also gives the integers of each quantiser of what it computes."""
    made = copy.deepcopy(module)
    nodes = list(made.graph.nodes)
    quantisers = [
        node
        for node in nodes
        if str(node.target).startswith("quantized_decomposed.quantize") and node.args[0].op != "placeholder"
    ]
    (outputs,) = nodes[-1].args
    nodes[-1].args = ((*outputs, *quantisers),)
    made.graph.set_codegen(CodeGen())
    made.recompile()
    return made


class _Walk:
    def __init__(self, program: ExportedProgram, arguments: Sequence[Tensor]) -> None:
        self.program = program
        self.values: dict[Node, Any] = {}
        self.given = iter(arguments)
        self.beside_tie = 0.5

    def made(self) -> Exact:
        for node in self.program.graph.nodes:
            if node.op == "output":
                outputs = [_real(self.value(item)) for item in node.args[0]]
                return Exact(outputs, self.beside_tie)
            self.values[node] = self.held(node.name) if node.op == "placeholder" else self.called(node)
        raise AssertionError("a graph ends in its outputs")

    def held(self, name: str) -> Array:
        """A weight, or the next argument."""
        says = self.program.graph_signature
        for names in (
            says.inputs_to_parameters,
            says.inputs_to_buffers,
            says.inputs_to_lifted_tensor_constants,
        ):
            if name in names:
                key = names[name]
                found = self.program.state_dict.get(key, self.program.constants.get(key))
                return found.detach().numpy()
        return next(self.given).numpy()

    def value(self, item: Any) -> Any:
        if isinstance(item, Node):
            return self.values[item]
        return [self.value(part) for part in item] if isinstance(item, list | tuple) else item

    def called(self, node: Node) -> Any:
        name = str(node.target).split(".")[-2]
        arguments = [self.value(item) for item in node.args]
        if name == "quantize_per_tensor":
            return self.quantise(*arguments)
        return _OPERATORS[name](*arguments, **node.kwargs)

    def quantise(self, x: Any, scale: Any, zero: Any, least: int, greatest: int, kind: object) -> Array:
        if isinstance(x, np.ndarray) and x.dtype == np.float32:
            nearest = np.rint(x * np.float32(1 / float(scale))).astype(np.int64)
        else:
            step = Fraction(float(scale))
            steps = x / step if isinstance(x, np.ndarray) else x.steps(step)
            nearest = _round(steps)
            off = float(np.abs(steps - nearest).max(initial=0))
            self.beside_tie = min(self.beside_tie, 0.5 - off)
        return np.clip(nearest + int(zero), least, greatest).astype(np.int64)


def _real(x: Any) -> Array:
    """Fractions, or integers as they are."""
    if isinstance(x, _Sum | _Several):
        return x.real
    found = np.asarray(x)
    return _fraction(found.astype(float)) if found.dtype.kind == "f" else found


def _like(x: Any, shape: Sequence[int], axis: int) -> Array:
    """A number for each coordinate of an axis, in an array of a shape."""
    numbers = _real(x)
    sizes = [-1 if place == axis % len(shape) else 1 for place in range(len(shape))]
    return np.broadcast_to(numbers.reshape(sizes), shape)


# What integers stand for


def _dequantise_per_tensor(q: Array, scale: Any, zero: Any, *ends: object) -> _Bytes:
    return _Bytes(q.astype(np.int64) - int(zero), np.broadcast_to(np.array(Fraction(float(scale))), q.shape))


def _dequantise_per_channel(q: Array, scales: Array, zeros: Array, axis: int, *ends: object) -> _Bytes:
    whole = q.astype(np.int64) - _like(zeros, q.shape, axis).astype(np.int64)
    return _Bytes(whole, _like(scales, q.shape, axis))


# Products


def _first(unit: Array) -> Fraction:
    """The one unit of all."""
    found: Fraction = unit.reshape(-1)[0]
    assert (unit == found).all()
    return found


def _product(whole: Array, one: _Bytes, by_channel: Array, axis: int, bias: Array | None) -> _Sum:
    """Sums of products: `by_channel` are units of the weights, one for each coordinate of an axis."""
    unit = _like(by_channel * _first(one.unit), whole.shape, axis)
    return _Sum(whole, unit, None if bias is None else _like(bias, whole.shape, axis))


def _linear(x: _Bytes, weight: _Bytes, bias: Array | None = None) -> _Sum:
    channels = np.array([_first(row) for row in weight.unit], object)
    return _product(_plain(x) @ _plain(weight).T, x, channels, -1, bias)


def _matmul(x: _Bytes, y: _Bytes) -> _Sum:
    whole = _plain(x) @ _plain(y)
    return _Sum(whole, np.broadcast_to(np.array(_first(x.unit) * _first(y.unit)), whole.shape))


def _conv2d(
    x: _Bytes,
    weight: _Bytes,
    bias: Array | None = None,
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
    groups: int = 1,
) -> _Sum:
    kernel = _plain(weight)
    wide = np.pad(_plain(x), [(0, 0), (0, 0), *((n, n) for n in padding)])
    reach = [(size - 1) * apart + 1 for size, apart in zip(kernel.shape[2:], dilation, strict=True)]
    taken = sliding_window_view(wide, reach, (2, 3))
    taken = taken[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    parts = zip(np.split(taken, groups, 1), np.split(kernel, groups), strict=True)
    whole = np.concatenate([np.einsum("nchwij,ocij->nohw", *part) for part in parts], 1)
    channels = np.array([_first(row) for row in weight.unit], object)
    return _product(whole, x, channels, 1, bias)


def _plain(x: _Bytes) -> Array:
    assert isinstance(x, _Bytes)
    return x.whole


# What else there is


def _cut(x: Any, least: float | None = None, greatest: float | None = None) -> Any:
    ends = {"least": least, "greatest": greatest}
    exact = {name: Fraction(end) for name, end in ends.items() if end is not None}
    if isinstance(x, _Sum | _Several) and x.least is None and x.greatest is None:
        made = replace(x, **exact)
        return _Sum(**vars(made)) if isinstance(made, _Bytes) else made
    return _Cut(**exact).cut(_real(x))


def _add(x: Any, y: Any, sign: int = 1) -> Any:
    if isinstance(x, _Bytes) and isinstance(y, _Bytes):
        return _Several((x, replace(y, unit=y.unit * sign)))
    return _real(x) + _real(y) * sign


def _moved(move: Callable[..., Array]) -> Callable[..., Any]:
    def made(x: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(x, _Sum):
            return x.moved(lambda array: move(array, *arguments, **options))
        return move(x, *arguments, **options)

    return made


def _flatten(x: Array, start: int = 0, end: int = -1) -> Array:
    end %= x.ndim
    return x.reshape(*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :])


def _pair(n: int | Sequence[int]) -> tuple[int, int]:
    held = [n] if isinstance(n, int) else list(n)
    return held[0], held[-1]


def _max_pool2d(x: Any, size: Any, stride: Any = ()) -> Array:
    down, across = _pair(stride or size)
    windows = sliding_window_view(_real(x), _pair(size), (-2, -1))
    return windows[..., ::down, ::across, :, :].max((-2, -1))


def _mean(x: Any, axes: Sequence[int], keepdim: bool = False) -> Array:
    real = _real(x)
    count = math.prod(real.shape[axis] for axis in axes)
    return real.sum(tuple(axes), keepdims=keepdim) / Fraction(count)


def _adaptive_avg_pool2d(x: Any, sizes: Sequence[int]) -> Array:
    assert _pair(sizes) == (1, 1)
    return _mean(x, (-2, -1), keepdim=True)


def _softmax(x: Any, axis: int, kind: object = None) -> Array:
    real = _real(x)
    powers = np.frompyfunc(_exp, 1, 1)(real - real.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def _exp(x: Fraction) -> Fraction:
    return Fraction(_DECIMAL.exp(_DECIMAL.divide(Decimal(x.numerator), Decimal(x.denominator))))


_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "dequantize_per_tensor": _dequantise_per_tensor,
    "dequantize_per_channel": _dequantise_per_channel,
    "linear": _linear,
    "matmul": _matmul,
    "conv2d": _conv2d,
    "relu": lambda x: _cut(x, 0),
    "relu6": lambda x: _cut(x, 0, 6),
    "hardtanh": _cut,
    "clamp": _cut,
    "add": _add,
    "sub": lambda x, y: _add(x, y, -1),
    "mul": lambda x, factor: _real(x) * _real(factor),
    "lift_fresh_copy": lambda x: x,
    "detach_": lambda x: x,
    "transpose": _moved(np.swapaxes),
    "permute": _moved(np.transpose),
    "view": _moved(np.reshape),
    "reshape": _moved(np.reshape),
    "flatten": _moved(_flatten),
    "max_pool2d": _max_pool2d,
    "mean": _mean,
    "adaptive_avg_pool2d": _adaptive_avg_pool2d,
    "softmax": _softmax,
}
