"""Steps of reductions, and units, whose results are free, whatever their operands are: what is proved with
them is proved of every function, and so of a floating-point sum."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.hdl._ast import AnySeq

from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.rtl.units import Unit
from tests.formal.mutants import home

__all__ = ["SHORT", "with_cut_steps", "with_cut_units"]

SHORT = Arch(
    index_bits=8, reduce={family: {"sum": 1, "max": 1, "prod": 1, "recur": 1} for family in ("integer", "f8")}
)
"""Steps of one cycle, so that whole streams pass soon."""


class _Free(Unit):
    """Gives any word, and any overflow, in every cycle. `asked_<operand>` is what comes to it, by a name that
    tells it from the operands of other units."""

    def __init__(self, value_type: ValueType, operands: str = "a b"):
        self.operands = operands.split()
        super().__init__(value_type.width, operands, 0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.d.comb += [self.result.eq(AnySeq(self.width)), self.overflow.eq(AnySeq(1))]
        for name in self.operands:
            asked = Signal(self.width, name=f"asked_{name}")
            m.d.comb += asked.eq(getattr(self, name))
        return m


@contextmanager
def _cut_steps() -> Iterator[None]:
    """The steps that are made meanwhile have free results, with the latencies of `Arch`."""
    with (
        patch("samhw.rtl.reduction_step.accumulate_unit", lambda op, value_type, latency: _Free(value_type)),
        patch("samhw.rtl.reduction_step.alu_unit", lambda op, value_type: _Free(value_type)),
    ):
        yield


def with_cut_steps(make: Callable[[], Any]) -> Callable[[], Any]:
    """Makes a component whose steps have free results."""

    def made() -> Any:
        with _cut_steps():
            return make()

    return made


def with_cut_units(module: str, make: Callable[[], Any], operands: str = "a b") -> Callable[[], Any]:
    """Makes a component whose units, by the name `alu_unit` in a module (`home`), have free results."""

    def cut() -> Any:
        return patch(
            f"{home(module)}.alu_unit", lambda op, value_type, *to, **timed: _Free(value_type, operands)
        )

    def made() -> Any:
        with cut():
            component = make()
        elaborate = component.elaborate

        def elaborated(platform: object) -> Elaboratable:
            """Some make their units only now."""
            with cut():
                return elaborate(platform)

        component.elaborate = elaborated
        return component

    return made
