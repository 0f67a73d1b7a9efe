"""The actor *accumulate* of the vector reducers: from the input streams to updates of the bank in use."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Elaboratable, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.graph import Arch
from samhw.primitives.banked_memory.component import next_bank
from samhw.rtl.channel import PushSignature
from samhw.rtl.firing import FiringTable
from samhw.rtl.logic import all_of
from samhw.rtl.output import Output
from samhw.rtl.token import (
    CONTROL,
    TokenKind,
    is_payload,
    make_token,
    same_token,
    stop_hi,
    stop_lo,
    token_layout,
)

__all__ = ["BankFiller"]


class BankFiller(wiring.Component):
    """Members:

        i: `crd0` .. `crd<n-1>`, then `values`.
        flush: the stops that the bank before them is drained for, DONE, and the stops of lists without any.
        free: a token for each bank that is not in use and has been drained.
        bank: the bank in use.
        update, addr, operand: the operand, which is one payload of `values` after the other, is to be
            combined with what is at the address.
        pending: an accumulation at that address is still under way; its next one waits.
        beyond: a coordinate of the update has more bits than it may.
        fired, protocol: as in `FiringTable`.

    Args:
        values: the names of the value streams.
        val_width: bits of the payload of a val token.
        bits: the width of each kept coordinate, innermost first.
        addr_width: bits of an address, which is made of the coordinates.
        banks: how many take turns.
        latency: L₊, cycles from one accumulation to the next that may use its result.
    """

    i: wiring.PureInterface
    flush: wiring.PureInterface
    free: wiring.PureInterface
    bank: Signal
    update: Signal
    addr: Signal
    operand: Signal
    pending: Signal
    beyond: Signal
    fired: Signal
    protocol: Signal

    def __init__(
        self,
        *,
        arch: Arch,
        values: Sequence[str],
        val_width: int,
        bits: Sequence[int],
        addr_width: int,
        banks: int,
        latency: int,
    ):
        self.values = tuple(values)
        self.banks = banks
        self.latency = latency
        self.bits = tuple(bits)
        inputs = {f"crd{s}": In(stream.Signature(token_layout(arch.index_bits))) for s in range(len(bits))}
        inputs |= {name: In(stream.Signature(token_layout(val_width))) for name in values}
        super().__init__(
            {
                "i": Out(wiring.Signature(inputs)),
                "flush": Out(PushSignature(CONTROL)),
                "free": In(stream.Signature(CONTROL)),
                "bank": Out(range(banks)),
                "update": Out(1),
                "addr": Out(addr_width),
                "operand": Out(val_width * len(values)),
                "pending": In(1),
                "beyond": Out(1),
                "fired": Out(1),
                "protocol": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        n = len(self.bits)
        heads = [getattr(self.i, name) for name in self.i.signature.members]
        first = heads[0].payload
        crds = [(head.payload.payload, width) for head, width in zip(heads, self.bits, strict=False)]
        # A flush overtakes no accumulation. One that fires in t can be read from t + L₊ + 2 on; a flush is
        # pushed in t + 1 at the earliest, so that the first fetch has it from t + L₊ + 2 on. Bits are marked
        # earlier than that, and values are read later: after a walker's `memory` and `step`.
        m.submodules.flush_output = flush = Output(8, latency=self.latency + 1)
        wiring.connect(m, flush.o, wiring.flipped(self.flush))

        table = FiringTable(m, heads, stall=is_payload(first) & self.pending)
        m.d.comb += [
            self.fired.eq(table.fired),
            self.protocol.eq(table.protocol),
            self.addr.eq(Cat(crd[:width] for crd, width in crds)),
            self.beyond.eq(self.update & Cat(crd[width:] for crd, width in crds).any()),
            self.operand.eq(Cat(getattr(self.i, name).payload.payload for name in self.values)),
        ]
        token = {flush.i: make_token(first.kind, first.payload[:8])}
        with m.If(is_payload(first)):
            agree = all_of(is_payload(head.payload) for head in heads[1:])
            with table.row(agree=agree, takes=heads):
                m.d.comb += self.update.eq(1)
        with m.Else():
            agree = same_token(*(head.payload for head in heads))
            with m.If(first.kind == TokenKind.DONE), table.row(agree=agree, takes=heads, pushes=token):
                pass
            with m.Elif(stop_hi(first) < n), table.row(agree=agree, takes=heads):
                pass
            with m.Elif(stop_lo(first) <= n):
                with table.row(agree=agree, takes=[*heads, self.free], pushes=token):
                    m.d.sync += self.bank.eq(next_bank(self.bank, self.banks))
            with m.Else(), table.row(agree=agree, takes=heads, pushes=token):
                pass
        return m
