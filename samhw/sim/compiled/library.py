"""Compiled loops by actor: kept in memory, and on disk for the processes to come."""

import hashlib
import importlib.util
import inspect
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numba

from samhw.cache import cache_directory
from samhw.errors import InputError
from samhw.sim.compiled import channel, floats, layout, native
from samhw.sim.compiled.firing import GateKind, OffChipUse
from samhw.sim.compiled.loop import actor_loop
from samhw.sim.compiled.ports import look_at, serve_next
from samhw.sim.compiled.source import Untranslatable, function_key, module_text
from samhw.sim.machine import Earliest, Stalls, Worker

__all__ = ["loop_address", "missing", "port_addresses"]

FOLDER = "loops"
"""In the cache."""

KEEP = 2_000
"""Loops that are kept at any rate: some 500 MB."""

KEEP_DAYS = 30
"""Others are removed when nobody has used them for so long."""

MAIN = "@cfunc(int64(int64, int64), cache=True, error_model='numpy')"
GIVEN = {
    **{name: getattr(channel, name) for name in channel.__all__},
    **{name: getattr(native, name) for name in ("call", "local_words", "words_at")},
}
HEAD = f"""\
import math

import numpy as np
from numba import cfunc, int64, njit

from {channel.__name__} import {", ".join(channel.__all__)}
from {floats.__name__} import {", ".join(floats.STAND_INS.values())}
from {native.__name__} import call, local_words, words_at

"""

PORTS = [cast(FunctionType, function) for function in (look_at, serve_next)]
"""What is compiled for a run with off-chip memory besides loops."""

_loops: dict[Any, FunctionType] = {}
"""Functions of loops, by what they are made from. They hold their step functions, so that keys stay good."""

_modules: dict[FunctionType, tuple[Path, str]] = {}
"""The file and the text of each function's module."""

_compiled: dict[FunctionType, Any] = {}
"""What each function was compiled to; keeps the code alive."""


def loop_address(worker: Worker, logs: bool) -> int:
    """Address of the compiled loop of a worker; compiles it if no process has done so yet.

    Raises:
        Untranslatable: if its step function cannot be compiled.
        InputError: if the cache cannot be written.
    """
    return _address(_loop(worker, logs), f"the actor {worker.actor.name!r} of node {worker.node!r}")


def port_addresses() -> tuple[int, int]:
    """The addresses of the compiled `look_at` and `serve_next`. Errors as of `loop_address`."""
    look, serve = (_address(function, "off-chip memory") for function in PORTS)
    return look, serve


def _address(function: FunctionType, where: str) -> int:
    if function not in _compiled:
        try:
            _compiled[function] = _load(*_module(function))
        except Untranslatable as error:
            raise Untranslatable(f"{where}: {error}") from error
        except numba.core.errors.NumbaError as error:
            # The first line only says in which of its stages Numba gave up.
            lines = [line.strip() for line in str(error).splitlines() if "pipeline" not in line]
            raise Untranslatable(f"{where}: {next(filter(None, lines), 'no reason given')}") from error
    address: int = _compiled[function].address
    return address


def missing(workers: list[Worker]) -> int:
    """How many loops are still to be compiled for a run.

    Raises:
        Untranslatable: if one cannot be compiled.
    """
    wanted = {_loop(worker, logs=False) for worker in workers}
    if any(worker.access is not None for worker in workers):
        wanted.update(PORTS)
    return sum(function not in _compiled and not _module(function)[0].exists() for function in wanted)


def _loop(worker: Worker, logs: bool) -> FunctionType:
    actor = worker.actor
    gate = GateKind.NOTHING
    if isinstance(worker.gate, Stalls):
        gate = GateKind.STALLS
    elif isinstance(worker.gate, Earliest):
        gate = GateKind.EARLIEST
    ports = tuple(j for j, queues in enumerate(worker.outputs) for _ in queues)
    off_chip = _off_chip(worker)
    traits = {
        "inputs": len(actor.inputs),
        "outputs": len(actor.outputs),
        "states": len(actor.state),
        "stores": len(worker.memory),
        "feeds_itself": any(queue.producer is worker for queue in worker.inputs.values()),
        # Firings are a cycle apart anyway.
        "key": actor.spacing.key if actor.spacing and actor.spacing.latency > 1 else None,
        "gate": gate,
        "logs": logs,
    }
    want = off_chip.want and function_key(cast(FunctionType, off_chip.want))
    step = function_key(cast(FunctionType, actor.step))
    made_from = step, ports, *traits.values(), off_chip.late, want, off_chip.carried
    if made_from not in _loops:
        loop = actor_loop(actor.step, ports, **traits, off_chip=off_chip)  # type: ignore[arg-type]
        _loops[made_from] = cast(FunctionType, loop)
    return _loops[made_from]


def _off_chip(worker: Worker) -> OffChipUse:
    late = sum(queue.off_chip << i for i, queue in worker.inputs.items())
    access = worker.access
    if access is None:
        return OffChipUse(late)
    carried = tuple(access.carried[j] for j, queues in enumerate(worker.outputs) for _ in queues)
    return OffChipUse(late, access.want, carried)


def _module(function: FunctionType) -> tuple[Path, str]:
    """The file and the text of a function's module. Its name stands for all that the code depends on and that
    Numba does not look at."""
    if function not in _modules:
        text = HEAD + module_text(function, MAIN, GIVEN, floats.STAND_INS)
        whole = hashlib.sha256(text.encode())
        for module in (channel, floats, layout, native):
            whole.update(inspect.getsource(module).encode())
        _modules[function] = cache_directory() / FOLDER / f"loop_{whole.hexdigest()[:32]}.py", text
    return _modules[function]


def _load(path: Path, text: str) -> Any:
    """The compiled function of a module, whose file is made if it is not there."""
    if path.exists():
        with suppress(OSError):  # A cache that is only readable serves too.
            os.utime(path)
    else:
        _write(path, text)
        _prune(path.parent)
    spec = importlib.util.spec_from_file_location(f"samhw_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Numba looks the module up by its name when it takes the code from its cache.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.main


def _write(path: Path, text: str) -> None:
    """Writes a file that no other process sees before it is whole."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False) as file:
            file.write(text)
        os.replace(file.name, path)
    except OSError as error:
        raise InputError(
            f"The cache {path.parent} cannot be written ({error.strerror}); set SAMHW_CACHE to a folder that "
            "can."
        ) from error


def _prune(folder: Path) -> None:
    """Removes loops that were not used for long, if there are many; no process is about to load those."""
    oldest = time.time() - KEEP_DAYS * 86400
    used = sorted((path.stat().st_mtime, path) for path in folder.glob("loop_*.py"))
    for when, path in used[:-KEEP]:
        if when < oldest:
            for made in (path, *folder.glob(f"__pycache__/{path.stem}.*")):
                made.unlink(missing_ok=True)
