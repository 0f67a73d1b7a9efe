"""A whole design in hardware: its fabric in a shell with memories on the chip and the host's port."""

from collections.abc import Sequence
from dataclasses import replace

from amaranth.hdl import (
    Cat,
    ClockDomain,
    ClockSignal,
    Elaboratable,
    Instance,
    Module,
    Mux,
    ResetSignal,
    Signal,
)
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from samhw.errors import InputError
from samhw.graph import PLAIN_HOST, Arch, Design, HostOptions, validate_design
from samhw.graph.address_map import AddressMap
from samhw.graph.off_chip import OffChipLayout
from samhw.rtl.fabric import Fabric
from samhw.rtl.host_clock import HOST, ClockCrossing, cross_resets
from samhw.rtl.host_port import FarSignature
from samhw.rtl.off_chip import OffChipPorts
from samhw.rtl.sdram import Sdram
from samhw.rtl.shell import Shell

__all__ = ["AXI", "SDRAM", "Top"]

AXI = "s_axi_"
"""Before the names of the pins of the host's port."""
SDRAM = "sdram_"
"""Before those of an SDRAM."""
CHIP_MODEL = "samhw_sdram_registered"
"""The model of a chip, with the registers of its pins."""


def master_pins(masters: Sequence[wiring.PureInterface]) -> dict[str, tuple[wiring.Member, Signal]]:
    """The pins of the masters at the top by their names, each with the master's own signal."""
    return {
        f"m_axi{n}_{name}": (member, getattr(master, name))
        for n, master in enumerate(masters)
        for name, member in master.signature.members.items()
    }


def _check_off_chip(host: HostOptions, layout: OffChipLayout) -> None:
    """Raises `InputError` for choices of the host that do not go with memory off the chip."""
    if host.pingpong:
        raise InputError(
            "'--host pingpong' needs all tensors on chip, but this design has some off chip; leave out the "
            "one or the other."
        )
    if layout.chip is not None and host.bursts:
        raise InputError(
            "'--host axi4' has no way to an SDRAM, which a host reaches word by word; leave it out, or take "
            "another --memory."
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
        layout: what of the tensors lies off the chip; the host reaches it on a way of its own, or an SDRAM
            through its port.
        chip_model: with an SDRAM, the model of the chip is inside (`samhw_sdram_registered`).
        own_clock: it runs on its own inputs `aclk` and `aresetn` (low: reset, at the clock), as AXI has them,
            instead of a clock domain `sync` around it; with `host.clock` the port on `s_axi_aclk` and
            `s_axi_aresetn`, instead of a domain `host`.

    Members:
        s_axi_..: the slave of AXI4-Lite, or of AXI4.
        m_axi0_.., m_axi1_..: with a layout, the masters of AXI4; of one that an SDRAM answers, all pins to
            look at.
        sdram_..: of an SDRAM that is not inside, as `PinsSignature`.
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
        chip_model: bool = False,
    ):
        validate_design(design)
        if arch.fanout:
            raise InputError(
                f"Arch.fanout is {arch.fanout}, but the RTL feeds several inputs at once; give 0, or take "
                "another target."
            )
        if layout is not None:
            _check_off_chip(host, layout)
            layout.check_fabrics(design)
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
            self.off_chip = OffChipPorts(
                layout,
                self.fabric.needs,
                len(design.regions),
                apart=design.is_parallel,
                recovery=host.recovery,
                counters=host.counters,
            )
        self.sdram: Sdram | None = None
        self.chip_model = chip_model
        if layout is not None and layout.chip is not None and self.off_chip is not None:
            signature, reach = self.off_chip.axi[0].signature.flip(), FarSignature(self.map.address_bits - 1)
            self.sdram = Sdram(layout.chip, signature, layout.ports.line, reach)
        self.shell = Shell(self.map, arch, self.fabric.ports)
        self.stallable = self.fabric.stallable
        self.own_clock = own_clock
        members: dict[str, object] = {"aclk": In(1), "aresetn": In(1)} if own_clock else {}
        if own_clock and host.clock:
            members |= {f"{AXI}aclk": In(1), f"{AXI}aresetn": In(1)}
        members |= {AXI + name: member for name, member in self.shell.axi.signature.members.items()}
        members |= {"running": Out(1), "done": Out(1), "error": Out(1), "cycle": Out(64)}
        if host.interrupt:
            members["irq"] = Out(1)
        if stall_ports:
            members["stall"] = In(len(self.stallable))
        self._masters = master_pins(self.off_chip.axi) if self.off_chip else {}
        members |= {name: Out(m.shape) if self.sdram else m for name, (m, _) in self._masters.items()}
        if self.sdram and not chip_model:
            members |= {SDRAM + name: member for name, member in self.sdram.pins.signature.members.items()}
        self.probes = self.fabric.probe_members() if probes else {}
        super().__init__(members | self.probes)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        if self.own_clock:
            self._clocks(m)
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
                m.d.comb += theirs.eq(ours) if member.flow is In and not self.sdram else ours.eq(theirs)
        if self.sdram is not None:
            self._sdram(m, self.sdram)
        self._lead_out(m, AXI, self._port(m))
        starting = fabric.run.request
        if self.map.host.recovery:
            starting |= shell.held
        if shell.drains:
            starting |= shell.clearing
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
            m.d.comb += self.irq.eq(self._on_port(m, shell.irq))
        if self.stallable:
            m.d.comb += fabric.stall.eq(self.stall)
        return m

    def _clocks(self, m: Module) -> None:
        """The domains, on pins of the top."""
        m.domains.sync = ClockDomain()
        m.d.comb += ClockSignal().eq(self.aclk)
        if not self.map.host.clock:
            m.d.comb += ResetSignal().eq(~self.aresetn)
            return
        m.domains.host = ClockDomain()
        m.d.comb += ClockSignal(HOST).eq(self.s_axi_aclk)
        cross_resets(m, {"sync": ~self.aresetn, HOST: ~self.s_axi_aresetn})

    def _port(self, m: Module) -> wiring.PureInterface:
        """The host's port, on its own clock if it has one."""
        host, axi = self.map.host, self.shell.axi
        if not host.clock:
            return axi
        m.submodules.crossing = crossing = ClockCrossing(axi.signature, host.bursts)
        wiring.connect(m, crossing.design, axi)
        return crossing.axi

    def _on_port(self, m: Module, level: Signal) -> Signal:
        """A level, on the clock of the host's port."""
        if not self.map.host.clock:
            return level
        found = Signal.like(level)
        m.submodules.irq_crossing = FFSynchronizer(level, found, o_domain=HOST)
        return found

    def _lead_out(self, m: Module, prefix: str, pins: wiring.PureInterface) -> None:
        """Joins the pins of a part to those of the top, whose names have a prefix."""
        for name, member in pins.signature.members.items():
            ours, theirs = getattr(self, prefix + name), getattr(pins, name)
            m.d.comb += theirs.eq(ours) if member.flow is In else ours.eq(theirs)

    def _sdram(self, m: Module, sdram: Sdram) -> None:
        """The SDRAM: answers the master and the host."""
        assert self.off_chip is not None
        m.submodules.sdram = sdram
        wiring.connect(m, self.off_chip.axi[0], sdram.axi)
        wiring.connect(m, self.shell.far, sdram.host)
        if not self.chip_model:
            self._lead_out(m, SDRAM, sdram.pins)
            return
        chip, pins = sdram.chip, sdram.pins
        members = pins.signature.members.items()
        ways = {name: "o" if member.flow is In else "i" for name, member in members}
        m.submodules.chip = Instance(
            CHIP_MODEL,
            p_CYCLE_PS=chip.cycle_ps,
            p_BANK_BITS=chip.bank_bits,
            p_ROW_BITS=chip.row_bits,
            p_COLUMN_BITS=chip.column_bits,
            p_BYTES=chip.word_bytes,
            p_LATENCY=chip.latency,
            i_clk=ClockSignal(),
            **{f"{way}_{name}": getattr(pins, name) for name, way in ways.items()},
        )
