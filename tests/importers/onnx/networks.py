"""Networks for tests: of a few nodes, as ONNX's own text says them, and drawn ones of 2 to 12 nodes, each of
which takes what earlier ones gave, in shapes that fit."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.random import Generator, default_rng
from onnx import TensorProto, helper, numpy_helper, parser

import samhw.onnx
from samhw.app.onnx import NetworkDesign, NetworkResult


def network(text: str, opset: int = 21) -> onnx.ModelProto:
    """A graph's text, such as `g (float[2] x) => (float[2] y) { y = Relu(x) }`."""
    model: onnx.ModelProto = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]> {text}')
    onnx.checker.check_model(model)
    return model


def compiled(text: str, data: dict[str, Any] | None = None, opset: int = 21, **options: Any) -> NetworkDesign:
    return samhw.onnx.compile(network(text, opset), data, **options)


def run(text: str, data: dict[str, Any], opset: int = 21, **options: Any) -> NetworkResult:
    """A run whose check is good."""
    found = compiled(text, data, opset, **options).run()
    assert found.check().good
    return found


def output(text: str, opset: int = 21, **data: Any) -> np.ndarray[Any, Any]:
    """The only output of a run whose check is good."""
    (found,) = run(text, data, opset).outputs.values()
    return found


MOST_ELEMENTS = 96
"""Of any tensor, so that a run takes little time."""


@dataclass
class Drawn:
    """A network in the making.

    Attributes:
        shapes: of the tensors that nodes may take, by name.
        bounded: those whose elements lie between -1 and 1.
    """

    rng: Generator
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def any(self) -> str:
        """A tensor, rather one that came late."""
        names = list(self.shapes)
        return names[min(len(names) - 1, int(len(names) * self.rng.random() ** 0.5))]

    def constant(self, shape: tuple[int, ...], *, density: float = 1.0) -> str:
        """A constant of multiples of 1/8."""
        held = self.rng.integers(-8, 9, shape) / 8 * (self.rng.random(shape) < density)
        return self.held(held.astype(np.float32))

    def held(self, array: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, operator: str, *inputs: str, shape: tuple[int, ...], **attributes: object) -> bool:
        """Adds a node, unless its result would be large."""
        if int(np.prod(shape)) > MOST_ELEMENTS or not all(shape):
            return False
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=f"n_{name}", **attributes))
        self.shapes[name] = shape
        return True


def unary(d: Drawn) -> bool:
    x = d.any()
    names = [
        "Relu",
        "Sigmoid",
        "Tanh",
        "Abs",
        "Neg",
        "Erf",
        "Softsign",
        "LeakyRelu",
        "Elu",
        "HardSwish",
        "Sin",
    ]
    return d.add(str(d.rng.choice(names)), x, shape=d.shapes[x])


def binary(d: Drawn) -> bool:
    x = d.any()
    shape = d.shapes[x]
    fitting = [name for name, other in d.shapes.items() if _broadcasts(other, shape)]
    y = str(d.rng.choice(fitting)) if d.rng.random() < 0.7 else d.constant(_smaller(d, shape))
    pair = [x, y] if d.rng.random() < 0.5 else [y, x]
    return d.add(str(d.rng.choice(["Add", "Sub", "Mul", "Max", "Min"])), *pair, shape=shape)


def _broadcasts(other: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    pairs = zip(reversed(other), reversed(shape), strict=False)
    return len(other) <= len(shape) and all(n in (1, size) for n, size in pairs)


def _smaller(d: Drawn, shape: tuple[int, ...]) -> tuple[int, ...]:
    kept = shape[int(d.rng.integers(0, len(shape) + 1)) :]
    return tuple(1 if d.rng.random() < 0.3 else size for size in kept)


def where(d: Drawn) -> bool:
    x = d.any()
    y = d.constant(d.shapes[x])
    condition = f"t{len(d.nodes)}c"
    d.nodes.append(helper.make_node("Less", [x, y], [condition]))
    return d.add("Where", condition, y, x, shape=d.shapes[x])


def product(d: Drawn) -> bool:
    x = d.any()
    shape = d.shapes[x]
    if not shape:
        return False
    width = int(d.rng.integers(1, 5))
    weight = d.constant((shape[-1], width), density=float(d.rng.choice([0.3, 1.0])))
    return d.add("MatMul", x, weight, shape=(*shape[:-1], width))


def gemm(d: Drawn) -> bool:
    x = d.any()
    if len(d.shapes[x]) != 2:
        return False
    rows, columns = d.shapes[x]
    transposed = int(d.rng.integers(0, 2))
    width = int(d.rng.integers(1, 5))
    inner, outer = (rows, columns) if transposed else (columns, rows)
    weight, bias = d.constant((width, inner)), d.constant((width,))
    return d.add("Gemm", x, weight, bias, shape=(outer, width), transA=transposed, transB=1, alpha=0.5)


def convolution(d: Drawn) -> bool:
    x = d.any()
    if len(d.shapes[x]) != 3:
        return False
    batch, channels, size = d.shapes[x]
    kernel, stride, pad = (int(d.rng.integers(low, high)) for low, high in ((1, 4), (1, 3), (0, 2)))
    count = (size + 2 * pad - kernel) // stride + 1
    if count < 1 or kernel > size:
        return False
    if d.rng.random() < 0.5:
        outputs = int(d.rng.integers(1, 4))
        weight = d.constant((outputs, channels, kernel))
        return d.add("Conv", x, weight, shape=(batch, outputs, count), strides=[stride], pads=[pad] * 2)
    kind = str(d.rng.choice(["MaxPool", "AveragePool"]))
    pad = min(pad, kernel // 2)
    count = (size + 2 * pad - kernel) // stride + 1
    given = {"kernel_shape": [kernel], "strides": [stride], "pads": [pad] * 2}
    return d.add(kind, x, shape=(batch, channels, count), **given)


def reduction(d: Drawn) -> bool:
    x = d.any()
    shape = d.shapes[x]
    if not shape:
        return False
    axis, keep = int(d.rng.integers(0, len(shape))), int(d.rng.integers(0, 2))
    out = tuple(1 if n == axis else size for n, size in enumerate(shape) if keep or n != axis)
    names = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceSumSquare"]
    return d.add(str(d.rng.choice(names)), x, d.held(np.array([axis])), shape=out, keepdims=keep)


def softmax(d: Drawn) -> bool:
    x = d.any()
    shape = d.shapes[x]
    if not shape:
        return False
    names = ["Softmax", "LogSoftmax", "LpNormalization"]
    return d.add(str(d.rng.choice(names[:2])), x, shape=shape, axis=int(d.rng.integers(0, len(shape))))


def norm(d: Drawn) -> bool:
    x = d.any()
    shape = d.shapes[x]
    if not shape or shape[-1] < 2:
        return False
    return d.add("LayerNormalization", x, d.constant(shape[-1:]), d.constant(shape[-1:]), shape=shape)


def view(d: Drawn) -> bool:
    x = d.any()
    shape = d.shapes[x]
    if not shape:
        return False
    match int(d.rng.integers(0, 6)):
        case 0:
            order = [int(n) for n in d.rng.permutation(len(shape))]
            return d.add("Transpose", x, shape=tuple(shape[n] for n in order), perm=order)
        case 1:
            axis = int(d.rng.integers(1, len(shape) + 1))
            sizes = (int(np.prod(shape[:axis])), int(np.prod(shape[axis:])))
            return d.add("Reshape", x, d.held(np.array(sizes)), shape=sizes)
        case 2:
            axis = int(d.rng.integers(0, len(shape) + 1))
            return d.add("Unsqueeze", x, d.held(np.array([axis])), shape=(*shape[:axis], 1, *shape[axis:]))
        case 3:
            return _slice(d, x)
        case 4:
            axis, pads = int(d.rng.integers(0, len(shape))), [0] * (2 * len(shape))
            pads[axis], pads[axis + len(shape)] = (int(n) for n in d.rng.integers(0, 2, 2))
            grown = tuple(n + pads[i] + pads[i + len(shape)] for i, n in enumerate(shape))
            return d.add("Pad", x, d.held(np.array(pads)), shape=grown)
    axis = int(d.rng.integers(0, len(shape)))
    both = tuple(2 * n if i == axis else n for i, n in enumerate(shape))
    return d.add("Concat", x, x if d.rng.random() < 0.3 else d.constant(shape), shape=both, axis=axis)


def _slice(d: Drawn, x: str) -> bool:
    shape = d.shapes[x]
    axis = int(d.rng.integers(0, len(shape)))
    step = int(d.rng.choice([1, 2, -1]))
    places = range(shape[axis])[:: abs(step)] if step > 0 else range(shape[axis])[::-1]
    start, stop = (places[0], shape[axis]) if step > 0 else (shape[axis] - 1, -shape[axis] - 1)
    given = [d.held(np.array([n])) for n in (start, stop, axis, step)]
    out = tuple(len(places) if i == axis else n for i, n in enumerate(shape))
    return d.add("Slice", x, *given, shape=out)


def gather(d: Drawn) -> bool:
    x = d.any()
    shape = d.shapes[x]
    if not shape:
        return False
    axis = int(d.rng.integers(0, len(shape)))
    ids = d.rng.integers(-shape[axis], shape[axis], tuple(d.rng.integers(1, 4, d.rng.integers(0, 3))))
    out = (*shape[:axis], *ids.shape, *shape[axis + 1 :])
    return d.add("Gather", x, d.held(ids.astype(np.int64)), shape=out, axis=axis)


def quantised(d: Drawn) -> bool:
    """Through integers of 8 bits and back: as they are, or in a product."""
    x = d.any()
    shape, kind = d.shapes[x], d.rng.choice([np.int8, np.uint8])
    if not shape or int(np.prod(shape)) > MOST_ELEMENTS:
        return False
    ends, name = np.iinfo(kind), f"t{len(d.nodes)}q"
    scale = d.held(np.float32(d.rng.choice([0.125, 0.05, 0.03])))
    zero = d.held(d.rng.integers(ends.min, ends.max, endpoint=True).astype(kind))
    way = int(d.rng.integers(0, 5))
    if way == 4:
        parts = [name, f"{name}s", f"{name}z"]
        d.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], parts))
        return d.add("DequantizeLinear", *parts, shape=shape)
    d.nodes.append(helper.make_node("QuantizeLinear", [x, scale, zero], [name]))
    if way == 0 or len(shape) < 2:
        return d.add("DequantizeLinear", name, scale, zero, shape=shape)
    width = int(d.rng.integers(1, 5))
    weight = d.held(d.rng.integers(ends.min, ends.max, (shape[-1], width), endpoint=True).astype(kind))
    offset = d.held(kind(d.rng.choice([0, 5])))
    out = (*shape[:-1], width)
    if way == 1:
        d.nodes.append(helper.make_node("MatMulInteger", [name, weight, zero, offset], [f"{name}m"]))
        d.nodes.append(helper.make_node("Cast", [f"{name}m"], [f"{name}c"], to=TensorProto.FLOAT))
        return d.add("Mul", f"{name}c", d.held(np.float32(0.0003)), shape=out)
    fine = d.held(np.float32(0.007))
    if way == 2:
        last = [d.held(np.float32(0.041)), zero]
        given = [name, scale, zero, weight, fine, offset, *last]
        d.nodes.append(helper.make_node("QLinearMatMul", given, [f"{name}m"]))
        return d.add("DequantizeLinear", f"{name}m", *last, shape=out)
    for node in ([name, scale, zero], [weight, fine, offset]):
        d.nodes.append(helper.make_node("DequantizeLinear", node, [f"{name}{node[0]}"]))
    return d.add("MatMul", f"{name}{name}", f"{name}{weight}", shape=out)


def whole(d: Drawn) -> bool:
    """Integers of 32 bits, and back."""
    x = d.any()
    shape, name = d.shapes[x], f"t{len(d.nodes)}i"
    if not shape or int(np.prod(shape)) > MOST_ELEMENTS:
        return False
    d.nodes.append(helper.make_node("Mul", [x, d.held(np.float32(1000))], [f"{name}f"]))
    d.nodes.append(
        helper.make_node("Clip", [f"{name}f", *(d.held(np.float32(n)) for n in (-3e4, 3e4))], [f"{name}k"])
    )
    d.nodes.append(helper.make_node("Cast", [f"{name}k"], [f"{name}a"], to=TensorProto.INT32))
    other = d.held((d.rng.integers(1, 60, shape) * d.rng.choice([-1, 1], shape)).astype(np.int32))
    operator = str(d.rng.choice(["Add", "Mul", "Div", "Mod", "Max", "BitwiseAnd"]))
    d.nodes.append(helper.make_node(operator, [f"{name}a", other], [f"{name}r"]))
    d.nodes.append(helper.make_node("Cast", [f"{name}r"], [f"{name}c"], to=TensorProto.FLOAT))
    return d.add("Mul", f"{name}c", d.held(np.float32(0.001)), shape=shape)


STEPS: tuple[Callable[[Drawn], bool], ...] = (
    *(unary, binary, where, product, gemm, convolution, reduction, softmax, norm, view, view, gather),
    *(quantised, quantised, whole),
)


def drawn_network(seed: int, most: int = 12) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """A network of 2 to `most` nodes with data, multiples of 1/16 between -1 and 1."""
    rng = default_rng(seed)
    d, data = Drawn(rng), {}
    for name in ("x", "y")[: rng.integers(1, 3)]:
        shape = tuple(int(n) for n in rng.integers(1, 5, rng.integers(1, 4)))
        d.shapes[name] = shape
        data[name] = (rng.integers(-16, 17, shape) / 16).astype(np.float32)
    wanted = int(rng.integers(2, most + 1))
    while sum(name.startswith("t") for name in d.shapes) < wanted:
        STEPS[rng.integers(0, len(STEPS))](d)
    read = {name for node in d.nodes for name in node.input}
    ends = [name for name in d.shapes if name not in read and name not in data]
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, d.shapes[n]) for n in data]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, d.shapes[n]) for n in ends]
    graph = helper.make_graph(d.nodes, f"drawn_{seed}", inputs, outputs, d.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    return model, data
