"""write_at: stores values at the places that references name."""

from typing import Self

from amaranth.hdl import Elaboratable, Module

from samhw.graph import Arch
from samhw.primitives.writer.component import Writer
from samhw.rtl.access import MemoryAccess, write_member
from samhw.rtl.actor import error_bits
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, all_end, is_payload, same_token, token_layout, token_width

__all__ = ["WriteAt"]


class WriteAt(Writer):
    """In `ref` and `val`, in lockstep; EMPTY in `val`, whose payload is zero, is stored as such.

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
        inputs = {"ref": token_layout(arch.index_bits), "val": token_layout(token_width(stored_width))}
        super().__init__(inputs, {"mem_vals": port}, stall_port=stall_port)

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
        both = [self.i.ref, self.i.val]
        ref, val = self.i.ref.payload, self.i.val.payload
        m.d.comb += [self.mem_vals.addr.eq(ref.payload), self.mem_vals.data.eq(val.payload)]

        stores = (ref.kind == TokenKind.VAL) & is_payload(val)
        table = self._table(m, {self.mem_vals: stores | (ref.kind == TokenKind.DONE)})
        beyond = stores & (ref.payload >= self.limit("vals"))
        with m.If(stores), table.row(takes=both):
            m.d.comb += self.mem_vals.en.eq(~beyond)
        with m.Elif(all_end(ref, val)), table.row(agree=same_token(ref, val), takes=both):
            m.d.comb += self.committed.eq(ref.kind == TokenKind.DONE)
        m.d.comb += [
            self.fired.eq(table.fired),
            self.error.eq(error_bits(protocol=table.protocol, range=table.fired & beyond)),
        ]
        return m
