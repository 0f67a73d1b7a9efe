"""`samhw tune --error`: types of single tensors, as narrow as an error of the results permits.

Types change what is computed, so no schedule has them, and a search for schedules leaves them alone. This one
keeps the schedule. It goes through groups of tensors, such as the operands of a statement, and gives each the
narrowest types that make the design cheaper. Bounds of the reference, which hold for every order of sums, say
of most of these that their error is small enough, or too large; only what they leave open is simulated.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, sqrt
from time import monotonic
from typing import Any, Literal, get_args

import numpy as np

from samhw.app.checking.check_run import rounding_of
from samhw.app.checking.measure import pareto_front
from samhw.app.checking.units import in_value_type
from samhw.app.checking.value_errors import differences
from samhw.app.workload import Workload, job_of
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, area_of, estimate_compiled, types_text
from samhw.compiler.pipeline import compile_job, settled
from samhw.errors import InputError, RunError
from samhw.faces import in_words
from samhw.graph.numerics import Float, Integer, ValueType
from samhw.lang import Program
from samhw.lang.reference import Relation, results, side_by_side
from samhw.lang.typed import types_of, with_types
from samhw.targets.backends import MODEL, run
from samhw.words import html_section, html_table, in_columns

__all__ = ["PRICES", "Price", "TunedTypes", "TypedPoint", "tune_types"]

Price = Literal["area", "cycles", "bytes"]
PRICES: tuple[Price, ...] = get_args(Price)

_EIGHT = (Float("f8e4m3"), Float("f8e5m2"))

LADDERS: Mapping[str, tuple[ValueType, ...]] = {
    "f32": (*_EIGHT, Float("bf16")),
    "f16": _EIGHT,
    "bf16": _EIGHT,
    "i32": (Integer(8), Integer(16)),
    "i16": (Integer(8),),
}
"""By the value type of the program, the types that a tensor may have instead, narrowest first."""

_FEWEST = {"area": "LUTs", "cycles": "cycles", "bytes": "bytes"}

SIMULATED = 8
"""Of the front, how many are simulated where bounds have said enough."""


@dataclass(frozen=True)
class TypedPoint:
    """Types of tensors, with what a design is expected to take in them, and how far its results are from
    float64 on data that are not rounded: the norm of the differences over that of the result, of the worst
    result.

    Attributes:
        types: by tensor, of those that have others than the program's.
        least, most: what the bounds prove of the error.
        measured: the error of a run; None where no run was needed, infinite where it overflowed.
        taken: the cycles of that run.
    """

    types: tuple[tuple[str, ValueType], ...]
    cycles: float
    luts: float
    bytes: float
    least: float = 0.0
    most: float = inf
    measured: float | None = None
    taken: int | None = None

    @property
    def said_cycles(self) -> int:
        """Those of a run, or else those that are expected. The search compares what is expected alone."""
        return round(self.cycles) if self.taken is None else self.taken

    @property
    def error(self) -> float:
        """That of a run, or else what it is at most."""
        return self.most if self.measured is None else self.measured

    @property
    def text(self) -> str:
        """The types, as --types takes them."""
        return types_text(dict(self.types))

    @property
    def said(self) -> str:
        """The types for a reader, with what has each."""
        kinds = dict.fromkeys(kind for _, kind in self.types)
        named = {kind: " ".join(name for name, its in self.types if its == kind) for kind in kinds}
        return "; ".join(f"{kind} {names}" for kind, names in named.items()) or "its own"

    @property
    def words(self) -> str:
        """What is expected of it, in a line."""
        error = f"error {self.error:.2g}" + ("" if self.measured is not None else " at most")
        sizes = f"about {self.luts:,.0f} LUTs, {self.bytes:,.0f} bytes"
        return f"{error}, {sizes}, {'' if self.taken else 'about '}{self.said_cycles:,} cycles"

    def price(self, objective: Price) -> tuple[float, ...]:
        """What is to become small, and what decides between equals."""
        rest = (self.bytes, self.luts, self.cycles)
        return {"area": self.luts, "cycles": self.cycles, "bytes": self.bytes}[objective], *rest

    def to_json(self) -> dict[str, Any]:
        """A JSON object; an error without a bound has none."""
        numbers = {"least": self.least, "most": self.most, "measured": self.measured}
        errors = {f"{n}_error": None if e in (None, inf) else e for n, e in numbers.items()}
        kinds = {name: kind.name for name, kind in self.types}
        figures = {"cycles": self.said_cycles, "luts": round(self.luts), "bytes": round(self.bytes)}
        return {"types": kinds, **figures, **errors}


@dataclass(frozen=True)
class TunedTypes:
    """What a search for types has come to.

    Attributes:
        data: the name of the data, and what of it is random.
        value: the type of tensors that have none of their own.
        limit: the greatest error that is permitted.
        points: what was looked at, the program in its own types first.
        proved: of how many the bounds alone have said whether they are within the limit.
        simulated: how many were simulated.
        is_cut: the time ended before all was looked at.
    """

    data: str
    value: ValueType
    limit: float
    objective: Price
    points: tuple[TypedPoint, ...]
    proved: int
    simulated: int
    is_cut: bool = False

    @property
    def about(self) -> str:
        """What was asked for, in words."""
        return (
            f"types for an error of {self.limit:g}, {self.value} by default, fewest {_FEWEST[self.objective]}"
        )

    @property
    def counts(self) -> str:
        """How much was looked at, in words."""
        counts = f"{len(self.points)} judged, {self.proved} by bounds alone, {self.simulated} simulated"
        return counts + (f", when the time ended {in_words('(--budget)')}" if self.is_cut else "")

    def program(self, program: Program) -> Program:
        """The program that was given, in the best types."""
        return replace(with_types(program, dict(self.best.types)), value=self.value)

    @property
    def first(self) -> TypedPoint:
        """The program in its own types."""
        return self.points[0]

    @property
    def types(self) -> dict[str, ValueType]:
        """The best, by tensor."""
        return dict(self.best.types)

    @cached_property
    def best(self) -> TypedPoint:
        """The cheapest that is within the limit; the first if none is."""
        within = [point for point in self.points if point.error <= self.limit] or [self.first]
        return min(within, key=lambda point: (*point.price(self.objective), point.error))

    @cached_property
    def front(self) -> list[TypedPoint]:
        """Those than which no other one has both a smaller error and a smaller price, exact ones first."""
        known = [point for point in self.points if point.error < inf]
        return pareto_front(known, lambda point: (point.error, point.price(self.objective)[0]))

    @property
    def currency(self) -> str:
        """What is to become small, in words."""
        return "LUTs of an ECP5, estimated" if self.objective == "area" else self.objective

    @cached_property
    def least_shown(self) -> float:
        """The left end of a logarithmic axis, where errors of 0 stand: a tenth of the least other one."""
        return min((point.error for point in self.points if 0 < point.error < inf), default=1e-7) / 10

    def place(self, point: TypedPoint) -> tuple[float, float]:
        """Where one stands beside such an axis: its error, and its price."""
        return max(point.error, self.least_shown), point.price(self.objective)[0]

    def grid(self) -> list[list[str]]:
        """Headings, and a row for each choice of types that was judged, the smallest error first."""
        rows = [["error", "proven", "LUTs", "bytes", "cycles", "front", "types"]]
        for point in sorted(self.points, key=lambda one: (one.error, one.price(self.objective))):
            marks = [
                point.said,
                "best" if point is self.best else "",
                "too large an error" if point.error > self.limit else "",
            ]
            most = f"at most {point.most:.2g}" if point.most < inf else ""
            proven = f"at least {point.least:.2g}" if point.least > self.limit else most
            figures = (f"{number:,.0f}" for number in (point.luts, point.bytes, point.said_cycles))
            error = "" if point.measured is None else f"{point.measured:.2g}"
            front = "yes" if point in self.front else ""
            rows.append([error, proven, *figures, front, ", ".join(filter(None, marks))])
        return rows

    def __repr__(self) -> str:
        return f"<TunedTypes on {self.data}: best {self.best.said}, {self.best.words}; {self.counts}>"

    def __str__(self) -> str:
        return in_columns(self.grid())

    def _repr_html_(self) -> str:
        return html_section(f"{self.data}: {self.about}", html_table(self.grid()))

    def to_json(self) -> dict[str, Any]:
        """What `samhw tune --error --json` writes."""
        return {
            "data": self.data,
            "value": self.value.name,
            "error": self.limit,
            "objective": self.objective,
            "proved": self.proved,
            "simulated": self.simulated,
            "best": self.best.to_json(),
            "points": [{**point.to_json(), "front": point in self.front} for point in self.points],
        }


def tune_types(
    workload: Workload,
    schedule: Schedule,
    *,
    value: ValueType | None,
    limit: float,
    objective: Price,
    seconds: float,
    progress: Callable[[int, str], None] | None = None,
) -> TunedTypes:
    """Searches types for the tensors of a workload.

    Args:
        schedule: which stays; one that is open is chosen once, for the program in its own types.
        value: as for `compile_workload`.
        limit: the greatest error, as `TypedPoint` has it.
        seconds: after which nothing more is looked at.
        progress: is told how many have been looked at, and the best.

    Raises:
        InputError: for a program that cannot be lowered, or of a type that has no narrower ones.
        RunError: where the program in its own types ends with an error.
    """
    search = _Search(workload, schedule, value, limit, objective, monotonic() + seconds, progress)
    search.descend()
    return search.found()


class _Search:
    def __init__(
        self,
        workload: Workload,
        schedule: Schedule,
        value: ValueType | None,
        limit: float,
        objective: Price,
        end: float,
        progress: Callable[[int, str], None] | None,
    ) -> None:
        self.workload = workload
        self.value = workload.value(value)
        if self.value.name not in LADDERS:
            raise InputError(
                f"There are no narrower types beside {self.value}; give --value {', '.join(LADDERS)}."
            )
        self.schedule = settled(job_of(workload, schedule, value=value)).schedule
        self.limit, self.objective = limit, objective
        self.end, self.progress = end, progress
        exact = results(workload.program, workload.tensors)
        self.exact = {decl.name: exact[decl.name] for decl in workload.program.outputs}
        self.known: dict[str, TypedPoint | None] = {}
        self.proved = 0
        self.simulated: set[str] = set()
        self.is_cut = False

    def descend(self) -> None:
        """Takes, group by group, what is cheaper and within the limit, until nothing is."""
        best = self.measured(self.priced({}))
        assert best is not None
        changed = True
        while changed:
            changed = False
            for types in self.moves(dict(best.types)):
                if monotonic() >= self.end:
                    self.is_cut = True
                    return
                point = self.priced(types)
                if point is None or point.price(self.objective) >= best.price(self.objective):
                    continue
                point = self.judged(point)
                if point is not None and point.error <= self.limit:
                    best, changed = point, True
                if self.progress:
                    self.progress(len(self.known), best.text or "its own types")

    def moves(self, now: Mapping[str, ValueType]) -> Iterator[dict[str, ValueType]]:
        """Groups of tensors in narrower types: all, the operands of each statement, and each by itself."""
        program = self.workload.program
        places = program.index_tensors
        every = [name for name in program.tensors if name not in places]
        operands = [
            [name for name in dict.fromkeys(a.tensor for a in statement.reads) if name not in places]
            for statement in program.statements
        ]
        groups = dict.fromkeys(tuple(group) for group in (every, *operands, *([name] for name in every)))
        for group in groups:
            for kind in LADDERS[self.value.name]:
                if all(_is_wider(now.get(name, self.value), kind) for name in group):
                    yield {**now, **dict.fromkeys(group, kind)}

    def typed(self, types: Mapping[str, ValueType]) -> Workload:
        return self.workload.with_types(types)

    def compiled(self, types: Mapping[str, ValueType]) -> Compiled:
        return compile_job(job_of(self.typed(types), self.schedule, value=self.value))

    def priced(self, types: Mapping[str, ValueType]) -> TypedPoint | None:
        """What a design in these types is expected to take; None for types that the program cannot have."""
        held = tuple(sorted(types.items()))
        text = types_text(dict(held))
        if text not in self.known:
            try:
                job = job_of(self.typed(types), self.schedule, value=self.value)
                compiled = compile_job(job)
            except InputError:
                if not types:
                    raise
                self.known[text] = None
                return None
            statistics = job.statistics(self.schedule)
            assert statistics is not None
            found = estimate_compiled(compiled, statistics)
            luts = area_of(compiled).use.luts
            self.known[text] = TypedPoint(held, found.cycles, luts, found.bytes)
        return self.known[text]

    def judged(self, point: TypedPoint) -> TypedPoint | None:
        """The same with its error, as far as that has to be known; None for data that the types lack."""
        if point.measured is not None or point.most < inf:
            return point
        try:
            least, most = self.bounds(point)
        except InputError:  # A type has not all numbers of the data.
            self.known[point.text] = None
            return None
        point = self.keep(replace(point, least=least, most=most))
        if least > self.limit:
            self.proved += 1
            return None
        if most <= self.limit:
            self.proved += 1
            return point
        return self.measured(point)

    def keep(self, point: TypedPoint) -> TypedPoint:
        self.known[point.text] = point
        return point

    def bounds(self, point: TypedPoint) -> tuple[float, float]:
        """What the reference proves of the error: the least that it may be, and the most."""
        program = self.typed(dict(point.types)).in_types(self.value).program
        types = types_of(program, self.value)
        stored = in_value_type(self.workload.tensors, types, program.index_tensors)
        if not isinstance(self.value, Float):
            return 0.0, inf  # Whether integers overflow, only a run says.
        found = results(program, stored, rounding_of if program.is_typed else rounding_of(self.value))
        each = [_range(found[name], exact) for name, exact in self.exact.items()]
        return max(least for least, _ in each), max(most for _, most in each)

    def measured(self, point: TypedPoint | None) -> TypedPoint | None:
        """The same with the error of a run."""
        if point is None or point.measured is not None:
            return point
        self.simulated.add(point.text)
        try:
            result = run(self.compiled(dict(point.types)), self.workload.tensors, MODEL)
        except RunError:
            if not point.types:
                raise
            return self.keep(replace(point, measured=inf))
        found = differences(self.workload, result.outputs)
        error = max(one.relative_error for one in found.values())
        return self.keep(replace(point, measured=error, taken=result.cycles))

    def found(self) -> TunedTypes:
        """All that has an error, with those of the front and the best measured."""
        tuned = self.tuned()
        for point in [tuned.best, *tuned.front[:SIMULATED]]:
            self.measured(point)
        return self.tuned()

    def tuned(self) -> TunedTypes:
        judged = (p for p in self.known.values() if p is not None)
        points = tuple(p for p in judged if p.measured is not None or p.most < inf or p.least > 0)
        return TunedTypes(
            self.workload.said,
            self.value,
            self.limit,
            self.objective,
            points,
            self.proved,
            len(self.simulated),
            self.is_cut,
        )


def _is_wider(now: ValueType, kind: ValueType) -> bool:
    return now.width > kind.width and isinstance(kind, Integer) == isinstance(now, Integer)


def _range(found: Relation, exact: Relation) -> tuple[float, float]:
    """Of a result with bounds, the least and the most that its relative error may be."""
    kept = tuple(map(str, range(len(exact.extents))))
    least = most = norm = 0.0
    for _, ((value, bound, is_open), wanted) in side_by_side([found, exact], kept):
        wanted = np.asarray(wanted, np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(np.where(value == wanted, 0.0, value - wanted))
            furthest = np.where((is_open > 0) | np.isnan(apart), inf, apart + bound)
            nearest = np.where(np.isfinite(furthest), np.maximum(apart - bound, 0), 0)
            most += float(np.sum(furthest**2))
            least += float(np.sum(nearest**2))
            norm += float(np.sum(np.square(np.broadcast_to(wanted, apart.shape)), where=np.isfinite(apart)))
    if norm:
        return sqrt(least / norm), sqrt(most / norm)
    return (0.0 if least == 0 else inf), (0.0 if most == 0 else inf)
