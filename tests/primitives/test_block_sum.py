"""Sums of floating point in reduce_scalar: cycles by hand, full rate, and the order of accumulation.

Token k of the stream is pushed in cycle k, so that mark takes it in cycle k + 1. With A the latency of the
adder, element i of a fiber without its end leaves mark in i + 2 and is at pair0 in i + 3; each round of pairs
takes A, so that what element i completes is at chain in i + 3 + 3A, and its sum at emit A later.
"""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from samhw.graph import DONE, EMPTY, VAL, Arch, Token, make, stop
from samhw.graph.numerics import Float, reduce_words
from tests.support.bench import Bench, bench_primitive
from tests.support.nested import from_stream, to_stream
from tests.support.strategies.streams import structures
from tests.support.stream_cases import at_depth

F32 = Float("f32")


def arch(cycles: int) -> Arch:
    return Arch(reduce={"f32": {"sum": cycles}, "bf16": {"sum": cycles}})


def run(stream: list[Token], depth: int, cycles: int, kind: Float = F32) -> Bench:
    node = make("reduce_scalar", "n", depth, op="sum", value=str(kind))
    return bench_primitive(node, arch(cycles), {"val": list(enumerate(stream))}, output_depths={"val": 99})


def fiber(*values: float) -> list[Token]:
    return [Token(VAL, int(word)) for word in F32.encode(values).tolist()]


@pytest.mark.parametrize(
    ("length", "cycles", "expected"),
    [
        # A fiber of up to a block: its last element brings it to chain in n + 2 + 3A; seen A + 1 later.
        *((0, 8, 35), (1, 8, 36), (2, 8, 37), (7, 8, 42), (8, 8, 43), (8, 1, 15), (8, 3, 23)),
        # The ninth element is a block of its own, right after the first.
        *((9, 8, 44), (9, 1, 16)),
        # The second block is at chain in 18 + 3A; what follows it must wait for the loop: 18 + 4A.
        *((17, 8, 59), (17, 6, 49), (17, 1, 24), (17, 2, 29)),
        # The third block in 26 + 3A, no sooner than the loop's token; what follows it in 26 + 4A.
        *((25, 8, 67), (25, 6, 57), (25, 1, 32)),
    ],
)
def test_cycles(length: int, cycles: int, expected: int) -> None:
    stream = [*fiber(*range(1, length + 1)), stop(0), Token(DONE)]
    total = Token(VAL, int(F32.encode(length * (length + 1) / 2)))
    assert run(stream, 1, cycles).outputs["val"] == [(expected, total), (expected + 1, Token(DONE))]


def test_ends_of_lists() -> None:
    """What comes after each sum: nothing, a stop (a cycle more), or the stop of a list without fibers."""
    one, two = fiber(1, 2)
    stream = [one, stop(0), stop(1), two, Token(EMPTY), stop(1), stop(1, 1), stop(2, 2), Token(DONE)]
    zero = Token(VAL, 0)
    # mark pushes in 2, 3, 6, 7, 8, 9; with an adder of one cycle emit sees that six cycles later.
    assert run(stream, 3, 1).outputs["val"] == [
        *((8, one), (9, zero), (10, stop(0)), (12, two), (13, stop(0)), (14, stop(0)), (15, stop(1, 1))),
        (16, Token(DONE)),
    ]


@settings(max_examples=60)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.integers(1, 8))
@example([1] * 60, 8)
@example([17] * 12, 8)
@example([17, *[0] * 8, 17, *[0] * 40], 8)
@example([9] * 12, 1)
def test_full_rate(lengths: list[int], cycles: int) -> None:
    """One token a cycle, stops included."""
    stream = [token for n in lengths for token in (*fiber(*range(n)), stop(0))]
    stream[-1] = stop(1)
    assert run([*stream, Token(DONE)], 2, cycles).pushed["val"] == list(range(len(stream) + 1))


@pytest.mark.parametrize(("cycles", "held"), [(1, 18), (3, 28), (8, 53)])
def test_depths(cycles: int, held: int) -> None:
    """What it holds while nothing is taken from it: 1 at each end, 3, A + 2, A + 2, 2A + 2 and A + 2."""
    stream = [(0, token) for token in [*[stop(0)] * 99, stop(1), Token(DONE)]]
    node = make("reduce_scalar", "n", 2, op="sum", value="f32")
    ends = {"sinks": {"val": [1000]}, "input_depths": {"val": 1}, "output_depths": {"val": 1}}
    pushed = bench_primitive(node, arch(cycles), {"val": stream}, **ends).pushed["val"]
    assert sum(cycle < 1000 for cycle in pushed) == held


E = 2.0**-24
"""Half of the last place of one: it is lost where it is added to one alone."""

ORDERS = {
    "pairs first: 1 + E loses E, E + E and what follows do not": ([1, E, E, E], 1 + 2 * E),
    "neighbours, not halves": ([1, E, -1, E, E, 0, 0, 0], 2 * E),
    "an element without a partner goes on": ([E, E, 1], 1 + 2 * E),
    "a block after another: in sequence each E is lost": ([1, *[0] * 7, E, *[0] * 7, E, *[0] * 7], 1.0),
    "the ninth element is added to the first block": ([*[E / 4] * 8, 1], 1 + 2 * E),
    "the first two blocks first": ([E, *[0] * 7, E, *[0] * 7, 1], 1 + 2 * E),
    "no zero is added to the only element": ([-0.0], -0.0),
}


@pytest.mark.parametrize("name", ORDERS)
def test_order_of_accumulation(name: str) -> None:
    values, total = ORDERS[name]
    word = int(F32.encode(total))
    assert reduce_words(F32, "sum", F32.encode(values)) == word
    (_, token), _ = run([*fiber(*values), stop(0), Token(DONE)], 1, 8).outputs["val"]
    assert token == Token(VAL, word)


@st.composite
def nested(draw: st.DrawFn, kind: Float, depth: int) -> list:
    """Lists of fibers of up to four blocks, of any words."""
    fibers = st.integers(0, 33).flatmap(
        lambda n: st.lists(st.none() | st.integers(0, (1 << kind.width) - 1), min_size=n, max_size=n)
    )
    return draw(structures(depth - 1, fibers))


@pytest.mark.parametrize("kind", [F32, Float("bf16")], ids=str)
def test_streams_against_the_definition(kind: Float) -> None:
    @settings(max_examples=60)
    @given(st.data(), st.integers(1, 3), st.integers(1, 8))
    def check(data: st.DataObject, depth: int, cycles: int) -> None:
        structure = data.draw(nested(kind, depth))
        result = run(to_stream(structure, depth), depth, cycles, kind)
        sums = from_stream([token for _, token in result.outputs["val"]], depth - 1)
        assert sums == at_depth(structure, depth - 1, total)

    def total(words: list[int | None]) -> int:
        return reduce_words(kind, "sum", [0 if word is None else word for word in words])

    check()
