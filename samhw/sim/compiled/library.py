"""Compiled functions: kept in memory, and on disk for the processes to come."""

import hashlib
import importlib.util
import inspect
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import Any

import numba

from samhw.cache import cache_directory
from samhw.errors import InputError
from samhw.sim.compiled import floats, native
from samhw.sim.compiled.source import Untranslatable, module_text
from samhw.sim.worker import Worker

__all__ = ["address_of", "function_of", "is_compiled", "name_of"]

FOLDER = "loops"
"""In the cache."""

KEEP = 2_000
"""Functions that are kept at any rate: some 300 MB."""

KEEP_DAYS = 30
"""Others are removed when nobody has used them for so long."""

MAIN = "@cfunc(int64(int64, int64), cache=True, error_model='numpy')"
GIVEN = {name: getattr(native, name) for name in ("call", "local_words", "words_at")}
HEAD = f"""\
import math

import numpy as np
from numba import cfunc, int64, njit

from {floats.__name__} import {", ".join(floats.STAND_INS.values())}
from {native.__name__} import call, local_words, words_at

"""

_functions: dict[Any, FunctionType] = {}
"""Functions by what they are made from. They hold their step functions, so that keys stay good."""

_modules: dict[FunctionType, tuple[Path, str]] = {}
"""The file and the text of each function's module."""

_compiled: dict[FunctionType, Any] = {}
"""What each function was compiled to; keeps the code alive."""


def function_of(made_from: Any, make: Callable[[], Any]) -> FunctionType:
    """The function that `make` gives, which is made once for all that is made from the same."""
    if made_from not in _functions:
        _functions[made_from] = make()
    return _functions[made_from]


def name_of(worker: Worker) -> str:
    """What messages call a worker."""
    return f"the actor {worker.actor.name!r} of node {worker.node!r}"


def address_of(function: FunctionType, where: str) -> int:
    """Address of a compiled function; compiles it if no process has done so yet.

    Raises:
        Untranslatable: if it cannot be compiled; `where` says what it belongs to.
        InputError: if the cache cannot be written.
    """
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


def is_compiled(function: FunctionType) -> bool:
    """Whether some process has compiled a function already.

    Raises:
        Untranslatable: if it cannot be compiled.
    """
    return function in _compiled or _module(function)[0].exists()


def _module(function: FunctionType) -> tuple[Path, str]:
    """The file and the text of a function's module. Its name stands for all that the code depends on and that
    Numba does not look at."""
    if function not in _modules:
        text = HEAD + module_text(function, MAIN, GIVEN, floats.STAND_INS)
        whole = hashlib.sha256(text.encode())
        for module in (floats, native):
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
    """Removes functions that were not used for long, if there are many; nobody is about to load those."""
    oldest = time.time() - KEEP_DAYS * 86400
    used = sorted((path.stat().st_mtime, path) for path in folder.glob("loop_*.py"))
    for when, path in used[:-KEEP]:
        if when < oldest:
            for made in (path, *folder.glob(f"__pycache__/{path.stem}.*")):
                made.unlink(missing_ok=True)
