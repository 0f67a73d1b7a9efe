"""The generated Verilog under Icarus as a backend: by the rules of SystemVerilog, with unknown bits."""

import shutil
from pathlib import Path
from typing import ClassVar

from samhw.compiler import Compiled
from samhw.graph import HostOptions
from samhw.targets.backends.rtl import BESIDE, ProgramBackend
from samhw.targets.building.program import BuiltProgram

__all__ = ["IcarusBackend"]


class IcarusBackend(ProgramBackend):
    """The Verilog, run by Icarus Verilog; needs the system's package `iverilog`."""

    name = "icarus"
    target = "icarus"
    label = "Icarus"
    key_files: ClassVar[dict[str, str]] = {
        "simulate": "starts simulate.vvp, the RTL with its harness, compiled by Icarus Verilog"
    } | BESIDE

    def make(self, compiled: Compiled, host: HostOptions) -> BuiltProgram:
        from samhw.targets.building.icarus import build_icarus

        return build_icarus(compiled.design, compiled.arch, host)

    def write_program(self, compiled: Compiled, directory: Path, host: HostOptions) -> None:
        built = self.make(compiled, host).path
        for name in ("simulate", "simulate.vvp", "harness.v"):
            shutil.copy2(built.with_name(name), directory)
