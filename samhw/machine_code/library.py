"""Functions in machine code: kept in memory, and on disk for the processes to come.

A file is only ever put into the cache whole, and looked at before it is used. So a process that is killed
leaves nothing that hurts, several may share a cache, and without one that can be written all is as before but
for the milliseconds that a function takes.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from samhw.cache import cache_directory
from samhw.machine_code.fingerprint import fingerprint, function_key, functions_apart
from samhw.machine_code.machine import assemble, load
from samhw.machine_code.translate import translate
from samhw.machine_code.values import StandIns, Untranslatable

__all__ = ["address_of"]

FOLDER = "code"
"""In the cache."""

SUFFIX = ".o"

KEEP = 5_000
"""Functions that are kept at any rate: some 50 MB."""

KEEP_DAYS = 30
"""Others are removed when nobody has used them for so long."""

DIGEST = 32
"""Bytes that a file begins with, and by which it is seen to be whole."""

_addresses: dict[Any, tuple[int, FunctionType]] = {}
"""The address of each function by its key; the function itself keeps the key good."""


def address_of(function: Callable[..., int | None], stand_ins: StandIns) -> int:
    """The address of a function of two words in machine code, which is made if no process has done so yet.

    Args:
        stand_ins: functions that are called in the place of others.

    Raises:
        Untranslatable: if the function is not in the subset (`translate`).
    """
    assert isinstance(function, FunctionType)
    try:
        key = function_key(function), *stand_ins.items()
        if key not in _addresses:
            for called in functions_apart(function, stand_ins):
                address_of(called, stand_ins)
            name = fingerprint(function, stand_ins)
            _addresses[key] = load(_object_of(function, name, stand_ins), name), function
    except RecursionError as error:
        message = f"{function.__qualname__} calls itself, or a function that does"
        raise Untranslatable(message) from error
    return _addresses[key][0]


def _object_of(function: FunctionType, name: str, stand_ins: StandIns) -> bytes:
    path = cache_directory() / FOLDER / (name + SUFFIX)
    code = _read(path)
    if code is None:
        code = assemble(translate(function, name, stand_ins), name, thorough="apart" in function.__dict__)
        with suppress(OSError):
            _write(path, code)
            _prune(path.parent)
    return code


def _read(path: Path) -> bytes | None:
    """What a file holds; None if it is not there or not whole."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    digest, code = whole[:DIGEST], whole[DIGEST:]
    if hashlib.sha256(code).digest() != digest:
        return None
    with suppress(OSError):  # A cache that is only readable serves too.
        os.utime(path)
    return code


def _write(path: Path, code: bytes) -> None:
    """Writes a file that no other process sees before it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
        file.write(hashlib.sha256(code).digest() + code)
    os.replace(file.name, path)


@cache
def _prune(folder: Path) -> None:
    """Removes functions not used for long, if there are many, and what killed processes have left.

    Once in a process that writes some.
    """
    oldest = time.time() - KEEP_DAYS * 86400
    used = sorted((path.stat().st_mtime, path) for path in folder.glob(f"*{SUFFIX}"))
    left = [(path.stat().st_mtime, path) for path in folder.glob("*.tmp")]
    for when, path in [*used[:-KEEP], *left]:
        if when < oldest:
            path.unlink(missing_ok=True)
