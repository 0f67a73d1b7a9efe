"""write_compressed: stores the coordinates of a compressed level."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Mux, Signal

from samhw.graph import Arch
from samhw.primitives.writer.component import Writer
from samhw.rtl.access import MemoryAccess, write_member
from samhw.rtl.actor import error_bits
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, stop_lo, token_layout

__all__ = ["WriteCompressed"]


class WriteCompressed(Writer):
    """In `crd`.

    Args:
        pos_capacity, crd_capacity: words of the memories at `mem_pos` and `mem_crd`.
    """

    def __init__(
        self,
        *,
        arch: Arch,
        pos_capacity: int,
        crd_capacity: int,
        pos: MemoryAccess = MemoryAccess.CHIP,
        crd: MemoryAccess = MemoryAccess.CHIP,
        stall_port: bool = False,
    ):
        self.arch = arch
        self.pos_capacity = pos_capacity
        self.crd_capacity = crd_capacity
        ports = {
            "mem_pos": write_member(pos, pos_capacity, arch.index_bits),
            "mem_crd": write_member(crd, crd_capacity, arch.index_bits),
        }
        super().__init__({"crd": token_layout(arch.index_bits)}, ports, stall_port=stall_port)

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            pos_capacity=site.capacity("pos"),
            crd_capacity=site.capacity("crd"),
            **site.accesses,
            stall_port=site.stall_port,
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        head = self.i.crd.payload
        coordinates = Signal(range(self.crd_capacity + 1))
        next_fiber = Signal(range(self.pos_capacity + 1), init=1)
        capacity = Signal()
        ends = head.kind == TokenKind.DONE
        m.d.comb += [
            self.mem_crd.addr.eq(coordinates),
            self.mem_crd.data.eq(head.payload),
            self.mem_pos.addr.eq(Mux(ends, 0, next_fiber)),
            self.mem_pos.data.eq(Mux(ends, 0, coordinates)),
        ]

        table = self._table(
            m,
            {
                self.mem_pos: ends | ((head.kind == TokenKind.STOP) & (stop_lo(head) == 0)),
                self.mem_crd: ends | (head.kind == TokenKind.VAL),
            },
        )
        with m.Switch(head.kind):
            with m.Case(TokenKind.VAL), table.row(takes=[self.i.crd]):
                with m.If(coordinates == self.limit("crd")):
                    m.d.comb += capacity.eq(1)
                with m.Else():
                    m.d.comb += self.mem_crd.en.eq(1)
                    m.d.sync += coordinates.eq(coordinates + 1)
            with m.Case(TokenKind.STOP), table.row(takes=[self.i.crd]):
                with m.If(stop_lo(head) != 0):
                    pass
                with m.Elif(next_fiber >= self.limit("pos")):
                    m.d.comb += capacity.eq(1)
                with m.Else():
                    m.d.comb += self.mem_pos.en.eq(1)
                    m.d.sync += next_fiber.eq(next_fiber + 1)
            with m.Case(TokenKind.DONE), table.row(takes=[self.i.crd]):
                m.d.comb += [self.committed.eq(1), self.mem_pos.en.eq(1)]
                m.d.sync += [coordinates.eq(0), next_fiber.eq(1)]
        m.d.comb += [
            self.fired.eq(table.fired),
            self.error.eq(error_bits(capacity=capacity, protocol=table.protocol)),
        ]
        return m
