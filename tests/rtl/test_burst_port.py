"""The AXI4 slave against a dictionary: random bursts at any pace, refusals, and a word in each cycle."""

from collections.abc import Awaitable, Callable
from random import Random

import pytest
from amaranth.sim import Simulator, SimulatorContext
from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.rtl.burst_port import BurstPort
from samhw.rtl.host_port import READ_LATENCY

from .bursts import FIXED, INCR, WRAP, Burst, Master

OKAY, SLVERR = 0, 2
ID_BITS = 3
WORDS = range(0, 4096, 4)
"""Addresses; those of every eighth word are of nothing."""
PACE = st.dictionaries(st.sampled_from(["aw", "w", "b", "ar", "r"]), st.sampled_from([0.1, 0.5, 0.9]))


def holds(address: int) -> bool:
    return address in WORDS and address % 32 != 28


class Words:
    """At the port: words that can be read and written."""

    def __init__(self, dut: BurstPort):
        self.dut = dut
        self.words = {address: 7 * address for address in WORDS if holds(address)}

    async def serve(self, ctx: SimulatorContext) -> None:
        dut = self.dut
        asked: list[int | None] = []
        stored: tuple[int, int] | None = None
        following = (0, 0)
        while True:
            if stored:
                assert (ctx.get(dut.store_addr), ctx.get(dut.store_data)) == stored
            address, word = following
            ctx.set(dut.write_ok, holds(address))
            stored = None
            if ctx.get(dut.write):
                stored = following
                assert ctx.get(dut.write_data) == word
                if holds(address):
                    self.words[address] = word
            following = ctx.get(dut.next_addr), ctx.get(dut.next_data)
            asked.append(ctx.get(dut.read_addr) if ctx.get(dut.read) else None)
            await ctx.tick()
            at = asked[-READ_LATENCY] if len(asked) >= READ_LATENCY else None
            ctx.set(dut.read_data, 0xDEAD if at is None else self.words.get(at, 0))
            ctx.set(dut.read_ok, at is not None and holds(at))


def simulate(bench: Callable[[SimulatorContext, BurstPort, Words], Awaitable[None]]) -> None:
    dut = BurstPort(14, ID_BITS)
    words = Words(dut)

    async def testbench(ctx: SimulatorContext) -> None:
        await bench(ctx, dut, words)

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(words.serve, background=True)
    simulator.add_testbench(testbench)
    simulator.run()


def is_plain(burst: Burst) -> bool:
    stays = burst.addr % 4096 + 4 * len(burst.words) <= 4096
    return burst.burst == INCR and burst.size == 2 and burst.addr % 4 == 0 and stays


def written(burst: Burst, words: dict[int, int]) -> int:
    """Writes a burst to a dictionary by the rules of the page; gives the response."""
    good = is_plain(burst)
    for place, beat in enumerate(burst.beats()):
        address = burst.addr + 4 * place
        whole = beat["strb"] == 15 and holds(address) and is_plain(burst)
        if whole:
            words[address] = beat["data"]
        good &= whole or beat["strb"] == 0
    return OKAY if good else SLVERR


def read(burst: Burst, words: dict[int, int]) -> list[tuple[int, int]]:
    """What the dictionary has of a burst: words, where they are good, and responses."""
    found = []
    for place in range(len(burst.words)):
        address = burst.addr + 4 * place
        good = is_plain(burst) and holds(address)
        found.append((words[address], OKAY) if good else (0, SLVERR))
    return found


@st.composite
def bursts(draw: st.DrawFn) -> Burst:
    beats = draw(st.one_of(st.integers(1, 5), st.sampled_from([1, 16, 255, 256])))
    page = draw(st.sampled_from([0, 0, 0, 1]))  # The second one has nothing.
    random = Random(draw(st.integers(0, 1000)))
    odd = draw(st.integers(0, 9)) == 0
    place = draw(st.integers(0, 1023 if odd else 1024 - beats))
    strobes = draw(st.sampled_from([(15,), (15, 15, 15, 0), (15, 0, 7)]))
    return Burst(
        4096 * page + 4 * place + (draw(st.integers(1, 3)) if odd and draw(st.booleans()) else 0),
        [random.getrandbits(32) for _ in range(beats)],
        id=draw(st.integers(0, (1 << ID_BITS) - 1)),
        size=draw(st.sampled_from([0, 1, 2])) if odd else 2,
        burst=draw(st.sampled_from([FIXED, INCR, WRAP])) if odd else INCR,
        strobes=[random.choice(strobes) for _ in range(beats)],
    )


@given(writes=st.lists(bursts(), max_size=6), reads=st.lists(bursts(), max_size=6), pace=PACE)
@settings(max_examples=12, deadline=None)
def test_random_bursts_do_what_a_dictionary_does(
    writes: list[Burst], reads: list[Burst], pace: dict[str, float]
) -> None:
    """Writes, then all that was written is read, while other writes go on in another place."""

    async def bench(ctx: SimulatorContext, dut: BurstPort, words: Words) -> None:
        master = Master(dut.axi, pace=pace)
        held = dict(words.words)
        responses = [written(burst, held) for burst in writes]
        await master.transfer(ctx, writes)
        assert [burst.answers for burst in writes] == [[(0, response)] for response in responses]
        assert words.words == held
        await master.transfer(ctx, reads=reads)
        for burst in reads:
            wanted = read(burst, held)
            found = [(word if resp == OKAY else 0, resp) for word, resp in burst.answers]
            assert found == wanted
        again = [Burst(b.addr, b.words, b.id, b.size, b.burst) for b in reads]
        await master.transfer(ctx, writes, again)
        assert [b.answers[-1] for b in writes] == [(0, response) for response in responses]
        for before, after in zip(reads, again, strict=True):
            assert len(after.answers) == len(before.answers)

    simulate(bench)


@pytest.mark.parametrize("place", [1019, 1021])
def test_a_burst_that_leaves_its_page_is_refused(place: int) -> None:
    """It would go on at the beginning of the page."""

    async def bench(ctx: SimulatorContext, dut: BurstPort, words: Words) -> None:
        held = dict(words.words)
        burst, again = Burst(4 * place, range(4)), Burst(4 * place, range(4))
        response = written(burst, held)
        assert (response == SLVERR) == (place == 1021)
        await Master(dut.axi).transfer(ctx, [burst])
        assert burst.answers == [(0, response)]
        assert words.words == held
        await Master(dut.axi).transfer(ctx, reads=[again])
        assert [answer for _, answer in again.answers] == [answer for _, answer in read(again, held)]

    simulate(bench)


@pytest.mark.parametrize("beats", [1, 2, 256])
def test_a_word_goes_in_and_one_comes_out_in_each_cycle(beats: int) -> None:
    """From burst to burst, too. The page says how long the first word and the answer take."""

    async def bench(ctx: SimulatorContext, dut: BurstPort, words: Words) -> None:
        number = 512 // beats
        writes, reads = ([Burst(0, [1] * beats) for _ in range(number)] for _ in range(2))
        cycles = await Master(dut.axi).transfer(ctx, writes)
        # The address is there a cycle after it is offered; the answer to the last beat comes three later.
        assert cycles == 1 + 512 + 3
        cycles = await Master(dut.axi).transfer(ctx, reads=reads)
        assert cycles == 6 + 512
        assert reads[0].cycles[0] == 6
        both = await Master(dut.axi).transfer(ctx, writes, reads)
        assert both == 6 + 512

    simulate(bench)


def test_beats_that_the_host_does_not_take_wait_in_the_port() -> None:
    """As many as the page says, and none is lost; a burst of the other direction is not held up."""

    async def bench(ctx: SimulatorContext, dut: BurstPort, words: Words) -> None:
        ctx.set(dut.axi.arvalid, 1)
        for name, value in Burst(0, [0] * 20).address.items():
            ctx.set(getattr(dut.axi, f"ar{name}"), value)
        await ctx.tick()
        ctx.set(dut.axi.arvalid, 0)
        asked = 0
        for _ in range(40):
            asked += ctx.get(dut.read)
            await ctx.tick()
        assert asked == 8
        await Master(dut.axi).transfer(ctx, [Burst(0, range(20))])
        ctx.set(dut.axi.rready, 1)
        found = []
        for _ in range(40):
            if ctx.get(dut.axi.rvalid):
                found.append((ctx.get(dut.axi.rdata), ctx.get(dut.axi.rlast)))
            await ctx.tick()
        # The first eight were read before they were written.
        first = [7 * 4 * place for place in range(7)] + [0]
        later = [place if holds(4 * place) else 0 for place in range(8, 20)]
        assert found == [(word, 0) for word in first + later[:-1]] + [(later[-1], 1)]

    simulate(bench)
