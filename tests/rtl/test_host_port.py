"""The AXI4-Lite slave: order of arrival, back-pressure, and what it refuses."""

import pytest
from amaranth.sim import Simulator

from samhw.rtl.axi4 import Axi4Signature
from samhw.rtl.host_port import READ_LATENCY, AxiLiteSignature, HostPort, Response


class Memory:
    """At the port: words 0 to 15 can be read and written, and an access is written down."""

    def __init__(self, dut: HostPort):
        self.dut = dut
        self.words = {4 * n: 100 + n for n in range(16)}

    async def serve(self, ctx):
        pending = []
        while True:
            ok = ctx.get(self.dut.write_addr) in self.words
            ctx.set(self.dut.write_ok, ok)
            if ctx.get(self.dut.write) and ok:
                self.words[ctx.get(self.dut.write_addr)] = ctx.get(self.dut.write_data)
            pending.append(ctx.get(self.dut.read_addr) if ctx.get(self.dut.read) else None)
            await ctx.tick()
            asked = pending[-READ_LATENCY] if len(pending) >= READ_LATENCY else None
            ctx.set(self.dut.read_data, self.words.get(asked, 0) if asked is not None else 0xDEAD)
            ctx.set(self.dut.read_ok, asked in self.words)


async def send(ctx, dut, channel: str, delay: int, **fields: int) -> None:
    for _ in range(delay):
        await ctx.tick()
    for name, value in fields.items():
        ctx.set(getattr(dut.axi, channel + name), value)
    ctx.set(getattr(dut.axi, f"{channel}valid"), 1)
    while not ctx.get(getattr(dut.axi, f"{channel}ready")):
        await ctx.tick()
    await ctx.tick()
    ctx.set(getattr(dut.axi, f"{channel}valid"), 0)


async def receive(ctx, dut, channel: str, field: str, delay: int):
    while not ctx.get(getattr(dut.axi, f"{channel}valid")):
        await ctx.tick()
    for _ in range(delay):
        assert ctx.get(getattr(dut.axi, f"{channel}valid")), "valid stays until ready"
        await ctx.tick()
    ctx.set(getattr(dut.axi, f"{channel}ready"), 1)
    result = ctx.get(getattr(dut.axi, channel + field)), ctx.get(getattr(dut.axi, f"{channel}resp"))
    await ctx.tick()
    ctx.set(getattr(dut.axi, f"{channel}ready"), 0)
    return result


def simulate(*processes) -> Memory:
    """Runs processes (ctx, dut) side by side until all have ended."""
    dut = HostPort(12)
    memory = Memory(dut)
    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(memory.serve, background=True)
    for process in processes:

        async def testbench(ctx, process=process) -> None:
            await process(ctx, dut)

        simulator.add_testbench(testbench)
    simulator.run()
    return memory


@pytest.mark.parametrize("aw", [0, 3])
@pytest.mark.parametrize("w", [0, 5])
@pytest.mark.parametrize("b", [0, 4])
def test_writes_in_any_order_of_arrival(aw: int, w: int, b: int) -> None:
    async def addresses(ctx, dut) -> None:
        for n in range(4):
            await send(ctx, dut, "aw", aw, addr=4 * n)

    async def data(ctx, dut) -> None:
        for n in range(4):
            await send(ctx, dut, "w", w, data=7 * n, strb=15)

    async def answers(ctx, dut) -> None:
        for _ in range(4):
            assert await receive(ctx, dut, "b", "resp", b) == (Response.OKAY, Response.OKAY)

    memory = simulate(addresses, data, answers)
    assert [memory.words[4 * n] for n in range(5)] == [0, 7, 14, 21, 104]


@pytest.mark.parametrize("delay", [0, 3])
def test_reads_with_back_pressure(delay: int) -> None:
    async def addresses(ctx, dut) -> None:
        for n in range(4):
            await send(ctx, dut, "ar", delay, addr=4 * n)

    async def answers(ctx, dut) -> None:
        for n in range(4):
            assert await receive(ctx, dut, "r", "data", delay) == (100 + n, Response.OKAY)

    simulate(addresses, answers)


@pytest.mark.parametrize(("addr", "strb"), [(4, 7), (5, 15), (64, 15)])
def test_refused_writes(addr: int, strb: int) -> None:
    async def write(ctx, dut) -> None:
        await send(ctx, dut, "aw", 0, addr=addr)
        await send(ctx, dut, "w", 0, data=1, strb=strb)
        assert (await receive(ctx, dut, "b", "resp", 0))[0] == Response.SLVERR

    assert simulate(write).words[4] == 101


@pytest.mark.parametrize("addr", [6, 64])
def test_refused_reads(addr: int) -> None:
    async def read(ctx, dut) -> None:
        await send(ctx, dut, "ar", 0, addr=addr)
        assert (await receive(ctx, dut, "r", "data", 0))[1] == Response.SLVERR

    simulate(read)


def test_reads_and_writes_at_once() -> None:
    async def write(ctx, dut) -> None:
        await send(ctx, dut, "aw", 0, addr=8)
        await send(ctx, dut, "w", 0, data=5, strb=15)
        await receive(ctx, dut, "b", "resp", 0)

    async def read(ctx, dut) -> None:
        for _ in range(6):
            await send(ctx, dut, "ar", 0, addr=0)
            assert await receive(ctx, dut, "r", "data", 0) == (100, Response.OKAY)

    assert simulate(write, read).words[8] == 5


@pytest.mark.parametrize("addr", [4, 64])
def test_a_write_without_strobes_is_good_and_writes_nothing(addr: int) -> None:
    # Buses of another width make such beats.
    async def write(ctx, dut) -> None:
        await send(ctx, dut, "aw", 0, addr=addr)
        await send(ctx, dut, "w", 0, data=1, strb=0)
        assert (await receive(ctx, dut, "b", "resp", 0))[0] == Response.OKAY

    assert simulate(write).words[4] == 101


def test_a_write_waits_until_the_last_one_is_answered() -> None:
    async def write(ctx, dut) -> None:
        for n in range(2):
            await send(ctx, dut, "aw", 0, addr=4 * n)
            await send(ctx, dut, "w", 0, data=n, strb=15)
        for _ in range(5):
            await ctx.tick()
            assert not ctx.get(dut.write)
            assert not ctx.get(dut.axi.awready)
        for _ in range(2):
            assert (await receive(ctx, dut, "b", "resp", 0))[0] == Response.OKAY
        await ctx.tick()
        assert not ctx.get(dut.axi.bvalid)

    memory = simulate(write)
    assert [memory.words[4 * n] for n in range(2)] == [0, 1]


def test_signatures_of_ports_are_values():
    lite = AxiLiteSignature(12)
    assert repr(lite) == "AxiLiteSignature(12)"
    assert lite == AxiLiteSignature(12)
    assert lite not in (AxiLiteSignature(13), Axi4Signature(12, 7), lite.flip())
    full = Axi4Signature(12, 7)
    assert repr(full) == "Axi4Signature(12, 7, 4)"
    assert full == Axi4Signature(12, 7, 4, 2)
    assert full not in (Axi4Signature(12, 7, 8), Axi4Signature(12, 7, response=Response), lite)
    assert "response=" in repr(Axi4Signature(12, 7, response=Response))
