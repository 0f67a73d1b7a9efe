"""array: the values at references."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Mux, Signal

from samhw.graph import Arch
from samhw.rtl.access import MemoryAccess, read_member, reading
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, make_token, token_layout, token_width

__all__ = ["Array"]


class Array(Primitive):
    """In `ref`, out `val`; EMPTY reads as zero.

    Args:
        stored_width: bits of a place of the memory at `mem_vals`.
        vals_capacity: its places.
        empties: a reference may be EMPTY.
    """

    def __init__(
        self,
        *,
        arch: Arch,
        stored_width: int,
        vals_capacity: int,
        empties: bool = True,
        vals: MemoryAccess = MemoryAccess.CHIP,
    ):
        self.arch = arch
        self.stored_width = stored_width
        self.vals_capacity = vals_capacity
        self.empties = empties
        super().__init__(
            {"ref": token_layout(arch.index_bits)},
            {"val": token_layout(token_width(stored_width))},
            {"mem_vals": read_member(vals, vals_capacity, stored_width)},
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            stored_width=site.stored_width("vals"),
            vals_capacity=site.capacity("vals"),
            empties=site.may_be_empty("ref"),
            **site.accesses,
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        width = token_width(self.stored_width)
        m.submodules.val = val = Output(width, latency=self.arch.memory, registers=1, zeros=self.empties)
        pushed, token = self.o.val, val.o.token
        m.d.comb += [
            val.o.ready.eq(pushed.ready),
            pushed.push.eq(val.o.push),
            pushed.strobe.eq(val.o.strobe),
            # EMPTY becomes a zero after the memory's register, so that nothing lies between the two.
            pushed.token.kind.eq(Mux(token.kind == TokenKind.EMPTY, TokenKind.VAL, token.kind)),
            pushed.token.payload.eq(token.payload),
        ]

        table = FiringTable(m, [self.i.ref])
        head = self.i.ref.payload
        read = reading(self.mem_vals, val, addr=head.payload)
        table.row(takes=[self.i.ref], pushes={read.i: make_token(head.kind, head.payload[:8])})
        beyond = Signal()
        m.d.sync += beyond.eq(
            self.i.ref.valid & (head.kind == TokenKind.VAL) & (head.payload >= self.limit("vals"))
        )
        m.d.comb += [
            *read.joins,
            val.result.eq(read.data),
            self.fired.eq(table.fired),
            self.error.eq(error_bits(range=beyond)),
        ]
        return m
