"""Other ways to the same results: saved designs, the command line, and programs that a pass has left."""

from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

import samhw
from samhw.app.api import RunnableDesign
from samhw.app.cli import main
from samhw.choices.schedule import Schedule
from samhw.lang import parse
from samhw.sim.design_run import total_cycles
from samhw.tensors import read_tensor
from tests.seams.case import Case, WrongError
from tests.seams.off_chip import Placed

__all__ = ["FACES"]

Array = np.ndarray[Any, np.dtype[Any]]


class CommandError(Exception):
    """A command does not end as it should."""


def saved(case: Case, design: RunnableDesign, folder: Path) -> dict[str, Array]:
    """What the design gives once it is saved and loaded."""
    design.save(folder / "p.ein", folder / "p.npz")
    result = samhw.load(folder / "p.ein").run(case.data)
    return {name: tensor.to_dense() for name, tensor in result.tensors.items()}


def typed(case: Case, design: RunnableDesign, folder: Path) -> dict[str, Array]:
    """What `samhw run` saves."""
    words = _words(case, folder)
    if len(design.compiled.program.outputs) == 1:
        words += ["--save", str(folder / "result.npz")]
    _good("run", *words)
    if "--save" not in words:
        return {}
    name = design.compiled.program.outputs[0].name
    return {name: read_tensor(folder / "result.npz").to_dense()}


def after(case: Case, design: RunnableDesign, folder: Path) -> dict[str, Array]:
    """What passes leave is a program again."""
    for name in ("place_by_index", "slice_steps", "copy_discordant", "split_formats"):
        parse(_good("compile", *_words(case, folder), "--after", name))
    return {}


def off_chip(case: Case, design: RunnableDesign, folder: Path) -> dict[str, Array]:
    """Some or all tensors lie off chip, and both engines agree."""
    placed = Placed.of(case)
    result = placed.design.run(case.data, memory=placed.memory)
    agreed = placed.agreed()
    whole = total_cycles(agreed)
    if placed.is_sized and result.cycles != whole:
        raise WrongError(f"{result.cycles} cycles, but {agreed} alone: {placed}")
    return {name: tensor.to_dense() for name, tensor in result.tensors.items()}


FACES = {"save and load": saved, "command line": typed, "after": after, "off chip": off_chip}
"""By feature: a function that gives the results, by name."""


def _words(case: Case, folder: Path) -> list[str]:
    """The arguments that say a case on the command line."""
    program, schedule = folder / "program.ein", folder / "schedule.toml"
    program.write_text(case.text)
    schedule.write_text(Schedule(**case.schedule).dumps())
    words = [str(program), "--schedule", str(schedule), "--value", case.value]
    for name, array in case.data.items():
        np.save(folder / f"{name}.npy", array)
        words += ["--data", f"{name}={folder / name}.npy"]
    return words


def _good(*words: str) -> str:
    """What a command prints that ends well."""
    ended = CliRunner().invoke(main, words)
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    if ended.exit_code or "Traceback" in ended.output:
        raise CommandError(f"exit code {ended.exit_code}: {ended.output[-300:]}")
    return ended.stdout
