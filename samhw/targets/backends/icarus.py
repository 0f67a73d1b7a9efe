"""The generated Verilog under Icarus as a backend: by the rules of SystemVerilog, with unknown bits."""

import shutil
from pathlib import Path

from samhw.compiler import Compiled
from samhw.targets.backends.rtl import ProgramBackend
from samhw.targets.building.program import BuiltProgram

__all__ = ["IcarusBackend"]


class IcarusBackend(ProgramBackend):
    """The Verilog, run by Icarus Verilog; needs the system's package `iverilog`."""

    name = "icarus"
    target = "icarus"
    label = "Icarus"
    program = "starts simulate.vvp, the RTL with its harness, compiled by Icarus Verilog"

    def make(self, compiled: Compiled) -> BuiltProgram:
        from samhw.targets.building.icarus import build_icarus

        return build_icarus(compiled.design, compiled.arch)

    def write_program(self, compiled: Compiled, directory: Path) -> None:
        built = self.make(compiled).path
        for name in ("simulate", "simulate.vvp", "harness.v"):
            shutil.copy2(built.with_name(name), directory)
