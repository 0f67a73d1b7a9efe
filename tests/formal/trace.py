"""Traces as tables: a row for each signal, a column for each cycle."""

import re
from collections.abc import Callable, Mapping, Sequence

__all__ = ["read_trace", "table"]

_PERIOD = 10
"""Times of a cycle in a trace of yosys-smtbmc; the clock falls in the middle."""


def read_trace(vcd: str, ports: Mapping[str, Callable[[int], str]]) -> dict[str, list[str]]:
    """The values of ports of the top module, cycle by cycle.

    Args:
        vcd: as yosys-smtbmc writes it.
        ports: how the word of each port is written.
    """
    header, _, body = vcd.partition("$enddefinitions $end")
    declared = re.findall(r"\$var \w+ \d+ (\S+) (\S+)(?: \[\S+\])? \$end", header)
    codes: dict[str, str] = {}
    for code, name in declared:
        codes.setdefault(name, code)
    state: dict[str, str] = {}
    cycles = []
    times = re.split(r"^#(\d+)$", body, flags=re.MULTILINE)[1:]
    for time, change in zip(times[::2], times[1::2], strict=True):
        for bits, code in re.findall(r"^b([01x]+) (\S+)$", change, re.MULTILINE):
            state[code] = bits
        if int(time) % _PERIOD == 0:
            cycles.append(dict(state))
    del cycles[-1:]  # A time more, at which nothing changes, ends the last cycle.
    return {
        name: [_written(cycle.get(codes[name], "x"), write) for cycle in cycles]
        for name, write in ports.items()
        if name in codes
    }


def _written(bits: str, write: Callable[[int], str]) -> str:
    return "x" if "x" in bits else write(int(bits, 2))


def table(trace: Mapping[str, Sequence[str]]) -> str:
    """Zeros are dots, so that what happens stands out."""
    cycles = max(map(len, trace.values()), default=0)
    rows = {"cycle": [str(cycle) for cycle in range(cycles)]}
    rows |= {name: ["." if value == "0" else value for value in values] for name, values in trace.items()}
    width = max(map(len, rows))
    column = max((len(value) for values in rows.values() for value in values), default=0)
    return "\n".join(
        f"{name:{width}} " + " ".join(f"{value:>{column}}" for value in values)
        for name, values in rows.items()
    )
