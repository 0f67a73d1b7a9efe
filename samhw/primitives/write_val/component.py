"""write_val: stores values in the order of their stream."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Signal

from samhw.graph import Arch
from samhw.primitives.writer.component import Writer
from samhw.rtl.access import MemoryAccess, write_member
from samhw.rtl.actor import error_bits
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, token_layout, token_width

__all__ = ["WriteVal"]


class WriteVal(Writer):
    """In `val`; EMPTY, whose payload is zero, is stored as such.

    Args:
        stored_width: bits of a place of the memory at `mem_vals`.
        vals_capacity: its places.
    """

    def __init__(
        self,
        *,
        arch: Arch,
        stored_width: int,
        vals_capacity: int,
        vals: MemoryAccess = MemoryAccess.CHIP,
        stall_port: bool = False,
    ):
        self.arch = arch
        self.vals_capacity = vals_capacity
        port = write_member(vals, vals_capacity, stored_width)
        shape = token_layout(token_width(stored_width))
        super().__init__({"val": shape}, {"mem_vals": port}, stall_port=stall_port)

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            stored_width=site.stored_width("vals"),
            vals_capacity=site.capacity("vals"),
            **site.accesses,
            stall_port=site.stall_port,
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        head = self.i.val.payload
        values = Signal(range(self.vals_capacity + 1))
        capacity = Signal()
        m.d.comb += [
            self.mem_vals.addr.eq(values),
            self.mem_vals.data.eq(head.payload),
        ]

        table = self._table(m, {self.mem_vals: head.kind != TokenKind.STOP})
        with table.row(takes=[self.i.val]), m.Switch(head.kind):
            with m.Case(TokenKind.VAL, TokenKind.EMPTY):
                with m.If(values == self.limit("vals")):
                    m.d.comb += capacity.eq(1)
                with m.Else():
                    m.d.comb += self.mem_vals.en.eq(1)
                    m.d.sync += values.eq(values + 1)
            with m.Case(TokenKind.DONE):
                m.d.comb += self.committed.eq(1)
                m.d.sync += values.eq(0)
        m.d.comb += [self.fired.eq(table.fired), self.error.eq(error_bits(capacity=capacity))]
        return m
