"""Regions up to names: of equal ones one is decided and lowered, and the others get what came of it.

A region is described by its statements, and by all of the program around it that its lowering asks for, with
numbers for the names of tensors, indices and dimensions. The first region of a description is compiled as a
program of its own, in which a character of Unicode's private use stands for each name. What comes of that is
every such region's, once its own names are put in the place of these characters, wherever they stand: that of
a node is made of several. Where names that are made so would not be those that the region would have been
given by itself, it is compiled by itself.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from samhw.choices.schedule import Schedule
from samhw.compiler.scope import Scope
from samhw.lang import Access, Capacity, Program, Region, Statement
from samhw.lang.decision import RegionDecision
from samhw.lang.expr import Call, Concat, Expr, Literal, Recurrence, RunningReduction
from samhw.lang.traverse import walk

__all__ = ["Nameless", "repeated"]

_TENSOR, _INDEX, _DIMENSION, _PROGRAM, _MODE = 0xE000, 0xE800, 0xF000, 0xF800, 0xF801
_MOST = 0x800
"""Of names of a kind."""
_OWN = frozenset(("val", "once"))
"""What samhw calls rows of its own, unless a region has such indices."""
_MADE = re.compile(r"(.+)(_\d+)")
"""An index that fusion has named after another one."""


class _Marks(dict[str, str]):
    """The characters that stand for names of a kind, in the order in which the names are met."""

    def __init__(self, first: int) -> None:
        super().__init__()
        self._first = first

    def __missing__(self, name: str) -> str:
        mark = self[name] = chr(self._first + len(self))
        return mark


@dataclass(frozen=True)
class Nameless:
    """A region up to names.

    Attributes:
        key: equal for equal regions: what they are compiled to differs in names alone.
        scope: makes the program of the region alone, with characters in the place of names.
        marks: by name of an index, its character.
        names: by number of a character, the name that it stands for.
    """

    key: Hashable
    scope: Callable[[], Scope]
    marks: Mapping[str, str]
    names: Mapping[int, str]

    def marked(self, decision: RegionDecision) -> RegionDecision | None:
        """What is decided about the region, as far as its lowering asks; None for an order of other
        indices."""
        if decision.order is None:
            return RegionDecision((), sharing=decision.sharing)
        order = tuple(self._mark(index) for index in decision.order)
        known = tuple(index for index in order if index is not None)
        return RegionDecision((), order=known, sharing=decision.sharing) if known == order else None

    def _mark(self, index: str) -> str | None:
        if index in self.marks:
            return self.marks[index]
        made = _MADE.fullmatch(index)
        return f"{self.marks[made[1]]}{made[2]}" if made and made[1] in self.marks else None

    def has_names(self, indices: Iterable[str]) -> bool:
        """Whether indices of a region in characters would have been given the names that they get: those that
        fusion has named are no others of the region."""
        return not any(len(i) > 1 and i.translate(self.names) in self.marks for i in indices)


def repeated(scope: Scope) -> Mapping[int, Nameless]:
    """The regions of a program, by their numbers, that have equals there."""
    found = {n: alone for n in range(len(scope.program.regions)) if (alone := nameless(scope, n)) is not None}
    times = Counter(alone.key for alone in found.values())
    return {number: alone for number, alone in found.items() if times[alone.key] > 1}


def nameless(scope: Scope, number: int) -> Nameless | None:
    """A region up to names; None for what is compiled by itself: parts of scans, copies, reshapes, and
    programs whose schedules or passes treat single regions in ways that follow from more."""
    region = scope.program.regions[number]
    if not scope.has_plain_regions or region.reshapes or not region.is_plain or region.scan is not None:
        return None
    if not scope.lowerable.copies.keys().isdisjoint(region.written):
        return None
    found = _Description(scope, region)
    return found.result() if found.is_plain else None


class _Description:
    """A region's description in the making."""

    def __init__(self, scope: Scope, region: Region):
        self.scope, self.region = scope, region
        self.tensors, self.indices, self.dimensions = map(_Marks, (_TENSOR, _INDEX, _DIMENSION))
        self.text: list[Hashable] = []
        for statement in region.statements:
            self.text += self.statement(statement)
        self.text.append(None if region.order is None else tuple(map(self.indices.__getitem__, region.order)))
        self.named = tuple(scope.with_views(self.tensors))
        self.facts = tuple(self.tensor(name) for name in self.named)
        known = scope.places_of_dimensions
        self.own = sorted(self.dimensions, key=known.__getitem__)
        self.extents = tuple((self.dimensions[d], scope.extents[d]) for d in self.own)
        kinds = (self.tensors, self.indices, self.dimensions)
        self.is_plain = all(len(kind) < _MOST for kind in kinds) and _OWN.isdisjoint(self.indices)

    def statement(self, statement: Statement) -> Iterator[Hashable]:
        """A statement, so that no two others than equal ones give the same."""
        yield statement.reduction
        yield from self.access(statement.lhs)
        for node in walk(statement.rhs):
            yield from self.node(node)
        yield from () if statement.mask is None else ("where", *self.access(statement.mask))
        yield None if statement.order is None else tuple(map(self.indices.__getitem__, statement.order))

    def access(self, access: Access) -> Iterator[Hashable]:
        yield self.tensors[access.tensor]
        yield tuple(map(self.indices.__getitem__, access.names))

    def node(self, node: Expr) -> Iterator[Hashable]:
        yield type(node).__name__
        match node:
            case Access():
                yield from self.access(node)
            case Literal(value):
                yield type(value).__name__, repr(value)
            case Call():
                yield node.function, node.to, len(node.arguments)
            case Concat(index=index):
                yield self.indices[index], len(node.operands)
            case RunningReduction():
                yield node.reduction, self.indices[node.index], node.exclusive
            case Recurrence(index=index):
                yield self.indices[index]

    def tensor(self, name: str) -> Hashable:
        """What the lowering asks about a tensor of the region, or one in the memories of such a tensor."""
        scope, program = self.scope, self.scope.program
        decl = program.tensors[name]
        dimensions = tuple(map(self.dimensions.__getitem__, program.dimensions.of_tensor(name)))
        source = scope.lowerable.aliases.get(name)
        return (
            self.tensors[name],
            *(decl.format, decl.value, decl.shape),
            *(dimensions, scope.lowerable.capacity.entries.get(name), scope.types[name]),
            *(self.is_given(name), self.readers(name), source and self.tensors[source]),
        )

    def is_given(self, name: str) -> bool:
        """Whether it counts that a tensor is an input: of masks, and of what stores one entry in each row."""
        masks = (statement.mask for statement in self.region.statements if statement.mask is not None)
        matters = self.scope.program.tensors[name].format.one_each or any(m.tensor == name for m in masks)
        return bool(matters) and name in self.scope.given

    def readers(self, name: str) -> tuple[bool, bool]:
        """Whether statements of the region, and others, read a result of it, as far as that counts: one that
        none of them reads is stored, and in shards if nobody does."""
        if name not in self.region.written:
            return False, False
        readers = self.scope.program.readers(name)
        within = readers.intersection(self.region.written)
        counts = bool(within or self.scope.lowerable.schedule.lanes)
        return bool(within), counts and len(within) < len(readers)

    def result(self) -> Nameless:
        schedule = self.schedule()
        scope, has_label = self.scope, self.region.label is not None
        around = scope.value, scope.program.value, scope.program.is_typed
        key = (tuple(self.text), has_label, self.facts, self.extents, schedule, around)
        marks = (*self.tensors.items(), *self.indices.items(), *self.dimensions.items())
        names = {ord(mark): name for name, mark in marks}
        return Nameless(key, lambda: self.program(schedule), self.indices, names)

    def schedule(self) -> Hashable:
        """What the schedule asks of regions, and of this one's indices and tensors by their names."""
        asked = self.scope.lowerable.schedule
        lanes = tuple((self.indices[i], n) for i, n in asked.lanes.items() if i in self.indices)
        share = tuple((self.tensors[name], way) for name, way in asked.shared.items() if name in self.tensors)
        ways = asked.share if isinstance(asked.share, str) else share
        return lanes, ways, asked.iteration, asked.permute, asked.largest_copy, asked.attempts

    # The program of the region alone

    def program(self, schedule: Any) -> Scope:
        """The region as a program of its own, in characters."""
        scope, given = self.scope, self.scope.program
        tensors = {
            self.tensors[name]: replace(
                given.tensors[name],
                name=self.tensors[name],
                indices=tuple(chr(_MODE + mode) for mode in range(given.tensors[name].rank)),
                span=None,
            )
            for name in self.named
        }
        region = self.renamed()
        program = Program(chr(_PROGRAM), tensors, (region,), value=given.value, is_typed=given.is_typed)
        vars(program).update(
            dimensions=given.dimensions.renamed(
                {name: self.tensors[name] for name in self.named}, self.dimensions, self.indices.values()
            ),
            inputs=tuple(tensors[self.tensors[name]] for name in self.named if self.is_given(name)),
            _readers=self.all_readers(),
        )
        lanes, ways, iteration, permute, largest, attempts = schedule
        share: Any = ways if isinstance(ways, str) else dict(ways)
        capacity = scope.lowerable.capacity.entries
        lowerable = replace(
            scope.lowerable,
            program=program,
            capacity=Capacity({}, {self.tensors[n]: capacity[n] for n in self.named if n in capacity}),
            written=frozenset(),
            recipes={},
            copies={},
            aliases={
                self.tensors[name]: self.tensors[source]
                for name, source in scope.lowerable.aliases.items()
                if name in self.tensors and name in self.named
            },
            copied_shapes={},
            schedule=Schedule(
                iteration=iteration,
                share=share,
                lanes=dict(lanes),
                permute=permute,
                largest_copy=largest,
                attempts=attempts,
            ),
            decisions=(),
        )
        vars(lowerable)["extents"] = dict(self.extents)
        alone = Scope(lowerable, scope.value, scope.arch, scope.lowerings)
        vars(alone)["types"] = {self.tensors[name]: scope.types[name] for name in self.named}
        return alone

    def renamed(self) -> Region:
        """The region in characters."""
        return Region(
            tuple(
                statement.renamed(self.indices).with_accesses(
                    lambda access: replace(access, tensor=self.tensors[access.tensor], span=None)
                )
                for statement in self.region.statements
            ),
            None if self.region.order is None else tuple(self.indices[i] for i in self.region.order),
            None if self.region.label is None else self.tensors[self.region.written[-1]],
        )

    def all_readers(self) -> dict[str, frozenset[str]]:
        """For each tensor that is read, the results of the region's statements that do, and a name for all
        others."""
        found = {}
        for name in self.named:
            readers = self.scope.program.readers(name)
            own = {self.tensors[reader] for reader in readers if reader in self.region.written}
            others = {chr(_PROGRAM)} if len(own) < len(readers) else set()
            if readers:
                found[self.tensors[name]] = frozenset(own | others)
        return found
