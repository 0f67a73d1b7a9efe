"""Designs at an interconnect that passes whole addresses, each at a base of its own."""

from amaranth.hdl import ClockDomain, Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.sim import Simulator, SimulatorContext

from samhw.graph import Arch, Design
from samhw.graph.address_map import Register, Status
from samhw.rtl import Top
from samhw.rtl.host_port import AxiLiteSignature, Response
from tests.support.top_graphs import copy_graph

from .host import Host

HIGH = 0xC000_0000
"""A base that a signed or narrower address would spoil."""


class Interconnect(wiring.Component):
    """Gives each access of one master, address and all, to the slave in whose range it lies. The master has
    one access under way, and holds address and data of a write together.

    Args:
        slaves: designs by their bases, multiples of their ranges.
    """

    def __init__(self, slaves: dict[int, Top]):
        self.slaves = slaves
        self.axi = AxiLiteSignature(32)
        super().__init__({f"s_axi_{name}": member for name, member in self.axi.members.items()})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        for number, (base, slave) in enumerate(self.slaves.items()):
            m.submodules[f"slave{number}"] = slave
            bits = slave.map.address_bits
            assert base % (1 << bits) == 0
            chosen = {}
            for channel, address in (("aw", self.s_axi_awaddr), ("ar", self.s_axi_araddr)):
                chosen[channel] = Signal(name=f"{channel}{number}")
                m.d.comb += chosen[channel].eq(address[bits:] == base >> bits)
            chosen["w"] = chosen["aw"]
            for name, member in self.axi.members.items():
                ours, theirs = getattr(self, f"s_axi_{name}"), getattr(slave, f"s_axi_{name}")
                channel = name.removesuffix("valid").removesuffix("ready")
                if member.flow is wiring.In:
                    m.d.comb += theirs.eq(ours & chosen[channel] if name.endswith("valid") else ours)
                elif name.endswith("ready"):
                    with m.If(chosen[channel]):
                        m.d.comb += ours.eq(theirs)
                else:
                    valid = getattr(slave, f"s_axi_{name[0]}valid")
                    with m.If(valid):
                        m.d.comb += ours.eq(theirs)
        return m


def test_designs_at_bases_of_their_own() -> None:
    """Two, side by side, and one far away. Each runs on what was loaded into it, and refuses what its map
    lacks."""
    tops = [Top(Design.of(copy_graph(capacity)), Arch()) for capacity in (8, 8, 2000)]
    near, far = (1 << top.map.address_bits for top in (tops[0], tops[2]))
    assert far > near == 1 << 12
    bases = [HIGH, HIGH + near, HIGH + far]
    bus = Interconnect(dict(zip(bases, tops, strict=True)))
    m = Module()
    m.domains.sync = domain = ClockDomain()
    m.submodules.bus = bus

    async def bench(ctx: SimulatorContext) -> None:
        hosts = [Host(ctx, top, domain, bus, base) for top, base in zip(tops, bases, strict=True)]
        for number, host in enumerate(hosts):
            await host.load({"A.pos1": [0, 2], "A.crd1": [number, 5], "A.vals": [70, 71 + number]})
        for number, host in enumerate(hosts):
            assert await host.read(Register.IDENTITY) == host.top.map.identity
            assert await host.write(Register.CONTROL, 1)
            assert await host.end() == Status.DONE
            assert await host.words("C.pos1", 2) == [0, 2]
            assert await host.words("C.crd1", 2) == [number, 5]
            assert await host.words("C.vals", 2) == [70, 71 + number]
            last = (1 << host.top.map.address_bits) - 4
            assert not await host.write(last, 1)
            assert (await host.read_response(last))[1] == Response.SLVERR

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
