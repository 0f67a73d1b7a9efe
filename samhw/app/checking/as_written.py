"""The program as it is written, to compare with what the passes have made of it and what a run has stored."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from samhw.app.checking.units import alone, cut, units
from samhw.compiler import Compiled
from samhw.graph.numerics import Integer, ValueType
from samhw.lang import Program, Region, Statement
from samhw.lang.reference import Points, Relation, Rounding, difference, results, side_by_side
from samhw.lang.splits import Renumbering, renumbered
from samhw.lang.typed import named_types, types_of
from samhw.tensors import Tensor

__all__ = ["AsWritten"]

Array = NDArray[np.number]
Integers = NDArray[np.int64]

_DOUBLE = Rounding.double()

Roundings = Rounding | Callable[[ValueType], Rounding | None]
"""Of one type, or of any."""


def _double(program: Program) -> Roundings:
    """Double precision for whatever is not whole."""
    if not program.is_typed:
        return _DOUBLE
    return lambda kind: None if isinstance(kind, Integer) else _DOUBLE


_SLACK = 1e-9
"""By how much of a value two programs may differ beyond the bounds of double precision."""


class AsWritten:
    """The program as it is written.

    Args:
        given: its inputs, in the numbers of the value type.
        compiled: of the program.
        inputs: those of the program that was lowered, as they are stored.
        order: of the rows as they are stored.
        fits: whether all results of the program fit this machine at once.

    Attributes:
        lowered: the program that was lowered, with the extents of the data.
    """

    def __init__(
        self,
        program: Program,
        given: Mapping[str, Tensor],
        compiled: Compiled,
        inputs: Mapping[str, Tensor],
        order: Renumbering,
        fits: bool,
    ) -> None:
        self.program = program
        self.given = given
        read = [decl.name for decl in compiled.program.inputs]
        lowered = compiled.program.unbound.bind({name: inputs[name].shape for name in read if name in inputs})
        self.lowered = lowered.regrouped(map(Region, units(lowered)))
        self.inputs = inputs
        self.order = order
        self.fits = fits
        self.has_cascades = compiled.schedule.cascade_form != "off"
        types = {*types_of(lowered, compiled.value).values(), *named_types(lowered)}
        self.is_bounded = not all(isinstance(kind, Integer) for kind in types)

    @cached_property
    def is_changed(self) -> bool:
        """Whether what was lowered are other statements, or other rows."""
        mine, others = (_unordered(program) for program in (self.program, self.lowered))
        return mine != others or any(self.order.modes.values())

    @cached_property
    def values(self) -> Mapping[str, Relation]:
        """The values of all results, where they say more than the regions by themselves; nothing where they
        do not fit."""
        says_more = self.is_changed or len(self.lowered.regions) > 1
        return results(self.program, self.given) if says_more and self.fits else {}

    def error(self, name: str, actual: Tensor, *, finite: bool) -> float:
        """The greatest difference of a tensor from its values; of those that are `finite` alone, if asked
        for."""
        greatest = 0.0
        for stored, value in _beside(Relation.of(actual), self.values[name]):
            found = difference(stored, value)
            found = np.where(np.isfinite(found), found, 0) if finite else found
            greatest = max(greatest, float(np.max(found, initial=0)))
        return greatest

    def is_other(self, name: str, error: float) -> bool:
        """Whether what was lowered computes another tensor than the program as it is written: integers have
        to be equal, and of other types the real numbers that they stand for."""
        return name in self._others if self.is_bounded else error > 0

    @cached_property
    def _others(self) -> set[str]:
        """The tensors for which the program that was lowered is another one. Where their numbers are not
        nearly equal, it takes the bounds of double precision to tell."""
        if not self.is_changed:
            return set()
        others = results(self.lowered, self.inputs)
        common = self.values.keys() & others.keys()
        suspects = {name for name in common if _differ(self.values[name], self._as_given(name, others[name]))}
        if not suspects:
            return set()
        mine = results(self.program, self.given, _double(self.program))
        others = results(self.lowered, self.inputs, _double(self.lowered))
        return {name for name in suspects if _differ(mine[name], self._as_given(name, others[name]))}

    def _as_given(self, name: str, stored: Relation) -> Relation:
        """A tensor as it is stored, with its rows in the order of the user's data."""
        return _moved(stored, self.order.rows_of(name))

    def bound(self, names: Collection[str], known: Mapping[str, Tensor], rounding: Roundings) -> float | None:
        """The greatest bound of some results in a value type, where the program is computed as it is written
        from what is stored of it. None where not enough is stored to tell.

        Args:
            known: the inputs, and all that the run has stored, by name. A pass may store a step's result in
                another layout, and what is written after all steps.
        """
        statements = cut(self.program, names, known)
        if not statements:
            return 0.0
        if len({statement.scan for statement in statements}) > 1:
            return None
        program, earlier = alone(self.program, statements)
        if not known.keys() >= set(earlier.values()):
            return None
        inputs = {**known, **{name: known[tensor] for name, tensor in earlier.items()}}
        found = results(program, {decl.name: inputs[decl.name] for decl in program.inputs}, rounding)
        pieces = (limit for name in names for ((_, limit, _),) in _beside(found[name]))
        return max((float(np.max(limit, initial=0)) for limit in pieces), default=0.0)


def _unordered(program: Program) -> list[Statement]:
    """The statements without their orders, which no result depends on."""
    return [replace(statement, order=None) for statement in program.statements]


def _moved(relation: Relation, by: Mapping[int, Integers]) -> Relation:
    """A relation whose coordinates of some modes become those that are listed at their places."""
    if not by:
        return relation
    if not relation.points.indices:
        values = relation.values
        for axis, mode in enumerate(relation.dense, relation.lead + 1):
            if int(mode) in by:
                values = values.take(np.argsort(by[int(mode)]), axis)
        return replace(relation, values=values)
    listed = relation.listed()
    rows = renumbered(by, map(int, listed.indices), listed.points.coords)
    order = np.lexsort(rows[::-1])
    points = Points(listed.indices, rows[:, order])
    return replace(listed, points=points, values=listed.values[..., order])


def _beside(*relations: Relation) -> Iterator[list[Array]]:
    """The values of relations over the same modes side by side, in pieces."""
    modes = tuple(map(str, range(len(relations[0].extents))))
    return (arrays for _, arrays in side_by_side(relations, modes, Points.everything()))


def _differ(mine: Relation, others: Relation) -> bool:
    """Whether two programs give different numbers, or one a number where the other gives none.

    With bounds, each is that far from the exact result at the most, so that the order of sums, and what a
    rewriting does to them, makes no difference. Where the order decides whether there is a number, nothing is
    told.
    """
    for pieces in _beside(mine, others):
        if mine.lead:
            (one, limit, mine_open), (other, further, other_open) = pieces
            is_open = (mine_open > 0) | (other_open > 0)
        else:
            (one, other), limit, further, is_open = pieces, np.zeros(()), np.zeros(()), np.zeros((), bool)
        with np.errstate(invalid="ignore"):
            far = np.abs(one - other) > limit + further + _SLACK * np.abs(one)
        are_numbers = np.isfinite(one) & np.isfinite(other)
        is_lost = (np.isfinite(one) != np.isfinite(other)) & np.isfinite(limit + further)
        if bool(np.any(((far & are_numbers) | is_lost) & ~is_open)):
            return True
    return False
