"""What callers give, as the kinds that are meant. What is not such a thing is refused in a sentence."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from samhw.compiler import asked_type
from samhw.errors import InputError, shown
from samhw.graph import Arch, Dram, HostOptions
from samhw.graph.numerics import ValueType

__all__ = ["arch_of", "dram_of", "entries_of", "host_of", "path_of", "value_of", "window_of"]


def value_of(given: ValueType | str | None) -> ValueType | None:
    """A value type, by itself or by its name; None for `auto` and for None."""
    if given is None or isinstance(given, ValueType):
        return given
    if not isinstance(given, str):
        raise InputError(f"The value type cannot be {shown(given)}; give its name, such as 'f32'.")
    return asked_type(given)


def arch_of(given: Arch | Mapping[str, object] | Path | str | None) -> Arch:
    """Latencies: an object, its fields, the name of a profile, a build's `arch.json`, or by default those of
    the RTL."""
    match given:
        case None:
            return Arch()
        case Arch():
            return given
        case Mapping():
            return Arch.from_json(given)
        case str() | Path():
            return Arch.load(str(given))
    raise InputError(
        f"The arch cannot be {shown(given)}; give an Arch, {', '.join(map(repr, Arch.profiles()))}, or the "
        "file of one."
    )


def dram_of(given: Dram | Mapping[str, object] | Path | str) -> Dram:
    """An off-chip memory: an object, its fields, the name of a preset, or a file."""
    match given:
        case Dram():
            return given
        case Mapping():
            return Dram.from_json(given)
        case str() | Path():
            return Dram.load(str(given))
    raise InputError(
        f"The off-chip memory cannot be {shown(given)}; give a Dram, 'ddr4', 'hbm2', or the file of one. A "
        "tensor called 'memory' goes into the first argument, as in run({\"memory\": array})."
    )


def entries_of(given: Mapping[str, int] | None) -> dict[str, int]:
    """Numbers of entries by tensor; whether the program has it, and levels to hold them, it must say."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"'entries' cannot be {shown(given)}; give numbers by tensor, as in {{'A': 64}}.")
    for name, count in given.items():
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= 1 << 40:
            raise InputError(
                f"'{name}' cannot have {shown(count)} entries; give a whole number from 1 to 2^40."
            )
    return {name: int(count) for name, count in given.items()}


def path_of(what: str, given: Path | str) -> Path:
    """A file, which `what` names in an error."""
    if not isinstance(given, str | Path):
        raise InputError(f"{what} cannot be {shown(given)}; give the path of a file.")
    return Path(given)


def host_of(given: str) -> str:
    """The choices of a host port, which there must be."""
    if not isinstance(given, str):
        raise InputError(f"The host cannot be {shown(given)}; give words, such as 'axi4,interrupt'.")
    HostOptions.parse(given)
    return given


def window_of(given: tuple[int, int]) -> tuple[int, int]:
    """Cycles: the first, and the one after the last."""
    match given:
        case (int() as first, int() as end) if 0 <= first < end:
            return first, end
    raise InputError(f"A window cannot be {shown(given)}; give two cycles, the later one last.")
