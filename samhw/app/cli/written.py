"""`samhw compile --mlir`: programs as functions in MLIR."""

from pathlib import Path

import click

from samhw.app.workload import Workload
from samhw.compiler import choose_value
from samhw.errors import InputError
from samhw.files import write_text
from samhw.graph.numerics import ValueType
from samhw.importers.mlir import write_function
from samhw.lang import Program

__all__ = ["write_mlir"]


def write_mlir(given: Workload | Program, value: ValueType | None, target: str) -> None:
    """Writes a program as MLIR into a file, or to stdout for `-`.

    Raises:
        InputError: for a statement or a value type that linalg has no form for.
    """
    program = given if isinstance(given, Program) else given.program
    if any(extent is None for decl in program.tensors.values() for extent in decl.shape):
        raise InputError(f"The types of MLIR hold all extents of '{program.name}'; give data, or --extents.")
    text = write_function(program, choose_value(value, program).name)
    if target == "-":
        click.echo(text, nl=False)
    else:
        write_text(Path(target), text)
