"""Traced functions: values that print, are rewritten, scheduled and run."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from samhw.lang.nested.dataflow import BlockNode, Buffer, ElementRead, Item, Loop, reads_of
from samhw.lang.nested.text import body_lines

__all__ = ["NestedFunction"]


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

    def with_buffers(self, changed: Mapping[str, Buffer]) -> "NestedFunction":
        """The function with some definitions replaced, or added."""
        return replace(self, buffers={**self.buffers, **changed})

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
