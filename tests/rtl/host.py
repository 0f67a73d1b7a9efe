"""A host that drives a top level in Amaranth's simulator."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from amaranth.hdl import ClockDomain, Module
from amaranth.sim import Simulator, SimulatorContext

from samhw.graph.address_map import REGION, Cause, Register, Status
from samhw.rtl import Top
from samhw.rtl.host_port import Response
from tests.support.top_graphs import WIDE

__all__ = ["Host", "simulate"]

PATIENCE = 100
"""How often STATUS is read before a run is given up."""


class Host:
    """Drives a design through its AXI4-Lite port.

    Args:
        port: what has the pins of the port: the design, or what lies before it.
        base: where the port has the design.
        clock: the domain of the port.
    """

    def __init__(
        self,
        ctx: SimulatorContext,
        top: Top,
        domain: ClockDomain,
        port: object = None,
        base: int = 0,
        clock: str = "sync",
    ):
        self.ctx = ctx
        self.top = top
        self.domain = domain
        self.port = port or top
        self.base = base
        self.clock = clock

    def _pin(self, name: str) -> Any:
        return getattr(self.port, f"s_axi_{name}")

    async def write(self, address: int, data: int) -> bool:
        """Gives whether the design took it."""
        ctx = self.ctx
        pins = {"awaddr": self.base + address, "awvalid": 1, "wdata": data, "wstrb": 15, "wvalid": 1}
        for name, value in pins.items():
            ctx.set(self._pin(name), value)
        await ctx.tick(self.clock).until(self._pin("awready") & self._pin("wready"))
        for name in ("awvalid", "wvalid"):
            ctx.set(self._pin(name), 0)
        ctx.set(self._pin("bready"), 1)
        (response,) = await ctx.tick(self.clock).sample(self._pin("bresp")).until(self._pin("bvalid"))
        return response == Response.OKAY

    async def read_response(self, address: int) -> tuple[int, Response]:
        ctx = self.ctx
        ctx.set(self._pin("araddr"), self.base + address)
        ctx.set(self._pin("arvalid"), 1)
        await ctx.tick(self.clock).until(self._pin("arready"))
        ctx.set(self._pin("arvalid"), 0)
        ctx.set(self._pin("rready"), 1)
        answer = ctx.tick(self.clock).sample(self._pin("rdata"), self._pin("rresp"))
        data, response = await answer.until(self._pin("rvalid"))
        return data, response

    async def read(self, address: int) -> int:
        data, response = await self.read_response(address)
        assert response == Response.OKAY
        return data

    async def load(self, memories: Mapping[str, Sequence[int]]) -> None:
        """Loads memories, and the extent of stored coordinates."""
        for index, extent in WIDE.items():
            if index in self.top.map.extents:
                assert await self.write(self.top.map.extents[index], extent)
        for name, words in memories.items():
            for k, word in enumerate(words):
                assert await self.write(self.top.map.windows[name].base + 4 * k, word)

    async def words(self, name: str, count: int) -> list[int]:
        return [await self.read(self.top.map.windows[name].base + 4 * k) for k in range(count)]

    async def run(self, **memories: Sequence[int]) -> int:
        """Loads memories (named with _ for the dot), starts, and waits for the end; gives STATUS."""
        await self.load({name.replace("_", ".", 1): words for name, words in memories.items()})
        assert await self.write(Register.CONTROL, 1)
        return await self.end()

    async def end(self) -> int:
        """Waits for the end of the run; gives STATUS."""
        for _ in range(PATIENCE):
            status = await self.read(Register.STATUS)
            if not status & Status.RUNNING:
                return status
        raise AssertionError("the run does not end")

    async def cycles(self) -> int:
        return await self.read(Register.CYCLES_LO) | await self.read(Register.CYCLES_HI) << 32

    async def error(self) -> tuple[Cause, int]:
        causes = await self.read(Register.ERROR) & ((1 << REGION) - 1)
        return Cause(causes), await self.read(Register.ERROR_NODE)

    async def error_region(self) -> int:
        """Which region was under way, in the order in which they run."""
        return await self.read(Register.ERROR) >> REGION

    async def reset(self) -> None:
        self.ctx.set(self.domain.rst, 1)
        await self.ctx.tick()
        self.ctx.set(self.domain.rst, 0)


def simulate(
    top: Top, testbench: Callable[[Host], Awaitable[None]], *others: Callable[..., Awaitable[None]]
) -> None:
    m = Module()
    m.domains.sync = domain = ClockDomain()
    m.submodules.top = top

    async def bench(ctx: SimulatorContext) -> None:
        await testbench(Host(ctx, top, domain))

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    for other in others:
        simulator.add_testbench(other, background=True)
    simulator.run()
