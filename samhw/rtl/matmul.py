"""matmul: the product of two blocks, summed over the axes that only they have."""

from collections.abc import Sequence
from itertools import product
from math import prod

from amaranth.hdl import Cat, Elaboratable, Module, Value
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.logic import any_of
from samhw.rtl.output import Output
from samhw.rtl.token import TokenKind, is_payload, make_token, same_token, token_layout, token_width
from samhw.rtl.units import Unit, alu_unit
from samhw.rtl.units.pipeline import delayed

__all__ = ["Matmul"]

Word = tuple[Value, Value]
"""A word in the pipeline, and whether one that it is made of has left the range of its type."""


class Matmul(Primitive):
    """In `a` and `b`, out `val`; EMPTY counts as zeros. A multiplier for each product, and behind them trees
    of adders, a tree for each element of the result.

    Args:
        value_type: of the elements.
        shape: of the result.
        over: sizes of the axes that are summed over.
        a, b: for each axis of an operand, which it is of the axes of the result, followed by those of `over`.

    Raises:
        InputError: the value type has no multiplication or addition, or `Arch.alu` gives fewer cycles than
            their units need.
    """

    def __init__(
        self,
        *,
        arch: Arch,
        value_type: ValueType,
        shape: Sequence[int],
        over: Sequence[int],
        a: Sequence[int],
        b: Sequence[int],
    ):
        self.value_type = value_type
        self.sizes = (*shape, *over)
        self.sums = prod(shape)
        self.rounds = (prod(over) - 1).bit_length()
        self.axes = {"a": tuple(a), "b": tuple(b)}
        self.latencies = {op: arch.alu_latency(op, value_type) for op in ("mul", "add")}
        for op, latency in self.latencies.items():
            self._unit(op).check_latency(latency, f"The latency of {op!r} on {value_type} in Arch.alu")
        self.width = token_width(self.sums * value_type.width)
        operands = {name: prod(self.sizes[axis] for axis in axes) for name, axes in self.axes.items()}
        super().__init__(
            {name: token_layout(token_width(n * value_type.width)) for name, n in operands.items()},
            {"val": token_layout(self.width)},
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        multiply, add = self.latencies["mul"], self.latencies["add"]
        last = self._unit("add" if self.rounds else "mul").registers
        registers = last + (multiply + (self.rounds - 1) * add if self.rounds else 0)
        latency = multiply + self.rounds * add
        m.submodules.val = val = Output(self.width, latency=latency, registers=registers)
        wiring.connect(m, val.o, wiring.flipped(self.o.val))

        inputs = [self.i.a, self.i.b]
        a, b = (port.payload for port in inputs)
        table = FiringTable(m, inputs)
        with m.If(is_payload(a) & is_payload(b)):
            table.row(takes=inputs, pushes={val.i: make_token(TokenKind.VAL)})
        with m.Elif(~is_payload(a) & same_token(a, b)):
            table.row(takes=inputs, pushes={val.i: make_token(a.kind, a.payload[:8])})

        words = self._products(m)
        for stage in range(self.rounds):
            words = [self._added(m, row, f"add{stage}_{n}", stage) for n, row in enumerate(words)]
        m.d.comb += [
            val.result.eq(Cat(word for ((word, _),) in words)),
            self.fired.eq(table.fired),
            self.error.eq(
                error_bits(
                    overflow=val.used & any_of(overflow for ((_, overflow),) in words),
                    protocol=table.protocol,
                )
            ),
        ]
        return m

    def _unit(self, op: str) -> Unit:
        return alu_unit(op, self.value_type)

    def _products(self, m: Module) -> list[list[Word]]:
        """For each element of the result its products, in order."""
        words = []
        for n, place in enumerate(product(*map(range, self.sizes))):
            left, right = self._element("a", place), self._element("b", place)
            words.append(self._computed(m, "mul", f"mul{n}", left, right, more=self.rounds > 0))
        count = len(words) // self.sums
        return [words[n * count : (n + 1) * count] for n in range(self.sums)]

    def _element(self, port: str, place: Sequence[int]) -> Value:
        """The element of an operand that belongs to a product."""
        number = 0
        for axis in self.axes[port]:
            number = number * self.sizes[axis] + place[axis]
        payload: Value = getattr(self.i, port).payload.payload
        return payload.word_select(number, self.value_type.width)

    def _added(self, m: Module, row: Sequence[Word], name: str, stage: int) -> list[Word]:
        """A round of additions of neighbours; one without a neighbour goes on as it is."""
        more = stage < self.rounds - 1
        cycles = self.latencies["add"] if more else self._unit("add").registers
        result = []
        for n in range(0, len(row), 2):
            if n + 1 == len(row):
                word, overflow = row[n]
                result.append((delayed(m, word, cycles), delayed(m, overflow, cycles)))
                continue
            (left, early), (right, late) = row[n], row[n + 1]
            total, overflow = self._computed(m, "add", f"{name}_{n}", left, right, more=more)
            result.append((total, overflow | delayed(m, early | late, cycles)))
        return result

    def _computed(self, m: Module, op: str, name: str, left: Value, right: Value, *, more: bool) -> Word:
        """A word as a unit makes it: with registers behind it for the rest of its latency, if there is more
        to come."""
        unit = self._unit(op)
        m.submodules[name] = unit
        m.d.comb += [unit.a.eq(left), unit.b.eq(right)]
        rest = self.latencies[op] - unit.registers if more else 0
        return delayed(m, unit.result, rest), delayed(m, unit.overflow, rest)
