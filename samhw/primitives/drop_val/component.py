"""drop_val: removes the zeros of a value stream, and their coordinates."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Value
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.graph.numerics import Float, ValueType
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.logic import any_of
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, is_payload, make_token, same_token, token_layout, token_width

__all__ = ["DropVal"]


class DropVal(Primitive):
    """In and out `crd` and `val`.

    Args:
        words: those of a block, if values come in blocks.
    """

    def __init__(self, *, arch: Arch, value_type: ValueType, words: int = 1):
        self.arch = arch
        self.value_type = value_type
        self.words = words
        self.val_width = token_width(words * value_type.width)
        ports = {"crd": token_layout(arch.index_bits), "val": token_layout(self.val_width)}
        super().__init__(ports, ports)

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, value_type=site.value, words=site.graph.taken(site.node, "val").words)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.crd = crd = Output(self.arch.index_bits, latency=self.arch.step)
        m.submodules.val = val = Output(self.val_width, latency=self.arch.step)
        wiring.connect(m, crd.o, wiring.flipped(self.o.crd))
        wiring.connect(m, val.o, wiring.flipped(self.o.val))
        coordinate, value = self.i.crd.payload, self.i.val.payload
        m.d.comb += [crd.result.eq(coordinate.payload), val.result.eq(value.payload)]

        both = [self.i.crd, self.i.val]
        table = FiringTable(m, both)
        with m.If(is_payload(coordinate)):
            agree = (coordinate.kind == TokenKind.VAL) & is_payload(value)
            width = self.value_type.width
            words = [value.payload.word_select(n, width) for n in range(self.words)]
            with m.If(any_of(_is_nonzero(self.value_type, word) for word in words)):
                token = make_token(TokenKind.VAL)
                table.row(agree=agree, takes=both, pushes={crd.i: token, val.i: token})
            with m.Else():
                table.row(agree=agree, takes=both)
        with m.Else():
            token = make_token(coordinate.kind, coordinate.payload[:8])
            agree = same_token(coordinate, value)
            table.row(agree=agree, takes=both, pushes={crd.i: token, val.i: token})
        m.d.comb += [self.fired.eq(table.fired), self.error.eq(error_bits(protocol=table.protocol))]
        return m


def _is_nonzero(value_type: ValueType, payload: Value) -> Value:
    """Of the payload of an EMPTY, which is zero, too. A float without exponent bits is a zero of either sign,
    or a subnormal number, which counts as one where the format has none."""
    if isinstance(value_type, Float):
        f = value_type.format
        return payload[0 if f.subnormals else f.mantissa : value_type.width - 1].any()
    return payload.any()
