"""The backends, and what else writes builds. Each is a file beside this one, and a line here."""

from collections.abc import Mapping
from typing import TypeVar

from samhw.errors import InputError
from samhw.targets.backends.backend import Backend, Target
from samhw.targets.backends.board import BoardBackend
from samhw.targets.backends.cxxrtl import CxxrtlBackend
from samhw.targets.backends.hls import HlsBackend
from samhw.targets.backends.icarus import IcarusBackend
from samhw.targets.backends.sim import SimulatorBackend
from samhw.targets.backends.verilator import VerilatorBackend
from samhw.targets.backends.verilog import VerilogTarget
from samhw.targets.boards import board_file, board_names, is_board_file

__all__ = [
    "BACKENDS",
    "BUILDERS",
    "MODEL",
    "RTL",
    "find_backend",
    "find_target",
    "is_board",
    "targets",
]

T = TypeVar("T")

MODEL = SimulatorBackend()
"""What others are compared with."""
RTL = VerilatorBackend()
"""What `samhw correlate` compares with it."""

BACKENDS: tuple[Backend, ...] = (
    MODEL,
    RTL,
    IcarusBackend(),
    CxxrtlBackend(),
    HlsBackend(),
    *(BoardBackend(board) for board in board_names()),
)

BUILDERS: tuple[Target, ...] = (VerilogTarget(),)
"""What is built here and run elsewhere."""


def targets() -> tuple[Target, ...]:
    """All that `build --target` takes."""
    return (*BACKENDS, *BUILDERS)


def find_backend(name: str) -> Backend:
    """The backend that runs under a name, such as sim or board:my_board.py; raises `InputError` if there is
    none."""
    return _own_board(name) or _find("backend", {backend.name: backend for backend in BACKENDS}, name)


def find_target(name: str) -> Target:
    """What writes builds of a name, such as sim or board:my_board.py; raises `InputError` if there is
    nothing."""
    return _own_board(name) or _find("target", {target.target: target for target in targets()}, name)


def is_board(name: str) -> bool:
    """Whether a backend or target is a board that a user describes in a file: `board:my_board.py`."""
    kind, _, path = name.partition(":")
    return kind == "board" and is_board_file(path)


def _own_board(name: str) -> BoardBackend | None:
    """The board that a user describes in a file; raises `InputError` if there is no file."""
    if not is_board(name):
        return None
    path = name.partition(":")[2]
    board_file(path)
    return BoardBackend(path)


def _find(what: str, known: Mapping[str, T], name: str) -> T:
    if name not in known:
        raise InputError(f"There is no {what} '{name}'; choose one of {', '.join(known)}, or board:FILE.py.")
    return known[name]
