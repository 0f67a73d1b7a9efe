"""Other formats for a program's tensors."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from samhw.choices.schedule.fields import check_formats
from samhw.errors import InputError
from samhw.lang import Program, Region, check_program
from samhw.tensors import Format

__all__ = ["with_formats"]


def with_formats(program: Program, regions: Sequence[Region], formats: Mapping[str, str | Format]) -> Program:
    """The program with these regions, and these formats of some of its tensors.

    Raises:
        InputError: for a tensor that there is not, or a format that it cannot have.
    """
    tensors = dict(program.tensors)
    for name, text in check_formats(formats).items():
        if name not in tensors:
            raise InputError(
                f"There is no tensor '{name}' to give a format; '{program.name}' has {', '.join(tensors)}."
            )
        try:
            fmt = Format.parse(text, tensors[name].rank)
        except InputError as error:
            raise InputError(f"The schedule gives '{name}' a format that it cannot have: {error}.") from None
        tensors[name] = replace(tensors[name], format=fmt, implied=False)
    program = replace(program.regrouped(regions), tensors=tensors)
    if formats:
        check_program(program)
    return program
