"""reduce_scalar, against cycles worked out by hand from docs/primitives.md.

With L₊ = 1, what accumulate pushes in t is at emit in t + 1, and what emit pushes then is popped in t + 2.
"""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.errors import InputError
from samhw.graph import DONE, EMPTY, VAL, Arch, Token, stop
from samhw.graph.numerics import ValueType, value_type
from samhw.primitives.reduce_scalar.component import ReduceScalar
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, Offer, run
from tests.support.streams import timed, tokens

pytestmark = pytest.mark.filterwarnings("ignore:.*created but never used")
"""Components that refuse their parameters."""

F32, BF16 = value_type("f32"), value_type("bf16")


def reduce(val, *, op="sum", value="i32", arch=ARCH, **options):
    return run(ReduceScalar(arch=arch, value_type=value_type(value), op=op), {"val": val}, **options)


@pytest.mark.parametrize(
    ("val", "expected"),
    [
        # The sums are pushed in 2 and 4; the second brings a stop along.
        ("1 2 S0 3 S1 D", "3@4 3@6 S0@7 D@8"),
        ("1 2 N S0 D 5 S0 D", "3@5 D@6 5@8 D@9"),
        # An empty fiber is a zero; a list without fibers is none.
        ("S0 D", "0@2 D@3"),
        ("S0 S0 4 S1 D", "0@2 0@3 4@5 S0@6 D@7"),
        ("S1 D", "0@2 S0@3 D@4"),
        ("S1:1 D", "S0@2 D@3"),
        ("S2:2 D", "S1:1@2 D@3"),
        # [[[1], []], [], [[2]]]: the emitter needs two cycles for a sum and its stop.
        ("1 S0 S1 S1:1 2 S2 D", "1@3 0@4 S0@5 S0@6 2@7 S1@8 D@9"),
    ],
)
def test_examples(val, expected):
    result = reduce(val)
    assert result.pops["val"] == timed(expected)
    assert not result.error


def test_internal_channels_hold_three():
    # Five fibers of nothing: emit is blocked by the full output in 2, the channels take three sums more.
    result = reduce("S0 S0 S0 S0 S0 S0 D", pops={"val": [20]}, depth=1)
    assert result.takes["val"][:6] == [0, 1, 2, 3, 22, 24]


def test_gaps():
    result = reduce(Offer(tokens("1 2 S0 D"), [0, 9]))
    assert result.pops["val"] == timed("3@12 D@13")


@pytest.mark.parametrize(
    ("op", "val", "expected"),
    [
        ("max", "251 253 252 S0 D", 253),
        ("max", "251 N S0 D", 0),
        ("max", "3 127 128 S0 D", 127),
        ("min", "251 253 252 S0 D", 251),
        ("min", "3 5 S0 D", 3),
        ("sum", "251 3 S0 D", 254),
    ],
)
def test_operations(op, val, expected):
    assert reduce(val, op=op, value="i8").pops["val"][0][1].payload == expected


@pytest.mark.parametrize(
    ("op", "val", "expected"),
    [("max", "-2 -1 -3 S0 D", "-1@5 D@6"), ("min", "-2 N S0 1 S0 D", "-2@4 1@6 D@7")],
)
def test_greatest_and_least_of_floating_point(op, val, expected):
    # These take a cycle, so that they are the sequential ones.
    result = reduce(words(F32, val), op=op, value="f32")
    assert [(cycle, read(F32, token)) for cycle, token in result.pops["val"]] == [
        (int(cycle), text) for text, cycle in (word.split("@") for word in expected.split())
    ]


@pytest.mark.parametrize(
    ("val", "value", "error"),
    [
        ("100 27 S0 100 S1 D", "i8", Error(0)),
        ("100 28 S0 D", "i8", Error.OVERFLOW),
        # 128 is the lowest value; as the first of its fiber it is not added to what is left in the
        # accumulator.
        ("128 S0 128 S1 D", "i8", Error(0)),
        ("128 255 S0 D", "i8", Error.OVERFLOW),
        ("100 28 S0 D", "fixed<8,2>", Error(0)),
    ],
)
def test_overflow(val, value, error):
    assert reduce(val, value=value).error == error


def test_saturation():
    assert reduce("100 28 255 S0 D", value="fixed<8,2>").tokens("val") == tokens("126 D")


# Sums of floating point: a value that is taken in t is marked in t + 1 or with its fiber's end, and added in
# the cycle after that; three rounds and the chain take L₊ cycles each.


def words(value: ValueType, text: str) -> list[Token]:
    """Tokens from a text as the bench reads it, but for payloads, which are values."""
    return [
        *(
            tokens(word)[0] if word[0] in "NSD" else Token(VAL, int(value.encode([float(word)])[0]))
            for word in text.split()
        )
    ]


def read(value: ValueType, token: Token) -> str:
    """The text of such a token."""
    if token.kind is VAL:
        return f"{float(value.decode([token.payload])[0]):g}"
    return "D" if token.kind is DONE else f"S{token.hi}"


EMITTED = {
    # Nothing is marked in 0 with the stop, added in 1, 9, 17, 25 (1, 7, 13, 19), emitted in 33 (25).
    0: (34, 26),
    1: (35, 27),
    # The second one is marked in 2, and goes through pair0 in 3.
    2: (36, 28),
    7: (41, 33),
    8: (42, 34),
    # The ninth one goes through pair2 in 26 (22), a cycle after the first block: chain adds both.
    9: (43, 35),
    # Second blocks go through pair2 in 32 (28), 33 (29), and find the first one in chain.
    15: (49, 41),
    16: (50, 42),
    # The seventeenth is at chain in 42 (36) and waits for the sum of two blocks, pushed in 41 (35).
    17: (58, 48),
    # The third block is there when that sum is, in 49; with L₊ = 6 it comes later, in 43.
    24: (58, 50),
    # The sum of three blocks is pushed in 49 (43) and back in 57 (49).
    25: (66, 56),
}
"""The cycle in which the sum of a fiber is popped that begins in 0, by its length: for f32, with L₊ = 8, and
for bf16, with L₊ = 6. DONE is a cycle after it."""


@pytest.mark.parametrize(("value", "column"), [(F32, 0), (BF16, 1)], ids=["f32", "bf16"])
def test_a_fiber_of_any_length(value: ValueType, column: int):
    val: list[Token] = []
    times: list[int] = []
    expected: list[tuple[int, Token]] = []
    for k, (count, cycles) in enumerate(EMITTED.items()):
        begin, end = 100 * k, 100 * k + cycles[column]
        # Up to 256 bf16 holds every integer; so all but the last sums of 24 and 25 are exact.
        fiber = [int(word) for word in value.encode(range(1, count + 1))]
        val += [*(Token(VAL, word) for word in fiber), stop(0), Token(DONE)]
        times += [begin] * (count + 2)
        expected += [(end, Token(VAL, block_sum(value, fiber))), (end + 1, Token(DONE))]
    result = reduce(Offer(val, times), value=value.name, cycles=2000)
    assert result.pops["val"] == expected
    assert not result.error


@pytest.mark.parametrize(
    ("val", "expected"),
    [
        # The stops of the lists go with the last sum.
        ("1 2 S0 3 S1 D", "3@36 3@38 S0@39 D@40"),
        ("S0 S0 4 S1 D", "0@34 0@35 4@37 S0@38 D@39"),
        ("S1 D", "0@34 S0@35 D@36"),
        ("S1:1 D", "S0@34 D@35"),
        ("N 2 N S0 D 5 S0 D", "2@37 D@38 5@40 D@41"),
        # [[[1], []], [], [[2]]]
        ("1 S0 S1 S1:1 2 S2 D", "1@35 0@36 S0@37 S0@38 2@39 S1@40 D@41"),
        # A fiber with a block and one, between short ones: chain takes 33, 34, 35, and is free in 36.
        ("1 1 1 1 1 1 1 1 1 S0 7 S1 D", "9@43 7@45 S0@46 D@47"),
    ],
)
def test_fibers_of_floating_point(val: str, expected: str):
    result = reduce(words(F32, val), value="f32")
    shown = " ".join(f"{read(F32, token)}@{cycle}" for cycle, token in result.pops["val"])
    assert shown == expected.replace("S1:1", "S1")
    assert not result.error


def test_latencies_of_a_sum():
    # Two cycles from mark to pair0 and from emit to the sink.
    slow = Arch(step=2, reduce={"f32": {"sum": 7}})
    assert reduce(words(F32, "1 S0 D"), value="f32", arch=slow).pops["val"][0][0] == 1 + 2 + 4 * 7 + 2
    with pytest.raises(InputError, match=r"'sum' on f32 in Arch\.reduce is 2; give at least"):
        ReduceScalar(arch=Arch(reduce={"f32": {"sum": 2}}), value_type=F32, op="sum")


@pytest.mark.parametrize(("value", "op"), [("i32", "sum"), ("fixed<16,8>", "sum"), ("f32", "max")])
def test_what_is_reduced_in_the_order_of_the_stream_takes_a_cycle(value: str, op: str):
    arch = Arch(reduce={family: {"sum": 2, "max": 2} for family in ("integer", "fixed", "f32")})
    with pytest.raises(InputError, match=rf"'{op}' on {value} in Arch\.reduce is 2; give 1"):
        ReduceScalar(arch=arch, value_type=value_type(value), op=op)


def block_sum(value: ValueType, fiber: list[int]) -> int:
    """The sum of words in the order that docs/primitives.md lays down."""
    add = value.scalar("add")

    def pairwise(block: list[int]) -> int:
        while len(block) > 1:
            pairs = [block[k : k + 2] for k in range(0, len(block), 2)]
            block = [add(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return block[0]

    total, *others = [pairwise(fiber[k : k + 8]) for k in range(0, len(fiber), 8)] or [0]
    for block in others:
        total = add(total, block)
    return total


def floats(random: Random, value: ValueType, count: int) -> list[int]:
    """Words whose sum depends on the order of the additions: a few magnitudes, either sign."""
    return [
        int(w) for w in value.encode([random.uniform(-1, 1) * 4 ** random.randrange(6) for _ in range(count)])
    ]


@pytest.mark.slow
@pytest.mark.parametrize("value", [F32, BF16], ids=str)
def test_the_order_of_the_additions(value: ValueType):
    random = Random(0)
    fibers = [floats(random, value, count) for count in range(42)]
    val = [token for fiber in fibers for token in [*(Token(VAL, word) for word in fiber), stop(0)]]
    result = reduce([*val, Token(DONE)], value=value.name, cycles=2000)
    expected = [Token(VAL, block_sum(value, fiber)) for fiber in fibers]
    assert result.tokens("val") == [*expected, Token(DONE)]


def test_what_has_no_partner_keeps_its_bits():
    # A negative zero, NaNs and subnormal numbers that no operation gives.
    odd = [0x8000_0000, 0x7F80_0001, 0xFFC0_0000, 0x0000_0001, 0x807F_FFFF]
    val = [token for word in odd for token in (Token(VAL, word), stop(0))]
    result = reduce([*val, Token(DONE)], value="f32")
    assert result.tokens("val") == [*(Token(VAL, word) for word in odd), Token(DONE)]


LENGTHS = [3, 0, 38, 17, 17, 1, 0, 9, 25, 2, 33, 8, 7, 24, 16, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "counts"),
    [
        *((F32, counts * (200 // sum(counts))) for counts in ([1], [17], [9], [16], [25, 1, 1, 1])),
        *((value, LENGTHS) for value in (F32, BF16)),
    ],
    ids=["1", "17", "9", "16", "25 1 1 1", "any", "any of bf16"],
)
def test_a_value_in_every_cycle(value: ValueType, counts: list[int]):
    val = [token for count in counts for token in [*[Token(VAL, 0)] * count, stop(0)]]
    result = reduce([*val, Token(DONE)], value=value.name, cycles=1000)
    assert result.takes["val"] == list(range(len(val) + 1))


@pytest.mark.slow
@settings(max_examples=6)
@given(
    value=st.sampled_from([F32, BF16]),
    lists=st.lists(st.lists(st.sampled_from([0, 1, 2, 3, 8, 9, 17, 26]), max_size=4), max_size=4),
    step=st.integers(1, 2),
    depth=st.integers(1, 3),
    seed=st.integers(0, 1 << 32),
)
def test_random_fibers_gaps_and_stalls(
    value: ValueType, lists: list[list[int]], step: int, depth: int, seed: int
):
    random = Random(seed)
    val: list[Token] = []
    expected: list[Token] = []
    for counts in lists:
        for k, count in enumerate(counts):
            fiber = floats(random, value, count)
            missing = random.random() < 0.1
            val += [Token(EMPTY) if missing else Token(VAL, word) for word in fiber]
            val.append(stop(k == len(counts) - 1))
            expected.append(Token(VAL, block_sum(value, [0] * count if missing else fiber)))
        if not counts:
            val.append(stop(1, 1))
        expected.append(stop(0))
    # The lists are one more level.
    val = [*val[:-1], stop(2, val[-1].lo), Token(DONE)] if lists else [stop(2, 2), Token(DONE)]
    expected = [*expected[:-1], stop(1), Token(DONE)] if lists else [stop(1, 1), Token(DONE)]

    def gaps(count: int) -> list[int]:
        pace, time, times = random.choice([0, 1, 3]), 0, []
        for _ in range(count):
            time += random.choice([0, 0, 1, pace, 5 * pace])
            times.append(time)
        return times

    result = reduce(
        Offer(val * 2, gaps(2 * len(val))),
        value=value.name,
        arch=Arch(step=step),
        pops={"val": gaps(2 * len(expected))},
        depth=depth,
        cycles=20_000,
    )
    assert result.tokens("val") == expected * 2
    assert not result.error
