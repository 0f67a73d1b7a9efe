"""pick: the reference, in a dense level, of a coordinate that a memory holds."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from samhw.graph import Arch
from samhw.rtl.access import MemoryAccess, read_member, reading
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, is_payload, make_token, same_token, token_layout
from samhw.rtl.units import MultiplyAdd

__all__ = ["Pick"]


class Pick(Primitive):
    """In `at` and `ref`, out `ref`: r * N + crd[p], N being the run-time `extent`.

    Args:
        crd_capacity: words of the memory at `mem_crd`.
    """

    def __init__(self, *, arch: Arch, crd_capacity: int, crd: MemoryAccess = MemoryAccess.CHIP):
        self.arch = arch
        self.crd_capacity = crd_capacity
        self.unit = MultiplyAdd(arch.index_bits)
        self.unit.check_latency(arch.locate, "Arch.locate")
        index = token_layout(arch.index_bits)
        super().__init__(
            {"at": index, "ref": index},
            {"ref": index},
            {
                "mem_crd": read_member(crd, crd_capacity, arch.index_bits, note=arch.index_bits),
                "extent": In(arch.index_bits),
            },
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, crd_capacity=site.capacity("crd"), **site.accesses)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        width = self.arch.index_bits
        m.submodules.unit = unit = self.unit
        latency = self.arch.memory + self.arch.locate
        m.submodules.ref = ref = Output(width, latency=latency, registers=1 + unit.registers)
        wiring.connect(m, ref.o, wiring.flipped(self.o.ref))

        both = [self.i.at, self.i.ref]
        at, base = self.i.at.payload, self.i.ref.payload
        table = FiringTable(m, both)
        reads, finds = at.kind == TokenKind.VAL, base.kind == TokenKind.VAL
        read = reading(
            self.mem_crd,
            ref,
            addr=at.payload,
            note=base.payload,
            asked=table.fired & reads,
            reads=reads,
        )
        with m.If(is_payload(at)):
            token = make_token(Mux(reads & finds, TokenKind.VAL, TokenKind.EMPTY))
            table.row(agree=is_payload(base), takes=both, pushes={read.i: token})
        with m.Else():
            end = make_token(at.kind, at.payload[:8])
            table.row(agree=same_token(at, base), takes=both, pushes={read.i: end})

        late_base = Signal(width, reset_less=True)
        asked = Signal()
        # A register of its own before the comparison: the memory answers late in a cycle.
        crd = Signal(width, reset_less=True)
        is_read = Signal()
        beyond = Signal()
        m.d.sync += [
            late_base.eq(read.note),
            asked.eq(read.asked),
            crd.eq(read.data),
            is_read.eq(asked),
            beyond.eq(self.i.at.valid & self.i.ref.valid & reads & (at.payload >= self.limit("crd"))),
        ]
        m.d.comb += [
            *read.joins,
            unit.a.eq(late_base),
            unit.b.eq(self.extent),
            unit.c.eq(read.data),
            ref.result.eq(unit.result),
            self.fired.eq(table.fired),
            self.error.eq(
                error_bits(protocol=table.protocol, range=beyond | (is_read & (crd >= self.extent)))
            ),
        ]
        return m
