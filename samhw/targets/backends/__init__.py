"""What runs compiled programs, and what builds them. A backend is a file here, and a line below."""

from collections.abc import Mapping
from typing import TypeVar

from samhw.boards import BOARDS
from samhw.errors import InputError
from samhw.targets.backends.backend import Backend, RegionRun, RunResult, Target
from samhw.targets.backends.board import BoardBackend
from samhw.targets.backends.hls import HlsBackend
from samhw.targets.backends.sim import SimulatorBackend, off_chip_tensors
from samhw.targets.backends.verilator import VerilatorBackend
from samhw.targets.backends.verilog import VerilogTarget

__all__ = [
    "BACKENDS",
    "BUILDERS",
    "MODEL",
    "RTL",
    "Backend",
    "RegionRun",
    "RunResult",
    "Target",
    "find_backend",
    "find_target",
    "off_chip_tensors",
    "targets",
]

T = TypeVar("T")

MODEL = SimulatorBackend()
"""What others are compared with."""
RTL = VerilatorBackend()
"""What `samhw correlate` compares with it."""

BACKENDS: tuple[Backend, ...] = (
    MODEL,
    RTL,
    HlsBackend(),
    *(BoardBackend(board) for board in BOARDS),
)

BUILDERS: tuple[Target, ...] = (VerilogTarget(),)
"""What is built here and run elsewhere."""


def targets() -> tuple[Target, ...]:
    """All that `build --target` takes."""
    return (*BACKENDS, *BUILDERS)


def find_backend(name: str) -> Backend:
    """The backend that runs under a name; raises `InputError` if there is none."""
    return _find("backend", {backend.name: backend for backend in BACKENDS}, name)


def find_target(name: str) -> Target:
    """What writes builds of a name; raises `InputError` if there is nothing."""
    return _find("target", {target.target: target for target in targets()}, name)


def _find(what: str, known: Mapping[str, T], name: str) -> T:
    if name not in known:
        raise InputError(f"There is no {what} '{name}'; choose one of {', '.join(known)}.")
    return known[name]
