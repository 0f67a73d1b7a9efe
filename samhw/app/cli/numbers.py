"""Words of options that stand for numbers, and lists of words."""

from math import nan

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.lang import Program

__all__ = ["load_arch", "parse_densities", "parse_numbers"]


def parse_numbers(option: str, text: str | None, form: str) -> dict[str, int] | None:
    """The number for each name between the commas of an option; None where it was not given."""
    if text is None:
        return None
    numbers = {}
    for item in text.split(","):
        name, _, count = item.partition("=")
        if not (name.strip() and count.strip().isdecimal() and len(count) < 20):
            raise InputError(f"{option} {text}: give {form}.")
        numbers[name.strip()] = int(count)
    return numbers


def parse_densities(program: Program, text: str) -> dict[str, float]:
    """The densities that --density gives, by input.

    Raises:
        InputError: for what is not a number from 0 to 1, or no input with compressed levels.
    """
    found = {}
    for item in text.split(","):
        name, _, number = (part.strip() for part in item.partition("="))
        try:
            density = float(number)
        except ValueError:
            density = nan
        if not name or not 0 <= density <= 1:
            raise InputError(f"--density {text}: give a tensor and a number from 0 to 1, such as A=0.01.")
        sparse = [decl.name for decl in program.inputs if not decl.format.is_all_dense]
        if name not in sparse:
            others = f"such are {', '.join(sparse)}"
            way_out = others if sparse else f"give it a format with some, as in --formats {name}=csr"
            raise InputError(f"--density {text}: {name!r} is no input with compressed levels; {way_out}.")
        found[name] = density
    return found


def load_arch(name: str) -> Arch:
    """--arch: a profile by its name, or what a build has written."""
    try:
        return Arch.load(name)
    except InputError as error:
        raise error.within(f"--arch {name}") from None
