"""From a program, in whatever form, to a design; and from what was saved of one."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from samhw.app.api.arguments import Words, check_arguments, entries_of, extents_of, path_of, types_of
from samhw.app.api.runnable import RunnableDesign
from samhw.app.workload import SavedDesign
from samhw.choices.formats import with_formats
from samhw.choices.fuse import FusionLevel, FusionRule
from samhw.choices.schedule import Schedule
from samhw.errors import InputError, shown
from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.lang import (
    Capacity,
    Program,
    ProgramBuilder,
    cautions,
    check_program,
    load_program,
    model_names,
)
from samhw.lang import load as load_text
from samhw.lang.typed import with_types
from samhw.tensors import Format

__all__ = ["compile", "load"]


def compile(
    program: str | Path | Program | ProgramBuilder,
    *,
    formats: Mapping[str, str | Format] | None = None,
    value: ValueType | str | None = None,
    types: Mapping[str, ValueType | str] | str | None = None,
    schedule: Schedule | Mapping[str, object] | Path | str | None = None,
    fuse: FusionLevel | FusionRule | Sequence[Sequence[str]] | None = None,
    order: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    permute: bool | None = None,
    data: Words | None = None,
    extents: Mapping[str, int] | None = None,
    entries: Mapping[str, int] | None = None,
    arch: Arch | Mapping[str, object] | Path | str | None = None,
    **others: object,
) -> RunnableDesign:
    """A design of a program.

    Args:
        program: its text, in which inputs need no declaration; a built-in name; an `.ein` file;
            `file.py:object`; or an object.
        formats: by tensor, in the words of a declaration. Inputs that neither the text nor this gives a
            format are stored as their first data are; those that are reshaped are dense.
        value: the value type; by default, or as `auto`, what the program or its data need.
        types: of single tensors, instead of those that the program gives them.
        schedule: what may be chosen without changing results (docs/schedule.md): an object, its fields, or
            its file; or `auto`, which is chosen for the first data by estimate. `fuse`, `order` and `permute`
            stand in the place of its fields.
        data: what --data takes (docs/data.md), such as `karate` or a list of such words: the design is
            compiled for it at once, and runs on it where a run gives no other.
        extents: by index, the greatest extent that a build must have room for at least.
        entries: by tensor, how many entries of compressed levels a build must hold at least, for data to
            come.
        arch: latencies, by default those of the RTL: an object, its fields, `samhw`, `vitis`, or the
            `arch.json` of a build.

    Raises:
        InputError: for a program that breaks a rule, a name that it does not have, or an argument of another
            kind.
    """
    check_arguments(others)
    fields: dict[str, Any] = {"fuse": fuse, "order": order, "permute": permute}
    chosen = replace(
        Schedule.of(schedule), **{name: field for name, field in fields.items() if field is not None}
    )
    found = _program(program)
    for sentence in cautions(found):
        warnings.warn(sentence, stacklevel=2)
    found = with_formats(found, {} if formats is None else formats)
    found = with_types(found, types_of(types))
    stored = chosen.apply(found)
    # An input without a format may be dense or not, as its first data are.
    open_yet = {decl.name for decl in stored.inputs if decl.implied}
    known = {name: count for name, count in entries_of(entries).items() if name not in open_yet}
    Capacity().with_entries(stored, known)
    greatest = extents_of(extents)
    stored.with_extents(greatest)
    source = program if isinstance(program, str) and program in model_names() else ""
    design = RunnableDesign(
        found, chosen, value=value, arch=arch, extents=greatest, entries=entries, source=source
    )
    if data is not None:
        design.keep(data)
    return design


def load(program: Path | str) -> RunnableDesign:
    """The design that `save` has written: the same program, compiled for the same data in the same way, so
    that it takes the same cycles.

    Args:
        program: the `.ein` file. What else decides the design is read from beside it, p.design.json for
            p.ein.

    Raises:
        InputError: for files that cannot be read, are damaged, or do not give the design that was saved.
    """
    path = path_of("The program", program)
    beside = SavedDesign.beside(path)
    saved = SavedDesign.read(beside)
    return RunnableDesign.restored(load_text(path), saved, beside)


def _program(program: str | Path | Program | ProgramBuilder) -> Program:
    match program:
        case ProgramBuilder():
            return program.program()
        case Program():
            check_program(program)
            return program
        case Path():
            return load_text(program)
        case str():
            return load_program(program)
    raise InputError(
        f"A program cannot be {shown(program)}; give its text, a built-in name, a .ein file, "
        "file.py:object, or a Program."
    )
