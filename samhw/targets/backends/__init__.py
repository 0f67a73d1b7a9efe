"""What runs compiled programs. A backend is a file here, and a line below."""

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
    for backend in BACKENDS:
        if backend.name == name:
            return backend
    names = ", ".join(backend.name for backend in BACKENDS)
    raise InputError(f"There is no backend '{name}'; choose one of {names}.")


def find_target(name: str) -> Backend:
    """The backend that writes builds of a name; raises `InputError` if there is none."""
    for backend in BACKENDS:
        if backend.target == name:
            return backend
    names = ", ".join(backend.target for backend in BACKENDS)
    raise InputError(f"There is no target '{name}'; choose one of {names}.")
