"""From a program, in whatever form, to a design."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from samhw.api.design import RunnableDesign
from samhw.compiler import AUTO
from samhw.frontend import Capacity, Program, ProgramBuilder, check_program, load, load_program
from samhw.graph import Arch
from samhw.schedule import FusionLevel, Schedule, with_formats

__all__ = ["compile"]


def compile(
    program: str | Path | Program | ProgramBuilder,
    *,
    formats: Mapping[str, str] | None = None,
    value: str = AUTO,
    schedule: Schedule | Path | str | None = None,
    fuse: FusionLevel | Sequence[Sequence[str]] | None = None,
    order: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    permute: bool | None = None,
    entries: Mapping[str, int] | None = None,
    arch: Arch | None = None,
) -> RunnableDesign:
    """A design of a program.

    Args:
        program: its text, in which inputs need no declaration; a built-in name; an `.ein` file;
            `file.py:object`; or an object.
        formats: by tensor, in the words of a declaration. Inputs that neither the text nor this gives a
            format are stored as their first data are; those that are reshaped are dense.
        value: the value type; `auto` is what the program or its data need.
        schedule: what may be chosen without changing results (docs/schedule.md), or the file of one. `fuse`,
            `order` and `permute` stand in the place of its fields.
        entries: by tensor, how many entries of compressed levels a build must hold at least, for data to
            come.
        arch: latencies, by default those of the RTL.

    Raises:
        InputError: for a program that breaks a rule, or a name that it does not have.
    """
    fields: dict[str, Any] = {"fuse": fuse, "order": order, "permute": permute}
    chosen = replace(
        Schedule.of(schedule), **{name: field for name, field in fields.items() if field is not None}
    )
    found = _program(program)
    found = with_formats(found, found.regions, formats or {})
    stored = chosen.apply(found)
    # An input without a format may be dense or not, as its first data are.
    open_yet = {decl.name for decl in stored.inputs if decl.implied}
    known = {name: count for name, count in (entries or {}).items() if name not in open_yet}
    Capacity().with_entries(stored, known)
    return RunnableDesign(found, chosen, value=value, arch=arch, entries=entries)


def _program(program: str | Path | Program | ProgramBuilder) -> Program:
    match program:
        case ProgramBuilder():
            return program.program()
        case Program():
            check_program(program)
            return program
        case Path():
            return load(program)
    return load_program(program)
