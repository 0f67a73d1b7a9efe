"""matmul: the product of two blocks, summed over the axes that only they have."""

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Self

from amaranth.hdl import Cat, Elaboratable, Module, Value
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.primitives.pairwise.component import Word, computed, pairwise, rounds
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.logic import any_of
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, is_payload, make_token, same_token, token_layout, token_width
from samhw.rtl.units import Unit, alu_unit

__all__ = ["Matmul"]


class Matmul(Primitive):
    """In `a` and `b`, out `val`; EMPTY counts as zeros. A multiplier for each product, and after them trees
    of adders, a tree for each element of the result.

    Args:
        value_type: of the elements.
        shape: of the result.
        over: sizes of the axes that are summed over.
        a, b: for each axis of an operand, which it is of the axes of the result, followed by those of `over`.
        to: type of products and sums, if it is wider.

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
        to: ValueType | None = None,
    ):
        self.value_type = value_type
        self.to = value_type if to is None else to
        self.sizes = (*shape, *over)
        self.sums = prod(shape)
        self.rounds = rounds(prod(over))
        self.axes = {"a": tuple(a), "b": tuple(b)}
        self.latencies = {op: arch.alu_latency(op, self.to) for op in ("mul", "add")}
        for op, latency in self.latencies.items():
            self._unit(op).check_latency(latency, f"The latency of {op!r} on {self.to} in Arch.alu")
        self.width = token_width(self.sums * self.to.width)
        operands = {name: prod(self.sizes[axis] for axis in axes) for name, axes in self.axes.items()}
        super().__init__(
            {name: token_layout(token_width(n * value_type.width)) for name, n in operands.items()},
            {"val": token_layout(self.width)},
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            value_type=site.value,
            to=site.result,
            **{name: site.params[name] for name in ("shape", "over", "a", "b")},
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
        with m.If(is_payload(a)):
            table.row(agree=is_payload(b), takes=inputs, pushes={val.i: make_token(TokenKind.VAL)})
        with m.Else():
            end = make_token(a.kind, a.payload[:8])
            table.row(agree=same_token(a, b), takes=inputs, pushes={val.i: end})

        def adder() -> Unit:
            return self._unit("add")

        words = [pairwise(m, f"add{n}", adder, add, products) for n, products in enumerate(self._products(m))]
        m.d.comb += [
            val.result.eq(Cat(word for word, _ in words)),
            self.fired.eq(table.fired),
            self.error.eq(
                error_bits(
                    overflow=val.used & any_of(overflow for _, overflow in words),
                    protocol=table.protocol,
                )
            ),
        ]
        return m

    def _unit(self, op: str) -> Unit:
        return alu_unit(op, self.value_type if op == "mul" else self.to, self.to)

    def _products(self, m: Module) -> list[list[Word]]:
        """For each element of the result its products, in order."""
        words, unit = [], self._unit("mul")
        rest = self.latencies["mul"] - unit.registers if self.rounds else 0
        for n, place in enumerate(product(*map(range, self.sizes))):
            left, right = self._element("a", place), self._element("b", place)
            words.append(computed(m, f"mul{n}", self._unit("mul"), left, right, rest))
        count = len(words) // self.sums
        return [words[n * count : (n + 1) * count] for n in range(self.sums)]

    def _element(self, port: str, place: Sequence[int]) -> Value:
        """The element of an operand that belongs to a product."""
        number = 0
        for axis in self.axes[port]:
            number = number * self.sizes[axis] + place[axis]
        payload: Value = getattr(self.i, port).payload.payload
        return payload.word_select(number, self.value_type.width)
