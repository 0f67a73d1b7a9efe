"""Runs a compiled program on data with one of the backends."""

from collections.abc import Mapping
from typing import Any

from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.targets.backends.backend import Backend, RunResult
from samhw.targets.backends.registry import MODEL, RTL, find_backend
from samhw.tensors import Tensor

__all__ = ["check_options", "run"]


def run(
    compiled: Compiled, tensors: Mapping[str, Tensor], backend: Backend | str = MODEL, **options: Any
) -> RunResult:
    """Loads the tensors, runs, and reads the results back.

    Args:
        backend: what runs it, or its name: by default the simulator.
        options: of the backend's own `execute`.

    Raises:
        InputError: for data that does not fit the build, or a backend that is not there.
        RunError: for a run that ends with an error.
    """
    return check_options(backend, **options).run(compiled, tensors, **options)


def check_options(backend: Backend | str, **options: Any) -> Backend:
    """The backend, which takes an off-chip memory, a wave and a host if they are among the options; raises
    `InputError` if it does not, or is not there."""
    chosen = find_backend(backend) if isinstance(backend, str) else backend
    if options.get("memory") is not None and not chosen.takes_memory:
        raise InputError(
            f"Off-chip memory is predicted by the simulator, and what the backend '{chosen.name}' runs has "
            "its tensors on chip; leave out the one or the other."
        )
    if options.get("wave") is not None and not chosen.records_waves:
        raise InputError(
            f"A wave has the signals of the RTL, which the backend '{chosen.name}' does not record; choose "
            f"the backend '{RTL.name}', or leave it out."
        )
    if options.get("host") and "host" not in chosen.settings:
        raise InputError(
            f"The host's port belongs to the RTL, which the backend '{chosen.name}' does not run as it is; "
            f"choose the backend '{RTL.name}', or leave the host out."
        )
    return chosen
