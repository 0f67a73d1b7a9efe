"""Which intermediates are computed once for several uses, and which once for each."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from samhw.compiler.einsum import (
    Einsum,
    Intermediate,
    Reduce,
    View,
    operands,
    reachable,
    rebuilt,
    with_operands,
)
from samhw.compiler.lowering.builder import TableBuilder
from samhw.compiler.lowering.ready import ready
from samhw.compiler.lowering.space import Space, ValueStream
from samhw.tensors import LevelType

__all__ = ["Forks", "find_forks"]


@dataclass(frozen=True)
class Forks:
    """What an expression shares with others.

    Attributes:
        e: the expression, with copies in place of what it cannot share.
        streams: the intermediates that it shares, and what is below each; producers first.
    """

    e: Einsum
    streams: tuple[tuple[Intermediate, Einsum], ...]


def find_forks(builder: TableBuilder, space: Space, e: Einsum, others: Sequence[Einsum]) -> Forks:
    """The intermediates of e that are used more than once, by e or by others, as far as their rows let them
    be computed once. What its users cannot share is copied.

    Args:
        space: where they are used.
        others: what is lowered beside e.
    """
    search = _Search(builder, space, e, others)
    candidates = [node for node in reachable([e], space.streams) if isinstance(node, Intermediate)]
    # The outermost first: what only one of them uses goes with it.
    for node in reversed(candidates):
        search.decide(node)
    streams = [(node, below) for node, below in search.users.items() if node is not None]
    return Forks(search.users[None], tuple(reversed(streams)))


class _Search:
    """What has been decided: `users` are e (None) and what is below each intermediate that will be a stream,
    outermost first."""

    def __init__(self, builder: TableBuilder, space: Space, e: Einsum, others: Sequence[Einsum]):
        self._builder = builder
        self._space = space
        self._others = others
        self._forked = space.inner()
        """The space with what will be a stream."""
        self.users: dict[Intermediate | None, Einsum] = {None: e}

    def decide(self, node: Intermediate) -> None:
        """Shares a node, or copies it for its users, if it has several."""
        if node in self._forked.streams:
            return
        using = [key for key, user in self.users.items() if _uses(self._forked, user, node)]
        beside = [other for other in self._others if _uses(self._forked, other, node)]
        if len(using) + len(beside) < 2:
            return
        if self._can_be_shared(node, [*(self.users[key] for key in using), *beside]):
            self.users[node] = node.operand
            self._forked.streams[node] = ValueStream(self._space.root)
            return
        for key in using if beside else using[1:]:
            kept: dict[Einsum, Einsum] = {stream: stream for stream in self._forked.streams}
            copy = _copied(self._builder, self._space, node, self._forked.streams)
            self.users[key] = rebuilt(self.users[key], (kept | {node: copy}).get)

    def _can_be_shared(self, node: Intermediate, users: Sequence[Einsum]) -> bool:
        rows = self._builder.rows_ahead(node, self._space.bound)
        return all(
            _takes_up(self._builder, self._forked, user, node, rows, [])
            and _selects_none(user, node, rows[:-1])
            for user in users
        )


def _selects_none(e: Einsum, node: Einsum, rows: list[str]) -> bool:
    """No compressed level of e beside the node selects coordinates of those rows, at which its streams have
    further rows inside."""
    return not any(
        index in rows and level is LevelType.compressed
        for view in reachable([e], [node])
        if isinstance(view, View)
        for index, level in zip(view.indices, view.levels, strict=True)
    )


def _uses(space: Space, e: Einsum, node: Einsum) -> bool:
    return node in set(reachable([e], space.streams))


def _takes_up(
    builder: TableBuilder, space: Space, e: Einsum, node: Einsum, rows: list[str], done: list[str]
) -> bool:
    """Whether e, lowered behind the rows `done` of the space, meets the rows of a stream one after another
    wherever it uses it, with no other row in between."""
    if not _uses(space, e, node):
        return True
    here = space.inner()
    ahead = builder.rows_ahead(e, here.bound)
    for n in range(len(ahead) + 1):
        here.bound = space.bound.union(ahead[:n])
        while reduce := next(ready(builder, here, e), None):
            if not _takes_up(builder, here, reduce.operand, node, rows, [*done, *ahead[:n]]):
                return False
            here.streams[reduce] = ValueStream(space.root)
    return not _uses(here, e, node) or [*done, *ahead][: len(rows)] == rows


def _copied(builder: TableBuilder, space: Space, node: Einsum, streams: Collection[Einsum]) -> Einsum:
    """A second node of the same meaning, with views and columns of its own that stand where the space's
    stand; what is or will be a stream serves both."""
    made: dict[Einsum, Einsum] = {}
    for below in reachable([node], streams):
        if below in streams:
            made[below] = below
            continue
        fresh = with_operands(below, tuple(made[o] for o in operands(below)))
        if isinstance(fresh, View | Reduce | Intermediate):
            fresh = replace(fresh, name=builder.columns.fresh(fresh.name))
        if isinstance(below, View) and below in space.cursors:
            assert isinstance(fresh, View)
            space.cursors[fresh] = replace(space.cursors[below])
        made[below] = fresh
    builder.add_columns(made[node])
    return made[node]
