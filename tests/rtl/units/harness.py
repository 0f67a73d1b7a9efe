"""Numeric units under Verilator, a vector of operands a cycle: millions of vectors in seconds."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from amaranth.back import verilog
from amaranth.hdl import ClockDomain, ClockSignal, DomainRenamer, Elaboratable, Module, Signal
from amaranth.lib.wiring import In
from numpy.typing import NDArray

from samhw.rtl.units import Unit
from samhw.targets.building.verilator import build_program

__all__ = ["UnitBench", "run_unit"]

_OPERANDS = 3
"""At most, of a unit. A vector in a file has this many words of 32 bits."""

_MAIN = """
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>
#include "Vtop.h"

struct Pins {
    const char* name;
    CData& clock;
    QData& result;
    size_t registers;
};

// Usage: simulate UNIT OPERANDS RESULTS
int main(int, char** arguments) {
    VerilatedContext context;
    Vtop top{&context};
    const Pins units[] = {@UNITS@};
    const Pins* unit = units;
    while (std::strcmp(unit->name, arguments[1])) ++unit;

    std::ifstream in{arguments[2], std::ios::binary};
    const std::vector<char> bytes{std::istreambuf_iterator<char>{in}, {}};
    const size_t count = bytes.size() / 12;
    std::vector<QData> results(count);
    top.eval();  // A first evaluation sees no edges.
    for (size_t cycle = 0; cycle < count + unit->registers; ++cycle) {
        if (cycle < count) {
            std::memcpy(&top.a, &bytes[12 * cycle], 4);
            std::memcpy(&top.b, &bytes[12 * cycle + 4], 4);
            std::memcpy(&top.c, &bytes[12 * cycle + 8], 4);
        }
        unit->clock = 1;
        top.eval();
        unit->clock = 0;
        top.eval();
        if (cycle >= unit->registers) results[cycle - unit->registers] = unit->result;
    }
    std::ofstream out{arguments[3], std::ios::binary};
    out.write(reinterpret_cast<const char*>(results.data()), count * sizeof(QData));
}
"""


class UnitBench:
    """Units in one program.

    Each has a clock and operand registers of its own, so that the units that do not run cost no time.
    """

    def __init__(self, units: Mapping[str, Unit]):
        """Builds the program, unless it is in the build cache. `units`: by any name."""
        self._units = dict(units)
        top = _Top(self._units)
        pins = (
            f'{{"{name}", top.clk{k}, top.result{k}, {unit.registers}}}'
            for k, (name, unit) in enumerate(units.items())
        )
        text: str = verilog.convert(top, name="bench", ports=top.ports, emit_src=False)
        glue = _MAIN.replace("@UNITS@", ", ".join(pins))
        self._program = build_program(text, glue, harness=None, top="bench", optimise=True).path

    def run(
        self, name: str, operands: Sequence[NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The results and the overflow flags of a unit. `operands`: an array of words for each port, in
        order, of equal lengths."""
        ports = _operands(self._units[name])
        vectors = np.zeros((len(operands[0]), _OPERANDS), dtype=np.uint32)
        for column, (_, words) in enumerate(zip(ports, operands, strict=True)):
            vectors[:, column] = words
        with TemporaryDirectory() as folder:
            source, target = Path(folder, "operands"), Path(folder, "results")
            vectors.tofile(source)
            subprocess.run([self._program, name, source, target], check=True)
            results = np.fromfile(target, dtype=np.int64)
        return results & 0xFFFF_FFFF, results >> 32 == 1


def run_unit(
    unit: Unit, operands: Sequence[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """`UnitBench.run` for a unit alone."""
    return UnitBench({"unit": unit}).run("unit", operands)


class _Top(Elaboratable):
    """The units, side by side. Operands are 32 bits wide; a result is 33, with the overflow flag on top."""

    def __init__(self, units: Mapping[str, Unit]):
        self.units = list(units.values())
        self.operands = [Signal(32, name=name) for name in "abc"]
        self.clocks = [Signal(name=f"clk{k}") for k in range(len(units))]
        self.results = [Signal(33, name=f"result{k}") for k in range(len(units))]
        self.ports = [*self.operands, *self.clocks, *self.results]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for k, (unit, clock, result) in enumerate(zip(self.units, self.clocks, self.results, strict=True)):
            domain = f"unit{k}"
            m.domains += ClockDomain(domain, reset_less=True)
            m.submodules[domain] = DomainRenamer(domain)(unit)
            m.d.comb += ClockSignal(domain).eq(clock)
            for port, operand in zip(_operands(unit), self.operands, strict=False):
                m.d[domain] += getattr(unit, port).eq(operand)
            m.d.comb += [result[:32].eq(unit.result), result[32].eq(unit.overflow)]
        return m


def _operands(unit: Unit) -> list[str]:
    """The names of the operand ports, in order."""
    return [name for name, member in unit.signature.members.items() if member.flow == In]
