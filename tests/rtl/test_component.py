"""A design as a component of somebody else's."""

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In
from amaranth.sim import Simulator, SimulatorContext

import samhw
from samhw.graph.address_map import Register
from samhw.rtl import DesignComponent, component
from samhw.rtl.host_port import AxiLiteSignature

DOUBLE = "tensor x[i=4] : dense\ntensor y[i=4] : dense\ny[i] = 2 * x[i]\n"


class Around(wiring.Component):
    """A design whose bus is connected to a master."""

    def __init__(self, inner: DesignComponent) -> None:
        self.inner = inner
        super().__init__({"master": In(AxiLiteSignature(inner.map.address_bits))})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.inner = self.inner
        wiring.connect(m, self.inner.axi, self.master)
        return m


def test_a_run_through_an_interface() -> None:
    inner = component(samhw.compile(DOUBLE, value="i32").compiled)
    around = Around(inner)
    bus = around.master
    windows = inner.map.windows

    async def write(ctx: SimulatorContext, address: int, word: int) -> None:
        pins = {"awaddr": address, "awvalid": 1, "wdata": word, "wstrb": 15, "wvalid": 1}
        for name, value in pins.items():
            ctx.set(getattr(bus, name), value)
        await ctx.tick().until(bus.awready & bus.wready)
        ctx.set(bus.awvalid, 0)
        ctx.set(bus.wvalid, 0)
        await ctx.tick().until(bus.bvalid)

    async def read(ctx: SimulatorContext, address: int) -> int:
        ctx.set(bus.araddr, address)
        ctx.set(bus.arvalid, 1)
        await ctx.tick().until(bus.arready)
        ctx.set(bus.arvalid, 0)
        (word,) = await ctx.tick().sample(bus.rdata).until(bus.rvalid)
        return int(word)

    async def host(ctx: SimulatorContext) -> None:
        ctx.set(bus.bready, 1)
        ctx.set(bus.rready, 1)
        assert await read(ctx, Register.IDENTITY) == inner.map.identity
        await write(ctx, inner.map.extents["i"], 3)
        for place, word in enumerate([5, 7, 9]):
            await write(ctx, windows["x.vals"].base + 4 * place, word)
        await write(ctx, Register.CONTROL, 1)
        await ctx.tick().until(inner.done)
        found = [await read(ctx, windows["y.vals"].base + 4 * place) for place in range(3)]
        assert found == [10, 14, 18]

    simulator = Simulator(around)
    simulator.add_clock(1e-6)
    simulator.add_testbench(host)
    simulator.run()
