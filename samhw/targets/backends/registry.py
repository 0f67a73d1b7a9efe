"""The backends, and what else writes builds, each a line here; and what runs or builds a compiled program
with one of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from samhw.compiler import Compiled
from samhw.compiler.placement import check_all_on_chip
from samhw.errors import InputError
from samhw.files import new_directory
from samhw.targets.backends.backend import Backend, RunResult, Target
from samhw.targets.backends.board_backend import BoardBackend
from samhw.targets.backends.hls import HlsBackend
from samhw.targets.backends.rtl import CxxrtlBackend, IcarusBackend, VerilatorBackend
from samhw.targets.backends.sim import SimulatorBackend
from samhw.targets.backends.verilog import VerilogTarget
from samhw.targets.boards import board_file, board_names, is_board_file
from samhw.targets.running.images import inputs_of
from samhw.tensors import Tensor
from samhw.words import did_you_mean

__all__ = [
    "BACKENDS",
    "BUILDERS",
    "DERIVED",
    "MODEL",
    "RTL",
    "build",
    "check_options",
    "check_places",
    "find_backend",
    "find_target",
    "is_board",
    "run",
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
        meant = did_you_mean(name, known)
        choices = f"choose one of {', '.join(known)}, or board:FILE.py"
        raise InputError(f"There is no {what} '{name}'{meant}; {choices}.")
    return known[name]


def run(
    compiled: Compiled, tensors: Mapping[str, Tensor], backend: Backend | str = MODEL, **options: Any
) -> RunResult:
    """Loads the tensors, runs, and reads the results back.

    Args:
        backend: what runs it, or its name: by default the simulator.
        options: of the backend's own `execute`.

    Raises:
        InputError: for data that does not fit the build, or a backend that is not there.
        RunError: for a run that ends with an error.
    """
    return check_options(backend, **options).run(compiled, tensors, **options)


def check_options(backend: Backend | str, **options: Any) -> Backend:
    """The backend, which takes an off-chip memory, a wave and a host if they are among the options; raises
    `InputError` if it does not, or is not there, and as its `check_run`."""
    chosen = find_backend(backend) if isinstance(backend, str) else backend
    if options.get("memory") is not None and not chosen.takes_memory:
        raise InputError(
            f"What the backend '{chosen.name}' runs has its tensors on chip; leave out the memory, or choose "
            f"the backend '{MODEL.name}' or '{RTL.name}'."
        )
    if options.get("wave") is not None and not chosen.records_waves:
        raise InputError(
            f"A wave has the signals of the RTL, which the backend '{chosen.name}' does not record; choose "
            f"the backend '{RTL.name}', or leave it out."
        )
    if options.get("host") and "host" not in chosen.settings:
        raise InputError(
            f"The host's port belongs to the RTL, which the backend '{chosen.name}' does not run as it is; "
            f"choose the backend '{RTL.name}', or leave the host out."
        )
    chosen.check_run(**options)
    return chosen


def check_places(compiled: Compiled, target: Target, memory: object = None) -> None:
    """Raises `InputError` for a schedule that has something off the chip, where all of it has to lie there.

    Args:
        memory: what a run has off the chip.
    """
    if memory is not None or target.places_arrays:
        return
    if isinstance(target, Backend) and target.takes_memory:
        where, way_out = "the run has no memory off it", "add '--memory ddr4'"
    else:
        where = f"the backend '{target.target}' has all of it on the chip"
        way_out = f"leave that out, or choose '{MODEL.name}' or '{RTL.name}' and a memory"
    check_all_on_chip(compiled, where, way_out)


DERIVED = "derived.txt"
"""The file with the inputs that the user does not have, and how each is made of those that the user has; and
with the results that are put together of what the design stores."""


def build(
    compiled: Compiled,
    target: Target | str,
    directory: Path,
    tensors: Mapping[str, Tensor] | None = None,
    **settings: Any,
) -> list[Path]:
    """Writes a build and returns its files; which ones, `build` of the target says.

    Args:
        target: what writes it, or its name.
        tensors: data that the build is to have beside it, if the target's builds carry any.
        settings: of the target's own `build`.

    Raises:
        InputError: if the directory is there and not empty, or cannot be written, or for a target that is
            not there.
    """
    writer = find_target(target) if isinstance(target, str) else target
    if not writer.places_arrays and settings.get("memory") is None:
        way_out = "name a memory" if "memory" in writer.settings else "run it with 'samhw run --memory ddr4'"
        check_all_on_chip(
            compiled,
            f"a build for {writer.target} has all of it on the chip",
            f"leave that out, or {way_out}",
        )
    writer.check_build(**settings)
    with new_directory(directory) as staging:
        inputs = None if tensors is None or not writer.carries_data else inputs_of(compiled, tensors)
        writer.build(compiled, staging, inputs, **settings)
        lines = [f"{name}: {recipe}\n" for name, recipe in compiled.recipes.items()]
        lines += [f"{name}: all entries of {', '.join(parts)}\n" for name, parts in compiled.joined.items()]
        lines = [f"{line}\n" for line in compiled.order_lines] + lines
        if lines:
            (staging / DERIVED).write_text("".join(lines), encoding="utf-8")
    return sorted(p for p in directory.rglob("*") if p.is_file())
