"""Every operation of every value type through the alu's model, against its vectorised definition."""

import numpy as np
import pytest

from samhw.errors import RunError
from samhw.graph import DONE, VAL, Arch, Token, make, stop
from samhw.graph.numerics import ALL_OPERATIONS, OVERFLOW, Integer, Words, operation, value_type
from tests.support.bench import bench_primitive

TYPES = ("i8", "i16", "i32", "fixed<16,8>", "fixed<24,12>", "fixed<32,31>", "f8e4m3", "f8e5m2", "bf16", "f32")
WIDENED = (("i8", "i32"), ("i16", "i32"), ("bf16", "f32"), ("f8e4m3", "bf16"), ("f8e5m2", "f32"))
ARCH = Arch(alu={family: dict.fromkeys(ALL_OPERATIONS, 3) for family in Arch().alu})


def words(kind: str, arity: int) -> Words:
    """Operands in rows: the edges of the type, and any words."""
    width = value_type(kind).width
    rng = np.random.default_rng(width + arity)
    edges = [0, 1, (1 << width - 1) - 1, 1 << width - 1, (1 << width) - 1]
    rows = [np.concatenate([np.roll(edges, k), rng.integers(0, 1 << width, 60)]) for k in range(arity)]
    return np.array(rows)


def check(op: str, kind: str, target: str, immediates: dict[str, int] | None = None) -> None:
    """The model gives the definition's result for every column of operands that does not overflow."""
    fixed = dict(immediates or {})
    definition = operation(op, value_type(kind), value_type(target))
    operands = words(kind, definition.arity)
    for name, number in fixed.items():
        operands["abc".index(name)] = value_type(kind).encode(number)
    want = definition.apply(*operands)
    operands, want = operands[:, want != OVERFLOW], want[want != OVERFLOW]
    assert len(want) > 0
    node = make("alu", "n", 1, op=op, value=kind, to=target, **({"immediates": fixed} if fixed else {}))
    ends = [(0, stop(0)), (0, Token(DONE))]
    inputs = {
        name: [*((0, Token(VAL, word)) for word in row), *ends]
        for name, row in zip("abc", operands.tolist(), strict=False)
        if name not in fixed
    }
    out = bench_primitive(node, ARCH, inputs).outputs["val"]
    assert [token.payload for _, token in out[:-2]] == want.tolist()
    cycles = [cycle for cycle, _ in out]
    assert cycles == list(range(4, 4 + len(cycles)))


@pytest.mark.parametrize(("kind", "op"), [(k, op) for k in TYPES for op in value_type(k).operations])
def test_operations(kind: str, op: str) -> None:
    check(op, kind, kind)


@pytest.mark.parametrize("op", ["add", "sub", "mul"])
@pytest.mark.parametrize(("kind", "target"), WIDENED)
def test_widened(kind: str, target: str, op: str) -> None:
    check(op, kind, target)
    check(op, kind, target, {"a": -5})


@pytest.mark.parametrize("target", TYPES)
@pytest.mark.parametrize("kind", TYPES)
def test_convert(kind: str, target: str) -> None:
    check("convert", kind, target)


@pytest.mark.parametrize("target", ["i8", "i16", "i32"])
@pytest.mark.parametrize(("b", "c"), [(1, 0), (3, 1), (2**31 - 1, 31), (2**31 - 1, 62), (2**30 + 7, 38)])
def test_scale(target: str, b: int, c: int) -> None:
    check("scale", "i32", target, {"b": b, "c": c})


@pytest.mark.parametrize("immediates", [{"a": 1}, {"b": 3}, {"c": -2}, {"a": 0, "c": 2}, {"b": 1, "c": 2}])
@pytest.mark.parametrize("kind", ["i16", "f32"])
def test_immediates_of_three(kind: str, immediates: dict[str, int]) -> None:
    check("select", kind, kind, immediates)


@pytest.mark.parametrize("kind", ["i8", "i16", "i32"])
def test_an_overflow_is_an_error_of_the_model(kind: str) -> None:
    highest = Integer(value_type(kind).width).highest
    node = make("alu", "n", 0, op="add", value=kind, immediates={"b": 1})
    with pytest.raises(RunError, match="overflow at node 'n' in cycle 1"):
        bench_primitive(node, ARCH, {"a": [(0, Token(VAL, highest)), (0, Token(DONE))]})
