"""Programs that end with this process, in whatever way it ends.

They and all that they start are one process group, with a *guard*: a shell that waits for the end of a pipe
which this process alone can write to, and then kills the group. Ctrl-C, which a terminal sends to the group
in the foreground, is for this process alone, which then calls `stop_all`.
"""

import atexit
import concurrent.futures
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

__all__ = ["ending", "group", "in_threads", "run", "start", "stop_all", "workers"]

T = TypeVar("T")
P = TypeVar("P", bound=Executor)


class _Guard:
    """The guard of this process, started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def group(self) -> int:
        """The process group that it guards."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                # `kill 0` is for the shell's own group.
                self._process = subprocess.Popen(
                    ["sh", "-c", "read -r _; kill -KILL 0"], stdin=subprocess.PIPE, process_group=0
                )
            return self._process.pid

    def stop(self) -> None:
        """Ends all programs, and the guard with them."""
        with self._lock:
            if self._process is not None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.communicate()
                self._process = None

    def leave(self) -> None:
        """In a process that was forked off, which has a guard of its own: the pipe is the parent's alone."""
        self._lock = threading.Lock()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.returncode = 0  # It is no child of this process.
            self._process = None


_guard = _Guard()
atexit.register(_guard.stop)
os.register_at_fork(after_in_child=_guard.leave)

group = _guard.group
stop_all = _guard.stop


def run(command: Sequence[str | Path], **options: Any) -> "subprocess.CompletedProcess[Any]":
    """As `subprocess.run`."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(command, process_group=group(), **options)


def start(command: Sequence[str | Path], **options: Any) -> "subprocess.Popen[Any]":
    """As `subprocess.Popen`."""
    return subprocess.Popen(command, process_group=group(), **options)


def workers(count: int) -> "concurrent.futures.ProcessPoolExecutor":
    """Processes that end with this one, for `ending`."""
    # It loads its pools when they are asked for.
    return concurrent.futures.ProcessPoolExecutor(count, initializer=os.setpgid, initargs=(0, group()))


@contextmanager
def ending(pool: P) -> Iterator[P]:
    """A pool whose waiting work is given up when the block fails, and on Ctrl-C what runs as well."""
    with pool:
        try:
            yield pool
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            if not isinstance(error, Exception):
                stop_all()
            raise


def in_threads(work: Callable[[T], object], items: Iterable[T]) -> None:
    """Does work that consists of running programs, as many at a time as there are processors."""
    with ending(concurrent.futures.ThreadPoolExecutor(os.cpu_count())) as pool:
        list(pool.map(work, items))
