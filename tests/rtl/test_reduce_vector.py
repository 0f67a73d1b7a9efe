"""reduce_vector, against cycles worked out by hand from docs/primitives.md, and against a plain dictionary.

With the default latencies and one bitmap, a flush that accumulate pushes in t is fetched in t + L₊ + 1,
iterated from t + L₊ + 3 on and emitted from t + L₊ + 4 on; crd tokens are popped a cycle, val tokens two
cycles later.
"""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from amaranth.hdl import ClockDomain, Module
from amaranth.sim import Simulator, SimulatorContext
from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.graph import DONE, VAL, Arch, Kind, Token, check_stream
from samhw.graph.numerics import value_type
from samhw.primitives.reduce_vector.component import ReduceVector
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, Harness, Offer, run
from tests.rtl.nested import Nested, encode, leaves
from tests.support.streams import timed, tokens

I32_MASK = 0xFFFF_FFFF


def reducer(
    bits: list[int], *, op: str = "sum", value: str = "i32", arch: Arch = ARCH, banks: int = 2
) -> ReduceVector:
    return ReduceVector(arch=arch, value_type=value_type(value), op=op, bits=bits, banks=banks)


@pytest.mark.parametrize(
    ("crd0", "val", "expected_crd0", "expected_val"),
    [
        # The flush is pushed in 5.
        (
            "1 3 S0 1 2 S1 D",
            "10 20 S0 5 7 S1 D",
            "1@11 2@12 3@13 S0@14 D@15",
            "15@12 7@13 20@14 S0@15 D@16",
        ),
        # A sum over nothing is empty, as is a sum of empty fibers; a list without sums stays one.
        ("S1:1 D", "S1:1 D", "S0@6 D@7", "S0@7 D@8"),
        ("S1 D", "S1 D", "S0@6 D@7", "S0@7 D@8"),
        ("S0 S1 D", "S0 S1 D", "S0@7 D@8", "S0@8 D@9"),
        ("S2:2 D", "S2:2 D", "S1:1@6 D@7", "S1:1@7 D@8"),
        # EMPTY is a zero, and present.
        ("2 S1 D", "N S1 D", "2@7 S0@8 D@9", "0@8 S0@9 D@10"),
        # Three sums of one fiber each. A flush waits until the bank before it is drained: the stop of the
        # flush that is pushed in 3 is emitted in 11 and frees its bank for 12; then again from 12 to 21.
        (
            "0 1 2 S1 0 1 2 S1 0 1 2 S2 D",
            "1 2 3 S1 4 5 6 S1 7 8 9 S2 D",
            "0@9 1@10 2@11 S0@12 0@18 1@19 2@20 S0@21 0@27 1@28 2@29 S1@30 D@31",
            "1@10 2@11 3@12 S0@13 4@19 5@20 6@21 S0@22 7@28 8@29 9@30 S1@31 D@32",
        ),
    ],
)
def test_vectors(crd0: str, val: str, expected_crd0: str, expected_val: str):
    result = run(reducer([4]), {"crd0": crd0, "val": val})
    assert result.pops == {"crd0": timed(expected_crd0), "val": timed(expected_val)}
    assert not result.error


def test_the_next_fiber_enters_while_the_last_one_leaves():
    fibers = {"crd0": "0 1 2 S1 0 1 2 S1 0 1 2 S2 D", "val": "1 2 3 S1 4 5 6 S1 7 8 9 S2 D"}
    result = run(reducer([4]), fibers)
    assert result.takes["crd0"] == [0, 1, 2, 3, 4, 5, 6, 12, 13, 14, 15, 21, 22]
    assert result.takes["val"] == result.takes["crd0"]


def test_a_matrix():
    # [[0: [0: 1, 2: 2], 3: [1: 3]], [3: [1: 4, 2: 5]]]; the flush is pushed in 7. A row's end is a cycle.
    result = run(
        reducer([2, 2]),
        {"crd0": "0 2 S0 1 S1 1 2 S2 D", "crd1": "0 0 S0 3 S1 3 3 S2 D", "val": "1 2 S0 3 S1 4 5 S2 D"},
    )
    assert result.pops == {
        "crd0": timed("0@13 2@14 S0@15 1@16 2@17 S1@18 D@19"),
        "crd1": timed("0@13 3@16 S0@18 D@19"),
        "val": timed("1@14 2@15 S0@16 7@17 5@18 S1@19 D@20"),
    }


def test_an_empty_matrix():
    result = run(reducer([2, 2]), {"crd0": "S2 D", "crd1": "S2 D", "val": "S2 D"})
    assert result.pops == {
        "crd0": timed("S1:1@6 D@7"),
        "crd1": timed("S0@6 D@7"),
        "val": timed("S1:1@7 D@8"),
    }


def test_two_bitmaps():
    # The flush is pushed in 3; the upper bitmap gives words 0 and 1 in 7 and 8, the lower bits from 10 on.
    result = run(reducer([6]), {"crd0": "5 40 41 S1 D", "val": "1 2 3 S1 D"})
    assert result.pops == {
        "crd0": timed("5@12 40@13 41@14 S0@15 D@16"),
        "val": timed("1@13 2@14 3@15 S0@16 D@17"),
    }


def test_longer_latencies():
    # Flush 4, memory 3, step 2 cycles: pushed in 1, fetched in 5, iterated from 8 on, emitted from 10 on.
    arch = Arch(step=2, memory=3, reduce={"integer": {"sum": 3}})
    result = run(reducer([4], arch=arch), {"crd0": "2 S1 2 S2 D", "val": "5 S1 6 S2 D"})
    # The stop is emitted in 11, so that the bank is free in 13.
    assert result.takes["val"] == [0, 1, 2, 13, 14]
    assert result.pops == {
        "crd0": timed("2@12 S0@13 2@24 S1@25 D@26"),
        "val": timed("5@13 S0@14 6@25 S1@26 D@27"),
    }


def sums_of(latency: int) -> Arch:
    """An integer sum of that latency; the adder itself takes one cycle."""
    return Arch(reduce={"integer": {"sum": latency}})


@pytest.mark.parametrize(
    ("latency", "distance"), [(n, distance) for n in (1, 2, 5) for distance in range(1, n + 4)]
)
def test_an_address_at_every_distance(latency: int, distance: int):
    # Not well formed, since a fiber has no coordinate twice; 1 comes back after `distance` payloads.
    others = range(2, distance + 1)
    fiber = " ".join(["1", *map(str, others)] * 4)
    values = " ".join(str(n) for n in range(1, 4 * distance + 1))
    component = reducer([4], arch=sums_of(latency))
    result = run(component, {"crd0": f"{fiber} S1 D", "val": f"{values} S1 D"})
    sums = [sum(range(first, 4 * distance + 1, distance)) for first in range(1, distance + 1)]
    assert [t.payload for t in result.tokens("crd0")[:-2]] == list(range(1, distance + 1))
    assert [t.payload for t in result.tokens("val")[:-2]] == sums
    # They are `latency` cycles apart, where they are fewer payloads apart; others do not wait.
    period = max(latency, distance)
    taken = [period * k + n for k in range(4) for n in range(distance)]
    assert result.takes["crd0"] == [*taken, taken[-1] + 1, taken[-1] + 2]


def test_spacing_of_floating_point():
    # L₊ = 8. The addresses 1, 2 are taken in 0, 1; again in 8 and 9, with a third between them and the stop.
    f32 = value_type("f32")
    words = [int(word) for word in f32.encode([1.5, 2, 1e8, 7, -1e8])]
    val = " ".join(str(word) for word in words)
    result = run(reducer([4], value="f32"), {"crd0": "1 2 1 3 1 S1 D", "val": f"{val} S1 D"})
    assert result.takes["crd0"] == [0, 1, 8, 9, 16, 17, 18]
    # The flush is pushed in 17. (1.5 + 1e8) - 1e8 loses the 1.5.
    two, seven = words[1], words[3]
    assert result.pops == {
        "crd0": timed("1@30 2@31 3@32 S0@33 D@34"),
        "val": timed(f"0@31 {two}@32 {seven}@33 S0@34 D@35"),
    }


def test_stops_do_not_wait():
    # 1 and the garbage of a stop's payload: STOP(1, 1) has the payload 17, which is address 1.
    result = run(
        reducer([4], arch=sums_of(8)), {"crd0": "1 S0 S0 1 S1:1 D", "val": "5 S0 S0 6 S1:1 D"}, cycles=60
    )
    assert result.takes["crd0"] == [0, 1, 2, 8, 9, 10]
    assert result.tokens("val") == tokens("11 S0 D")


@pytest.mark.parametrize("latency", [1, 2, 8])
def test_a_drain_finds_the_last_accumulation(latency: int):
    # The stop is right after the value, and the value right after that of another fiber of the sum.
    result = run(reducer([4], arch=sums_of(latency)), {"crd0": "2 S0 2 S1 2 S2 D", "val": "5 S0 6 S1 7 S2 D"})
    assert result.tokens("val") == tokens("11 S0 7 S1 D")
    # The second value waits; the flush is pushed right after it.
    second = max(2, latency)
    assert result.takes["crd0"][:4] == [0, 1, second, second + 1]
    assert result.pops["val"][0][0] == second + 1 + latency + 1 + 2 + 1 + 2


@pytest.mark.parametrize(
    ("banks", "flushes"),
    [(2, [1, 8, 15, 22, 29]), (3, [1, 3, 8, 10, 15]), (4, [1, 3, 5, 8, 10]), (5, [1, 3, 5, 7, 9])],
)
def test_so_many_fibers_are_under_way_as_there_are_further_banks(banks: int, flushes: list[int]):
    # A bank comes back seven cycles after its flush; with four more of them a fiber takes its two tokens.
    streams = {"crd0": "1 S1 2 S1 3 S1 0 S1 2 S2 D", "val": "1 S1 2 S1 3 S1 4 S1 5 S2 D"}
    result = run(reducer([2], banks=banks), streams)
    assert result.takes["crd0"][1::2] == flushes
    assert result.tokens("crd0") == tokens("1 S0 2 S0 3 S0 0 S0 2 S1 D")
    assert result.tokens("val") == tokens("1 S0 2 S0 3 S0 4 S0 5 S1 D")


@pytest.mark.parametrize("before", ["", "0 ", "0 1 ", "0 1 3 "])
def test_the_banks_wait_for_nothing_but_their_own_addresses(before: str):
    # Address 2 of the other bank is another place, right after the flush and later.
    crd, val = f"2 S1 {before}2 S2 D", f"5 S1 {before}7 S2 D"
    for times in ([], [0, 1, 3, 4, 6, 7]):
        offers = {"crd0": Offer(tokens(crd), times), "val": val}
        result = run(reducer([4], arch=sums_of(8)), offers)
        count = 3 + len(before.split())
        assert result.takes["crd0"][:count] == [*times, *range(8)][:count]


@pytest.mark.parametrize(("op", "expected"), [("sum", 2), ("max", 3), ("min", 255)])
def test_operations(op: str, expected: int):
    result = run(reducer([1], op=op, value="i8"), {"crd0": "1 S0 1 S1 D", "val": "255 S0 3 S1 D"})
    assert result.tokens("val") == tokens(f"{expected} S0 D")


def test_overflow():
    crds, vals = "0 1 S0 0 S1 D", "127 127 S0 1 S1 D"
    assert run(reducer([1], value="i8"), {"crd0": crds, "val": vals}).error == Error.OVERFLOW
    fits = run(reducer([1], value="i8"), {"crd0": crds, "val": "126 127 S0 1 S1 D"})
    assert not fits.error
    saturated = run(reducer([1], value="fixed<8,4>"), {"crd0": crds, "val": vals})
    assert not saturated.error
    assert saturated.tokens("val") == tokens("127 127 S0 D")


@pytest.mark.parametrize(
    ("bits", "crd0", "crd1"), [([2, 2], "4", "0"), ([2, 2], "0", "4"), ([3, 0], "7", "1")]
)
def test_range(bits: list[int], crd0: str, crd1: str):
    result = run(reducer(bits), {"crd0": f"{crd0} S2 D", "crd1": f"{crd1} S2 D", "val": "1 S2 D"})
    assert result.error == Error.RANGE


@pytest.mark.parametrize(
    ("crd0", "val"), [("1 S1 D", "S1 D"), ("S0 S1 D", "S1 D"), ("S1:1 D", "S1 D"), ("S1 D", "D")]
)
def test_protocol(crd0: str, val: str):
    result = run(reducer([2]), {"crd0": crd0, "val": val}, cycles=20)
    assert result.error == Error.PROTOCOL


def test_it_waits_for_every_input():
    result = run(reducer([2]), {"crd0": "1 S1 D", "val": Offer(tokens("7 S1 D"), [3, 9])})
    assert result.takes == {"crd0": [3, 9, 10], "val": [3, 9, 10]}
    assert result.pops["val"] == timed("7@16 S0@17 D@18")


def test_second_run():
    # An odd number of flushes, so that the second run begins with the other bank.
    result = run(reducer([3]), {"crd0": "1 2 S1 D 2 S0 3 S1 D", "val": "1 2 S1 D 3 S0 4 S1 D"})
    assert result.tokens("crd0") == tokens("1 2 S0 D 2 3 S0 D")
    assert result.tokens("val") == tokens("1 2 S0 D 3 4 S0 D")


OPS: dict[str, Callable[[int, int], int]] = {"sum": lambda a, b: a + b, "max": max, "min": min}


def random_tensor(random: Random, level: int, bits: list[int], density: int) -> Nested:
    """Nested lists with, innermost, a tuple of the kept coordinates and the value."""
    n = len(bits)

    def make(level: int, outer: tuple[int, ...]) -> Nested:
        if level >= n:
            return [make(level - 1, outer) for _ in range(random.choice([0, 1, 2, 3]))]
        extent = 1 << bits[level]
        crds = sorted(random.sample(range(extent), min(extent, random.randint(0, density) // n)))
        if level:
            return [make(level - 1, (crd, *outer)) for crd in crds]
        return [(crd, *outer, random.randrange(-1000, 1000)) for crd in crds]

    return make(level, ())


def reduced(nested: Nested, level: int, n: int, op: str) -> Any:
    """The tensor without the index of level n: the levels below it are nested dictionaries of coordinates."""
    if level > n:
        return [reduced(inner, level - 1, n, op) for inner in nested]
    result: dict[int, Any] = {}
    for *crds, value in leaves(nested):
        row = result
        for crd in reversed(crds[1:]):
            row = row.setdefault(crd, {})
        row[crds[0]] = OPS[op](row[crds[0]], value) if crds[0] in row else value
    return result


def coordinates(tensor: Any, skip: int) -> Nested:
    """The lists of the coordinates of a reduced tensor; `skip` levels of dictionaries lie around them."""
    if isinstance(tensor, list):
        return [coordinates(inner, skip) for inner in tensor]
    if skip:
        return [coordinates(tensor[crd], skip - 1) for crd in sorted(tensor)]
    return sorted(tensor)


def values(tensor: Any) -> Any:
    """The lists of the values of a reduced tensor."""
    if isinstance(tensor, list):
        return [values(inner) for inner in tensor]
    if isinstance(tensor, dict):
        return [values(tensor[crd]) for crd in sorted(tensor)]
    return tensor


def coordinate_token(s: int) -> Callable[[Any], Token]:
    return lambda leaf: Token(VAL, leaf[s])


def val_token(value: int) -> Token:
    return Token(VAL, value & I32_MASK)


@pytest.mark.slow
@settings(max_examples=8)
@given(
    bits=st.one_of(
        st.lists(st.sampled_from([0, 1, 2, 4, 5, 6, 10, 11, 12]), min_size=1, max_size=1),
        st.lists(st.integers(0, 4), min_size=2, max_size=3),
    ),
    outer=st.integers(0, 2),
    density=st.sampled_from([1, 3, 9]),
    op=st.sampled_from(["sum", "max", "min"]),
    latency=st.sampled_from([1, 2, 8]),
    slow_input=st.booleans(),
    slow_output=st.booleans(),
    seed=st.integers(0, 1 << 32),
)
def test_random_tensors(
    bits: list[int],
    outer: int,
    density: int,
    op: str,
    latency: int,
    slow_input: bool,
    slow_output: bool,
    seed: int,
):
    random = Random(seed)
    n = len(bits)
    top = n + outer
    tensors = [random_tensor(random, top, bits, density) for _ in range(2)]
    inputs: dict[str, list[Token]] = {}
    expected: dict[str, list[Token]] = {}
    for tensor in tensors:
        result = reduced(tensor, top, n, op)
        for s in range(n):
            crds = encode(tensor, top, coordinate_token(s))
            inputs.setdefault(f"crd{s}", []).extend([*crds, Token(DONE)])
            crds = encode(coordinates(result, n - 1 - s), top - 1 - s, lambda crd: Token(VAL, crd))
            check_stream([*crds, Token(DONE)], top - s, ordered=True)
            expected.setdefault(f"crd{s}", []).extend([*crds, Token(DONE)])
        vals = encode(tensor, top, lambda leaf: val_token(leaf[-1]))
        inputs.setdefault("val", []).extend([*vals, Token(DONE)])
        expected.setdefault("val", []).extend([*encode(values(result), top - 1, val_token), Token(DONE)])

    def gaps(count: int) -> list[int]:
        time, times = 0, []
        for _ in range(count):
            time += random.choice([0, 1, 1, 4])
            times.append(time)
        return times

    offers: dict[str, Offer | list[Token]] = {**inputs}
    if slow_input:
        offers["val"] = Offer(inputs["val"], gaps(len(inputs["val"])))
    pops = {port: gaps(len(stream)) for port, stream in expected.items()} if slow_output else {}
    arch = Arch(reduce={"integer": {op: latency}})
    result = run(reducer(bits, op=op, arch=arch), offers, pops=pops, depth=2, cycles=100_000)
    assert {port: result.tokens(port) for port in expected} == expected
    assert not result.error


def test_a_reset_is_followed_by_a_sweep():
    harness = Harness(reducer([4]))
    m = Module()
    m.domains.sync = domain = ClockDomain()
    m.submodules.harness = harness

    async def feed(ctx: SimulatorContext, crds: str) -> None:
        for token in tokens(crds):
            for port in (harness.i.crd0, harness.i.val):
                ctx.set(port.payload.as_value(), token.kind | token.payload << 2)
                ctx.set(port.valid, 1)
            await ctx.tick().until(harness.i.val.ready)
        ctx.set(harness.i.crd0.valid, 0)
        ctx.set(harness.i.val.valid, 0)

    async def reset(ctx: SimulatorContext) -> int:
        """Gives the number of cycles that the reducer is busy afterwards."""
        ctx.set(domain.rst, 1)
        await ctx.tick()
        ctx.set(domain.rst, 0)
        cycles = 0
        while ctx.get(harness.busy):
            await ctx.tick()
            cycles += 1
        return cycles

    async def result(ctx: SimulatorContext) -> list[Token]:
        popped: list[Token] = []
        for port in (harness.o.crd0, harness.o.val):
            ctx.set(port.ready, 1)
        while Token(DONE) not in popped:
            (word,) = await ctx.tick().sample(harness.o.val.payload.as_value()).until(harness.o.val.valid)
            popped.append(Token(Kind(word & 3), word >> 2))
        for port in (harness.o.crd0, harness.o.val):
            ctx.set(port.ready, 0)
        return popped

    async def bench(ctx: SimulatorContext) -> None:
        assert await reset(ctx) == 16
        await feed(ctx, "1 2 S1 5 7")  # the first fiber is being drained, the second comes in
        assert await reset(ctx) == 16
        for _ in range(2):
            await feed(ctx, "2 3 S1 5 6 S2 D")
            assert await result(ctx) == tokens("2 3 S0 5 6 S1 D")
        assert await reset(ctx) == 16

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
