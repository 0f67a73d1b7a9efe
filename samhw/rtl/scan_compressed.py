"""scan_compressed: the stored coordinates of a compressed level."""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from samhw.graph import Arch
from samhw.rtl.actor import MemoryReadSignature, Primitive, error_bits
from samhw.rtl.channel import Fifo
from samhw.rtl.coordinates import check_coordinates
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.token import TokenKind, make_token, token_layout
from samhw.rtl.walk import Walk

__all__ = ["ScanCompressed"]


class ScanCompressed(Primitive):
    """In `ref`, out `crd` and `ref`: the actors *fetch* and *walk*.

    Args:
        pos_capacity, crd_capacity: words of the memories.

    Members:
        mem_pos, mem_pos_next: two read ports of `pos`, for the start and the end of a fiber.
        mem_crd: a read port of `crd`.
        extent: beyond all coordinates; stable while there are tokens.
    """

    def __init__(self, *, arch: Arch, pos_capacity: int, crd_capacity: int):
        self.arch = arch
        self.pos_capacity = pos_capacity
        self.crd_capacity = crd_capacity
        index = token_layout(arch.index_bits)
        pos = MemoryReadSignature(ceil_log2(pos_capacity), arch.index_bits)
        crd = MemoryReadSignature(ceil_log2(crd_capacity), arch.index_bits)
        super().__init__(
            {"ref": index},
            {"crd": index, "ref": index},
            {
                "mem_pos": Out(pos),
                "mem_pos_next": Out(pos),
                "mem_crd": Out(crd),
                "extent": In(arch.index_bits),
            },
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        width, latency = self.arch.index_bits, self.arch.memory
        m.submodules.start = start = Output(width, latency=latency, registers=1)
        m.submodules.end = end = Output(width, latency=latency, registers=1)
        m.submodules.walk = walk = Walk()
        m.submodules.crd = crd = Output(width, latency=latency, registers=1)
        m.submodules.ref = ref = Output(width, latency=self.arch.step)
        m.submodules.starts = starts = Fifo(token_layout(width), self.arch.internal_depth(latency))
        m.submodules.ends = ends = Fifo(token_layout(width), self.arch.internal_depth(latency))
        wiring.connect(m, start.o, starts.i)
        wiring.connect(m, end.o, ends.i)
        walk.feed(m, starts.o)
        m.d.comb += ends.o.ready.eq(walk.head.ready)
        walk.drive(m, self.o, crd, ref)

        fetch = FiringTable(m, [self.i.ref])
        fiber = self.i.ref.payload
        token = make_token(fiber.kind, fiber.payload[:8])
        fetch.row(takes=[self.i.ref], pushes={start.i: token, end.i: token})
        m.d.comb += [
            self.mem_pos.addr.eq(fiber.payload),
            self.mem_pos.en.eq(1),
            start.result.eq(self.mem_pos.data),
            self.mem_pos_next.addr.eq(fiber.payload + 1),
            self.mem_pos_next.en.eq(1),
            end.result.eq(self.mem_pos_next.data),
        ]

        # Behind the first coordinate, the position s + c and whether it is the last are made a cycle ahead.
        s, e = starts.o.payload.payload, ends.o.payload.payload
        following = Signal(width)
        following_is_last = Signal()
        position = Signal(width)
        m.d.comb += [
            position.eq(Mux(walk.first, s, following)),
            walk.empty.eq(s == e),
            walk.last.eq(Mux(walk.first, _follows(e, s), following_is_last)),
            self.mem_crd.addr.eq(position),
            self.mem_crd.en.eq(1),
            crd.result.eq(self.mem_crd.data),
            ref.result.eq(position),
            self.fired.eq(fetch.fired | walk.fired),
        ]
        with m.If(walk.step):
            m.d.sync += [following.eq(position + 1), following_is_last.eq(e == (position + 2)[:width])]

        beyond_pos = Signal()
        beyond_crd = Signal()
        backwards = Signal()
        at_fiber = starts.o.valid & (starts.o.payload.kind == TokenKind.VAL)
        m.d.sync += [
            beyond_pos.eq(
                self.i.ref.valid & (fiber.kind == TokenKind.VAL) & (fiber.payload >= self.pos_capacity - 1)
            ),
            beyond_crd.eq(at_fiber & (s < e) & (position >= self.crd_capacity)),
            backwards.eq(at_fiber & (s > e)),
        ]
        first = Signal()
        m.d.sync += first.eq(walk.first)
        beyond_extent, disordered = check_coordinates(
            m, self.mem_crd.data, used=crd.used, extent=self.extent, first=first
        )
        m.d.comb += self.error.eq(
            error_bits(range=beyond_pos | beyond_crd | beyond_extent, protocol=backwards | disordered)
        )
        return m


def _follows(b: Value, a: Value) -> Value:
    """b = a + 1, without a carry chain: with all right below, a bit carries if a has a 1 there and b a 0."""
    return (a ^ b) == Cat(1, (a & ~b)[:-1])
