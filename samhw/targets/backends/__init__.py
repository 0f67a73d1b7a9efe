"""What runs compiled programs. A backend is a file here, and a line below."""

from collections.abc import Mapping

from samhw.errors import InputError
from samhw.targets.backends.backend import Backend, RegionRun, RunResult
from samhw.targets.backends.hls import HlsBackend
from samhw.targets.backends.sim import SimulatorBackend, off_chip_tensors
from samhw.targets.backends.verilator import VerilatorBackend

__all__ = [
    "BACKENDS",
    "MODEL",
    "RTL",
    "Backend",
    "RegionRun",
    "RunResult",
    "find_backend",
    "find_target",
    "off_chip_tensors",
]

MODEL = SimulatorBackend()
"""What others are compared with."""
RTL = VerilatorBackend()
"""What `samhw correlate` compares with it."""

BACKENDS: tuple[Backend, ...] = (
    MODEL,
    RTL,
    HlsBackend(),
)


def find_backend(name: str) -> Backend:
    """The backend that runs under a name; raises `InputError` if there is none."""
    return _find("backend", {backend.name: backend for backend in BACKENDS}, name)


def find_target(name: str) -> Backend:
    """The backend that writes builds of a name; raises `InputError` if there is none."""
    return _find("target", {backend.target: backend for backend in BACKENDS}, name)


def _find(what: str, backends: Mapping[str, Backend], name: str) -> Backend:
    if name not in backends:
        raise InputError(f"There is no {what} '{name}'; choose one of {', '.join(backends)}.")
    return backends[name]
