"""The UART, bit by bit."""

from itertools import pairwise

import pytest
from amaranth.sim import Simulator, SimulatorContext

from samhw.errors import InputError
from samhw.rtl.link.uart import PeriodRom, Receiver, Transmitter, bit_period

BYTES = b"\x00\xff\x55\xaa\x7e\x7d\x01\x80 samhw"


def levels(data: bytes, *, stop: int = 1) -> list[int]:
    """The bits of some bytes."""
    return [bit for byte in data for bit in (0, *(byte >> k & 1 for k in range(8)), stop)]


def received(period: float, line: list[int], cycles: float) -> tuple[bytes, int]:
    """What a receiver for bits of `period` cycles finds in bits of `cycles`, and how many bytes are
    broken."""
    receiver = Receiver()
    found = bytearray()
    broken = 0

    async def test(ctx: SimulatorContext) -> None:
        nonlocal broken
        ctx.set(receiver.period, round(256 * period))
        for cycle in range(int((len(line) + 12) * cycles)):
            bit = int(cycle / cycles) - 1
            ctx.set(receiver.line, line[bit] if 0 <= bit < len(line) else 1)
            await ctx.tick()
            if ctx.get(receiver.valid):
                found.append(ctx.get(receiver.data))
            broken += ctx.get(receiver.broken)

    simulator = Simulator(receiver)
    simulator.add_clock(1e-6)
    simulator.add_testbench(test)
    simulator.run()
    return bytes(found), broken


@pytest.mark.parametrize("period", [4, 5.33, 16.67, 100])
@pytest.mark.parametrize("error", [-0.02, 0, 0.02])
def test_receiver_takes_clocks_that_differ(period: float, error: float) -> None:
    # At four cycles a bit the edges alone are found a quarter of a bit late.
    allowed = error if period > 5 else error / 2
    assert received(period, levels(BYTES), period * (1 + allowed)) == (BYTES, 0)


def test_broken_bytes() -> None:
    line = [*levels(b"a"), *levels(b"b", stop=0), *[1] * 10, *levels(b"c")]
    assert received(10, line, 10) == (b"ac", 1)


def test_a_line_that_stays_low_is_one_broken_byte() -> None:
    assert received(10, [*[0] * 100, *[1] * 10, *levels(b"c")], 10) == (b"c", 1)


@pytest.mark.parametrize("period", [4, 5.33, 16.67, 100])
def test_transmitter(period: float) -> None:
    transmitter = Transmitter()
    line: list[int] = []

    async def watch(ctx: SimulatorContext) -> None:
        async for _, _, level in ctx.tick().sample(transmitter.line):
            line.append(level)

    async def test(ctx: SimulatorContext) -> None:
        ctx.set(transmitter.period, round(256 * period))
        for byte in BYTES:
            ctx.set(transmitter.i.payload, byte)
            ctx.set(transmitter.i.valid, 1)
            await ctx.tick().until(transmitter.i.ready)
        ctx.set(transmitter.i.valid, 0)
        await ctx.tick().repeat(int(12 * period))

    simulator = Simulator(transmitter)
    simulator.add_clock(1e-6)
    simulator.add_testbench(test)
    simulator.add_process(watch)
    simulator.run()

    # Each byte begins with an edge, from which a listener counts.
    found = bytearray()
    at = 0
    while 0 in line[at:]:
        at = line.index(0, at)
        bits = [line[int(at + (k + 0.5) * period)] for k in range(10)]
        assert (bits[0], bits[9]) == (0, 1)
        found.append(sum(bit << k for k, bit in enumerate(bits[1:9])))
        at = int(at + 9.5 * period)
    assert bytes(found) == BYTES
    edges = [k for k, (a, b) in enumerate(pairwise(line)) if a != b]
    assert min(b - a for a, b in pairwise(edges)) >= int(period)


def test_the_period_is_read_after_a_reset() -> None:
    rom = PeriodRom(0x123456)
    seen: list[tuple[int, int]] = []

    async def test(ctx: SimulatorContext) -> None:
        async for _, _, ready, period in ctx.tick().sample(rom.ready, rom.period):
            seen.append((ready, period))
            if len(seen) == 1000:
                break

    simulator = Simulator(rom)
    simulator.add_clock(1e-6)
    simulator.add_testbench(test)
    simulator.run()
    first = [ready for ready, _ in seen].index(1)
    assert first < 520
    assert seen[first:] == [(1, 0x123456)] * (1000 - first)


def test_clocks_and_bauds() -> None:
    assert bit_period(12e6, 3_000_000) == 4 * 256
    with pytest.raises(InputError, match="3,000,000 baud need a clock of 12 MHz"):
        bit_period(11.9e6, 3_000_000)
    assert bit_period(65_535e3, 1000) == 65_535 * 256
    with pytest.raises(InputError, match="too fast for 1,000 baud; give samhw build --baud 1,069 or more"):
        bit_period(70e6, 1000)
    bit_period(70e6, 1_069)
