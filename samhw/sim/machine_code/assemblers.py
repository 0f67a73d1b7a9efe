"""Object files of many modules at once, with the help of other processes.

LLVM does one thing at a time in a process, whatever its threads. Helpers are kept for the next modules, since
a run needs code for one region after the other; one that has had nothing to do for a while ends by itself.
"""

import atexit
import os
import pickle
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from threading import Thread, Timer
from typing import NamedTuple

from samhw.sim.machine_code.native import assemble

__all__ = ["ModuleText", "assemble_all"]

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
