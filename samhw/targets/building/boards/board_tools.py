"""The programs that make bitstreams, and openFPGALoader, which loads them into boards."""

import logging
import os
import shutil
import sys
from pathlib import Path

from samhw.errors import RunError
from samhw.files import reason
from samhw.processes import run
from samhw.targets.boards.board import Board

__all__ = ["load_bitstream", "loading_command", "run_tool"]

_log = logging.getLogger(__name__)


def loading_command(board: Board, bitstream: Path | str) -> str:
    """What a user types to load a bitstream."""
    return f"openFPGALoader -b {board.loader} {bitstream}"


def load_bitstream(board: Board, bitstream: Path) -> None:
    """Loads a bitstream; without openFPGALoader ($OPENFPGALOADER, or on the path) says how that is done, and
    leaves the board as it is.

    Raises:
        RunError: if openFPGALoader fails.
    """
    program = os.environ.get("OPENFPGALOADER") or shutil.which("openFPGALoader")
    if program is None:
        command = loading_command(board, bitstream)
        _log.info("openFPGALoader was not found; if the board does not hold the bitstream yet: %s", command)
        return
    _log.info("loading the bitstream into the %s", board.name)
    try:
        done = run([program, "-b", board.loader, bitstream], capture_output=True, text=True)
    except OSError as error:
        raise RunError(
            f"{program} cannot be run ({reason(error)}); set OPENFPGALOADER to its path."
        ) from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise RunError(f"The bitstream was not loaded ({lines[-1]}); look whether the cable is plugged in.")


def run_tool(folder: Path, name: str, *arguments: str) -> str:
    """Runs a program of WebAssembly, which sees the folder that it runs in and little else; gives what it
    says on its error stream.

    Raises:
        RunError: if it fails.
    """
    beside = Path(sys.executable).with_name(name)
    done = run([beside if beside.exists() else name, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        telling = [line for line in lines if line.lower().startswith("error")]
        raise RunError(f"{name} failed: {(telling or lines[-1:])[0]}")
    return str(done.stderr)
