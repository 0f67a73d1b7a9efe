"""Where something is stored, or comes in a stream, as an expression: a *support*.

A support is a set of coordinates over indices. Its leaves are levels of stored tensors, and the whole extents
of indices. Products meet, sums join, and a reduction leaves an index out. Nothing is counted here. Supports
that say the same in the same words are one object, so that what was counted of one can be kept by it.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar
from weakref import WeakValueDictionary

__all__ = [
    "AllOf",
    "AnyOf",
    "Entries",
    "Every",
    "Onto",
    "Relabelled",
    "Shifted",
    "Support",
    "Thinned",
    "all_of",
    "any_of",
    "entries",
    "every",
    "nothing",
    "onto",
    "relabelled",
    "shifted",
    "thinned",
]


@dataclass(frozen=True, eq=False)
class Support:
    """A set of coordinates over indices. Make one by the functions of this file."""

    @cached_property
    def indices(self) -> frozenset[str]:
        """The indices that it is over."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Every(Support):
    """Every coordinate of an index, 0 to `extent` - 1."""

    index: str
    extent: int

    @cached_property
    def indices(self) -> frozenset[str]:
        return frozenset({self.index})


@dataclass(frozen=True, eq=False)
class Entries(Support):
    """What an input stores: `names` are the indices of its modes. With the sizes of a `block`, by mode, the
    coordinates are those of blocks in which it stores anything."""

    tensor: str
    names: tuple[str, ...]
    block: tuple[int, ...] = ()

    @cached_property
    def indices(self) -> frozenset[str]:
        return frozenset(self.names)


@dataclass(frozen=True, eq=False)
class AllOf(Support):
    """What all parts have: the support of a product."""

    parts: tuple[Support, ...]

    @cached_property
    def indices(self) -> frozenset[str]:
        return frozenset[str]().union(*(part.indices for part in self.parts))


@dataclass(frozen=True, eq=False)
class AnyOf(Support):
    """What one part has at least: the support of a sum. All parts are over the same indices."""

    parts: tuple[Support, ...]

    @cached_property
    def indices(self) -> frozenset[str]:
        return frozenset[str]().union(*(part.indices for part in self.parts))


@dataclass(frozen=True, eq=False)
class Onto(Support):
    """What is left of a support where all but some indices are left out."""

    of: Support
    kept: frozenset[str]

    @cached_property
    def indices(self) -> frozenset[str]:
        return self.kept


@dataclass(frozen=True, eq=False)
class Relabelled(Support):
    """A support under other names: `names` has, for each of its indices, its name here."""

    of: Support
    names: tuple[tuple[str, str], ...]

    @cached_property
    def indices(self) -> frozenset[str]:
        return frozenset(name for _, name in self.names)


@dataclass(frozen=True, eq=False)
class Shifted(Support):
    """A support whose coordinates of an index are higher by a distance, and are those of index `to`."""

    of: Support
    index: str
    to: str
    distance: int

    @cached_property
    def indices(self) -> frozenset[str]:
        return self.of.indices - {self.index} | {self.to}


@dataclass(frozen=True, eq=False)
class Thinned(Support):
    """About a share of a support, 0 to 1: what is left where values that are zero go."""

    of: Support
    share: float

    @cached_property
    def indices(self) -> frozenset[str]:
        return self.of.indices


_known: "WeakValueDictionary[Hashable, Support]" = WeakValueDictionary()

Kind = TypeVar("Kind", bound=Support)


def _one(kind: type[Kind], *fields: Any, key: Hashable = None) -> Kind:
    """The support of those fields: the same object for the same fields."""
    key = kind, fields if key is None else key
    found = _known.get(key)
    if found is None:
        found = _known[key] = kind(*fields)
    assert isinstance(found, kind)
    return found


def every(index: str, extent: int) -> Support:
    """Every coordinate of an index."""
    return _one(Every, index, extent)


def entries(tensor: str, names: Iterable[str], block: tuple[int, ...] = ()) -> Support:
    """What an input stores, or which of its blocks; `names` are the indices of its modes, each another
    one."""
    return _one(Entries, tensor, tuple(names), block)


def nothing(indices: Collection[str]) -> Support:
    """No coordinate."""
    return onto(_one(AnyOf, ()), indices)


def all_of(parts: Iterable[Support]) -> Support:
    """What all parts have; with no parts, all there is over no indices. What other parts say is left out."""
    flat: dict[Support, None] = {}
    for part in parts:
        flat |= dict.fromkeys(part.parts if isinstance(part, AllOf) else (part,))
    kept = [part for part in flat if not any(_follows(part, o) for o in flat if o is not part)]
    if len(kept) == 1:
        return kept[0]
    return _one(AllOf, tuple(kept), key=frozenset(kept))


def any_of(parts: Iterable[Support]) -> Support:
    """What one of the parts has at least. What they have in common meets what is left of each."""
    flat: dict[Support, None] = {}
    for part in parts:
        flat |= dict.fromkeys(part.parts if isinstance(part, AnyOf) else (part,))
    if len(flat) == 1:
        return next(iter(flat))
    sides = [dict.fromkeys(p.parts if isinstance(p, AllOf) else (p,)) for p in flat]
    common = [part for part in sides[0] if all(part in side for side in sides)]
    rests = [all_of(part for part in side if part not in common) for side in sides]
    inner = frozenset[str]().union(*(rest.indices for rest in rests))
    outer = frozenset[str]().union(*(part.indices for part in common))
    # Parts of a concatenation have an index side by side.
    moved = any(isinstance(part, Shifted) for side in sides for part in side)
    covers = (r for r in rests if _is_whole(r) and r.indices | outer >= inner)
    whole = None if moved else next(covers, None)
    if whole is not None:
        return all_of((*common, whole))
    if not all(rest.indices == inner for rest in rests):
        # A part that says nothing of an index has no other bounds there than those in common.
        return _one(AnyOf, tuple(flat), key=frozenset(flat))
    return all_of((*common, _one(AnyOf, tuple(rests), key=frozenset(rests))))


def onto(support: Support, indices: Collection[str]) -> Support:
    """What is left of a support over some of its indices."""
    kept = support.indices.intersection(indices)
    if kept == support.indices:
        return support
    if isinstance(support, Onto):
        return onto(support.of, kept)
    if _is_whole(support):
        parts = support.parts if isinstance(support, AllOf) else (support,)
        return all_of(part for part in parts if part.indices <= kept)
    return _one(Onto, support, kept)


def relabelled(support: Support, names: Mapping[str, str]) -> Support:
    """A support under other names, for each of its indices one."""
    match support:
        case Every(index, extent):
            return every(names[index], extent)
        case Entries(tensor, old, block):
            return entries(tensor, (names[name] for name in old), block)
        case AllOf(parts) if _is_whole(support):
            return all_of(relabelled(part, names) for part in parts)
        case Relabelled(of, old):
            return relabelled(of, {inner: names[outer] for inner, outer in old})
    if all(names[index] == index for index in support.indices):
        return support
    return _one(Relabelled, support, tuple(sorted((i, names[i]) for i in support.indices)))


def shifted(support: Support, index: str, to: str, distance: int) -> Support:
    """A support whose coordinates of an index are higher by a distance, under another name of the index."""
    if distance == 0 and index == to:
        return support
    return _one(Shifted, support, index, to, distance)


def thinned(support: Support, share: float) -> Support:
    """About a share of a support."""
    return support if share >= 1.0 else _one(Thinned, support, share)


def _is_whole(support: Support) -> bool:
    """There is every coordinate."""
    if isinstance(support, AllOf):
        return all(isinstance(part, Every) for part in support.parts)
    return isinstance(support, Every)


def _follows(part: Support, other: Support) -> bool:
    """Whatever is in the other one is in this part."""
    match part:
        case Every(index):
            return index in other.indices
        case Onto(of):
            return other is of or (isinstance(other, Onto) and other.of is of and part.indices < other.kept)
    return False
