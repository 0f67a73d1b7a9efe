"""A whole design in hardware: its fabric in a shell with memories on the chip and the host's port."""

from collections.abc import Sequence
from dataclasses import replace

from amaranth.hdl import Cat, ClockDomain, ClockSignal, Elaboratable, Module, Mux, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.errors import InputError
from samhw.graph import PLAIN_HOST, Arch, Design, HostOptions, validate_design
from samhw.graph.address_map import AddressMap
from samhw.graph.off_chip import OffChipLayout
from samhw.rtl.fabric import Fabric
from samhw.rtl.off_chip import OffChipPorts
from samhw.rtl.shell import Shell

__all__ = ["AXI", "Top"]

AXI = "s_axi_"
"""Before the names of the pins of the host's port."""


def master_pins(masters: Sequence[wiring.PureInterface]) -> dict[str, tuple[wiring.Member, Signal]]:
    """The pins of the masters at the top by their names, each with the master's own signal."""
    return {
        f"m_axi{n}_{name}": (member, getattr(master, name))
        for n, master in enumerate(masters)
        for name, member in master.signature.members.items()
    }


def _check_off_chip(host: HostOptions) -> None:
    """Raises `InputError` for choices of the host that do not go with memory off the chip."""
    for name in ("recovery", "counters"):
        if getattr(host, name):
            raise InputError(
                f"--host {name} needs all tensors on chip, but this design has some off chip; leave out the "
                "one or the other."
            )


class Top(wiring.Component):
    """The RTL of a design (docs/host_port.md). It is independent of the data: one build runs whatever fits.

    Its regions run one after another, and what they pass on stays in the memories between them.

    Raises `InputError` for a design that does not hang together, or for which the RTL lacks something.

    Args:
        stall_ports: adds the input `stall`, a bit for each root and writer in the order of the nodes.
        probes: adds outputs that show each token as it leaves its channel: for channel k `probe<k>_valid`,
            `probe<k>_kind` and `probe<k>_payload`.
        host: the choices of its port.
        layout: what of the tensors lies off the chip; the host reaches it on a way of its own.
        own_clock: it runs on its own inputs `aclk` and `aresetn` (low: reset, at the clock), as AXI has them,
            instead of a clock domain `sync` around it.

    Members:
        s_axi_..: the slave of AXI4-Lite, or of AXI4.
        m_axi0_.., m_axi1_..: with a layout, the masters of AXI4.
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
        layout: OffChipLayout | None = None,
    ):
        validate_design(design)
        if arch.fanout:
            raise InputError(
                f"Arch.fanout is {arch.fanout}, but the RTL feeds several inputs at once; give 0, or take "
                "another target."
            )
        if layout is not None:
            _check_off_chip(host)
        self.map = AddressMap(design, arch, host, layout)
        arch = replace(arch, index_bits=self.map.index_bits)
        self.fabric = Fabric(
            design,
            arch,
            stall_ports=stall_ports,
            probes=probes,
            recovery=host.recovery,
            counters=host.counters,
            layout=layout,
        )
        self.off_chip: OffChipPorts | None = None
        if layout is not None:
            self.off_chip = OffChipPorts(layout, self.fabric.needs, len(design.regions))
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
        self._masters = master_pins(self.off_chip.axi) if self.off_chip else {}
        members |= {name: member for name, (member, _) in self._masters.items()}
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
        if self.off_chip is not None:
            m.submodules.off_chip = self.off_chip
            wiring.connect(m, fabric.off_chip, self.off_chip.fabric)
            for name, (member, theirs) in self._masters.items():
                ours = getattr(self, name)
                m.d.comb += theirs.eq(ours) if member.flow is In else ours.eq(theirs)
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
