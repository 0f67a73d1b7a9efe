"""Cross-expression fusion (FuseFlow section 5 and Algorithm 1): the statements of a region as one.

A tensor that is written and read inside the region is not stored: each use of it becomes an *instance* of the
statement that writes it, with the use's indices on the left and fresh ones for those that it reduces. Uses
with the same indices share one instance (equivalent views are merged).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from samhw.errors import StreamError
from samhw.lang import Access, Concat, Program, Region, Statement
from samhw.lang.decision import Sharing
from samhw.names import Names

__all__ = ["FusedRegion", "Instance", "StoredUse", "ways_to_share"]

Binding = tuple[str, ...]

MOST_INSTANCES = 256
"""Of a region. A chain in which each statement uses the one before it twice would have no end of them."""

MOST_FOR_EACH = 4
"""What a region of many statements may have for each of them."""


def ways_to_share(region: Region, *, recomputed: bool = False) -> Sequence[Sharing]:
    """The ways to share what is fused, the one that shares most first.

    Args:
        recomputed: each use is to recompute what it reads.
    """
    if len(region.statements) == 1:
        return [Sharing.EQUAL]
    return [Sharing.NOTHING] if recomputed else list(Sharing)


@dataclass(eq=False)
class Instance:
    """A statement under the indices of one use of its result.

    `rename` maps the statement's own indices to those of the region; `producers` has the instance for
    each access that is not a stored tensor. `parts` has, for each of those in a concatenation, its own index
    along which it goes.
    """

    tensor: str
    statement: Statement
    rename: Mapping[str, str]
    producers: "dict[tuple[str, Binding], Instance]" = field(default_factory=dict)
    parts: Mapping[Access, str] = field(default_factory=dict)

    def indices(self, access: Access) -> Binding:
        """The region's indices of an access of the statement."""
        if access not in self.parts:
            return tuple(self.rename[i] for i in access.names)
        assert isinstance(self.statement.rhs, Concat)
        along = self.statement.rhs.index
        return tuple(self.parts[access] if i == along else self.rename[i] for i in access.names)

    def producer(self, access: Access) -> "Instance | None":
        """The instance that an access reads, or None for a stored tensor."""
        return self.producers.get((access.tensor, self.indices(access)))

    @property
    def order(self) -> tuple[str, ...] | None:
        """The statement's own order, in the region's indices."""
        own = self.statement.order
        return None if own is None else tuple(self.rename[i] for i in own)

    @property
    def along(self) -> str | None:
        """The index along which it runs or gives the coordinate, in the region's indices; mostly None."""
        along = self.statement.innermost
        return None if along is None else self.rename[along]

    @property
    def runs(self) -> tuple[tuple[str, str], ...]:
        """Of what runs along an index, or gives the coordinate along it, the pairs of another index and that
        one, in the region's indices: its stream has to have that one innermost. Only what is put in order
        comes inside of it, by an index of its own."""
        along, rank = self.statement.innermost, self.statement.rank
        if along is None:
            return ()
        pairs = [(index, along) for index in self.statement.lhs.names if index not in (along, rank)]
        if rank is not None:
            pairs.append((along, rank))
        return tuple((self.rename[outer], self.rename[inner]) for outer, inner in pairs)


class StoredUse(NamedTuple):
    """A use of a tensor that is stored: its indices by mode, and from the outermost stored level inwards; and
    the access of a statement that makes it."""

    tensor: str
    indices: Binding
    stored: Binding
    statement: Statement
    access: Access

    @property
    def is_read(self) -> bool:
        """It is an operand or a mask, and no result."""
        return self.access is not self.statement.lhs

    def __str__(self) -> str:
        return f"{self.tensor}[{', '.join(self.indices)}]"


class FusedRegion:
    """The instances of a region's statements.

    Attributes:
        outputs: the instance of each tensor that leaves the region, in program order.
        instances: all instances, producers first.
        dimension: the dimension of each index of the region.
        names: of the indices, for whoever needs one more.
        recomputed: the intermediates that each use recomputes.

    Args:
        sharing: what uses of an intermediate share. Streams do not always allow all of it.
        recomputed: the intermediates that each use recomputes.
    """

    def __init__(
        self,
        program: Program,
        region: Region,
        sharing: Sharing = Sharing.REDUCED,
        recomputed: Collection[str] = (),
    ):
        self.program = program
        self.sharing = sharing
        self.dimension: dict[str, str] = {}
        self.names = Names(index for s in region.statements for index in s.indices)
        self.instances: list[Instance] = []
        self._dimensions = {s: program.dimensions.of_statement(s) for s in region.statements}
        self._writers = {s.lhs.tensor: s for s in region.statements}
        self.recomputed = frozenset(self._writers if sharing is Sharing.NOTHING else recomputed)
        self._instance: dict[tuple[str, Binding], Instance] = {}
        self._known: dict[str, list[Binding]] = {}
        leaving = program.leaving(region)
        # Consumers first: an output that another one reads takes that use's indices.
        outputs = {tensor: self._output(tensor) for tensor in reversed(leaving)}
        self.outputs = [outputs[tensor] for tensor in leaving]

    def _output(self, tensor: str) -> Instance:
        if self._known.get(tensor):
            return self._make(tensor, self._known[tensor][0])
        statement = self._writers[tensor]
        of = self._dimensions[statement]
        return self._make(tensor, tuple(self._fresh(i, of[i]) for i in statement.lhs.names))

    def _make(self, tensor: str, binding: Binding) -> Instance:
        """The instance of a tensor under those indices."""
        if (tensor, binding) in self._instance and tensor not in self.recomputed:
            return self._instance[tensor, binding]
        statement = self._writers[tensor]
        rename = dict(zip(statement.lhs.names, binding, strict=True))
        inside = [a for a in statement.reads if a.tensor in self._writers]
        for index in statement.indices:
            if index not in rename:
                shared = self._shared(index, inside, rename) if self.sharing is Sharing.REDUCED else None
                rename[index] = shared or self._fresh(index, self._dimensions[statement][index])
        parts = self._parts(statement.rhs, inside) if isinstance(statement.rhs, Concat) else {}
        instance = Instance(tensor, statement, rename, parts=parts)
        for access in inside:
            known = self._known.setdefault(access.tensor, [])
            if instance.indices(access) not in known:
                known.append(instance.indices(access))
        for access in inside:
            key = (access.tensor, instance.indices(access))
            if key not in instance.producers:
                instance.producers[key] = self._make(*key)
        most = max(MOST_INSTANCES, MOST_FOR_EACH * len(self._writers))
        if len(self.instances) == most:
            raise StreamError(
                f"Fused into one, the statements up to '{tensor}' compute intermediates more than "
                f"{most} times over",
                "split the region",
            )
        self._instance[tensor, binding] = instance
        self._known.setdefault(tensor, [binding])
        self.instances.append(instance)
        return instance

    def _parts(self, concat: Concat, inside: Sequence[Access]) -> dict[Access, str]:
        """An index for each part of a concatenation that the region computes: its extent is the part's."""
        of = self.program.dimensions.of_index
        return {a: self._fresh(concat.index, of(a, concat.index)) for a in dict.fromkeys(inside)}

    def _shared(self, index: str, inside: Sequence[Access], rename: Mapping[str, str]) -> str | None:
        """An index under which an intermediate that is reduced over `index` has been used elsewhere."""
        for access in inside:
            if index not in access.names:
                continue
            for binding in self._known.get(access.tensor, []):
                pairs = dict(zip(access.names, binding, strict=True))
                others = all(rename.get(i, pairs[i]) == pairs[i] for i in access.names)
                if others and pairs[index] not in rename.values():
                    return pairs[index]
        return None

    def _fresh(self, wish: str, dimension: str) -> str:
        """The wish, with a number after it if the region has such an index."""
        name = self.names.own(wish)
        self.dimension[name] = dimension
        return name

    def alike(self, index: str) -> frozenset[str]:
        """The names that an index has where other uses compute the same statements, itself among them."""
        places: dict[tuple[str, str], set[str]] = {}
        for instance in self.instances:
            for own, name in instance.rename.items():
                places.setdefault((instance.tensor, own), set()).add(name)
        found, more = set[str](), {index}
        while more:
            found |= more
            more = set().union(*(names for names in places.values() if names & more)) - found
        return frozenset(found)

    def stored_uses(self) -> Iterator[StoredUse]:
        """The uses of stored tensors, and the outputs."""
        for instance in self.instances:
            accesses = [a for a in instance.statement.reads if instance.producer(a) is None]
            if instance in self.outputs:
                accesses.append(instance.statement.lhs)
            for access in accesses:
                fmt = self.program.tensors[access.tensor].format.loaded
                indices = instance.indices(access)
                stored = tuple(indices[mode] for mode in fmt.mode_order)
                yield StoredUse(access.tensor, indices, stored, instance.statement, access)
