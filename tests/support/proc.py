"""What processes run, by /proc."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["children", "listed", "running", "wait_until"]


def listed() -> Iterator[tuple[int, int, str]]:
    """Number, parent and command of each process that runs."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # It has ended meanwhile.
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                yield int(folder.name), int(parent), command.decode(errors="replace")


def children(parent: int) -> set[int]:
    """The processes below a process."""
    pairs = [(number, of) for number, of, _ in listed()]
    found: set[int] = set()
    below = {parent}
    while below := {number for number, of in pairs if of in below}:
        found |= below
    return found


def running(numbers: set[int]) -> set[int]:
    return numbers & {number for number, _, _ in listed()}


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.05)
