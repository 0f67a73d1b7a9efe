"""What `samhw compile` says about the parts into which a schedule splits inputs."""

from samhw.app.workload import Workload
from samhw.compiler import Compiled
from samhw.lang import Program
from samhw.lang.splits import PartSize, TensorSplit, split_program

__all__ = ["part_lines", "parts_json"]


def part_lines(compiled: Compiled, given: Workload | Program) -> list[str]:
    """A line for each part: its name and format, which entries it has, and, with data, how many."""
    lines = []
    for partition, sizes in _partitions(compiled, given):
        for name, part in partition.parts.items():
            line = f"{name}, {part.format}: of {partition.tensor} {part.text}"
            if name in sizes:
                line += f"; {_words(sizes[name])}"
            lines.append(line)
    return lines


def _words(size: PartSize) -> str:
    padding = f", {size.padding:,} of {size.cells:,} cells padding" if size.cells > size.stored else ""
    return f"{size.rows:,} rows, {size.stored:,} entries{padding}"


def parts_json(compiled: Compiled, given: Workload | Program) -> dict[str, object]:
    """For each input that is split its rule and its parts; with data how many rows, entries and cells each of
    them has, and the share of all cells that is padding."""
    return {
        partition.tensor: {
            "rule": partition.rule.text,
            "parts": [
                {
                    "name": name,
                    "format": str(part.format),
                    "what": part.text,
                    **({} if part.width is None else {"width": part.width}),
                    **(_numbers(sizes[name]) if sizes else {}),
                }
                for name, part in partition.parts.items()
            ],
            **_sum(sizes),
        }
        for partition, sizes in _partitions(compiled, given)
    }


def _numbers(size: PartSize) -> dict[str, object]:
    return {"rows": size.rows, "entries": size.stored, "cells": size.cells, "padding": size.padding}


def _sum(sizes: dict[str, PartSize]) -> dict[str, object]:
    """Of all parts together."""
    if not sizes:
        return {}
    cells, padding = sum(s.cells for s in sizes.values()), sum(s.padding for s in sizes.values())
    return {"cells": cells, "padding": padding, "padding_share": round(padding / cells, 6) if cells else 0.0}


def _partitions(
    compiled: Compiled, given: Workload | Program
) -> list[tuple[TensorSplit, dict[str, PartSize]]]:
    """The partition of each input that is split, and the size of each of its parts on data."""
    program = given if isinstance(given, Program) else given.program
    stored = {} if isinstance(given, Program) else given.stored(compiled.schedule)
    found = split_program(compiled.schedule.apply(program), compiled.schedule.split).partitions
    return [
        (partition, {} if isinstance(given, Program) else partition.sizes(stored[tensor]))
        for tensor, partition in found.items()
    ]
