"""The actor *emit* of the vector reducer: from the addresses that are present to the output streams."""

from collections.abc import Sequence

from amaranth.hdl import Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.graph import Arch
from samhw.primitives.banked_memory.component import next_bank
from samhw.rtl.access import MemoryReadSignature
from samhw.rtl.channel import PushSignature
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.token import CONTROL, TokenKind, make_token, stop_hi, stop_lo, stop_token, token_layout

__all__ = ["RowEmitter"]


class RowEmitter(wiring.Component):
    """Members:

        i: the addresses that are present, in ascending order, with the stops of the flushes.
        o: `crd0` .. `crd<n-1>` and `val`.
        drain, drain_bank: reads and clears the value at an address of a bank.
        bank: a push for each bank that has been drained.
        fired, protocol: as in `FiringTable`.

    Args:
        value_width: bits of a value.
        bits: the width of each kept coordinate, innermost first.
        addr_width: bits of an address, which is made of the coordinates.
        banks: how many take turns.
    """

    i: wiring.PureInterface
    o: wiring.PureInterface
    drain: wiring.PureInterface
    drain_bank: Signal
    bank: wiring.PureInterface
    fired: Signal
    protocol: Signal

    def __init__(self, *, arch: Arch, value_width: int, bits: Sequence[int], addr_width: int, banks: int):
        self.banks = banks
        self.arch = arch
        self.value_width = value_width
        self.bits = tuple(bits)
        outputs = {f"crd{s}": Out(PushSignature(token_layout(arch.index_bits))) for s in range(len(bits))}
        outputs["val"] = Out(PushSignature(token_layout(max(value_width, 8))))
        super().__init__(
            {
                "i": In(stream.Signature(token_layout(max(addr_width, 8)))),
                "o": Out(wiring.Signature(outputs)),
                "drain": Out(MemoryReadSignature(addr_width, value_width)),
                "drain_bank": Out(range(banks)),
                "bank": Out(PushSignature(CONTROL)),
                "fired": Out(1),
                "protocol": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        n = len(self.bits)
        head = self.i.payload
        lo, hi = stop_lo(head), stop_hi(head)
        coordinates = self._coordinates()
        outputs = self._outputs(m, coordinates)
        m.submodules.bank = bank = Output(8, latency=self.arch.step)
        wiring.connect(m, bank.o, wiring.flipped(self.bank))

        emitted = Signal()  # something has been since the last flush, and `last` is set
        last = [Signal(max(width, 1), name=f"last{s}") for s, width in enumerate(self.bits)]
        changed = Signal(range(max(n, 2)))  # the greatest outer level that differs from the last
        fresh = Signal.like(changed)
        for s in range(1, n):
            with m.If(coordinates[s] != last[s]):
                m.d.comb += changed.eq(s)

        remember = [last[s].eq(coordinates[s]) for s in range(1, n)]

        table = FiringTable(m, [self.i])
        m.d.comb += [
            self.fired.eq(table.fired),
            self.protocol.eq(table.protocol),
            self.drain.addr.eq(head.payload),
        ]
        with m.Switch(head.kind):
            with m.Case(TokenKind.VAL):
                with m.If(emitted & (changed != 0)):
                    ends = {out.i: stop_token(0, changed - 1 - s) for s, out in outputs}
                    inner = {out.i: changed > s for s, out in outputs}
                    with table.row(needs=[self.i], pushes=ends, pushes_if=inner):
                        m.d.sync += [fresh.eq(changed), *remember]
                with m.Else():
                    values = {out.i: make_token(TokenKind.VAL) for _, out in outputs}
                    due = {out.i: ~emitted | (fresh >= s) for s, out in outputs}
                    with table.row(takes=[self.i], pushes=values, pushes_if=due):
                        m.d.comb += self.drain.en.eq(1)
                        m.d.sync += [emitted.eq(1), fresh.eq(0), *remember]
            with m.Case(TokenKind.STOP):
                with m.If(lo <= n):
                    stops = {out.i: stop_token(Mux(emitted, 0, n - 1 - s), hi - 1 - s) for s, out in outputs}
                    with table.row(takes=[self.i], pushes={**stops, bank.i: make_token(TokenKind.VAL)}):
                        m.d.sync += [
                            emitted.eq(0),
                            self.drain_bank.eq(next_bank(self.drain_bank, self.banks)),
                        ]
                with m.Else():
                    stops = {out.i: stop_token(lo - 1 - s, hi - 1 - s) for s, out in outputs}
                    with table.row(takes=[self.i], pushes=stops):
                        pass
            with m.Case(TokenKind.DONE):
                done = {out.i: make_token(TokenKind.DONE) for _, out in outputs}
                table.row(takes=[self.i], pushes=done)
        return m

    def _coordinates(self) -> list[Value]:
        """The parts of the address at the head, innermost first."""
        coordinates, low = [], 0
        for width in self.bits:
            coordinates.append(self.i.payload.payload[low : low + width])
            low += width
        return coordinates

    def _outputs(self, m: Module, coordinates: Sequence[Value]) -> list[tuple[int, Output]]:
        """Each output with the number of its stream, counted from the inside; crd0 and val are stream 0."""
        m.submodules.val = val = Output(
            max(self.value_width, 8), latency=self.arch.memory, registers=1, zeros=False
        )
        wiring.connect(m, val.o, wiring.flipped(self.o.val))
        m.d.comb += val.result.eq(self.drain.data)
        outputs = [(0, val)]
        for s, coordinate in enumerate(coordinates):
            m.submodules[f"crd{s}"] = crd = Output(self.arch.index_bits, latency=self.arch.step, zeros=False)
            wiring.connect(m, crd.o, wiring.flipped(getattr(self.o, f"crd{s}")))
            m.d.comb += crd.result.eq(coordinate)
            outputs.append((s, crd))
        return outputs
