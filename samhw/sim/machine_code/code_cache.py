"""Functions in machine code: kept in memory, and on disk for the processes to come.

A file is only ever put into the cache whole, and looked at before it is used. So a process that is killed
leaves nothing that hurts, several may share a cache, and without one that can be written all is as before but
for the milliseconds that a function takes.
"""

import atexit
import hashlib
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Thread, Timer
from types import FunctionType
from typing import NamedTuple

from samhw.files import cache_directory
from samhw.sim.machine_code.code import assemble, load
from samhw.sim.machine_code.expression_values import StandIns, Untranslatable
from samhw.sim.machine_code.fingerprint import fingerprint, function_key, functions_apart
from samhw.sim.machine_code.translate import translate

__all__ = ["ModuleText", "address_of", "assemble_all", "prepare"]

# Object files of many modules at once, with the help of other processes.
#
# LLVM does one thing at a time in a process, whatever its threads. Helpers are kept for the next modules,
# since a run needs code for one region after the other; one that has had nothing to do for a while ends by
# itself.


FEW = 8
"""This many modules are worth the start of helpers, which takes as long as some of them."""

MOST = 3
"""Helpers at most."""

PATIENCE = 10
"""Seconds for which a helper waits for something to do."""


class ModuleText(NamedTuple):
    """The arguments of `assemble`."""

    text: str
    name: str
    thorough: bool


class Helper:
    """Another process that assembles modules, as `serve` does."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {__name__} import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def assemble(self, module: ModuleText) -> bytes:
        """The object file of a module.

        Raises:
            OSError, EOFError, pickle.UnpicklingError: if the process has ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(module, self._process.stdin)
        self._process.stdin.flush()
        code: bytes = pickle.load(self._process.stdout)
        return code

    def has_ended(self) -> bool:
        """Whether the process has lost its patience."""
        return self._process.poll() is not None

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()


_idle: list[Helper] = []
"""Those that have nothing to do."""


def assemble_all(modules: Iterable[ModuleText]) -> dict[str, bytes]:
    """The object files of modules by their names.

    Helpers begin while the modules are still being made, and then this process takes part: each takes one
    module after the other. What a helper that fails leaves undone is done here.
    """
    left: list[ModuleText] = []
    codes: dict[str, bytes] = {}
    helpers: list[Thread] = []
    every = []
    try:
        for module in modules:
            every.append(module)
            left.append(module)
            if not helpers and (_idle or len(every) == FEW):
                helpers = [Thread(target=_help, args=(left, codes), daemon=True) for _ in range(_spare())]
                for thread in helpers:
                    thread.start()
        while left:
            with suppress(IndexError):
                module = left.pop()
                codes[module.name] = assemble(*module)
    finally:
        left.clear()
        for thread in helpers:
            thread.join()
    return {module.name: codes.get(module.name) or assemble(*module) for module in every}


def _help(left: list[ModuleText], codes: dict[str, bytes]) -> None:
    """Has a helper assemble modules as long as there are any."""
    helper = None
    try:
        with suppress(IndexError):
            while helper is None or helper.has_ended():
                helper = _idle.pop()
        if helper is None or helper.has_ended():
            helper = Helper()
        with suppress(IndexError):
            while True:
                module = left.pop()
                codes[module.name] = helper.assemble(module)
        _idle.append(helper)
    except (OSError, EOFError, pickle.UnpicklingError):
        if helper:
            helper.end()


def _spare() -> int:
    """How many helpers the machine has processors for."""
    # In a program that is frozen into one file, nothing runs a module.
    if not sys.executable or hasattr(sys, "frozen"):
        return 0
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(processors - 1, MOST)


@atexit.register
def _end_helpers() -> None:
    while _idle:
        _idle.pop().end()


if hasattr(os, "register_at_fork"):
    # A process that is forked has no helpers: they are its parent's.
    os.register_at_fork(after_in_child=_idle.clear)


def serve() -> None:
    """Assembles the modules that come in, until there are no more."""
    with suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            timer = Timer(PATIENCE, os._exit, (0,))
            timer.daemon = True
            timer.start()
            module = pickle.load(sys.stdin.buffer)
            timer.cancel()
            pickle.dump(assemble(*module), sys.stdout.buffer)
            sys.stdout.buffer.flush()


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
