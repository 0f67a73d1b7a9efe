"""reduce_scalar: each innermost fiber becomes one value."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.channel import Channel
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.token import CONTROL, Kind, make_token, stop_hi, stop_lo, stop_token, token_layout
from samhw.rtl.units import Unit, accumulate_unit, token_width

__all__ = ["ReduceScalar"]


class ReduceScalar(Primitive):
    """In `val`, out `val` one level shallower: the actors *accumulate* and *emit*.

    Args:
        op: `sum`, `max` or `min`.
    """

    def __init__(self, *, arch: Arch, value_type: ValueType, op: str):
        self.arch = arch
        self.value_type = value_type
        self.unit = accumulate_unit(op, value_type)
        value = token_layout(token_width(value_type))
        super().__init__({"val": value}, {"val": value})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        step, width = self.arch.step, token_width(self.value_type)
        m.submodules.unit = unit = self.unit
        m.submodules.sum = sum = Output(width, latency=step)
        m.submodules.stop = stop = Output(8, latency=step)
        m.submodules.sums = sums = Channel(token_layout(width), self.arch.internal_depth(step))
        m.submodules.stops = stops = Channel(CONTROL, self.arch.internal_depth(step))
        m.submodules.val = val = Output(width, latency=step)
        wiring.connect(m, sum.o, sums.i)
        wiring.connect(m, stop.o, stops.i)
        wiring.connect(m, val.o, wiring.flipped(self.o.val))

        overflow = Signal()
        accumulate = self._accumulate(m, unit, sum, stop, overflow)
        emit = self._emit(m, sums.o, stops.o, val)
        m.d.comb += [
            self.fired.eq(accumulate.fired | emit.fired),
            self.error.eq(error_bits(overflow=overflow, protocol=accumulate.protocol | emit.protocol)),
        ]
        return m

    def _accumulate(self, m: Module, unit: Unit, sum: Output, stop: Output, overflow: Signal) -> FiringTable:
        head = self.i.val.payload
        acc = Signal(self.value_type.width)
        first = Signal(init=1)
        # The payload of an EMPTY is zero, as it should count.
        m.d.comb += [unit.a.eq(acc), unit.b.eq(head.payload), sum.result.eq(acc)]

        table = FiringTable(m, [self.i.val])
        value, empty, done = (make_token(kind) for kind in (Kind.VAL, Kind.EMPTY, Kind.DONE))
        outer = stop_token(stop_lo(head) - (stop_lo(head) != 0), stop_hi(head) - 1)
        with m.Switch(head.kind):
            with m.Case(Kind.VAL, Kind.EMPTY), table.row(takes=[self.i.val]):
                m.d.comb += overflow.eq(unit.overflow)
                m.d.sync += [acc.eq(Mux(first, head.payload, unit.result)), first.eq(0)]
            with m.Case(Kind.STOP):
                with m.If(stop_lo(head) != 0):
                    table.row(takes=[self.i.val], pushes={sum.i: empty, stop.i: outer})
                with m.Else():
                    token = Mux(stop_hi(head) == 0, empty, outer)
                    with table.row(takes=[self.i.val], pushes={sum.i: value, stop.i: token}):
                        m.d.sync += [acc.eq(0), first.eq(1)]
            with m.Case(Kind.DONE):
                table.row(takes=[self.i.val], pushes={sum.i: done, stop.i: done})
        return table

    def _emit(
        self, m: Module, sums: wiring.PureInterface, stops: wiring.PureInterface, val: Output
    ) -> FiringTable:
        sum, stop = sums.payload, stops.payload
        half = Signal()
        m.d.comb += val.result.eq(sum.payload)

        table = FiringTable(m, [sums, stops])
        value = make_token(Kind.VAL)
        stop_below = make_token(Kind.STOP, stop.payload)
        with m.If((sum.kind == Kind.VAL) & (stop.kind == Kind.EMPTY)):
            table.row(takes=[sums, stops], pushes={val.i: value})
        with m.Elif((sum.kind == Kind.VAL) & (stop.kind == Kind.STOP) & ~half):
            with table.row(needs=[sums, stops], pushes={val.i: value}):
                m.d.sync += half.eq(1)
        with m.Elif(((sum.kind == Kind.VAL) | (sum.kind == Kind.EMPTY)) & (stop.kind == Kind.STOP)):
            with table.row(takes=[sums, stops], pushes={val.i: stop_below}):
                m.d.sync += half.eq(0)
        with m.Elif((sum.kind == Kind.DONE) & (stop.kind == Kind.DONE)):
            table.row(takes=[sums, stops], pushes={val.i: make_token(Kind.DONE)})
        return table
