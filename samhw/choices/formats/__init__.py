"""Formats: how tensors are stored."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from samhw.choices.choice import Texts
from samhw.errors import InputError
from samhw.lang import Program, check_program
from samhw.tensors import Format
from samhw.words import did_you_mean

__all__ = ["CHOICE", "with_formats"]


class Formats(Texts):
    """by tensor, its format, in the words of a declaration"""

    name = "formats"
    by_default = "the program's"
    metavar = "T=FORMAT"
    several = "T=FORMAT,.."
    help = "Store T in a format, such as T=csr; several with semicolons."
    entry = "format"
    example = "csr"
    such_as = "T = csr"

    def check(self, value: Any) -> dict[str, str]:
        if isinstance(value, Mapping):
            value = {name: str(f) if isinstance(f, Format) else f for name, f in value.items()}
        return super().check(value)

    def said(self, value: Mapping[str, str]) -> Any:
        yield from (f"{name} {text}" for name, text in value.items())

    def apply(self, program: Program, value: dict[str, str], *, is_open: bool) -> Program:
        return with_formats(program, value)


CHOICE = Formats()


def with_formats(program: Program, formats: Mapping[str, str | Format]) -> Program:
    """The program with these formats of some of its tensors.

    Raises:
        InputError: for a tensor that there is not, or a format that it cannot have.
    """
    if not (texts := CHOICE.taken(formats)):
        return program
    tensors = dict(program.tensors)
    for name, text in texts.items():
        if name not in tensors:
            raise InputError(
                f"There is no tensor '{name}' to give a format{did_you_mean(name, tensors)}; "
                f"'{program.name}' has {', '.join(tensors)}."
            )
        try:
            fmt = Format.parse(text, tensors[name].rank)
        except InputError as error:
            raise InputError(f"The schedule gives '{name}' a format that it cannot have: {error}.") from None
        tensors[name] = replace(tensors[name], format=fmt, implied=False)
    program = replace(program, tensors=tensors)
    check_program(program)
    return program
