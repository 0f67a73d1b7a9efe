"""Loads bitstreams into boards, with openFPGALoader."""

import logging
import os
import shutil
from pathlib import Path

from samhw.errors import RunError
from samhw.files import reason
from samhw.processes import run
from samhw.targets.boards.board import Board

__all__ = ["load_bitstream", "loading_command"]

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
