"""Functions in machine code: kept in memory, and on disk for the processes to come.

A file is only ever put into the cache whole, and looked at before it is used. So a process that is killed
leaves nothing that hurts, several may share a cache, and without one that can be written all is as before but
for the milliseconds that a function takes.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FunctionType

from samhw.cache import cache_directory
from samhw.sim.machine_code.assemblers import ModuleText, assemble_all
from samhw.sim.machine_code.expression_values import StandIns, Untranslatable
from samhw.sim.machine_code.fingerprint import fingerprint, function_key, functions_apart
from samhw.sim.machine_code.native import assemble, load
from samhw.sim.machine_code.translate import translate

__all__ = ["address_of", "prepare"]

Function = Callable[..., int | None]

FOLDER = "code"
"""In the cache."""

SUFFIX = ".o"

KEEP = 5_000
"""Functions that are kept at any rate: some 50 MB."""

KEEP_DAYS = 30
"""Others are removed when nobody has used them for so long."""

DIGEST = 32
"""Bytes that a file begins with, and by which it is seen to be whole."""


@dataclass
class MachineFunction:
    """What is known of a function."""

    function: FunctionType
    """It keeps its key good."""
    name: str
    """That of its code."""
    apart: list[FunctionType]
    """The functions that its code calls."""
    code: bytes | None = None
    """If it is made but not loaded."""
    address: int | None = None
    """If it is loaded."""


_known: dict[object, MachineFunction] = {}
"""Functions by their keys."""


def prepare(functions: Iterable[Function], stand_ins: StandIns) -> None:
    """Makes the code of functions that `address_of` will be asked for, with several processors if there is
    much to do.

    Args:
        stand_ins: functions that are called in the place of others.
    """
    missing: dict[str, MachineFunction] = {}
    for function in functions:
        # What cannot be made is said by `address_of`.
        with suppress(Untranslatable, RecursionError):
            known = _known_of(function, stand_ins)
            for each in (*(_known_of(called, stand_ins) for called in known.apart), known):
                if not (each.code or each.address or _path(each.name).exists()):
                    missing[each.name] = each
    for name, code in assemble_all(_modules_of(missing.values(), stand_ins)).items():
        missing[name].code = code
        _keep(name, code)


def _modules_of(functions: Iterable[MachineFunction], stand_ins: StandIns) -> Iterator[ModuleText]:
    """The modules of functions, of those that can be translated."""
    for known in functions:
        with suppress(Untranslatable, RecursionError):
            yield _module_of(known, stand_ins)


def address_of(function: Function, stand_ins: StandIns) -> int:
    """The address of a function of two words in machine code, which is made if no process has done so yet.

    Args:
        stand_ins: functions that are called in the place of others.

    Raises:
        Untranslatable: if the function is not in the subset (`translate`).
    """
    try:
        known = _known_of(function, stand_ins)
        if known.address is None:
            for called in known.apart:
                address_of(called, stand_ins)
            known.address = load(_code_of(known, stand_ins), known.name)
            known.code = None
    except RecursionError as error:
        message = f"{function.__qualname__} calls itself, or a function that does"
        raise Untranslatable(message) from error
    return known.address


def _known_of(function: Function, stand_ins: StandIns) -> MachineFunction:
    assert isinstance(function, FunctionType)
    key = function_key(function), *stand_ins.items()
    if key not in _known:
        apart = functions_apart(function, stand_ins)
        _known[key] = MachineFunction(function, fingerprint(function, stand_ins), apart)
    return _known[key]


def _module_of(known: MachineFunction, stand_ins: StandIns) -> ModuleText:
    text = translate(known.function, known.name, stand_ins)
    return ModuleText(text, known.name, thorough="apart" in known.function.__dict__)


def _code_of(known: MachineFunction, stand_ins: StandIns) -> bytes:
    code = known.code or _read(_path(known.name))
    if code is None:
        code = assemble(*_module_of(known, stand_ins))
        _keep(known.name, code)
    return code


def _path(name: str) -> Path:
    """The file of the function of that name."""
    return cache_directory() / FOLDER / (name + SUFFIX)


def _keep(name: str, code: bytes) -> None:
    """Puts code into the cache if that can be written."""
    path = _path(name)
    with suppress(OSError):
        _write(path, code)
        _prune(path.parent)


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
