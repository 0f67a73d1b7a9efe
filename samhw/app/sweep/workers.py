"""Configurations measured by workers: on this machine, by processes of their own, or on a cluster, by the
workers of a Dask scheduler.

A process gets one configuration at a time, as a line of JSON, and answers with a line. So if one dies (for
want of memory, say) it is known at which configuration, and that one alone has no result.
`ProcessPoolExecutor` would give up all that were under way.
"""

import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from pkgutil import resolve_name
from typing import Any, NamedTuple, Protocol

from samhw.app.sweep.configuration import version_digest
from samhw.app.sweep.outcome import Outcome, crashed
from samhw.errors import InputError, RunError
from samhw.faces import on_command_line

__all__ = ["CONFIGURATIONS", "Task", "TaskKind", "run_locally", "run_on_cluster"]


class Task(Protocol):
    """What is measured, such as a `Configuration`."""

    def to_json(self) -> dict[str, Any]:
        """A JSON object, of which `from_json` of its class makes it again."""
        ...

    def anywhere(self) -> "Task":
        """The same for a process in another working directory."""
        ...


class TaskKind(NamedTuple):
    """What is done, by names that another process finds too: `package.module:name`."""

    task: str
    """The class of the tasks."""
    measure: str
    """A function of one, which gives its outcome and raises nothing."""

    def function(self) -> Callable[[Task], Outcome]:
        """What measures a task."""
        found: Callable[[Task], Outcome] = resolve_name(self.measure)
        return found


def measured(work: TaskKind, task: Task) -> Outcome:
    """The outcome of a task on a cluster, in the words of the command that asks for it."""
    with on_command_line():
        return work.function()(task)


CONFIGURATIONS = TaskKind("samhw.app.sweep.configuration:Configuration", "samhw.app.sweep.outcome:outcome")

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""A process has one core: libraries that would start a thread for each of them are told so."""


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_locally(
    tasks: Sequence[tuple[str, Task]], jobs: int | None = None, work: TaskKind = CONFIGURATIONS
) -> Generator[tuple[str, Outcome]]:
    """The key and the outcome of each task, as they are finished.

    Args:
        jobs: processes; by default one for each processor.
    """
    waiting: queue.SimpleQueue[tuple[str, Task] | None] = queue.SimpleQueue()
    finished: queue.SimpleQueue[tuple[str, Outcome] | BaseException] = queue.SimpleQueue()
    workers = [_Worker(work) for _ in range(min(jobs or processors(), len(tasks)))]

    def serve_one(worker: _Worker) -> None:
        try:
            while (task := waiting.get()) is not None:
                finished.put((task[0], worker.measure(task[1])))
        except BaseException as error:  # Such as a process that cannot be started.
            finished.put(error)

    for task in [*tasks, *(None for _ in workers)]:
        waiting.put(task)
    threads = [threading.Thread(target=serve_one, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        for _ in tasks:
            found = finished.get()
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        for worker in workers:
            worker.stop()


class _Worker:
    """A process that measures, started when it is first needed and again when it has died."""

    def __init__(self, work: TaskKind) -> None:
        self._work = work
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False
        self._lock = threading.Lock()

    def measure(self, task: Task) -> Outcome:
        """The outcome of a task."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(task.to_json()) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            answer = ""
        if answer.endswith("\n"):
            found: Outcome = json.loads(answer)
            return found
        return crashed(f"The process that measured this ended with {_reason(process.wait())}.")

    def stop(self) -> None:
        """Ends the process, whatever it does."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()
                self._process.wait()

    def _running(self) -> "subprocess.Popen[str]":
        with self._lock:
            if self._stopped:
                raise RuntimeError("the worker was stopped")
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", f"from {__name__} import serve; serve{tuple(self._work)!r}"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env={**os.environ, **dict.fromkeys(_THREADS, "1"), "PYTHONPATH": _path()},
                    # Ctrl-C is for the parent, which then ends its workers.
                    start_new_session=True,
                )
            return self._process


def _path() -> str:
    """Where this process finds samhw and a user's programs, the new one does too."""
    return os.pathsep.join(filter(None, sys.path))


def _reason(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name
    return f"{name} (out of memory?)" if -code == signal.SIGKILL else name


def serve(task: str, measure: str) -> None:
    """What a worker's process does: for each line of its input, a task, a line with its outcome."""
    read_task, outcome = resolve_name(task).from_json, resolve_name(measure)
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)  # The parent has ended, killed perhaps; what runs here is of no use to anybody.

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # A user's program may print.
    threading.Thread(target=read, daemon=True).start()
    while True:
        found = outcome(read_task(json.loads(lines.get())))
        answers.write(json.dumps(found) + "\n")
        answers.flush()


PATIENCE = 10
"""Seconds in which a scheduler must answer."""


def run_on_cluster(
    tasks: Sequence[tuple[str, Task]], address: str, work: TaskKind = CONFIGURATIONS
) -> Generator[tuple[str, Outcome]]:
    """The key and the outcome of each task, as they are finished by the scheduler at an address.

    The workers need this samhw, and the files of the configurations under the same paths.

    Raises:
        InputError: if Dask is missing, no scheduler answers, or a worker has another samhw.
        RunError: if the scheduler goes away.
    """
    try:
        from distributed import Client, as_completed
        from distributed.comm import get_address_host_port
    except ImportError:
        raise InputError("A cluster needs Dask; install it with pip install 'samhw[cluster]'.") from None
    # It would print how it loses a scheduler, which is said here in a sentence.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        get_address_host_port(address)  # A client asks for it too, and falls over its own end.
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"No Dask scheduler answers at {address} ({error}); start one with 'dask scheduler' and give "
            "the address that it prints."
        ) from error
    try:
        with client:
            _check_workers(client.run(version_digest, on_error="return"))
            keys = {
                client.submit(measured, work, task.anywhere(), key=f"samhw-{key}"): key for key, task in tasks
            }
            for future in as_completed(list(keys), loop=client.loop):
                yield keys.pop(future), _result(future)
                future.release()
    except (CancelledError, OSError):
        raise RunError(
            f"The Dask scheduler at {address} went away; the same command goes on when it is back."
        ) from None


def _result(future: Any) -> Outcome:
    try:
        found: Outcome = future.result()
    except (CancelledError, OSError):
        raise
    except Exception as error:
        # What a configuration raises is in its outcome; this is a worker that died, again and again.
        return crashed(f"{type(error).__name__}: {error}")
    return found


def _check_workers(versions: dict[str, object]) -> None:
    for worker, version in versions.items():
        if version != version_digest():
            what = f"lacks samhw ({version})" if isinstance(version, Exception) else "has another samhw"
            raise InputError(f"The Dask worker {worker} {what}; install this one there.")
