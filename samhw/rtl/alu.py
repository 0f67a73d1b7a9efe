"""alu: one operation on values."""

from collections.abc import Sequence

from amaranth.hdl import Const, Elaboratable, Module
from amaranth.lib import data, wiring

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.numerics import ARITY, ValueType
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.token import Kind, is_payload, make_token, same_token, token_layout
from samhw.rtl.units import alu_unit, token_width

__all__ = ["Alu"]


class Alu(Primitive):
    """In `a` and, for a binary operation without an immediate, `b`; out `val`. EMPTY counts as zero.

    Args:
        op: `add`, `sub`, `mul` or `neg`.
        immediate: the value (not the word) of operand b.

    Raises:
        InputError: the value type has no such unit or cannot hold the immediate, or the unit needs more than
            `Arch.alu[op]`.
    """

    def __init__(self, *, arch: Arch, value_type: ValueType, op: str, immediate: float | None = None):
        self.arch = arch
        self.value_type = value_type
        self.op = op
        self.unit = alu_unit(op, value_type)
        if op not in arch.alu:
            raise InputError(f"Arch.alu has no latency for {op!r}; add one.")
        self.unit.check_latency(arch.alu[op], f"Arch.alu[{op!r}]")
        self.immediate = None if immediate is None else int(value_type.encode([immediate])[0])
        value = token_layout(token_width(value_type))
        ports = ["a", "b"] if ARITY[op] == 2 and immediate is None else ["a"]
        super().__init__(dict.fromkeys(ports, value), {"val": value})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.unit = unit = self.unit
        m.submodules.val = val = Output(
            token_width(self.value_type), latency=self.arch.alu[self.op], registers=unit.registers
        )
        wiring.connect(m, val.o, wiring.flipped(self.o.val))

        inputs = [self.i.a] if not hasattr(self.i, "b") else [self.i.a, self.i.b]
        heads: Sequence[data.View] = [port.payload for port in inputs]
        table = FiringTable(m, inputs)
        with m.If(is_payload(heads[0]) & is_payload(heads[-1])):
            table.row(takes=inputs, pushes={val.i: make_token(Kind.VAL)})
        with m.Elif(~is_payload(heads[0]) & same_token(heads[0], heads[-1])):
            table.row(takes=inputs, pushes={val.i: make_token(heads[0].kind, heads[0].payload[:8])})

        # The payload of an EMPTY is zero, as it should count.
        m.d.comb += unit.a.eq(heads[0].payload)
        if len(heads) > 1:
            m.d.comb += unit.b.eq(heads[1].payload)
        elif self.immediate is not None:
            m.d.comb += unit.b.eq(Const(self.immediate, self.value_type.width))
        m.d.comb += [
            val.result.eq(unit.result),
            self.fired.eq(table.fired),
            self.error.eq(error_bits(overflow=val.used & unit.overflow, protocol=table.protocol)),
        ]
        return m
