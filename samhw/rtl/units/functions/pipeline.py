# amaranth: UnusedElaboratable=no
"""A pipeline that is written stage by stage, and delays by itself what later stages ask for."""

from collections.abc import Callable
from copy import copy

from amaranth.hdl import Elaboratable, Module, Signal, Value
from amaranth.lib import data

from samhw.graph.numerics.fixed_arithmetic import FixedFormat
from samhw.graph.numerics.float_format import FloatFormat
from samhw.rtl.units.float_parts import round_integer, round_significand
from samhw.rtl.units.twos_complement import multiply, multiply_registers
from samhw.rtl.units.unit import Unit, delayed

__all__ = ["Pipeline", "PipelinedUnit"]


class Pipeline:
    """A module, and the stage of it that is being written.

    `x = p.keep(value)` names a value of the current stage. `p.advance()` goes on to the next one. In this and
    every later stage `p[x]` is that value, delayed by as many registers as lie between. Whatever is made from
    operands must be kept to be used in a later stage.
    """

    def __init__(self) -> None:
        self.m = Module()
        self.stage = 0
        """Registers between the operands and the current stage."""
        self._kept: dict[int, tuple[int, list[Signal | data.View]]] = {}
        """By identity, since signals have no hash: the stage of a value, and the value 0, 1, ... stages
        later."""

    def keep(self, value: Value | data.View, *, src_loc_at: int = 0) -> Signal | data.View:
        """Names a value of this stage; a view stays a view. The name in Verilog is that of the variable."""
        kept = Signal(value.shape(), src_loc_at=src_loc_at + 1)
        self.m.d.comb += kept.eq(value)
        self._kept[id(Value.cast(kept))] = (self.stage, [kept])
        return kept

    def __getitem__(self, kept: Signal | data.View) -> Signal | data.View:
        """The kept value that belongs to the operands in this stage."""
        stage, copies = self._kept[id(Value.cast(kept))]
        while len(copies) <= self.stage - stage:
            copies.append(delayed(self.m, copies[-1]))
        return copies[self.stage - stage]

    def advance(self, cycles: int = 1) -> None:
        """Goes on to a later stage."""
        self.stage += cycles

    def register(self, value: Value | data.View) -> Signal | data.View:
        """Keeps the value and goes on to the next stage."""
        kept = self.keep(value, src_loc_at=1)
        self.advance()
        return kept

    def branch(self) -> "Pipeline":
        """A second way on from this stage, written beside this one. Each sees what the other keeps."""
        return copy(self)  # The same module and the same kept values; a stage of its own.

    def join(self, other: "Pipeline") -> None:
        """Goes on to the stage that a branch has reached, if this one is not as far."""
        self.stage = max(self.stage, other.stage)

    def multiply(self, a: Value, b: Value) -> Signal:
        """Goes on to the stage of the exact product, and keeps it. Operands should come from registers."""
        product = multiply(self.m, a, b)
        self.advance(multiply_registers(len(a), len(b)))
        return self.keep(product, src_loc_at=1)

    def round(
        self, f: FloatFormat, *, sign: Value, exponent: Value, significand: Value, extra: int
    ) -> Signal:
        """Goes on to the stage of the result of `round_significand`, and keeps it."""
        word = round_significand(
            self.m, f, sign=sign, exponent=exponent, significand=significand, extra=extra, cut=1
        )
        self.advance()
        return self.keep(word, src_loc_at=1)

    def round_integer(self, f: FloatFormat, *, sign: Value, value: Value, exponent: Value) -> Signal:
        """Goes on to the stage of the result of `round_integer`, and keeps it."""
        cuts = (1, 1, 1)
        word = round_integer(self.m, f, sign=sign, value=value, exponent=exponent, cuts=cuts)
        self.advance(sum(cuts))
        return self.keep(word, src_loc_at=1)


class PipelinedUnit(Unit):
    """A unit whose pipeline a function writes, at once: the number of its registers follows from that.

    Args:
        write: called with a new pipeline, the format and the operands; gives the result, in the pipeline's
            last stage.
        value_format: of the operands and the result.
        operands: their names.
    """

    def __init__(
        self, write: Callable[..., Value], value_format: FloatFormat | FixedFormat, operands: str = "a"
    ):
        super().__init__(value_format.width, operands, registers=0)
        pipeline = Pipeline()
        result = write(pipeline, value_format, *(getattr(self, name) for name in operands.split()))
        pipeline.m.d.comb += self.result.eq(result)
        self.registers = pipeline.stage
        self._module = pipeline.m

    def elaborate(self, platform: object) -> Elaboratable:
        return self._module
