"""The numeric units as cases of benchmarks/synthesis.py."""

from collections.abc import Callable, Iterator
from functools import partial

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib.wiring import In

from samhw.graph import Arch
from samhw.graph.numerics import ValueType, value_type
from samhw.rtl.units import Unit, accumulate_unit, alu_unit

__all__ = ["Registered", "unit_cases"]

CROSSING = {
    "i8": [("add", "i32"), ("mul", "i32"), ("convert", "bf16"), ("convert", "f32")],
    "i16": [("add", "i32"), ("mul", "i32"), ("convert", "bf16"), ("convert", "f32")],
    "i32": [("scale", "i8"), ("convert", "i8"), ("convert", "bf16"), ("convert", "f32")],
    "f8e4m3": [("mul", "bf16"), ("mul", "f32"), ("convert", "f32"), ("convert", "i8")],
    "f8e5m2": [("mul", "bf16"), ("mul", "f32"), ("convert", "f32"), ("convert", "i8")],
    "bf16": [("add", "f32"), ("mul", "f32"), ("convert", "f32"), ("convert", "i8")],
    "f32": [
        ("convert", "bf16"),
        ("convert", "f8e4m3"),
        ("convert", "f8e5m2"),
        ("convert", "i32"),
        ("convert", "fixed<32,16>"),
    ],
}
"""Operations whose result has another type, by the type of the operands; for fixed point, to f32."""


def unit_cases(value: ValueType) -> Iterator[tuple[str, Callable[[], Unit]]]:
    """What each unit for operands of that type computes, and a function that makes it, as a design of the
    default latencies has it."""
    arch = Arch()
    makers = {
        f"{op} {value}": partial(alu_unit, op, value, latency=arch.alu_latency(op, value))
        for op in value.operations
    }
    makers[f"accumulate sum {value}"] = partial(accumulate_unit, "sum", value)
    for op, target in CROSSING.get(value.name, [("convert", "f32")]):
        makers[f"{op} {value} to {target}"] = partial(alu_unit, op, value, value_type(target))
    for text, make in makers.items():
        yield f"{text}, L={make().registers + 1}", make


class Registered(Elaboratable):
    """A unit whose operands come from registers, and whose result goes to one, as between channels."""

    def __init__(self, unit: Unit):
        self.unit = unit
        self.ports = [Signal(member.shape, name=name) for name, member in unit.signature.members.items()]

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.unit = self.unit
        for port in self.ports:
            inside = getattr(self.unit, port.name)
            if self.unit.signature.members[port.name].flow == In:
                late = Signal.like(port)
                m.d.sync += late.eq(port)
                m.d.comb += inside.eq(late)
            else:
                m.d.sync += port.eq(inside)
        return m
