"""The built-in sequences at their edges, in all value types and under every transformation: against NumPy.

Edges are a length that no dilation divides, windows beyond their lists, one step, nothing stored, no step.
Where a program only adds, multiplies and takes maxima, data are whole numbers that leave no type's exact
range, and results are equal to the bit in every type. `SAMHW_THOROUGH=1` runs every combination; else there
is a sample.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.errors import InputError
from samhw.lang import load_program, nested, sequence_names
from samhw.lang.nested import ListType
from tests.nested.examples import example
from tests.support.plain_sequences import PLAIN
from tests.support.thorough import THOROUGH

Shape = tuple[int, ...]


def rnn(batch: int, layers: int, steps: int) -> list[Shape]:
    return [(batch, steps, 4), (layers, 4, 4)]


def lstm(layers: int, *sequence: int) -> list[Shape]:
    return [(*sequence, 4), (layers, 4, 4, 4), (layers, 4, 4, 4), (layers, 4, 4)]


def grid(layers: int, source: int, target: int) -> list[Shape]:
    weights: list[Shape] = [(layers, 4, 4), (layers, 2, 4, 4), (layers, 4)]
    return [(source, 4), (target, 4), *weights, *weights]


def attention(queries: int, keys: int, *block: int) -> list[Shape]:
    return [(queries, *block), (keys, *block), (keys, *block)]


def voxels(*sizes: int) -> list[Shape]:
    *site, channels, features = sizes
    return [(*site, channels), tuple(site), (3, 3, 3, channels, features)]


EDGES: dict[str, dict[str, list[Shape]]] = {
    "stacked_rnn": {
        "small": rnn(2, 3, 8),
        "more layers than steps": rnn(2, 4, 2),
        "one step": rnn(2, 3, 1),
        "one cell": rnn(1, 1, 1),
    },
    "stacked_lstm": {"small": lstm(2, 2, 8), "one step": lstm(3, 2, 1), "one layer": lstm(1, 1, 3)},
    "dilated_rnn": {
        "nothing divides": lstm(3, 9),
        "shorter than a dilation": lstm(3, 3),
        "as long as a dilation": lstm(3, 4),
        "one step": lstm(3, 1),
    },
    "grid_rnn": {
        "small": grid(3, 4, 5),
        "one cell": grid(1, 1, 1),
        "a row": grid(2, 1, 4),
        "a column": grid(2, 3, 1),
    },
    "b2b_gemm": {
        "small": [(4, 8, 8), (2, 8, 8), (2, 8, 8)],
        "one block": [(1, 8, 8), (1, 8, 8), (1, 8, 8)],
        "blocks of one": [(3, 1, 1), (2, 1, 1), (2, 1, 1)],
    },
    "flash_attention": {
        "small": attention(4, 4, 8, 8),
        "one block": attention(1, 1, 4, 4),
        "one query": attention(1, 3, 1, 2),
    },
    "bigbird_blocked": {
        "small": attention(8, 8, 4, 4),
        "five blocks": attention(5, 5, 4, 4),
        "rows of one": attention(6, 6, 1, 2),
    },
    "conv2d": {
        "small": [(2, 6, 4), (3, 2, 3, 3), (3,)],
        "odd": [(1, 5, 3), (2, 1, 3, 3), (2,)],
        "below the window": [(1, 2, 2), (1, 1, 3, 3), (1,)],
    },
    "sparse_conv3d": {
        "small": voxels(4, 3, 5, 2, 3),
        "below the window": voxels(1, 2, 1, 1, 1),
        "nothing stored": voxels(2, 2, 2, 1, 2),
    },
    "retention": {
        "small": [(2, 5, 3), (2, 5, 3), (2, 5, 2), (2,)],
        "one step": [(2, 1, 3), (2, 1, 3), (2, 1, 2), (2,)],
        "one number": [(1, 1, 1), (1, 1, 1), (1, 1, 1), (1,)],
    },
    "selective_scan": {
        "small": [(5, 3), (5, 3), (3, 4), (5, 4), (5, 4), (3,)],
        "one step": [(1, 2), (1, 2), (2, 1), (1, 1), (1, 1), (2,)],
    },
}

DEPTHS = {
    "stacked_rnn": (2, 1),
    "stacked_lstm": (2, 2, 2, 2),
    "dilated_rnn": (1, 2, 2, 2),
    "grid_rnn": (1, 1, 1, 2, 1, 1, 2, 1),
    "b2b_gemm": (1, 1, 1),
    "flash_attention": (1, 1, 1),
    "bigbird_blocked": (1, 1, 1),
}
"""Of the lists that functions of nested lists take."""

WHOLE = {"stacked_rnn", "b2b_gemm", "conv2d", "sparse_conv3d"}
"""What whole numbers give whole numbers."""

EXACT = {
    "i8": 127,
    "i16": 2**15 - 1,
    "i32": 2**31 - 1,
    "fixed<16,8>": 127,
    "f8e4m3": 16,
    "f8e5m2": 8,
    "bf16": 256,
    "f32": 2**24,
}
"""Up to where a type has every whole number."""

NEAR = {"fixed<16,8>": 0.1, "f8e4m3": 0.6, "f8e5m2": 1.2, "bf16": 0.08, "f32": 2e-5}
"""How far a result in the order of 1 may be from NumPy's."""

FORMS = [(copies, fuse) for copies in (False, True) for fuse in (None, "none", "full")]
"""The transformations: cells of a wavefront as rows or as copies, and where regions end."""


def drawn(name: str, edge: str, value: str) -> list[Any]:
    """Data for a program; whole numbers with no sum of magnitudes beyond what a type has exactly."""
    rng = np.random.default_rng(len(name) * len(edge))
    shapes = EDGES[name][edge]
    if name not in WHOLE:
        return [rng.normal(size=shape) / 2 for shape in shapes]
    share = 0.0 if edge == "nothing stored" else 0.9
    while True:
        found = [rng.integers(-3, 4, shape) * (rng.random(shape) < share) for shape in shapes]
        if name == "sparse_conv3d":
            found[1] = (found[1] != 0) | (share == 0)
        if np.max(PLAIN[name](*map(np.abs, found))) <= EXACT[value]:
            return found
        share *= 0.9


def computed(name: str, data: Sequence[Any], value: str, copies: bool, fuse: str | None) -> tuple[Any, ...]:
    """What samhw gives, checked."""
    if name not in DEPTHS:
        program = load_program(name)
        inputs = dict(zip((decl.name for decl in program.operands), data, strict=True))
        done = samhw.compile(program, value=value, fuse=fuse).run(inputs)
        results: tuple[Any, ...] = tuple(done.tensors[decl.name].to_dense() for decl in program.outputs)
    else:
        lists = [nested.nested_tensor(x, depth) for x, depth in zip(data, DEPTHS[name], strict=True)]
        found = nested.lowered(nested.trace(example(name)[name], *lists), copies)
        done = samhw.compile(found.program, value=value, fuse=fuse).run(found.inputs(*lists))
        given = found.results(done)
        results = tuple(one.array for one in (given if isinstance(given, tuple) else (given,)))
    assert done.check().verdict != "wrong"
    return results


def compare(name: str, edge: str, value: str, copies: bool, fuse: str | None) -> None:
    data = drawn(name, edge, value)
    if name not in WHOLE and value.startswith("i"):
        with pytest.raises(
            InputError, match=f"{value} has no operation .*choose another 'value', such as f32"
        ):
            computed(name, data, value, copies, fuse)
        return
    if name == "flash_attention" and value.startswith("fixed"):
        with pytest.raises(InputError, match="The data holds NaN or infinity, which fixed<16,8> has not"):
            computed(name, data, value, copies, fuse)
        return
    if name == "flash_attention" and value == "f8e4m3":
        # The type has no infinity: the first maximum is NaN, and everything after it.
        assert all(np.isnan(one).all() for one in computed(name, data, value, copies, fuse))
        return
    expected = PLAIN[name](*data)
    for one, other in zip(
        computed(name, data, value, copies, fuse),
        expected if isinstance(expected, tuple) else (expected,),
        strict=True,
    ):
        if name in WHOLE:
            assert np.array_equal(one, other)
        else:
            assert np.max(np.abs(one - other)) <= NEAR[value] * max(1, np.max(np.abs(other)))


def combinations() -> list[tuple[str, str, str, bool, str | None]]:
    """Each edge in each type as it is compiled by default, and under each transformation in one type."""
    found: list[tuple[str, str, str, bool, str | None]] = []
    for name, edges in EDGES.items():
        forms = FORMS if name in DEPTHS else [form for form in FORMS if not form[0]]
        for edge in edges:
            found += [(name, edge, value, False, None) for value in EXACT]
            found += [(name, edge, "i32" if name in WHOLE else "f32", *form) for form in forms[1:]]
    return found


QUICK = [
    ("stacked_rnn", "one step", "i8", True, "full"),
    ("dilated_rnn", "one step", "bf16", False, None),
    ("b2b_gemm", "blocks of one", "f8e5m2", False, "none"),
    ("conv2d", "below the window", "fixed<16,8>", False, "full"),
    ("sparse_conv3d", "nothing stored", "i16", False, None),
    ("retention", "one step", "f8e4m3", False, "none"),
    ("selective_scan", "one step", "i32", False, None),
]


def test_every_program_has_edges() -> None:
    assert set(EDGES) == set(sequence_names()) == set(PLAIN)
    assert set(QUICK) <= set(combinations()) | {(*case[:3], *form) for case in QUICK for form in FORMS}


@pytest.mark.filterwarnings("ignore:invalid value encountered")  # The first maximum of attention is -inf.
@pytest.mark.parametrize(
    "case", combinations() if THOROUGH else QUICK, ids=lambda case: "-".join(map(str, case))
)
def test_an_edge(case: tuple[str, str, str, bool, str | None]) -> None:
    compare(*case)


@pytest.mark.parametrize("name", DEPTHS)
def test_no_step_of_a_function(name: str) -> None:
    shapes = next(iter(EDGES[name].values()))
    types = [
        ListType(shape[:depth], shape[depth:]) for shape, depth in zip(shapes, DEPTHS[name], strict=True)
    ]
    types[0] = ListType((*types[0].extents[:-1], 0), types[0].shape)
    with pytest.raises(InputError, match="is a list without items; give it one or more"):
        nested.trace(example(name)[name], *types)


NOTHING: list[tuple[str, list[Shape]]] = [
    ("retention", [(2, 0, 3), (2, 0, 3), (2, 0, 2), (2,)]),
    ("selective_scan", [(0, 3), (0, 3), (3, 4), (0, 4), (0, 4), (3,)]),
    ("conv2d", [(1, 0, 4), (1, 1, 3, 3), (1,)]),
    ("sparse_conv3d", [(0, 2, 2, 1), (0, 2, 2), (3, 3, 3, 1, 1)]),
]


@pytest.mark.parametrize(("name", "shapes"), NOTHING)
def test_no_step_of_a_text(name: str, shapes: list[Shape]) -> None:
    program = load_program(name)
    inputs = {decl.name: np.zeros(shape) for decl, shape in zip(program.operands, shapes, strict=True)}
    with pytest.raises(InputError, match=r"with (t|row|x)=0; an extent is from 1 to"):
        samhw.compile(program).run(inputs)


BELOW: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: nested.trace(example("bigbird_blocked")["bigbird_blocked"], *3 * [ListType((4,), (2, 2))]),
        r"the part \[2:-2\] of a list of 4 items is empty",
    ),
    (
        lambda: samhw.compile(load_program("conv2d")).run(
            X=np.ones((1, 1, 4)), K=np.ones((1, 1, 3, 3)), b=[0]
        ),
        r"'X\[c, 2\*i \+ y - 1, 2\*j \+ x - 1\]' lies outside of 'X' for every i",
    ),
]


@pytest.mark.parametrize(("call", "message"), BELOW)
def test_what_is_too_small(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
