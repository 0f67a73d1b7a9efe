"""What units make of blocks, against NumPy."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from samhw.errors import RunError
from samhw.graph import DONE, EMPTY, STOP, VAL, Arch, Token, make, stop
from samhw.graph.numerics import Float, operation, reduce_words, value_type
from samhw.sim.engines import Engine
from tests.support.bench import bench_primitive

Blocks = list[np.ndarray | None]
"""Those of a fiber; None is EMPTY."""


def made(
    kind: str, params: Mapping[str, Any], inputs: Mapping[str, Blocks], value: str, engine: Engine = "plain"
) -> list[Token]:
    """The tokens of `val`, for a fiber, or for two equal ones of what reduces them."""
    bits = value_type(value).width
    node = make(kind, "n", 1 + (kind == "reduce_scalar"), value=value, **params)

    def stream(blocks: Blocks) -> list[tuple[int, Token]]:
        fiber = [Token(EMPTY) if b is None else Token(VAL, packed(b, bits)) for b in blocks]
        if node.inputs[0].stream.depth == 1:
            return [(0, token) for token in (*fiber, stop(0), Token(DONE))]
        return [(0, token) for token in (*fiber, stop(0), *fiber, stop(1), Token(DONE))]

    given = {port: stream(blocks) for port, blocks in inputs.items()}
    outputs = bench_primitive(node, Arch(), given, value=value, engine=engine).outputs
    return [token for _, token in outputs["val"]]


def packed(block: np.ndarray, bits: int) -> int:
    """The payload of a block, its words from the lowest bits up."""
    return sum(int(word) << n * bits for n, word in enumerate(block.ravel()))


def words(rng: np.random.Generator, value: str, shape: list[int], limit: int = 5) -> np.ndarray:
    """The words of small numbers, of thirds where the order of a sum matters."""
    numbers = rng.integers(-limit, limit + 1, shape)
    kind = value_type(value)
    return np.asarray(kind.encode(numbers / 3 if isinstance(kind, Float) else numbers))


def fiber(rng: np.random.Generator, value: str, shape: list[int], count: int = 12) -> Blocks:
    return [None if rng.random() < 0.2 else words(rng, value, shape) for _ in range(count)]


def zeros(blocks: Blocks, shape: list[int]) -> list[np.ndarray]:
    return [np.zeros(shape, np.int64) if b is None else b for b in blocks]


def spread(block: np.ndarray, axes: list[int], shape: list[int]) -> np.ndarray:
    """An operand with these of the axes of a result, as large as it."""
    order = np.argsort(axes, kind="stable")
    sizes = [size if axis in axes else 1 for axis, size in enumerate(shape)]
    return np.broadcast_to(block.transpose(order).reshape(sizes), shape)


@pytest.mark.parametrize("value", ["i32", "fixed<16,8>", "f32", "bf16"])
@pytest.mark.parametrize("op", ["relu", "sub", "select"])
@pytest.mark.parametrize("seed", range(3))
def test_operations(op: str, value: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 4, rng.integers(1, 4)).tolist()
    ports = "abc"[: {"relu": 1, "sub": 2, "select": 3}[op]]
    axes = {"a": rng.permutation(len(shape)).tolist()}
    axes |= {p: rng.permutation(len(shape))[: rng.integers(len(shape) + 1)].tolist() for p in ports[1:]}
    sizes = {port: [shape[axis] for axis in own] for port, own in axes.items()}
    inputs = {port: fiber(rng, value, sizes[port]) for port in ports}
    got = made("alu", {"op": op, "shape": shape, "axes": axes}, inputs, value)
    kind, bits = value_type(value), value_type(value).width
    columns = [[spread(b, axes[p], shape) for b in zeros(inputs[p], sizes[p])] for p in ports]
    results = [operation(op, kind, kind).apply(*operands) for operands in zip(*columns, strict=True)]
    assert [t.payload for t in got if t.kind is VAL] == [packed(block, bits) for block in results]
    assert got[-2:] == [stop(0), Token(DONE)]


def pairwise(combine: Callable[[np.ndarray, np.ndarray], np.ndarray], parts: np.ndarray) -> np.ndarray:
    """The first axis combined: neighbours, then what they make, and so on."""
    while len(parts) > 1:
        odd = parts[len(parts) & ~1 :]
        parts = np.concatenate([combine(parts[:-1:2], parts[1::2]), odd])
    return parts[0]


@pytest.mark.parametrize("value", ["i32", "f32"])
@pytest.mark.parametrize("op", ["sum", "max"])
@pytest.mark.parametrize("seed", range(3))
def test_folds(op: str, value: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 6, 3).tolist()
    over = rng.permutation(3)[: rng.integers(1, 4)].tolist()
    blocks = fiber(rng, value, shape)
    got = made("fold", {"op": op, "shape": shape, "over": over}, {"block": blocks}, value)
    kind, bits = value_type(value), value_type(value).width
    combine = operation({"sum": "add", "max": "max"}[op], kind, kind).apply
    kept = [axis for axis in range(3) if axis not in over]
    expected = []
    for block in zeros(blocks, shape):
        parts = block.transpose([*over, *kept]).reshape(-1, *(shape[axis] for axis in kept))
        expected.append(packed(pairwise(combine, parts), bits))
    assert [t.payload for t in got if t.kind is VAL] == expected


def product(
    rng: np.random.Generator, value: str, sizes: list[int], results: int
) -> tuple[dict[str, Any], dict[str, Blocks], list[int]]:
    """A product with random axes in its operands, of which the first `results` are those of the result: its
    parameters, operands, and payloads."""
    axes = range(len(sizes))
    a = rng.permutation(len(sizes))[: rng.integers(len(sizes) + 1)].tolist()
    b = rng.permutation([*set(axes) - set(a), *(axis for axis in a if rng.random() < 0.5)]).tolist()
    used = {"a": [*map(int, a)], "b": [*map(int, b)]}
    shapes = {port: [sizes[axis] for axis in own] for port, own in used.items()}
    inputs = {port: fiber(rng, value, shape, 4) for port, shape in shapes.items()}
    kind = value_type(value)
    multiply, add = (operation(op, kind, kind).apply for op in ("mul", "add"))
    columns = [[spread(x, used[p], sizes) for x in zeros(inputs[p], shapes[p])] for p in "ab"]
    expected = []
    for x, y in zip(*columns, strict=True):
        terms = multiply(x, y).reshape(*sizes[:results], -1)
        expected.append(packed(pairwise(add, np.moveaxis(terms, -1, 0)), kind.width))
    return {"shape": sizes[:results], "over": sizes[results:], **used}, inputs, expected


@pytest.mark.parametrize("value", ["i32", "fixed<16,8>", "f32", "bf16"])
@pytest.mark.parametrize("seed", range(6))
def test_products(value: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, rng.integers(5)).tolist()
    params, inputs, expected = product(rng, value, sizes, int(rng.integers(len(sizes) + 1)))
    got = made("matmul", params, inputs, value)
    assert [t.payload for t in got if t.kind is VAL] == expected
    assert got[-2:] == [stop(0), Token(DONE)]


@pytest.mark.slow
@pytest.mark.parametrize(("value", "sizes"), [("i32", [8, 8, 5]), ("f32", [9, 7, 2, 6])])
def test_products_in_vector_instructions(value: str, sizes: list[int]) -> None:
    params, inputs, expected = product(np.random.default_rng(0), value, sizes, 2)
    got = made("matmul", params, inputs, value, "compiled")
    assert [t.payload for t in got if t.kind is VAL] == expected


@pytest.mark.parametrize(
    ("op", "value"), [("sum", "i32"), ("max", "f32"), ("sum", "f32"), ("sum", "bf16"), ("prod", "i32")]
)
@pytest.mark.parametrize("count", [0, 1, 2, 7, 25])
def test_reductions(op: str, value: str, count: int) -> None:
    """Sums of floats, and products, go through pairs; EMPTY blocks are zeros on both ways."""
    rng = np.random.default_rng(count)
    blocks: Blocks = [words(rng, value, [3], 1) for _ in range(count)]
    if count > 2:
        blocks[count // 2] = None
    got = made("reduce_scalar", {"op": op, "shape": [3]}, {"val": blocks}, value)
    kind, bits = value_type(value), value_type(value).width
    rows = zeros(blocks, [3])
    sums = np.array([reduce_words(kind, op, [int(row[n]) for row in rows]) for n in range(3)])
    assert [t.payload for t in got if t.kind is VAL] == [packed(sums, bits)] * 2
    assert sum(t.kind is STOP for t in got) == 1


def test_a_sum_of_blocks_notices_any_word_that_leaves_the_range() -> None:
    great: Blocks = [np.array([1, 100]), np.array([1, 100])]
    with pytest.raises(RunError, match="overflow"):
        made("reduce_scalar", {"op": "sum", "shape": [2]}, {"val": great}, "i8")
    with pytest.raises(RunError, match="overflow"):
        made("fold", {"op": "sum", "shape": [1, 2], "over": [1]}, {"block": [np.array([[100, 100]])]}, "i8")
    with pytest.raises(RunError, match="overflow"):
        made("alu", {"op": "add", "shape": [2]}, {"a": great, "b": great}, "i8")
    outer = {"shape": [2], "over": [2], "a": [0], "b": [1]}
    for factor in (2, 1):  # a product leaves it, and a sum
        with pytest.raises(RunError, match="overflow"):
            made("matmul", outer, {"a": great[:1], "b": [np.array([factor, factor])]}, "i8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("alu", {"op": "sub", "shape": [2, 3], "axes": {"b": [1]}}),
        ("fold", {"op": "sum", "shape": [2, 3], "over": [1]}),
        ("reduce_scalar", {"op": "sum", "shape": [2]}),
    ],
)
def test_engines_agree(kind: str, params: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    node = make(kind, "n", 1, **params)
    blocks = {p.name: fiber(rng, "bf16", list(p.stream.payload.shape), 20) for p in node.inputs}
    plain, compiled = (made(kind, params, blocks, "bf16", engine) for engine in ("plain", "compiled"))
    assert plain == compiled
