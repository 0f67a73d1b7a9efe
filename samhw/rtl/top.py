"""A whole design in hardware: its fabric in a shell with memories on the chip and the host's port."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from amaranth.back import verilog as verilog_backend
from amaranth.hdl import Cat, Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.errors import InputError
from samhw.graph import Arch, Design, validate_design
from samhw.graph.address_map import AddressMap
from samhw.rtl.fabric import Fabric
from samhw.rtl.host_port import AxiLiteSignature
from samhw.rtl.shell import Shell
from samhw.rtl.verilog_memory import VerilogMemories

__all__ = ["Top", "verilog"]

_AXI = "s_axi_"


class Top(wiring.Component):
    """The RTL of a design (docs/host_port.md). It is independent of the data: one build runs whatever fits.

    Its regions run one after another, and what they pass on stays in the memories between them.

    Raises `InputError` for a design that does not hang together, or for which the RTL lacks something.

    Args:
        stall_ports: adds the input `stall`, a bit for each root and writer in the order of the nodes.
        probes: adds outputs that show each token as it leaves its channel: for channel k `probe<k>_valid`,
            `probe<k>_kind` and `probe<k>_payload`.

    Members:
        s_axi_..: the AXI4-Lite slave.
        running, done, error: of the present or last run.
        cycle: the number of the present cycle of the run.
    """

    def __init__(self, design: Design, arch: Arch, *, stall_ports: bool = False, probes: bool = False):
        validate_design(design)
        if arch.fanout:
            raise InputError(
                f"Arch.fanout is {arch.fanout}, but the RTL feeds several inputs at once; give 0, or take "
                "another target."
            )
        self.map = AddressMap(design, arch)
        self.fabric = Fabric(design, arch, stall_ports=stall_ports, probes=probes)
        self.shell = Shell(self.map, arch, self.fabric.ports)
        self.stallable = self.fabric.stallable
        members: dict[str, object] = {
            _AXI + name: member for name, member in AxiLiteSignature().members.items()
        }
        members |= {"running": Out(1), "done": Out(1), "error": Out(1), "cycle": Out(64)}
        if stall_ports:
            members["stall"] = In(len(self.stallable))
        self.probes = self.fabric.probe_members() if probes else {}
        super().__init__(members | self.probes)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.fabric = fabric = self.fabric
        m.submodules.shell = shell = self.shell
        wiring.connect(m, fabric.run, shell.run)
        wiring.connect(m, fabric.extents, shell.extents)
        wiring.connect(m, fabric.memories, shell.memories)
        for name, member in AxiLiteSignature().members.items():
            ours, theirs = getattr(self, _AXI + name), getattr(shell.axi, name)
            m.d.comb += theirs.eq(ours) if member.flow is In else ours.eq(theirs)
        m.d.comb += [
            self.running.eq(fabric.run.running),
            self.done.eq(fabric.run.done),
            self.error.eq(Cat(fabric.run.error).any()),
            self.cycle.eq(fabric.run.cycle),
            *(getattr(self, name).eq(getattr(fabric, name)) for name in self.probes),
        ]
        if self.stallable:
            m.d.comb += fabric.stall.eq(self.stall)
        return m


def verilog(
    design: Design, arch: Arch, *, name: str = "samhw_top", stall_ports: bool = False, probes: bool = False
) -> str:
    """The Verilog of a design's `Top`, one file; the same text for the same design on every machine."""
    top = Top(design, arch, stall_ports=stall_ports, probes=probes)
    memories = VerilogMemories(f"{name}_memory")
    with _no_garbage_collection():
        text: str = verilog_backend.convert(
            top, name=name, platform=memories, emit_src=False, strip_internal_attrs=True
        )
    return text + memories.text


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """The objects of a netlist all live until the end. Python's collector would walk through them again and
    again, for a third of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
