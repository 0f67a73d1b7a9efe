"""How long each index of a statement is, by the rules of docs/programs.md."""

from collections.abc import Mapping

from samhw.lang import Program, Statement
from samhw.lang.expr import Concat
from samhw.lang.index import Name, StepIndex

__all__ = ["Shape", "index_extents", "result_shape"]

Shape = tuple[int, ...]


def index_extents(program: Program, statement: Statement, shapes: Mapping[str, Shape]) -> dict[str, int]:
    """By index. Every index that is only computed with has to be declared (`index d=3`)."""
    found = dict(program.index_extents)
    for access in statement.accesses:
        declared = program.tensors[access.tensor].shape
        shape = shapes.get(access.tensor, declared)
        for index, extent in zip(access.indices, shape, strict=True):
            if extent is None:
                continue
            if isinstance(index, Name):
                found[index.variable] = extent
            elif isinstance(index, StepIndex):
                found[index.index] = extent
    if isinstance(statement.rhs, Concat):
        along = statement.rhs.index
        parts = [(operand.tensor, operand.names.index(along)) for operand in statement.rhs.operands]
        found[along] = sum(shapes[name][mode] for name, mode in parts)
    return found


def result_shape(program: Program, statement: Statement, extents: Mapping[str, int]) -> Shape:
    """That of what a statement writes."""
    declared = program.tensors[statement.lhs.tensor].shape
    shape = []
    for index, extent in zip(statement.lhs.indices, declared, strict=True):
        if isinstance(index, Name):
            shape.append(extents[index.variable])
        elif isinstance(index, StepIndex):
            shape.append(extents[index.index])
        else:
            assert extent is not None, "the text declares where a statement scatters to"
            shape.append(extent)
    return tuple(shape)
