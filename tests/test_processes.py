"""Programs that a process has started end with it, in whatever way it ends."""

import os
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import pytest

from samhw import processes
from samhw.errors import RunError
from samhw.targets.running.port import Harness
from tests.support.proc import children, listed, running, wait_until
from tests.support.thorough import sample

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")

STARTS = {
    "a program": "processes.start(['sleep', '600'])",
    "a program's own": "processes.start(['sh', '-c', 'sleep 600 & sleep 600'])",
    "a program that is waited for": "processes.run(['sleep', '600'])",
    "programs in threads": "processes.in_threads(lambda n: processes.run(['sleep', n]), ['600', '601'])",
    "workers": """
with processes.ending(processes.workers(2)) as pool:
    list(pool.map(time.sleep, [600, 601]))
""",
    "programs of workers": """
with processes.ending(processes.workers(2)) as pool:
    list(pool.map(sleep, [600, 601]))
""",
}

ENDS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
WAYS = [
    *((start, signal.SIGKILL) for start in STARTS),
    *(("programs of workers", end) for end in ENDS[1:]),
    ("a program that is waited for", signal.SIGINT),
]
"""Only what cannot be caught is tried with everything that is started."""

SCRIPT = """
import subprocess, sys, time
from samhw import processes

def sleep(seconds):
    processes.run(["sleep", str(seconds)])

def main():
    {start}
    time.sleep(600)

if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("start", "end"), sample(list(product(STARTS, ENDS)), WAYS))
def test_all_end_with_their_parent(start: str, end: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(start=STARTS[start].strip().replace("\n", "\n    ")))
    parent = subprocess.Popen([sys.executable, script], stderr=subprocess.PIPE, text=True)

    def sleeping() -> int:
        below = children(parent.pid)
        return sum(number in below and command.startswith("sleep 60") for number, _, command in listed())

    wanted = 1 if start in ("a program", "a program that is waited for") else 2
    wait_until(
        (lambda: len(children(parent.pid)) >= 3) if start == "workers" else lambda: sleeping() == wanted
    )
    if start == "workers":
        time.sleep(0.5)  # Until they have joined the group.
    started = children(parent.pid)
    parent.send_signal(end)
    _, errors = parent.communicate()
    wait_until(lambda: not running(started))
    assert parent.returncode == -end
    # What the others had to say of their end would be of no use to anybody.
    # A pool of Python 3.11 may close its pipe while the interpreter's end wakes it, and says so.
    said, _, _ = errors.partition("Exception ignored in: <module 'threading'")
    assert said.count("Traceback") == (end == signal.SIGINT), errors


def test_waiting_work_is_given_up_at_the_first_failure() -> None:
    done: list[int] = []

    def work(number: int) -> None:
        done.append(number)
        if number == 0:
            raise ValueError(number)
        # Longer than a busy machine takes to hear of the failure.
        time.sleep(0.05)

    with pytest.raises(ValueError, match="0"):
        processes.in_threads(work, range(1000))
    assert len(done) < 1000


def test_no_guard_outlives_its_process() -> None:
    code = "from samhw import processes; print(processes.group())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not running({int(done.stdout)})
    assert done.stderr == ""


def test_a_guard_that_was_killed_is_replaced() -> None:
    before = processes.group()
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: not running({before}))
    assert processes.run(["true"]).returncode == 0
    assert processes.group() != before


def test_a_program_that_cannot_run(tmp_path: Path) -> None:
    (tmp_path / "simulate").write_text("no program")
    with pytest.raises(RunError, match=r"simulate cannot be run \(Permission denied\); set SAMHW_CACHE"):
        Harness(tmp_path / "simulate")
