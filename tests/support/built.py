"""Builds of a run: its RTL under Verilator, and the program that a build leaves."""

import json
import subprocess
from pathlib import Path
from typing import Any

from samhw.compiler.placement import layout_beside
from samhw.graph import HostOptions, OffChipMemory
from samhw.targets.backends import HostRun
from samhw.targets.running.driver import VerilatedDesign

__all__ = ["run_program", "verilated"]


def verilated(run: HostRun, host: str = "", memory: OffChipMemory | None = None) -> VerilatedDesign:
    """The RTL of a run.

    Args:
        host: the choices of its port, as `HostOptions.parse` takes them.
        memory: what holds the tensors that the schedule has off chip.
    """
    compiled = run.compiled
    layout = layout_beside(compiled, memory)
    return VerilatedDesign.build(compiled.design, compiled.arch, host=HostOptions.parse(host), layout=layout)


def run_program(folder: Path) -> dict[str, Any]:
    """What a build's `simulate` says of the run of its data; its words lie in `results` then."""
    with (folder / "run.txt").open("rb") as commands:
        said = subprocess.run(
            ["./simulate"], cwd=folder, stdin=commands, capture_output=True, check=True, timeout=300
        ).stdout
    answers = [json.loads(line) for line in said.decode().splitlines()]
    (ended,) = (answer for answer in answers if "status" in answer)
    return ended
