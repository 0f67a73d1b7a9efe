"""The RTL under CXXRTL as a backend: from the netlist, without a Verilog writer."""

import shutil
from pathlib import Path
from typing import ClassVar

from samhw.compiler import Compiled
from samhw.graph import HostOptions
from samhw.targets.backends.rtl import BESIDE, ProgramBackend
from samhw.targets.building.program import BuiltProgram

__all__ = ["CxxrtlBackend"]


class CxxrtlBackend(ProgramBackend):
    """The netlist, run by Yosys's CXXRTL; needs a C++ compiler."""

    name = "cxxrtl"
    target = "cxxrtl"
    label = "CXXRTL"
    key_files: ClassVar[dict[str, str]] = {
        "simulate": "the netlist as a program, built by CXXRTL; its C++ is design.cpp"
    } | BESIDE

    def make(self, compiled: Compiled, host: HostOptions) -> BuiltProgram:
        from samhw.targets.building.cxxrtl import build_cxxrtl

        return build_cxxrtl(compiled.design, compiled.arch, host)

    def write_program(self, compiled: Compiled, directory: Path, host: HostOptions) -> None:
        built = self.make(compiled, host).path
        for name in ("simulate", "design.cpp"):
            shutil.copy2(built.with_name(name), directory)
