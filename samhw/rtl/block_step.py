"""A step of a reduction of blocks: one for each of their words."""

from amaranth.hdl import Cat, Elaboratable, Module, Signal
from amaranth.lib.wiring import In, Out

from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.rtl.reduce_step import ReduceStep
from samhw.rtl.shared import SharedPart

__all__ = ["BlockStep", "block_step"]


class BlockStep(SharedPart):
    """`ReduceStep` on all words of a block; arguments, errors and members are its own.

    Args:
        words: of a block.
    """

    a: Signal
    b: Signal
    alone: Signal
    result: Signal
    overflow: Signal

    def __init__(self, *, arch: Arch, value_type: ValueType, op: str, words: int):
        self.steps = [ReduceStep(arch=arch, value_type=value_type, op=op) for _ in range(words)]
        self.latency = self.steps[0].latency
        self.word_width = value_type.width
        width = words * value_type.width
        super().__init__(
            {"a": In(width), "b": In(width), "alone": In(1), "result": Out(width), "overflow": Out(1)}
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        for n, step in enumerate(self.steps):
            m.submodules[f"word{n}"] = step
            m.d.comb += [
                step.a.eq(self.a.word_select(n, self.word_width)),
                step.b.eq(self.b.word_select(n, self.word_width)),
                step.alone.eq(self.alone),
            ]
        m.d.comb += [
            self.result.eq(Cat(step.result for step in self.steps)),
            self.overflow.eq(Cat(step.overflow for step in self.steps).any()),
        ]
        return m


def block_step(*, arch: Arch, value_type: ValueType, op: str, words: int) -> ReduceStep | BlockStep:
    """The step of a reduction of payloads of this many words; raises as `ReduceStep`."""
    if words == 1:
        return ReduceStep(arch=arch, value_type=value_type, op=op)
    return BlockStep(arch=arch, value_type=value_type, op=op, words=words)
