"""running, against cycles worked out by hand from docs/primitives.md."""

from random import Random

import pytest

from samhw.errors import InputError
from samhw.graph import DONE, VAL, Arch, Token, stop
from samhw.graph.numerics import OVERFLOW, reduce_words, value_type
from samhw.primitives.running.component import Running
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, Offer, run
from tests.support.streams import timed, tokens

pytestmark = pytest.mark.filterwarnings("ignore:.*created but never used")
"""Components that refuse their parameters."""

F32 = value_type("f32")


def running(val, *, op="sum", value="i32", arch=ARCH, exclusive=False, **options):
    component = Running(arch=arch, value_type=value_type(value), op=op, exclusive=exclusive)
    return run(component, {"val": val}, **options)


@pytest.mark.parametrize(
    ("val", "expected"),
    [
        ("1 2 N S0 D", "1@2 3@3 3@4 S0@5 D@6"),
        ("1 2 S0 S0 3 S1 D", "1@2 3@3 S0@4 S0@5 3@6 S1@7 D@8"),
        ("S1:1 D", "S1:1@2 D@3"),
        # Twice in a row: nothing is left behind.
        ("4 S0 D 5 S0 D", "4@2 S0@3 D@4 5@5 S0@6 D@7"),
    ],
)
def test_one_after_another(val, expected):
    result = running(val)
    assert result.pops["val"] == timed(expected)
    assert not result.error


def test_gaps():
    result = running(Offer(tokens("1 2 S0 D"), [0, 9]))
    assert result.pops["val"] == timed("1@2 3@11 S0@12 D@13")


@pytest.mark.parametrize(
    ("op", "value", "val", "expected"),
    [
        ("max", "i8", "251 253 252 S0 D", "0@3 251@4 253@5 S0@6 D@7"),
        ("min", "i8", "3 5 S0 1 S0 D", "0@3 3@4 S0@5 0@6 S0@7 D@8"),
        ("sum", "fixed<16,8>", "256 512 S0 D", "0@3 256@4 S0@5 D@6"),
    ],
)
def test_exclusive(op, value, val, expected):
    assert running(val, op=op, value=value, exclusive=True).pops["val"] == timed(expected)


@pytest.mark.parametrize(
    ("value", "start"), [("i32", 1), ("f32", 0x3F800000), ("fixed<16,8>", 256), ("fixed<8,7>", 127)]
)
def test_exclusive_products_begin_with_one(value, start):
    found = running("0 N S0 D", op="prod", value=value, exclusive=True).pops["val"]
    assert [token for _, token in found] == [Token(VAL, start), Token(VAL, 0), stop(0), Token(DONE)]


def test_a_product_of_more_than_a_block():
    # Four cycles a multiplication: spread in 0, 4 and 8, add in 12. The block is whole at spread2 in 15, at
    # chain in 19, so that the ninth element has its carry in 23, and the end, after the loop, in 28.
    result = running("2 1 1 1 1 1 1 1 3 S0 D", op="prod")
    assert result.pops["val"] == timed("2@16 2@17 2@18 2@19 2@20 2@21 2@22 2@23 6@27 S0@28 D@32")


@pytest.mark.parametrize("cycles", [1, 5, 8])
def test_a_product_takes_an_element_in_every_cycle(cycles):
    arch = Arch(reduce={"f32": {"sum": 7, "prod": max(5, cycles)}})
    random = Random(cycles)
    fibers = [random.choice([1, 7, 8, 9, 40]) for _ in range(12)]
    one = int(F32.encode(1.0))
    stream = [token for n in fibers for token in (*[Token(VAL, one)] * n, stop(0))]
    result = running([*stream, Token(DONE)], op="prod", value="f32", arch=arch, depth=20)
    taken = result.takes["val"]
    assert taken == list(range(len(stream) + 1))


@pytest.mark.parametrize(("value", "op"), [("f32", "sum"), ("bf16", "prod"), ("i32", "prod")])
@pytest.mark.parametrize("seed", range(3))
def test_the_order_is_that_of_the_reducer(value, op, seed):
    kind, random = value_type(value), Random(seed)
    numbers = [random.choice([-1, 1]) if value == "i32" else random.uniform(-10, 10) for _ in range(35)]
    words = kind.encode(numbers).tolist()
    found = running([*(Token(VAL, w) for w in words), stop(0), Token(DONE)], op=op, value=value).pops["val"]
    expected = [reduce_words(kind, op, words[: n + 1]) for n in range(len(words))]
    assert OVERFLOW not in expected
    assert [token.payload for _, token in found[:-2]] == expected


def test_overflow():
    assert running("100 100 S0 D", value="i8").error == Error.OVERFLOW
    assert running("100 2 S0 D", op="prod", value="i8").error == Error.OVERFLOW
    assert not running("100 27 S0 D", value="i8").error


def test_latencies_that_cannot_be():
    with pytest.raises(InputError, match=r"'sum' on i32 in Arch\.reduce is 2; give 1, since running takes"):
        Running(arch=Arch(reduce={"integer": {"sum": 2}}), value_type=value_type("i32"), op="sum")
    with pytest.raises(InputError, match=r"'prod' on f32 in Arch\.reduce is 2; give at least"):
        Running(arch=Arch(reduce={"f32": {"prod": 2}}), value_type=F32, op="prod")
    with pytest.raises(InputError, match=r"Arch\.reduce\['integer'\]\['prod'\] is 9; give at most 8"):
        Arch(reduce={"integer": {"prod": 9}})
