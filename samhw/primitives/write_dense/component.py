"""write_dense: checks that every coordinate of a dense level comes; there is nothing to store."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib.wiring import In

from samhw.graph import Arch
from samhw.primitives.writer.component import Writer
from samhw.rtl.actor import error_bits
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, stop_lo, token_layout

__all__ = ["WriteDense"]


class WriteDense(Writer):
    """In `crd`, which must be 0 .. N-1 in each fiber, N being the run-time `extent`."""

    def __init__(self, *, arch: Arch, stall_port: bool = False):
        self.arch = arch
        extent = {"extent": In(arch.index_bits)}
        super().__init__({"crd": token_layout(arch.index_bits)}, extent, stall_port=stall_port)

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, stall_port=site.stall_port)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        head = self.i.crd.payload
        expected = Signal(self.arch.index_bits)
        range_error = Signal()
        table = self._table(m)
        with m.Switch(head.kind):
            with m.Case(TokenKind.VAL), table.row(takes=[self.i.crd]):
                m.d.comb += range_error.eq(head.payload != expected)
                m.d.sync += expected.eq(expected + 1)
            with m.Case(TokenKind.STOP), table.row(takes=[self.i.crd]), m.If(stop_lo(head) == 0):
                m.d.comb += range_error.eq(expected != self.extent)
                m.d.sync += expected.eq(0)
            with m.Case(TokenKind.DONE), table.row(takes=[self.i.crd]):
                m.d.comb += self.committed.eq(1)
        m.d.comb += [
            self.fired.eq(table.fired),
            self.error.eq(error_bits(range=range_error, protocol=table.protocol)),
        ]
        return m
