"""What becomes of statements before they are stored.

What only masked statements read is computed under their mask too. Statements of more loops than a stream has
levels are computed of reshaped copies, in which the parts of axes that views have split are one again. The
order in which a statement's loops stand gives that of the modes of what it writes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from samhw.errors import InputError
from samhw.importers.core.draft import DEEPEST, Build, Made
from samhw.importers.core.value import Hints, Stored
from samhw.lang.expr import Access, Concat, Reshape
from samhw.lang.index import add_chains
from samhw.lang.traverse import free_indices, with_accesses
from samhw.precedence import Precedence

__all__ = ["loop_order", "push_masks", "without_deep"]

Indices = tuple[str, ...]


def push_masks(made: Sequence[Made]) -> None:
    """Computes what only masked statements read under their mask too: scores that nobody looks at."""
    readers: dict[str, list[tuple[Made, Access]]] = {}
    for statement in made:
        for access in statement.reads:
            readers.setdefault(access.tensor, []).append((statement, access))
    written = {statement.lhs.tensor: place for place, statement in enumerate(made)}
    for place, statement in reversed([*enumerate(made)]):
        found = readers.get(statement.lhs.tensor, [])
        plain = not statement.stands_alone and statement.reduction == "sum"
        if not found or statement.mask is not None or not plain:
            continue
        masks: dict[Access | None, None] = {}
        for reader, access in found:
            names = dict(zip(access.names, statement.lhs.names, strict=True))
            mask = reader.mask
            foreign = reader.block is not statement.block
            if foreign or mask is None or mask is access or not set(mask.names) <= set(names):
                masks[None] = None
            else:
                masks[mask.renamed(names)] = None
        (mask, *others) = masks
        if mask is None or others or written.get(mask.tensor, -1) >= place:
            continue  # There is no mask, or it is not there when the statement runs.
        if set(mask.names) <= set(statement.lhs.names) & set(free_indices(statement.rhs)):
            statement.mask = mask
            readers.setdefault(mask.tensor, []).append((statement, mask))


def without_deep(build: Build, statements: Sequence[Made]) -> list[Made]:
    """The statements, and in the place of each that is too deep one of copies, between reshapes.

    Raises:
        InputError: for a statement that is too deep all the same.
    """
    merger = _Merger(build)
    for made in statements:
        if len(made.indices) > DEEPEST and not isinstance(made.rhs, Reshape):
            merger.add(made)
        else:
            merger.made.append(made)
    return merger.made


@dataclass
class _Merger:
    build: Build
    made: list[Made] = field(default_factory=list)
    copies: dict[tuple[str, tuple[int, ...]], str] = field(default_factory=dict)
    """By a tensor and the sizes of its modes there."""

    def add(self, made: Made) -> None:
        """Adds a statement that is too deep, of copies."""
        build, lhs = self.build, made.lhs
        if made.block is not None:
            raise InputError(
                f"'{lhs.tensor}' is computed in {len(made.indices)} nested loops at each step of a scan, "
                f"and hardware has {DEEPEST}; store what it is computed of in fewer dimensions, by clone() "
                "after a reshape."
            )
        whole = self.groups(made)
        left = {whole[index] for index in made.indices}
        if len(left) > DEEPEST:
            raise InputError(
                f"'{lhs.tensor}' is computed in {len(left)} nested loops, and hardware has {DEEPEST}; store "
                "what it is computed of in fewer dimensions, by clone() after a reshape."
            )
        merged = {group: build.axes.index(build.axes.size(group)) for group in left if len(group) > 1}

        def row(indices: Indices) -> Indices:
            rows = [whole[index] for index in indices]
            return tuple(merged.get(group, group[0]) for group in dict.fromkeys(rows))

        copies = {access: self.copy(access, row(access.names)) for access in made.reads}
        mask = None if made.mask is None else copies[made.mask]
        rhs = with_accesses(made.rhs, copies.__getitem__)
        if row(lhs.names) == lhs.names:
            self.made.append(replace(made, rhs=rhs, mask=mask))
            return
        result = self.stored(f"{lhs.tensor}_whole", row(lhs.names), lhs.tensor)
        self.made.append(Made(result, rhs, made.reduction, mask))
        self.made.append(Made(lhs, self.reshape(result)))

    def groups(self, made: Made) -> dict[str, Indices]:
        """By index, the row of those that stand together, in one order, wherever one of them does."""
        rows = [made.lhs.names]
        for access in made.reads:
            rows += self.modes(access)
        alone = made.rhs.index if isinstance(made.rhs, Concat) else made.innermost
        if alone is not None:
            # It has other extents in other places, or is gone through by itself.
            rows.append((alone,))
        before: dict[str, set[str]] = {}
        after: dict[str, set[str]] = {}
        for row in rows:
            for one, other in pairwise(("", *row, "")):
                after.setdefault(one, set()).add(other)
                before.setdefault(other, set()).add(one)
        follows = {
            one: other
            for one, (other, *more) in after.items()
            if one and other and not more and before[other] == {one}
        }
        found: dict[str, Indices] = {}
        for index in made.indices:
            if index not in follows.values():
                group = [index]
                while group[-1] in follows:
                    group.append(follows[group[-1]])
                found |= dict.fromkeys(group, tuple(group))
        return found

    def modes(self, access: Access) -> list[Indices]:
        """The indices of an access within which the tensor may have others: all, or those of each mode if it
        is stored in a format."""
        stored = self.build.stored[access.tensor]
        if stored.has_free_order:
            return [access.names]
        left = iter(access.names)
        return [tuple(next(left) for _ in self.build.axes.resolved([mode])) for mode in stored.modes]

    def copy(self, access: Access, row: Indices) -> Access:
        """The tensor in fewer modes: an input once more, a result by a reshape."""
        build = self.build
        if row == access.names:
            return access
        key = access.tensor, tuple(build.axes.size([index]) for index in row)
        if key not in self.copies:
            stored = build.stored[access.tensor]
            made = self.stored(f"{access.tensor}_whole", row, access.tensor)
            self.copies[key] = made.tensor
            if stored.fetch is None:
                self.made.append(Made(made, self.reshape(access)))
            else:
                self.as_input(build.stored[made.tensor], stored)
        names = build.axes.align(row, build.stored[self.copies[key]].modes)
        assert set(names.values()) == set(row)
        return Access.of(self.copies[key], row)

    def reshape(self, access: Access) -> Reshape:
        """Of a tensor, under indices that no other one has: none keeps its meaning."""
        return Reshape(Access.of(access.tensor, map(self.build.axes.like, access.names)))

    def as_input(self, copy: Stored, stored: Stored) -> None:
        """Gives a copy the data of an input. One with a format has an index for each mode still."""
        axes = self.build.axes
        if stored.hints.format is not None:
            modes, left = [], list(copy.modes)
            for mode in stored.modes:
                whole = axes.index(axes.size([mode]))
                parts: list[str] = []
                while axes.size(parts) < axes.size([mode]):
                    parts.append(left.pop(0))
                axes.align(parts, [whole])
                modes.append(whole)
            copy.modes = tuple(modes)
        copy.fetch, copy.example, copy.hints = stored.fetch, stored.example, Hints(stored.hints.format)
        copy.kind, copy.is_constant, copy.most = stored.kind, stored.is_constant, stored.most
        copy.is_free, copy.picks = stored.is_free, stored.picks

    def stored(self, label: str, row: Indices, like: str) -> Access:
        """A new tensor of these indices and the type of another one, stored in their order as far as that can
        be."""
        name, other = self.build.name(label), self.build.stored[like]
        hints = Hints(order=row)
        self.build.stored[name] = Stored(name, row, hints=hints, scope=other.scope, kind=other.kind)
        return Access.of(name, row)


def loop_order(
    indices: Sequence[str],
    storage: Sequence[Indices],
    hint: Sequence[str] = (),
    kept: Sequence[str] = (),
    innermost: str | None = None,
) -> tuple[Indices, tuple[int, ...]]:
    """An order of the indices that follows storage orders, and the numbers of those that it cannot follow.

    Inside of a sum at most one of the `kept` indices stands: a sum that keeps more gives fibers of fibers,
    which a dense result cannot take. Where there is a choice, as many storage orders as can be are followed;
    then the hint comes first, and then the order in which the indices are given. An index may have to be the
    innermost one.
    """
    rank = {index: place for place, index in enumerate(dict.fromkeys((*hint, *indices)))}
    if innermost is not None:
        return _order(indices, [(index, innermost) for index in indices if index != innermost], storage, rank)
    removed = [index for index in indices if index not in kept]
    inner = sorted(kept, key=lambda index: -rank[index]) if removed else []
    best: tuple[Indices, tuple[int, ...]] | None = None
    choices: tuple[str | None, ...] = (*inner, None)
    for last in choices:
        first = [(one, other) for one in kept if one != last for other in removed]
        found = _order(indices, first, storage, rank)
        if best is None or len(found[1]) < len(best[1]):
            best = found
    assert best is not None
    return best


def _order(
    indices: Sequence[str], edges: Iterable[tuple[str, str]], storage: Sequence[Indices], rank: dict[str, int]
) -> tuple[Indices, tuple[int, ...]]:
    graph = Precedence(indices, edges)
    against = add_chains(graph, storage)
    return graph.order(rank.__getitem__), against
