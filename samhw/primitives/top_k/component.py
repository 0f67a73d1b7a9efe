"""top_k: of each innermost fiber the greatest, or least, values in order, or their coordinates."""

from typing import Self

from amaranth.hdl import Array, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.graph.numerics import Integer, ValueType
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import (
    TokenKind,
    all_end,
    is_payload,
    make_token,
    same_token,
    stop_lo,
    token_layout,
    token_width,
)
from samhw.rtl.units import alu_unit

__all__ = ["TopK"]


class TopK(Primitive):
    """In `crd`, `val` and `rank`, out `val` in lockstep with `rank`: what the slot has that it names, zero if
    the fiber has not filled it. Every slot compares with what comes in, and takes it, or what the slot below
    has, or stays.

    Args:
        op: `max` or `min`.
        gives: `values` or `places`.
        k: the number of slots.
    """

    def __init__(self, *, arch: Arch, value_type: ValueType, op: str, gives: str, k: int):
        self.arch = arch
        self.value_type = value_type
        self.op = op
        self.gives = gives
        self.k = k
        self.width = token_width(value_type.width if gives == "values" else Integer(32).width)
        index = token_layout(arch.index_bits)
        super().__init__(
            {"crd": index, "val": token_layout(token_width(value_type.width)), "rank": index},
            {"val": token_layout(self.width)},
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            value_type=site.value,
            op=site.params["op"],
            gives=site.params["gives"],
            k=site.params["k"],
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.val = val = Output(self.width, latency=self.arch.step)
        wiring.connect(m, val.o, wiring.flipped(self.o.val))
        coordinate, value, rank = self.i.crd.payload, self.i.val.payload, self.i.rank.payload
        insert = Signal()
        clear = Signal()
        shown, used = self._slots(m, insert, clear, value.payload, coordinate.payload)

        both, three = [self.i.crd, self.i.val], [self.i.crd, self.i.val, self.i.rank]
        table = FiringTable(m, three)
        stops = all_end(coordinate, value) & (coordinate.kind == TokenKind.STOP)
        with m.If((coordinate.kind == TokenKind.VAL) & is_payload(value)), table.row(takes=both):
            m.d.comb += insert.eq(1)
        with m.Elif(stops & (stop_lo(coordinate) == 0) & (rank.kind == TokenKind.VAL)):
            agree, given = same_token(coordinate, value), make_token(TokenKind.VAL)
            table.row(agree=agree, needs=both, takes=[self.i.rank], pushes={val.i: given})
        with m.Elif(all_end(coordinate, value, rank)):
            end = make_token(coordinate.kind, coordinate.payload[:8])
            agree = same_token(coordinate, value, rank)
            with table.row(agree=agree, takes=three, pushes={val.i: end}):
                m.d.comb += clear.eq(1)
        place = rank.payload[: (self.k - 1).bit_length() or 1]
        filled = (rank.payload < self.k) & Array(used)[place]
        m.d.comb += [
            val.result.eq(Mux(filled, Array(shown)[place], 0)),
            self.fired.eq(table.fired),
            self.error.eq(error_bits(protocol=table.protocol)),
        ]
        return m

    def _slots(
        self, m: Module, insert: Signal, clear: Signal, value: Value, coordinate: Value
    ) -> tuple[list[Signal], list[Signal]]:
        """What each slot shows, and whether it is in use. What comes in is better than a slot only if it is
        better than all slots above that one."""
        shown: list[Signal] = []
        in_use: list[Signal] = []
        below: tuple[Value, Value, Value, Value] | None = None
        for n in range(self.k):
            best = Signal(self.value_type.width, name=f"best{n}")
            at = Signal(self.arch.index_bits, name=f"at{n}")
            used = Signal(name=f"used{n}")
            wins = ~used | self._beats(m, n, value, best)
            moves = (0, value, coordinate, 1) if below is None else below
            from_below, its_best, its_at, its_used = moves
            with m.If(insert & wins):
                m.d.sync += [
                    best.eq(Mux(from_below, its_best, value)),
                    at.eq(Mux(from_below, its_at, coordinate)),
                    used.eq(Mux(from_below, its_used, 1)),
                ]
            with m.If(clear):
                m.d.sync += used.eq(0)
            below = (wins, best, at, used)
            shown.append(best if self.gives == "values" else at)
            in_use.append(used)
        return shown, in_use

    def _beats(self, m: Module, n: int, value: Value, best: Signal) -> Value:
        """Whether a value comes before that of a slot. The payload of an EMPTY is zero, as it
        should count."""
        m.submodules[f"order{n}"] = order = alu_unit("le", self.value_type)
        m.submodules[f"number{n}"] = number = alu_unit("eq", self.value_type)
        a, b = (value, best) if self.op == "max" else (best, value)
        m.d.comb += [order.a.eq(a), order.b.eq(b), number.a.eq(best), number.b.eq(best)]
        return number.result.any() & ~order.result.any()
