"""A whole design in hardware: its fabric in a shell with memories on the chip and the host's port."""

from dataclasses import replace

from amaranth.hdl import Cat, ClockDomain, ClockSignal, Elaboratable, Module, Mux, ResetSignal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.errors import InputError
from samhw.graph import PLAIN_HOST, Arch, Design, HostOptions, validate_design
from samhw.graph.address_map import AddressMap
from samhw.rtl.fabric import Fabric
from samhw.rtl.shell import Shell

__all__ = ["AXI", "Top"]

AXI = "s_axi_"
"""Before the names of the pins of the host's port."""


class Top(wiring.Component):
    """The RTL of a design (docs/host_port.md). It is independent of the data: one build runs whatever fits.

    Its regions run one after another, and what they pass on stays in the memories between them.

    Raises `InputError` for a design that does not hang together, or for which the RTL lacks something.

    Args:
        stall_ports: adds the input `stall`, a bit for each root and writer in the order of the nodes.
        probes: adds outputs that show each token as it leaves its channel: for channel k `probe<k>_valid`,
            `probe<k>_kind` and `probe<k>_payload`.
        host: the choices of its port.
        own_clock: it runs on its own inputs `aclk` and `aresetn` (low: reset, at the clock), as AXI has them,
            instead of a clock domain `sync` around it.

    Members:
        s_axi_..: the slave of AXI4-Lite, or of AXI4.
        irq: with `host.interrupt`, as of docs/host_port.md.
        running, done, error: of the present or last run.
        cycle: the number of the present cycle of the run.
    """

    def __init__(
        self,
        design: Design,
        arch: Arch,
        *,
        stall_ports: bool = False,
        probes: bool = False,
        own_clock: bool = False,
        host: HostOptions = PLAIN_HOST,
    ):
        validate_design(design)
        if arch.fanout:
            raise InputError(
                f"Arch.fanout is {arch.fanout}, but the RTL feeds several inputs at once; give 0, or take "
                "another target."
            )
        self.map = AddressMap(design, arch, host)
        arch = replace(arch, index_bits=self.map.index_bits)
        self.fabric = Fabric(
            design,
            arch,
            stall_ports=stall_ports,
            probes=probes,
            recovery=host.recovery,
            counters=host.counters,
        )
        self.shell = Shell(self.map, arch, self.fabric.ports)
        self.stallable = self.fabric.stallable
        self.own_clock = own_clock
        members: dict[str, object] = {"aclk": In(1), "aresetn": In(1)} if own_clock else {}
        members |= {AXI + name: member for name, member in self.shell.axi.signature.members.items()}
        members |= {"running": Out(1), "done": Out(1), "error": Out(1), "cycle": Out(64)}
        if host.interrupt:
            members["irq"] = Out(1)
        if stall_ports:
            members["stall"] = In(len(self.stallable))
        self.probes = self.fabric.probe_members() if probes else {}
        super().__init__(members | self.probes)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        if self.own_clock:
            m.domains.sync = ClockDomain()
            m.d.comb += [ClockSignal().eq(self.aclk), ResetSignal().eq(~self.aresetn)]
        m.submodules.fabric = fabric = self.fabric
        m.submodules.shell = shell = self.shell
        wiring.connect(m, fabric.run, shell.run)
        wiring.connect(m, fabric.extents, shell.extents)
        wiring.connect(m, fabric.memories, shell.memories)
        for name, member in shell.axi.signature.members.items():
            ours, theirs = getattr(self, AXI + name), getattr(shell.axi, name)
            m.d.comb += theirs.eq(ours) if member.flow is In else ours.eq(theirs)
        starting = fabric.run.request | shell.held if self.map.host.recovery else fabric.run.request
        failed = Cat(fabric.run.error).any()
        accepted = fabric.run.request & ~fabric.run.running & ~failed
        m.d.comb += [
            # From the cycle on in which the port answers the request.
            self.running.eq(fabric.run.running | starting),
            self.done.eq(fabric.run.done & ~starting),
            self.error.eq(failed),
            self.cycle.eq(Mux(accepted, 0, fabric.run.cycle)),
            *(getattr(self, name).eq(getattr(fabric, name)) for name in self.probes),
        ]
        if self.map.host.interrupt:
            m.d.comb += self.irq.eq(shell.irq)
        if self.stallable:
            m.d.comb += fabric.stall.eq(self.stall)
        return m
