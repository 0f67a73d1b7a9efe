"""A clock of its own for the host's port: what goes from one clock to the other, and resets."""

from itertools import pairwise
from random import Random
from typing import Any

import pytest
from amaranth.hdl import ClockDomain, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.sim import Simulator, SimulatorContext

from samhw.graph import Arch, Design, HostOptions
from samhw.graph.address_map import Register, Status
from samhw.rtl import Top
from samhw.rtl.axi4 import Axi4Signature
from samhw.rtl.host_clock import HOST, ClockCrossing, cross_resets
from samhw.rtl.host_port import AxiLiteSignature, Response
from tests.support.top_graphs import copy_graph

from .host import Host

PERIODS = [(10, 10), (10, 3.7), (3.7, 10), (10, 9.99), (1, 25)]
"""Of the design's and of the host's clock."""
DATA = {"aw": "awaddr", "w": "wdata", "b": "bresp", "ar": "araddr", "r": "rdata"}
"""A member of each channel."""
SIGNATURES = {False: AxiLiteSignature(12), True: Axi4Signature(12, 4, response=Response)}


async def ticks(ctx: SimulatorContext, domain: str, count: int) -> None:
    """Passes over cycles, in reset too."""
    for _ in range(count):
        await ctx.tick(domain)


class Ends:
    """Both ends of the channels of a crossing; each sends or receives in its own domain."""

    def __init__(self, crossing: ClockCrossing, channel: str):
        inward = channel in ("aw", "w", "ar")
        ports = (crossing.axi, HOST), (crossing.design, "sync")
        (self.source, self.sent_at), (self.sink, self.taken_at) = ports if inward else ports[::-1]
        self.channel = channel

    def _data(self, port: Any) -> Value:
        return Value.cast(getattr(port, DATA[self.channel]))

    async def send(self, ctx: SimulatorContext, words: list[int], random: Random | None) -> None:
        for word in words:
            if random is not None:
                for _ in range(random.randrange(4)):
                    await ctx.tick(self.sent_at)
            ctx.set(self._data(self.source), word)
            ctx.set(getattr(self.source, f"{self.channel}valid"), 1)
            await ctx.tick(self.sent_at).until(getattr(self.source, f"{self.channel}ready"))
            ctx.set(getattr(self.source, f"{self.channel}valid"), 0)

    async def take(self, ctx: SimulatorContext, count: int, random: Random | None) -> list[tuple[int, int]]:
        """The words, and when each came, in cycles of the receiver."""
        found: list[tuple[int, int]] = []
        cycle = 0
        while len(found) < count:
            ready = random is None or random.random() < 0.5
            ctx.set(getattr(self.sink, f"{self.channel}ready"), ready)
            pins = getattr(self.sink, f"{self.channel}valid"), self._data(self.sink)
            _, _, valid, word = await ctx.tick(self.taken_at).sample(*pins)
            cycle += 1
            if valid and ready:
                found.append((cycle, word))
        return found


def crossed(
    bursts: bool, periods: tuple[float, float], words: dict[str, list[int]], random: Random | None
) -> Any:
    """What comes out of each channel."""
    m = Module()
    m.submodules.crossing = crossing = ClockCrossing(SIGNATURES[bursts], bursts)
    simulator = Simulator(m)
    for domain, period in zip(("sync", HOST), periods, strict=True):
        simulator.add_clock(period * 1e-9, domain=domain)
    found: dict[str, list[tuple[int, int]]] = {}
    for channel, sent in words.items():
        ends = Ends(crossing, channel)

        async def send(ctx: SimulatorContext, ends: Ends = ends, sent: list[int] = sent) -> None:
            await ends.send(ctx, sent, random)

        async def take(ctx: SimulatorContext, ends: Ends = ends, sent: list[int] = sent) -> None:
            found[ends.channel] = await ends.take(ctx, len(sent), random)

        simulator.add_testbench(send)
        simulator.add_testbench(take)
    simulator.run()
    return found


@pytest.mark.parametrize("bursts", [False, True])
@pytest.mark.parametrize("periods", PERIODS)
def test_all_arrives_in_order(periods: tuple[float, float], bursts: bool) -> None:
    random = Random(3)
    words = {
        channel: [random.choice((0, 2)) if channel == "b" else random.randrange(1 << 12) for _ in range(60)]
        for channel in DATA
    }
    found = crossed(bursts, periods, words, random)
    assert {channel: [word for _, word in came] for channel, came in found.items()} == words


@pytest.mark.parametrize("periods", PERIODS)
def test_bursts_have_a_word_in_each_cycle_of_the_slower_clock(periods: tuple[float, float]) -> None:
    words = {channel: list(range(100)) for channel in ("w", "r")}
    for channel, came in crossed(True, periods, words, None).items():
        receiver = periods[channel == "r"]
        # In time: as many cycles of the receiver as one of the slower clock has, rounded up.
        most = -(-max(periods) // receiver)
        assert all(after - before <= most for (before, _), (after, _) in pairwise(came[20:])), channel
        assert (came[-1][0] - came[20][0] - 1) * receiver <= 79 * max(periods)


class Resets(wiring.Component):
    """Two domains that hold each other in reset, and a counter in each; a crossing between them, if there is
    one."""

    def __init__(self, crossing: ClockCrossing | None = None) -> None:
        super().__init__({})
        self.crossing = crossing
        self.own = {"sync": Signal(), HOST: Signal()}
        self.counts = {domain: Signal(8) for domain in self.own}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains.sync, m.domains.host = self.domains = ClockDomain("sync"), ClockDomain("host")
        cross_resets(m, dict(self.own))
        if self.crossing is not None:
            m.submodules.crossing = self.crossing
        for domain, count in self.counts.items():
            m.d[domain] += count.eq(count + 1)
        return m


@pytest.mark.parametrize("periods", PERIODS)
@pytest.mark.parametrize("domain", ["sync", HOST])
def test_the_reset_of_one_is_that_of_both(domain: str, periods: tuple[float, float]) -> None:
    dut = Resets()
    simulator = Simulator(dut)
    slower = ("sync", HOST)[periods[1] >= periods[0]]
    for name, period in zip(dut.own, periods, strict=True):
        simulator.add_clock(period * 1e-9, domain=name)

    async def bench(ctx: SimulatorContext) -> None:
        await ticks(ctx, slower, 20)
        assert all(ctx.get(count) for count in dut.counts.values())
        ctx.set(dut.own[domain], 1)
        await ticks(ctx, slower, 6)
        assert not any(ctx.get(count) for count in dut.counts.values())
        ctx.set(dut.own[domain], 0)
        await ticks(ctx, slower, 6)
        assert all(ctx.get(count) for count in dut.counts.values())

    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("bursts", [False, True])
@pytest.mark.parametrize("periods", PERIODS)
def test_what_is_taken_beside_a_reset_arrives(periods: tuple[float, float], bursts: bool) -> None:
    """The design is reset while words go in. Those on their way may be lost; what the port takes once its own
    domain is held is not."""
    crossing = ClockCrossing(SIGNATURES[bursts], bursts)
    resets = Resets(crossing)
    simulator = Simulator(resets)
    for domain, period in zip(resets.own, periods, strict=True):
        simulator.add_clock(period * 1e-9, domain=domain)
    slower = ("sync", HOST)[periods[1] >= periods[0]]
    taken, came = [], []

    async def send(ctx: SimulatorContext) -> None:
        word = 0
        ctx.set(crossing.axi.wvalid, 1)
        while True:
            ctx.set(crossing.axi.wdata, word)
            _, held, ready = await ctx.tick(HOST).sample(crossing.axi.wready)
            if ready:
                taken.append((word, held))
                word += 1

    async def take(ctx: SimulatorContext) -> None:
        ctx.set(crossing.design.wready, 1)
        while True:
            _, held, valid, word = await ctx.tick().sample(crossing.design.wvalid, crossing.design.wdata)
            if valid and not held:
                came.append(word)

    async def bench(ctx: SimulatorContext) -> None:
        await ticks(ctx, slower, 40)
        ctx.set(resets.own["sync"], 1)
        await ticks(ctx, slower, 6)
        before = len(taken)
        ctx.set(resets.own["sync"], 0)
        await ticks(ctx, slower, 40)
        ctx.set(crossing.axi.wvalid, 0)
        sent = [word for word, _ in taken]
        await ticks(ctx, slower, 20)
        assert before > 6
        assert not any(held for _, held in taken)
        assert came[-len(sent[before:]) :] == sent[before:]
        assert came == sorted(set(came))

    simulator.add_testbench(send, background=True)
    simulator.add_testbench(take, background=True)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("periods", PERIODS)
def test_a_design_runs_and_runs_again(periods: tuple[float, float]) -> None:
    """On two clocks; a reset of both in the middle of a transfer leaves nothing."""
    top = Top(Design.of(copy_graph()), Arch(), host=HostOptions.parse("clock,interrupt"))
    m = Module()
    domains = [ClockDomain("sync"), ClockDomain("host")]
    m.domains += domains
    m.submodules.top = top
    simulator = Simulator(m)
    for domain, period in zip(domains, periods, strict=True):
        simulator.add_clock(period * 1e-9, domain=domain.name)
    slower = domains[periods[1] >= periods[0]].name

    async def bench(ctx: SimulatorContext) -> None:
        host = Host(ctx, top, domains[0], clock=HOST)
        for again in range(3):
            assert await host.write(top.map.interrupts[0], Status.DONE)
            assert await host.run(A_pos1=[0, 3], A_crd1=[2, 5, 7], A_vals=[20, 50, 70 + again]) == Status.DONE
            assert await host.cycles() == 11
            assert await host.words("C.vals", 3) == [20, 50, 70 + again]
            await ticks(ctx, HOST, 4)
            assert ctx.get(top.irq)
            assert await host.write(top.map.interrupts[1], Status.DONE)
            await ticks(ctx, slower, 4)
            assert not ctx.get(top.irq)
            assert not await host.write(Register.STATUS, 1)
            # An address without its data, and a read that nobody takes.
            ctx.set(top.s_axi_awvalid, 1)
            ctx.set(top.s_axi_arvalid, 1)
            await ticks(ctx, slower, 3)
            ctx.set(top.s_axi_awvalid, 0)
            ctx.set(top.s_axi_arvalid, 0)
            for level in (1, 0):
                for domain in domains:
                    ctx.set(domain.rst, level)
                await ticks(ctx, slower, 6)

    simulator.add_testbench(bench)
    simulator.run()
