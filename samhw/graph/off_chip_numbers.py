"""What numbers say of memory off the chip (docs/memory.md): those of its ports, and of an SDRAM chip beside a
design, which has its controller."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from samhw.errors import InputError, shown
from samhw.words import did_you_mean

__all__ = ["Ports", "SdramChip", "other_ports"]

MOST = 1 << 16
"""The greatest number of a port."""


@dataclass(frozen=True)
class Ports:
    """The numbers of ports and masters.

    Raises:
        InputError: for numbers that docs/memory.md gives no meaning.
    """

    line: int = 64
    """Bytes of a line, which is a burst."""
    beat: int = 16
    """Bytes that the bus moves in a cycle."""
    lines: int = 16
    """Lines that a port has storage for."""
    ahead: int = 1
    """Lines that a read port asks for ahead."""
    queue: int = 64
    """Beats that may wait in a read port."""
    masters: int = 1
    """Masters, each with a memory of its own."""
    offer: int = 4
    """Cycles from a request until it is offered."""
    answer: int = 2
    """Cycles from an answer until it serves."""

    def __post_init__(self) -> None:
        for name in (number.name for number in fields(self)):
            value = getattr(self, name)
            least = 0 if name == "ahead" else 1
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                what = f"a whole number from {least} on"
                raise InputError(f"Ports.{name} is {shown(value)}; give {what}.")
            object.__setattr__(self, name, int(value))
        for name, text, good in (
            ("line", "a power of two, from beat to 4096", _is_power(self.line) and self.line <= 4096),
            ("beat", "a power of two, from 4 to 128", _is_power(self.beat) and 4 <= self.beat <= 128),
            ("line", "1 to 256 beats", 1 <= self.line // self.beat <= 256),
            ("lines", f"a power of two, at most {MOST:,}", _is_power(self.lines) and self.lines <= MOST),
            ("lines", f"at least ahead + 2 = {self.ahead + 2}", self.lines >= self.ahead + 2),
            ("queue", f"a power of two, at most {MOST:,}", _is_power(self.queue) and self.queue <= MOST),
            ("masters", "a power of two, at most 64", _is_power(self.masters) and self.masters <= 64),
            ("offer", f"at most {MOST:,}", self.offer <= MOST),
            ("answer", f"at most {MOST:,}", self.answer <= MOST),
        ):
            if not good:
                raise InputError(f"Ports.{name} is {getattr(self, name)}; give {text}.")

    @property
    def beats(self) -> int:
        """The beats of a line."""
        return self.line // self.beat

    def to_json(self) -> dict[str, Any]:
        """A JSON object, whose items are the arguments of this class."""
        return asdict(self)


def _is_power(number: int) -> bool:
    return number & (number - 1) == 0


def other_ports(ports: Ports, numbers: Mapping[str, Any]) -> Ports:
    """These ports with some other numbers; raises `InputError` for one that ports do not have."""
    known = [number.name for number in fields(Ports)]
    if unknown := [name for name in numbers if name not in known]:
        raise InputError(
            f"Ports have no number {shown(unknown[0])}{did_you_mean(unknown[0], known)}; they have "
            f"{', '.join(known)}."
        )
    return replace(ports, **numbers)


_FASTEST_PS, _SLOWEST_PS = 13_300, 50_000
"""The periods of a clock between which the chip's data come in time, and a refresh is a small part of all."""


@dataclass(frozen=True)
class SdramChip:
    """A chip, by the numbers of the Micron MT48LC16M16A2, the slowest of those that a ULX3S is sold with.

    `cycle_ps` is the period of the design's clock, which is the chip's. `figures` is what LiteDRAM calls a
    chip with its times. `latency` are the clocks from a read command to its data (CL).

    Raises:
        InputError: for a clock that is too fast or too slow.
    """

    cycle_ps: int = 20_000
    figures: str = "MT48LC16M16"
    bank_bits: int = 2
    row_bits: int = 13
    column_bits: int = 9
    word_bytes: int = 2
    latency: int = 2

    def __post_init__(self) -> None:
        if type(self.cycle_ps) is not int or not _FASTEST_PS <= self.cycle_ps <= _SLOWEST_PS:
            raise InputError(
                f"The SDRAM cannot have a clock of {shown(self.cycle_ps)} ps; give --clock from "
                f"{_FASTEST_PS / 1000:g} to {_SLOWEST_PS / 1000:g} ns."
            )

    @property
    def address_bits(self) -> int:
        """Bits of the number of a word."""
        return self.bank_bits + self.row_bits + self.column_bits

    @property
    def size(self) -> int:
        """The bytes that it holds."""
        return self.word_bytes << self.address_bits

    def to_json(self) -> dict[str, Any]:
        """A JSON object, whose items are the arguments of this class."""
        return asdict(self)
