"""Cycles as time, where there is a clock: that of --clock, of a board, or that which off-chip memory counts
by."""

import re
from typing import Any

from samhw.errors import InputError, shown
from samhw.graph import Dram, OffChipMemory, SdramMemory, at_clock

__all__ = [
    "beside",
    "gigabytes_per_second",
    "microseconds",
    "period_of",
    "say_clock",
    "say_time",
    "seconds",
    "time_report",
]

_HZ = {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9}
_SHORTEST, _LONGEST = 1e-3, 1e9
"""Periods in ns."""


def period_of(clock: str) -> float:
    """The period, in ns, of a clock: its frequency, as 80MHz, or its period, as 12.5ns.

    It takes a unit: of a number alone nobody could tell which of the two it is.

    Raises:
        InputError: for what is not a clock.
    """
    text = clock.strip().lower() if isinstance(clock, str) else ""
    found = re.fullmatch(r"([0-9.]+)\s*(ns|[kmg]?hz)", text, re.ASCII)
    try:
        number = float(found[1]) if found else 0.0
    except ValueError:
        number = 0.0
    said = clock if isinstance(clock, str) else shown(clock)
    if not (found and number):
        frequency, inverse = _example(clock)
        raise InputError(
            f"{said} is no clock; give its frequency, as {frequency}, or its period, as {inverse}."
        )
    period = number if found[2] == "ns" else 1e9 / (number * _HZ[found[2]])
    if not _SHORTEST <= period <= _LONGEST:
        raise InputError(f"{said} is no clock of hardware; give 1Hz to 1000GHz.")
    return period


_HERTZ = 1e4
"""From here on a number alone is meant in Hz, below in MHz."""


def _example(clock: object) -> tuple[str, str]:
    """A frequency and its period, as they are written: of a number alone those that it would mean in Hz or
    MHz."""
    try:
        number = float(clock) if isinstance(clock, str | int | float) else 0.0
    except (ValueError, OverflowError):
        number = 0.0
    megahertz = number / 1e6 if number >= _HERTZ else number
    is_one = megahertz > 0 and _SHORTEST <= 1e3 / megahertz <= _LONGEST
    return (f"{megahertz:g}MHz", f"{1e3 / megahertz:g}ns") if is_one else ("80MHz", "12.5ns")


def beside(memory: OffChipMemory | None, period: float | None) -> tuple[OffChipMemory | None, float | None]:
    """The memory beside an accelerator whose clock has that period, in ns, and the period. By default it is
    that which a DRAM is given for (`Dram.cycle_ps`), or an SDRAM; without one, there is none.

    Raises `InputError` for a period that the rule of docs/memory.md gives no meaning.
    """
    if memory is not None and period is not None:
        memory = at_clock(memory, period)
    match memory:
        case SdramMemory():
            return memory, memory.chip.cycle_ps / 1000
        case Dram():
            return memory, memory.cycle_ps / 1000
    return memory, period


def seconds(cycles: int, period: float) -> float:
    """What cycles of a clock take; its period is in ns."""
    return cycles * period * 1e-9


def microseconds(cycles: int, period: float) -> float:
    """What cycles of a clock take; its period is in ns."""
    return cycles * period / 1e3


def gigabytes_per_second(moved: int, cycles: int, period: float) -> float:
    """The rate of bytes that are moved in some cycles; the period is in ns."""
    return moved / (cycles * period)


def say_clock(period: float) -> str:
    """A clock in MHz, of its period in ns."""
    return f"{1e3 / period:.6g} MHz"


def say_time(cycles: int, period: float) -> str:
    """Cycles in microseconds; the period is in ns."""
    return f"{microseconds(cycles, period):,.3f} µs"


def time_report(cycles: int, period: float | None) -> dict[str, Any]:
    """What reports say of time, in Hz and seconds; nothing without a clock."""
    if period is None:
        return {}
    return {"clock_hz": round(1e9 / period, 3), "hardware_seconds": seconds(cycles, period)}
