"""What `samhw compile` says about inputs as they are stored: in blocks, and in the parts into which a
schedule splits them."""

from collections.abc import Iterator
from math import prod

from samhw.app.workload import Workload
from samhw.compiler import Compiled
from samhw.lang import Program
from samhw.lang.splits import PartSize, TensorSplit, split_program
from samhw.tensors import Tensor

__all__ = ["block_lines", "blocks_json", "part_lines", "parts_json"]


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


def block_lines(compiled: Compiled, given: Workload | Program) -> list[str]:
    """A line for each input in blocks: how many it has, and how many zeros that fills in."""
    return [
        f"{name}, {tensor.format}: {blocks:,} blocks, {tensor.nnz:,} values for {entries:,} entries, "
        f"{tensor.nnz - entries:,} zeros filled in"
        for name, tensor, blocks, entries in _stored(compiled, given)
    ]


def blocks_json(compiled: Compiled, given: Workload | Program) -> dict[str, object]:
    """For each input in blocks its format, how many blocks and values it stores, and how many of these are
    zeros that blocks fill in."""
    return {
        name: {
            "format": str(tensor.format),
            "blocks": blocks,
            "values": tensor.nnz,
            "filled_in": tensor.nnz - entries,
        }
        for name, tensor, blocks, entries in _stored(compiled, given)
    }


def _stored(compiled: Compiled, given: Workload | Program) -> Iterator[tuple[str, Tensor, int, int]]:
    """Each input in blocks as it is stored, its blocks, and the entries that it has without them."""
    if not isinstance(given, Workload):
        return
    for decl in compiled.program.inputs:
        if decl.format.block is not None and decl.name in given.tensors:
            before = given.tensors[decl.name]
            tensor = before.convert(decl.format)
            yield decl.name, tensor, tensor.nnz // prod(decl.format.block_shape), before.nnz
