"""The RTL under CXXRTL as a backend: from the netlist, without a Verilog writer."""

import shutil
from pathlib import Path

from samhw.compiler import Compiled
from samhw.targets.backends.rtl import ProgramBackend
from samhw.targets.building.program import BuiltProgram

__all__ = ["CxxrtlBackend"]


class CxxrtlBackend(ProgramBackend):
    """The netlist, run by Yosys's CXXRTL; needs a C++ compiler."""

    name = "cxxrtl"
    target = "cxxrtl"
    label = "CXXRTL"
    program = "the netlist as a program, built by CXXRTL; its C++ is design.cpp"

    def make(self, compiled: Compiled) -> BuiltProgram:
        from samhw.targets.building.cxxrtl import build_cxxrtl

        return build_cxxrtl(compiled.design, compiled.arch)

    def write_program(self, compiled: Compiled, directory: Path) -> None:
        built = self.make(compiled).path
        for name in ("simulate", "design.cpp"):
            shutil.copy2(built.with_name(name), directory)
