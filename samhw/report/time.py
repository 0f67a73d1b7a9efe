"""Cycles as time, where there is a clock: that of --clock, of a board, or that which off-chip memory counts
by."""

from dataclasses import replace
from typing import Any

from samhw.graph import Dram

__all__ = ["beside", "gigabytes_per_second", "say_clock", "say_time", "seconds", "time_report"]


def beside(dram: Dram | None, period: float | None) -> tuple[Dram | None, float | None]:
    """The memory beside an accelerator whose clock has that period, in ns, and the period. By default it is
    that which the memory is given for (`Dram.cycle_ps`); without memory, there is none.

    Raises `InputError` for a period that the rule of docs/memory.md gives no meaning.
    """
    if dram is None:
        return None, period
    if period is not None:
        dram = replace(dram, cycle_ps=round(period * 1000))
    return dram, dram.cycle_ps / 1000


def seconds(cycles: int, period: float) -> float:
    """What cycles of a clock take; its period is in ns."""
    return cycles * period * 1e-9


def gigabytes_per_second(moved: int, cycles: int, period: float) -> float:
    """The rate of bytes that are moved in some cycles; the period is in ns."""
    return moved / (cycles * period)


def say_clock(period: float) -> str:
    """A clock in MHz, of its period in ns."""
    return f"{1e3 / period:.6g} MHz"


def say_time(cycles: int, period: float) -> str:
    """Cycles in microseconds; the period is in ns."""
    return f"{cycles * period / 1e3:,.3f} µs"


def time_report(cycles: int, period: float | None) -> dict[str, Any]:
    """What reports say of time, in Hz and seconds; nothing without a clock."""
    if period is None:
        return {}
    return {"clock_hz": round(1e9 / period, 3), "hardware_seconds": seconds(cycles, period)}
