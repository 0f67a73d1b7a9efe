"""Buffers and blocks as text."""

from collections.abc import Iterator, Mapping, Sequence

from samhw.lang.nested.dataflow import (
    BlockNode,
    Buffer,
    Constants,
    ElementRead,
    Equation,
    Given,
    Item,
    ListView,
    Merged,
    Pieces,
    Positions,
)
from samhw.lang.nested.indices import text_of

__all__ = ["body_lines", "definition", "read_text"]

_SYMBOLS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "matmul": "@"}


def read_text(read: ElementRead) -> str:
    """A read: ``ws[d, l - 1]``."""
    found = [read_text(i) if isinstance(i, ElementRead) else text_of(i) for i in read.indices]
    return f"{read.buffer}[{', '.join(found)}]" if found else read.buffer


def definition(buffer: Buffer) -> str:
    """What a buffer is: ``t1[d, l] = s[d, l] @ ws[d]``."""
    left = f"{buffer.name}[{', '.join(dim.name for dim in buffer.dims)}]" if buffer.dims else buffer.name
    return f"{left} = {_right(buffer)}"


def _right(buffer: Buffer) -> str:
    match buffer:
        case Given():
            return "given"
        case Constants(value=value):
            return str(value.item()) if value.size == 1 else "constants"
        case Positions(dims=dims):
            return dims[0].name
        case ListView(source=source):
            return read_text(source)
        case Merged(source=source, axis=axis):
            return f"{source} with its dimensions {axis} and {axis + 1} as one"
        case Pieces(dims=dims, axis=axis, pieces=pieces, role=role):
            coordinate = dims[axis].name
            *first, last = pieces
            conditions = [f"{read_text(p.read)} where {coordinate} < {p.stop}" for p in first]
            return f"{', '.join((*conditions, f'else {read_text(last.read)}'))}  ({role})"
        case Equation(operation=operation, arguments=arguments):
            return _call(str(operation), [read_text(read) for read in arguments])
    raise TypeError(f"no text of a {type(buffer).__name__}")


def _call(name: str, arguments: Sequence[str]) -> str:
    if name in _SYMBOLS:
        return f" {_SYMBOLS[name]} ".join(arguments)
    return f"{name}({', '.join(arguments)})"


def body_lines(items: Sequence[Item], buffers: Mapping[str, Buffer], level: int) -> Iterator[str]:
    """The lines of a body: a line for each nest of operators, and beneath it what it computes."""
    margin = "  " * level
    for item in items:
        if isinstance(item, BlockNode):
            yield margin + ", ".join(f"{loop.operator} {loop.name} < {loop.extent}" for loop in item.loops)
            yield from body_lines(item.body, buffers, level + 1)
        else:
            yield margin + definition(buffers[item])
