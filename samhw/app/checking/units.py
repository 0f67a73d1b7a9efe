"""What a run is checked by: the program that was lowered, a unit of its statements after the other."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from samhw.compiler import Compiled
from samhw.compiler.passes import with_derived
from samhw.graph.numerics import ValueType
from samhw.lang import Access, Program, Region, Scan, Statement
from samhw.lang.typed import types_of
from samhw.tensors import Tensor

__all__ = ["alone", "cut", "in_value_type", "inputs_as_stored", "units"]


def in_value_type(
    tensors: Mapping[str, Tensor], types: Mapping[str, ValueType], index_tensors: Collection[str]
) -> dict[str, Tensor]:
    """Tensors with the numbers that their types make of theirs. Index tensors hold coordinates, and keep
    them."""
    return {
        name: t
        if name in index_tensors or name not in types
        else replace(t, vals=types[name].decode(types[name].encode(t.vals)))
        for name, t in tensors.items()
    }


def inputs_as_stored(
    compiled: Compiled, tensors: Mapping[str, Tensor], index_tensors: Collection[str]
) -> dict[str, Tensor]:
    """What the design computes with: a user's tensors in the row orders that the design has, and all that the
    host makes of them, in the numbers of their types.

    Args:
        index_tensors: those of the program as it is written.
    """
    stored = compiled.row_orders.drawn(tensors).there(tensors)
    types = types_of(compiled.program, compiled.value)
    return in_value_type(with_derived(stored, compiled.recipes), types, index_tensors)


def units(program: Program) -> Iterator[tuple[Statement, ...]]:
    """The statements that are compared together: those of a region, or of a scan. What a pass has put between
    the regions of a scan comes before it."""
    left = Counter(region.scan for region in program.regions)
    blocks: dict[Scan, list[Statement]] = defaultdict(list)
    for region in program.regions:
        scan = region.scan
        if scan is None:
            yield region.statements
            continue
        blocks[scan] += region.statements
        left[scan] -= 1
        if not left[scan]:
            yield tuple(blocks.pop(scan))


def alone(program: Program, statements: Sequence[Statement]) -> tuple[Program, dict[str, str]]:
    """The program of some statements. Those of a scan take what earlier steps have stored as inputs, so that
    the error of a step does not count in the steps after it.

    Returns:
        The program, and the tensors of the whole program that such inputs are, by name.
    """
    stored = {f"{s.lhs.tensor} before": s.lhs.tensor for s in statements if s.lhs.step is not None}
    before = {tensor: name for name, tensor in stored.items()}

    def change(access: Access) -> Access:
        is_earlier = access.step is not None and access.step[1].offset
        return replace(access, tensor=before.get(access.tensor, access.tensor)) if is_earlier else access

    scan = statements[0].scan
    if scan is not None:
        starts = (replace(s, lhs=replace(s.lhs, tensor=before[s.lhs.tensor])) for s in scan.starts)
        scan = replace(scan, starts=tuple(starts))
        statements = [replace(s.with_accesses(change), scan=scan) for s in statements]
    every = (*statements, *(() if scan is None else scan.starts))
    used = {access.tensor for statement in every for access in statement.accesses}
    tensors = {name: decl for name, decl in program.tensors.items() if name in used}
    stored = {name: tensor for name, tensor in stored.items() if name in used}
    tensors |= {name: replace(program.tensors[tensor], name=name) for name, tensor in stored.items()}
    return replace(program, tensors=tensors, regions=(Region(tuple(statements)),)), stored


def cut(program: Program, results: Collection[str], stored: Collection[str]) -> list[Statement]:
    """The statements that compute some results from what is stored, in the order of the program; of a scan
    all or none."""
    needed, kept = set(results), []
    for unit in reversed(list(units(program))):
        is_whole = unit[0].scan is not None and not needed.isdisjoint(s.lhs.tensor for s in unit)
        for statement in reversed(unit):
            if is_whole or statement.lhs.tensor in needed:
                kept.append(statement)
                needed |= {access.tensor for access in statement.needs if access.tensor not in stored}
    return kept[::-1]
