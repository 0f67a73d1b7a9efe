"""What `samhw compile` says about inputs that are stored in blocks."""

from collections.abc import Iterator
from math import prod

from samhw.app.workload import Workload
from samhw.compiler import Compiled
from samhw.lang import Program
from samhw.tensors import Tensor

__all__ = ["block_lines", "blocks_json"]


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
