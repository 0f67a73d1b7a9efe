"""Traced functions: values that print, are rewritten, scheduled and run.

Buffers and blocks as text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from samhw.lang.nested.dataflow import (
    BlockNode,
    Buffer,
    Constants,
    ElementRead,
    Equation,
    Given,
    Item,
    ListView,
    Loop,
    Merged,
    Pieces,
    Positions,
    reads_of,
    text_of,
)

__all__ = ["NestedFunction", "definition", "read_text"]

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


@dataclass(frozen=True)
class NestedFunction:
    """A traced function. ``str()`` of it is its text.

    Attributes:
        name: that of the Python function.
        parameters: the buffers that a caller gives, in order.
        buffers: by name.
        body: what is computed, in order.
        results: the buffers that it gives, each a list, or an element where it has no dimensions.
        one: whether it gives that alone, and not a tuple.
    """

    name: str
    parameters: tuple[str, ...]
    buffers: Mapping[str, Buffer] = field(compare=True, hash=False)
    body: tuple[Item, ...]
    results: tuple[str, ...]
    one: bool

    def __str__(self) -> str:
        given = ", ".join(f"{name}: {self.buffers[name].type}" for name in self.parameters)
        lines = [f"{self.name}({given})", *body_lines(self.body, self.buffers, 1)]
        lines += [f"  gives {name}: {self.buffers[name].type}" for name in self.results]
        return "\n".join(lines) + "\n"

    @cached_property
    def blocks(self) -> tuple[BlockNode, ...]:
        """The outermost blocks."""
        return tuple(item for item in self.body if isinstance(item, BlockNode))

    @cached_property
    def scope(self) -> Mapping[str, tuple[Loop, ...]]:
        """The loops around each buffer, the outermost first; none around parameters and constants."""
        found: dict[str, tuple[Loop, ...]] = {}

        def visit(items: tuple[Item, ...], loops: tuple[Loop, ...]) -> None:
            for item in items:
                if isinstance(item, BlockNode):
                    visit(item.body, (*loops, *item.loops))
                else:
                    found[item] = loops

        visit(self.body, ())
        return found

    def without_unused(self) -> "NestedFunction":
        """The function without the buffers that no result depends on."""
        used = self._used(_named)
        kept = {n: b for n, b in self.buffers.items() if n in used or n in self.parameters}
        return replace(self, buffers=kept, body=_pruned(self.body, used))

    def with_values_only(self) -> "NestedFunction":
        """The function with a body that does not compute what only names places."""
        return replace(self, body=_pruned(self.body, self._used(lambda read: iter([read.buffer]))))

    def _used(self, named: Callable[[ElementRead], Iterator[str]]) -> set[str]:
        """The buffers that results depend on, where a read names these."""
        used: set[str] = set()
        waiting = list(self.results)
        while waiting:
            name = waiting.pop()
            if name not in used:
                used.add(name)
                waiting += [inner for read in reads_of(self.buffers[name]) for inner in named(read)]
        return used


def _named(read: ElementRead) -> Iterator[str]:
    """The buffers of a read and of its indices."""
    yield read.buffer
    for index in read.indices:
        if isinstance(index, ElementRead):
            yield from _named(index)


def _pruned(items: tuple[Item, ...], used: set[str]) -> tuple[Item, ...]:
    found: list[Item] = []
    for item in items:
        if isinstance(item, BlockNode):
            body = _pruned(item.body, used)
            if body:
                found.append(replace(item, body=body))
        elif item in used:
            found.append(item)
    return tuple(found)
