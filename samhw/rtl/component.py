"""A compiled program as a component for somebody else's design in Amaranth."""

from typing import Protocol

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.graph import PLAIN_HOST, Arch, Design, HostOptions
from samhw.graph.address_map import AddressMap
from samhw.rtl.top import AXI, Top

__all__ = ["DesignComponent", "component"]


class _Compiled(Protocol):
    @property
    def design(self) -> Design: ...

    @property
    def arch(self) -> Arch: ...


class DesignComponent(wiring.Component):
    """A design as a slave of AXI4-Lite, or of AXI4 (docs/host_port.md), in the clock domain `sync` around it.
    A port with a clock of its own is in the domain `host`, as is `irq`; reset both domains together.

    Attributes:
        map: the byte addresses of its registers and memories.

    Members:
        axi: the host's port, with addresses of `map.address_bits`.
        irq: if the host has an interrupt.
        running, done, error: of the present or last run.
        cycle: the number of the present cycle of the run.
    """

    axi: wiring.PureInterface

    def __init__(self, design: Design, arch: Arch, host: HostOptions = PLAIN_HOST) -> None:
        self._top = Top(design, arch, host=host)
        self.map: AddressMap = self._top.map
        outputs = {"running": Out(1), "done": Out(1), "error": Out(1), "cycle": Out(64)}
        if host.interrupt:
            outputs["irq"] = Out(1)
        self._outputs = tuple(outputs)
        super().__init__({"axi": Out(self._top.shell.axi.signature), **outputs})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.top = top = self._top
        for name, member in self.axi.signature.members.items():
            ours, theirs = getattr(self.axi, name), getattr(top, AXI + name)
            m.d.comb += theirs.eq(ours) if member.flow is In else ours.eq(theirs)
        m.d.comb += [getattr(self, name).eq(getattr(top, name)) for name in self._outputs]
        return m


def component(compiled: _Compiled, host: str = "") -> DesignComponent:
    """What has been compiled (`design.compiled` of `samhw.compile`) as a component.

    Args:
        host: the choices of its port, as `samhw build --host` takes them.

    Raises:
        InputError: for a design that the RTL cannot build, or a choice that there is not.
    """
    return DesignComponent(compiled.design, compiled.arch, HostOptions.parse(host))
