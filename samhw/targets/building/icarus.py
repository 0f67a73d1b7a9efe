"""Builds a program from a design's Verilog with Icarus Verilog, if the system has it."""

import shutil
from pathlib import Path

from samhw.errors import InputError, RunError
from samhw.graph import Arch, Design, HostOptions
from samhw.processes import run
from samhw.targets.building.cache import digest
from samhw.targets.building.elaborate import generate_verilog
from samhw.targets.building.glue import glue
from samhw.targets.building.program import BuiltProgram, built

__all__ = ["build_icarus"]

_START = '#!/bin/sh\nexec "{vvp}" -n "$(dirname "$(readlink -f "$0")")/simulate.vvp"\n'


def build_icarus(design: Design, arch: Arch, host: HostOptions) -> BuiltProgram:
    """The program that runs a design by commands that templates/harness.v.j2 lists, under the rules of
    SystemVerilog.

    Raises:
        InputError: if Icarus Verilog is not installed.
        RunError: if it does not take the design.
    """
    compiler, vvp = shutil.which("iverilog"), shutil.which("vvp")
    if compiler is None or vvp is None:
        raise InputError(
            "Icarus Verilog was not found; install it with apt-get install iverilog, or use --backend "
            "verilator."
        )
    harness = glue("harness.v.j2", design, arch, host)
    verilog = generate_verilog(design, arch, host=host)
    version = run([compiler, "-V"], capture_output=True, text=True).stdout.partition("\n")[0]
    key = digest(compiler, version, verilog, harness)

    def make(folder: Path) -> None:
        sources = {"samhw_top.v": verilog, "harness.v": harness}
        for name, text in sources.items():
            (folder / name).write_text(text, encoding="utf-8")
        command = [compiler, "-g2012", "-s", "samhw_harness", "-o", "simulate.vvp", *sources]
        done = run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            told = (done.stderr or done.stdout).strip().partition("\n")[0]
            raise RunError(f"Icarus Verilog does not accept the generated Verilog: {told}")
        program = folder / "simulate"
        program.write_text(_START.format(vvp=vvp), encoding="utf-8")
        program.chmod(0o755)

    return built("icarus", key, make)
