"""Answers of the solver that are on record: a contract whose netlist is the same has the same answer.

`answers.txt` has a line for each: the hash of what was asked, and the answer. What is not there is asked.
`SAMHW_THOROUGH=1`, as in the nightly, asks everything. `SAMHW_RECORD=1` does so too, and writes the answers
down: remove the file first, so that those nobody asks for any more are gone.
"""

import os
import re
from fcntl import LOCK_EX, flock
from hashlib import sha256
from pathlib import Path

__all__ = ["RECORDING", "key", "known", "record"]

RECORD = Path(__file__).with_name("answers.txt")

RECORDING = os.environ.get("SAMHW_RECORD") == "1"

_PLACES = re.compile(r"^ *attribute \\(src|generator) .*\n", re.MULTILINE)
"""Where in which file something was written, which changes with every line above it and with the machine."""


def key(settings: str, netlist: str) -> str:
    """The hash of a question.

    Args:
        settings: those of SymbiYosys.
        netlist: as RTLIL.
    """
    return sha256(f"{settings}\n{_PLACES.sub('', netlist)}".encode()).hexdigest()[:32]


def known() -> dict[str, str]:
    """The answers on record, by the hash of the question."""
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    return dict(line.split() for line in lines)


def record(question: str, answer: str) -> None:
    """Writes an answer down, in order; several processes may do so at once."""
    with RECORD.open("a+", encoding="utf-8") as file:
        flock(file, LOCK_EX)
        file.seek(0)
        lines = sorted({*file.read().splitlines(), f"{question} {answer}"})
        file.truncate(0)
        file.write("".join(f"{line}\n" for line in lines))
