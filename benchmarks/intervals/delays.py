"""How long the operations of an HLS design take: whole cycles, and nanoseconds of logic."""

import re
from dataclasses import dataclass

from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.graph.spec.arch import HLS_STEP

__all__ = ["FIFO", "LOGIC", "MULTIPLEXER", "RAM", "Clock", "Delays", "Timing"]

# Nanoseconds, after those that Vitis HLS has printed for UltraScale+ in logs that others have published.
LOGIC = 0.144
"""An operation on single bits: a LUT (0.287 ns) has room for two."""

FIFO = 1.22
"""Between the edge of the clock and the head of a stream."""

RAM = 1.2
"""Between the edge of the clock and a word of a memory, which has had its address in the cycle before."""

SELECT, MULTIPLEXER, SHIFT, LAST_STAGE = 0.243, 0.387, 1.54, 2.78
"""A choice by one bit; a choice among what branches give; a shift by a variable; the last stage of a
floating-point unit, which has no register after it."""

_WIRES = {"zext", "sext", "trunc", "bitcast", "freeze", "getelementptr", "ptrtoint", "extractvalue"}
_WIRES |= {"llvm.fabs", "hls_part", "llvm.bswap", "fneg"}
_FLOAT = {"fadd": "add", "fsub": "sub", "fmul": "mul", "fdiv": "div", "llvm.sqrt": "sqrt", "sqrtf": "sqrt"}
_FLOAT |= dict.fromkeys(("uitofp", "sitofp", "fptoui", "fptosi"), "convert")
_EXTREMES = {f"llvm.{sign}{which}" for sign in "su" for which in ("max", "min")}


@dataclass(frozen=True)
class Clock:
    """A period, and what the tool takes off it for what it cannot know: 27 %, unless told otherwise."""

    period: float = 4.0
    uncertainty: float = 0.27

    @property
    def budget(self) -> float:
        """Nanoseconds of logic in a cycle."""
        return self.period * (1 - self.uncertainty)


@dataclass(frozen=True)
class Timing:
    """An operation: whole cycles first, then logic in nanoseconds."""

    cycles: int = 0
    logic: float = 0.0


class Delays:
    """The delays of instructions, with the stages that an `Arch` has for those that are pipelined."""

    def __init__(self, arch: Arch):
        self.arch = arch

    def of(self, operation: str, width: int, *, constant: bool = False) -> Timing:
        """What an operation takes.

        Args:
            operation: an opcode of LLVM, or what a call calls, without the type.
            width: bits of its widest operand that are not known to be zero.
            constant: whether one of its operands is.

        Raises:
            ValueError: for an operation whose delay is not known.
        """
        shifts = operation in ("shl", "lshr", "ashr")
        if operation in _WIRES or (constant and (shifts or operation.startswith("llvm.fsh"))):
            return Timing()
        if operation in _FLOAT:
            return Timing(self._stages(_FLOAT[operation], "f32"), LAST_STAGE)
        if found := re.fullmatch(r"llvm\.[su](add|sub|mul)\.(?:with\.overflow|sat)", operation):
            return self.of(found[1], width + 1)
        if operation in _EXTREMES:
            return Timing(0, self._comparison(width) + SELECT)
        match operation:
            case "and" | "or" | "xor":
                return Timing() if constant and width > 1 else Timing(0, LOGIC)
            case "add" | "sub" | "llvm.abs":
                return Timing(0, 0.705 + 0.0055 * width)
            case "icmp" | "llvm.is.fpclass":
                return Timing(0, self._comparison(width))
            case "fcmp":
                return Timing(1, LAST_STAGE)
            case "select":
                return Timing(0, LOGIC if width == 1 else SELECT)
            case "shl" | "lshr" | "ashr" | "llvm.fshl" | "llvm.fshr":
                return Timing(0, SHIFT)
            case "llvm.ctlz" | "llvm.cttz":
                # A tree of a LUT for each two bits of the result.
                return Timing(0, SELECT * width.bit_length())
            case "mul":
                return Timing(self._stages("mul", "i32"), LOGIC)
            case "udiv" | "sdiv" | "urem" | "srem":
                return Timing(width + 3, LOGIC)
        raise ValueError(f"no delay is known for {operation}")

    def _stages(self, operation: str, value: str) -> int:
        return self.arch.alu_latency(operation, value_type(value)) - HLS_STEP

    @staticmethod
    def _comparison(width: int) -> float:
        return LOGIC if width == 1 else 0.446 if width <= 3 else 0.753 if width <= 32 else 0.859
