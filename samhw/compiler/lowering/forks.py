"""Which intermediates are computed once for several uses, and which once for each."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from samhw.compiler.einsum import Einsum, Intermediate, Unary, View, reachable, rebuilt, with_operands
from samhw.compiler.lowering.builder import TableBuilder
from samhw.compiler.lowering.ready import ready
from samhw.compiler.lowering.space import Space, ValueStream

__all__ = ["Fork", "Forks", "find_forks", "renaming"]


@dataclass(frozen=True)
class Fork:
    """An intermediate whose streams several uses take up.

    Attributes:
        node: what is lowered.
        operand: what is below it, with copies instead of what it cannot share.
        uses: the nodes that take its streams: itself, and those that have other names for the rows to come.
    """

    node: Intermediate
    operand: Einsum
    uses: tuple[Intermediate, ...]


@dataclass(frozen=True)
class Forks:
    """What an expression shares with others.

    Attributes:
        e: the expression, with copies instead of what it cannot share.
        streams: the intermediates that it shares; producers first.
    """

    e: Einsum
    streams: tuple[Fork, ...]


def find_forks(builder: TableBuilder, space: Space, e: Einsum, others: Sequence[Einsum]) -> Forks:
    """The intermediates of e that are used more than once, by e or by others, as far as their rows let them
    be computed once. What a user cannot share is copied for it.

    Two uses of a tensor may have different names for the rows that the space has not entered: the streams of
    the one serve the other.

    Args:
        space: where they are used.
        others: what is lowered beside e.
    """
    search = _Search(builder, space, e, others)
    candidates = [node for node in reachable([e], space.streams) if isinstance(node, Intermediate)]
    # The outermost first: what only one of them uses goes with it.
    for node in reversed(candidates):
        search.decide(node)
    return Forks(search.users[None], tuple(reversed(search.forks())))


class _Search:
    """What has been decided: `users` are e (None) and what is below each intermediate that will be a stream,
    outermost first."""

    def __init__(self, builder: TableBuilder, space: Space, e: Einsum, others: Sequence[Einsum]):
        self._builder = builder
        self._space = space
        self._others = others
        self._forked = space.inner()
        """The space with what will be a stream."""
        self._uses: dict[Intermediate, tuple[Intermediate, ...]] = {}
        self.users: dict[Intermediate | None, Einsum] = {None: e}
        self._below: dict[Einsum, _Below] = {}
        """What is below e, each other and each user, as far as nothing that was decided has changed it."""

    def forks(self) -> list[Fork]:
        """The streams that were decided on, outermost first."""
        return [Fork(node, self.users[node], uses) for node, uses in self._uses.items()]

    def decide(self, node: Intermediate) -> None:
        """Shares a node among the users that can, and copies it for the others, if it has several."""
        if node in self._forked.streams:
            return
        kin = self._kin(node)
        using = [key for key, user in self.users.items() if self._used(user, kin)]
        beside = [other for other in self._others if self._used(other, kin)]
        if len(using) + len(beside) < 2 or node not in kin:
            return
        sharing = [key for key in using if self._can_share(self.users[key], node, kin)]
        with_others = all(self._can_share(other, node, kin) for other in beside)
        if with_others and sharing and len(sharing) + len(beside) >= 2:
            self._share(node, kin)
        else:
            # One of several may as well keep what there is.
            sharing = [] if beside else using[:1]
        for key in using:
            if key not in sharing:
                self._replace(key, kin)

    def _share(self, node: Intermediate, kin: Sequence[Intermediate]) -> None:
        for e in [e for e, below in self._below.items() if not below.nodes.isdisjoint(kin)]:
            del self._below[e]
        self._uses[node] = tuple(kin)
        self.users[node] = node.operand
        for use in kin:
            self._forked.streams[use] = ValueStream(self._space.root)

    def _reached(self, e: Einsum) -> "_Below":
        """What is below e, as far as it will be no stream."""
        if e not in self._below:
            self._below[e] = _Below.of(e, self._forked.streams)
        return self._below[e]

    def _kin(self, node: Intermediate) -> list[Intermediate]:
        """The uses of the node's tensor that differ from it at most in the names of rows to come."""
        if not node.tensor or node.recomputed:
            return [node]
        uses = {
            other: None
            for e in (*self.users.values(), *self._others)
            for other in self._reached(e).uses.get(node.tensor, ())
        }
        return [other for other in uses if self._is_alike(other.indices, node.indices)]

    def _is_alike(self, a: Sequence[str], b: Sequence[str]) -> bool:
        bound = self._space.bound
        return all(i == j or not bound.intersection((i, j)) for i, j in zip(a, b, strict=True))

    def _used(self, e: Einsum, kin: Sequence[Intermediate]) -> list[Intermediate]:
        below = self._reached(e).nodes
        return [use for use in kin if use in below]

    def _can_share(self, e: Einsum, node: Intermediate, kin: Sequence[Intermediate]) -> bool:
        """e can take up the node's streams, wherever it uses one of its kin."""
        rows = self._builder.rows_ahead(node, self._space.bound)
        for use in self._used(e, kin):
            names = renaming(node, use)
            own = [names.get(row, row) for row in rows]
            if not _TakesUp(self._builder, use, own).holds(self._forked, e, ()):
                return False
            if not _selects_none(e, kin, own[:-1]):
                return False
        return True

    def _replace(self, key: Intermediate | None, kin: Sequence[Intermediate]) -> None:
        """Gives a user copies of its own."""
        streams, e = self._forked.streams, self.users[key]
        changed: dict[Einsum, Einsum] = {stream: stream for stream in streams}
        for use in self._used(e, kin):
            changed[use] = _copied(self._builder, self._space, use, streams)
        self.users[key] = rebuilt(e, changed.get)


@dataclass(frozen=True)
class _Below:
    """What is below an einsum.

    Attributes:
        nodes: all of it.
        uses: the intermediates by their tensors, producers first.
    """

    nodes: frozenset[Einsum]
    uses: dict[str, list[Intermediate]]

    @classmethod
    def of(cls, e: Einsum, streams: Collection[Einsum]) -> "_Below":
        nodes = list(reachable([e], streams))
        uses: dict[str, list[Intermediate]] = {}
        for node in nodes:
            if isinstance(node, Intermediate):
                uses.setdefault(node.tensor, []).append(node)
        return cls(frozenset(nodes), uses)


def renaming(node: Intermediate, use: Intermediate) -> dict[str, str]:
    """The names that a use has for the node's indices."""
    return dict(zip(node.indices, use.indices, strict=True))


def _selects_none(e: Einsum, nodes: Collection[Einsum], rows: list[str]) -> bool:
    """No compressed level of e beside the nodes selects coordinates of those rows, at which their streams
    have further rows inside."""
    return not any(
        index in rows and not level.is_full
        for view in reachable([e], nodes)
        if isinstance(view, View)
        for index, level in zip(view.indices, view.levels, strict=True)
    )


class _TakesUp:
    """Whether an expression meets the rows of a stream one after another wherever it uses it, with no other
    row in between.

    Args:
        node: whose stream it is.
        rows: of the stream, under the names of the use.
    """

    def __init__(self, builder: TableBuilder, node: Einsum, rows: list[str]):
        self._builder = builder
        self._node = node
        self._rows = tuple(rows)
        self._held: set[tuple[Einsum, frozenset[str], tuple[str, ...]]] = set()
        """For what it has been found true. Whatever is not ends the question, and what is below several
        reductions would be asked again for each way to it."""
        self._having: dict[Einsum, bool] = {}

    def holds(self, space: Space, e: Einsum, done: tuple[str, ...]) -> bool:
        """It is true of e, lowered after the rows `done` of the space."""
        # Once all rows of the stream have come as they should, nothing can go wrong; once another has, all.
        done = done[: len(self._rows)]
        if done == self._rows or not self._uses(space, e):
            return True
        if done != self._rows[: len(done)]:
            return False
        key = e, space.bound, done
        if key not in self._held and self._holds_below(space, e, done):
            self._held.add(key)
        return key in self._held

    def _holds_below(self, space: Space, e: Einsum, done: tuple[str, ...]) -> bool:
        here = space.inner()
        ahead = self._builder.rows_ahead(e, here.bound)
        for n in range(len(ahead) + 1):
            if not self._uses(here, e):
                return True
            came = (*done, *ahead[:n])[: len(self._rows)]
            if came == self._rows:
                return True
            if came != self._rows[: len(came)]:
                return False
            here.bound = space.bound.union(ahead[:n])
            # All that are ready at a time: to look for them costs the most.
            while found := list(ready(self._builder, here, e, self._has)):
                for own in found:
                    if not self.holds(here, own.operand, (*done, *ahead[:n])):
                        return False
                    here.streams[own] = ValueStream(space.root)
        return not self._uses(here, e)

    def _uses(self, space: Space, e: Einsum) -> bool:
        """e uses the node, and not only within what is a stream."""
        seen: set[Einsum] = set()
        left = [e]
        while left:
            below = left.pop()
            if below is self._node:
                return True
            if below not in seen and below not in space.streams and self._has(below):
                seen.add(below)
                left += below.operands
        return False

    def _has(self, e: Einsum) -> bool:
        """The node is somewhere in e."""
        if e not in self._having:
            self._having[e] = e is self._node or any(self._has(operand) for operand in e.operands)
        return self._having[e]


def _copied(builder: TableBuilder, space: Space, node: Einsum, streams: Collection[Einsum]) -> Einsum:
    """A second node of the same meaning, with views and columns of its own that stand where the space's
    stand; what is or will be a stream serves both."""
    nodes = list(reachable([node], streams))
    builder.count_copies(len(nodes), node)
    made: dict[Einsum, Einsum] = {}
    for below in nodes:
        if below in streams:
            made[below] = below
        elif isinstance(below, View):
            _copied_view(builder, space, below, made)
        else:
            fresh = with_operands(below, tuple(made[o] for o in below.operands))
            if isinstance(fresh, Unary):
                fresh = replace(fresh, name=builder.columns.fresh(fresh.name))
            made[below] = fresh
    builder.add_columns(made[node])
    return made[node]


def _copied_view(builder: TableBuilder, space: Space, view: View, made: dict[Einsum, Einsum]) -> View:
    """A second view that stands where the first one stands, and whose picks go by a second view each."""
    if view not in made:
        picks = tuple(replace(p, at=_copied_view(builder, space, p.at, made)) for p in view.picks)
        fresh = replace(view, name=builder.columns.fresh(view.name), picks=picks)
        if view in space.cursors:
            space.cursors[fresh] = replace(space.cursors[view])
        made[view] = fresh
    found = made[view]
    assert isinstance(found, View)
    return found
