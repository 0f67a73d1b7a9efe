"""Compares what a run has stored with NumPy; a verdict says in a word what a check has found."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import prod

import numpy as np

from samhw.app.checking.as_written import AsWritten
from samhw.app.checking.units import alone, in_value_type, inputs_as_stored, units
from samhw.app.workload import Workload, predict_effort
from samhw.compiler import Compiled
from samhw.errors import RunError
from samhw.graph.numerics import Fixed, Float, ValueType
from samhw.lang import Program, Statement
from samhw.lang.reference import Points, Relation, Rounding, difference, results, side_by_side
from samhw.lang.typed import named_types, typed, types_of
from samhw.limits import memory_limit
from samhw.tensors import Tensor

__all__ = ["UNPROVED", "Check", "Verdict", "check", "rounding_of", "weakest"]


class Verdict(StrEnum):
    """The words for a result, from the best to the worst; docs/programs.md, "What a check proves", defines
    them. Everything that tells what became of a result tells it by one of these."""

    RIGHT = "right"
    PLAUSIBLE = "plausible"
    UNPROVED = "unproved"
    WRONG = "wrong"

    @property
    def is_proof(self) -> bool:
        """Whether the check has passed, and proves something."""
        return self in (Verdict.RIGHT, Verdict.PLAUSIBLE)

    def in_words(self, unproved: int) -> str:
        """As people read it, with the number of elements that are unproved where that is news."""
        if self is Verdict.PLAUSIBLE:
            return f"{self}, {unproved:,} unproved"
        return self.upper() if self is Verdict.WRONG else str(self)


UNPROVED = (
    "they are NaN, or differ within a bound of the value type that is infinite or larger than the values, so "
    "that the check proves nothing"
)
"""What is said of elements that are unproved."""


def weakest(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of several verdicts: what is computed of a result is no better than that result."""
    return max(verdicts, key=list(Verdict).index, default=Verdict.RIGHT)


def rounding_of(kind: ValueType) -> Rounding | None:
    """How the type rounds; None for integers, which do not."""
    if isinstance(kind, Fixed):
        return Rounding.fixed(kind.width, kind.fraction)
    if not isinstance(kind, Float):
        return None
    f = kind.format
    if not f.subnormals:
        return Rounding.floating(f.mantissa)
    least, greatest, beyond = kind.decode([f.least, f.lowest_nan - 1 - f.infinities, f.infinity]).tolist()
    return Rounding.gradual(f.mantissa, least, greatest, beyond)


def _rounding(compiled: Compiled) -> Rounding | Callable[[ValueType], Rounding | None] | None:
    """How a program rounds: as each of its types does, if it has several."""
    program = compiled.program
    if not program.is_typed:
        return rounding_of(compiled.value)
    kinds = {*types_of(program, compiled.value).values(), *named_types(program)}
    return rounding_of if any(rounding_of(kind) for kind in kinds) else None


_ELEMENT = 100
"""Bytes that the reference takes for an element of a result: five numbers, their copies, and coordinates."""


@dataclass(frozen=True, repr=False)
class Check:
    """The comparison with the reference.

    `max_abs_error` is the greatest difference of the program's results from NumPy's; a NaN where NumPy has a
    number is infinitely far from it. `region_error` is that from what NumPy makes of what the results' own
    regions were given, and `bound` the greatest that the value type allows such a one (0 for integers, and
    for what does not round). `unproved` counts the elements that pass and prove nothing: they are NaN, or
    differ and pass only because their bound is infinite, or no less than what the tensor's elements are on
    average: there, zero would have been as good; or they are an infinity because the order of a sum decides.
    What is infinite and passes adds nothing to `max_abs_error`.

    `tensors` has the verdict on each tensor that a region has stored, by what NumPy computes from the
    region's own inputs; `verdict` is the weakest of them.

    `sampled` has, by name, the results of which only a sample was compared, as all would not have fitted this
    machine: how many rows, of how many. Then `max_abs_error` is that of regions by themselves.

    `compared` is whether the program was compared with what it was made of, if it was: it is not where that
    takes too long.

    `plain_bound` is what `bound` would be for the cascades as they are written, where they were computed in
    another form, that fits this machine, and what the run has stored tells it; None otherwise.
    """

    max_abs_error: float
    bound: float
    unproved: int = 0
    tensors: Mapping[str, Verdict] = field(default_factory=dict)
    sampled: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    compared: bool = True
    plain_bound: float | None = None
    region_error: float = 0.0

    @property
    def is_wider(self) -> bool:
        """Whether the form of the cascades may be off by more than the form that the program has."""
        return self.plain_bound is not None and self.bound > self.plain_bound

    @property
    def verdict(self) -> Verdict:
        """The word for the run."""
        return weakest(self.tensors.values())

    @property
    def good(self) -> bool:
        """Whether nothing is wrong; what that proves, `verdict` says."""
        return self.verdict is not Verdict.WRONG

    def __repr__(self) -> str:
        own = f"region_error={self.region_error:g}, bound={self.bound:g}, unproved={self.unproved}"
        return f"<Check: {self.verdict}, max_abs_error={self.max_abs_error:g}, {own}>"


def check(workload: Workload, compiled: Compiled, outputs: Mapping[str, Tensor]) -> Check:
    """Compares everything that a run has stored with NumPy's evaluation on the same (encoded) values.

    Region by region with the program that was lowered, since the errors that a type may make grow with every
    statement, until nothing could be told from a wrong result. And the program that was lowered with the one
    that is written, of which passes have made it: that needs no schedule. A program that was made of
    something else is compared with that first. Time and memory follow what is stored.

    Raises:
        RunError: for a result that is absent or of a wrong shape, or a program that is not what it was made
            of.
    """
    absent = [d.name for d in workload.program.outputs if d.name not in outputs.keys() | compiled.aliases]
    if absent:
        raise RunError(f"The run has stored no {', '.join(absent)}; please report this as a bug.")
    compared = workload.oracle is None or workload.oracle() is not None
    index_tensors = workload.program.index_tensors
    program = typed(workload.program, compiled.value)
    given = in_value_type(workload.tensors, types_of(program, compiled.value), index_tensors)
    inputs = inputs_as_stored(compiled, workload.tensors, index_tensors)
    order = compiled.row_orders.drawn(workload.tensors)
    fits = _share(program, given) == 1
    whole = AsWritten(program, given, compiled, inputs, order, fits)
    results_of = {decl.name for decl in workload.program.outputs}
    found = _Stored(compiled, whole, inputs, order.there(outputs), results_of).checked()
    found = _with_whole(found, whole, outputs, results_of)
    return replace(found, compared=compared)


class _Stored:
    """What a run has stored, in the order in which it lies in the memories, and what it is compared with."""

    def __init__(
        self,
        compiled: Compiled,
        whole: AsWritten,
        inputs: Mapping[str, Tensor],
        outputs: Mapping[str, Tensor],
        results_of: set[str],
    ) -> None:
        self.aliases = compiled.aliases
        self.rounding = _rounding(compiled)
        self.program = whole.lowered
        self.whole = whole
        self.known = dict(inputs)
        self.outputs = outputs
        self.results = results_of

    def checked(self) -> Check:
        """The comparison, unit by unit."""
        found = Check(0.0, 0.0)
        every = []
        for statements in units(self.program):
            self.add_aliases(statements)
            written = [s.lhs.tensor for s in statements if s.lhs.tensor in self.outputs]
            # What has not left the region is not looked at.
            if written:
                found = self.unit(found, statements, written)
                every.append(written)
        return replace(found, plain_bound=None if found.sampled else self.plain_bound(every))

    def plain_bound(self, units: Iterable[Collection[str]]) -> float | None:
        """What the bound would be for the cascades as they are written, if they were computed in another
        form; None otherwise, or where that cannot be told. The program as it is written may need what a later
        unit has stored, so that all of them come first.

        Args:
            units: the names of what each has stored.
        """
        if self.rounding is None or not self.whole.has_cascades:
            return None
        greatest = 0.0
        for written in units:
            bound = self.whole.bound(self.results.intersection(written), self.known, self.rounding)
            if bound is None:
                return None
            greatest = max(greatest, bound)
        return greatest

    def add_aliases(self, statements: Sequence[Statement]) -> None:
        """What lies in the memories of another tensor is that one, in another shape."""
        for statement in statements:
            alias = statement.lhs.tensor
            source = self.aliases.get(alias)
            if source is not None and alias not in self.outputs:
                shape = self.program.tensors[alias].shape
                self.known[alias] = Tensor.from_dense(self.known[source].to_dense().reshape(shape), "dense")

    def unit(self, found: Check, statements: Sequence[Statement], written: Sequence[str]) -> Check:
        """A check with what a unit has stored."""
        program, earlier = alone(self.program, statements)
        self.known |= {name: self.outputs[tensor] for name, tensor in earlier.items()}
        inputs = {decl.name: self.known[decl.name] for decl in program.inputs}
        rows = _sample({name: self.outputs[name] for name in written}, _share(program, inputs))
        wanted = {name: rows.get(name, Points.everything()) for name in written}
        expected = results(program, inputs, self.rounding, wanted if rows else None)
        for name in written:
            actual = self.known[name] = self.outputs[name]
            shape = tuple(expected[name].extents[str(mode)] for mode in range(len(expected[name].extents)))
            if actual.shape != shape:
                raise RunError(
                    f"The result {name} has the shape {actual.shape}, but {shape} was expected; "
                    "please report this as a bug."
                )
            seen, verdict = _compared(
                Relation.of(actual), expected[name], wanted[name], self.rounding is not None
            )
            sampled = {name: (rows[name].count, shape[0])} if name in rows else {}
            found = _with_tensor(found, name, seen, verdict, sampled, name in self.results)
        return found


def _with_tensor(
    found: Check,
    name: str,
    seen: Check,
    verdict: Verdict,
    sampled: Mapping[str, tuple[int, int]],
    is_result: bool,
) -> Check:
    """A check with what one tensor has added to it."""
    if is_result:
        error, bound = max(found.max_abs_error, seen.max_abs_error), max(found.bound, seen.bound)
        found = replace(found, max_abs_error=error, region_error=error, bound=bound)
    return replace(
        found,
        unproved=found.unproved + seen.unproved,
        tensors={**found.tensors, name: verdict},
        sampled={**found.sampled, **sampled},
    )


def _with_whole(found: Check, whole: AsWritten, outputs: Mapping[str, Tensor], results_of: set[str]) -> Check:
    """A check with what the program as it is written says: for which tensors another one was computed, and
    how far the results are from its own."""
    errors = []
    for name in whole.values.keys() & outputs.keys():
        is_wrong = found.tensors.get(name) is Verdict.WRONG
        error = whole.error(name, outputs[name], finite=not is_wrong)
        if name in results_of:
            errors.append(error)
        if whole.is_other(name, error):
            found = replace(found, tensors={**found.tensors, name: Verdict.WRONG})
    return replace(found, max_abs_error=max(errors)) if errors else found


def _share(program: Program, inputs: Mapping[str, Tensor]) -> float:
    """The share of the results of a program that can be computed at once."""
    return min(1.0, memory_limit() / 4 / max(1.0, _ELEMENT * predict_effort(program, inputs).results))


def _sample(outputs: Mapping[str, Tensor], share: float) -> dict[str, Points]:
    """Rows of results, at random: that share of all. None for what has no rows, or if all fits."""
    if share == 1:
        return {}
    rng = np.random.default_rng(0)
    shapes = {name: tensor.shape for name, tensor in outputs.items() if tensor.rank}
    chosen = {
        name: np.sort(rng.choice(shape[0], max(1, int(share * shape[0])), replace=False))
        for name, shape in shapes.items()
    }
    return {name: Points(("0",), rows[None]) for name, rows in chosen.items()}


def _compared(
    actual: Relation, expected: Relation, within: Points, is_bounded: bool
) -> tuple[Check, Verdict]:
    """One tensor within some points, with what its region should have made of its inputs, and how far that
    may be off."""
    average = _average(expected, within) if is_bounded else np.inf
    error, bound, unproved = 0.0, 0.0, 0
    is_good, proves = True, False
    names = tuple(map(str, range(len(actual.extents))))
    for _, (stored, wanted) in side_by_side([actual, expected], names, within):
        value, limit, is_open = wanted if is_bounded else (wanted, np.zeros(()), np.zeros(()))
        apart = difference(stored, value)
        # Where the order decides, an infinity or NaN is as good as the number; elsewhere no bound makes up
        # for one.
        either = (is_open > 0) & ~np.isfinite(stored)
        passes = either | ((apart <= limit) & (np.isnan(stored) == np.isnan(value)))
        is_good = is_good and bool(np.all(passes))
        # NaN comes of any NaN among the operands, whatever was computed of them.
        is_weak = passes & (np.isnan(stored) | ((apart > 0) & (either | (limit >= average))))
        unproved += int(np.count_nonzero(is_weak))
        # Zeros are mostly those of the operands, or a shortage of bits.
        proves = proves or bool(np.any(passes & ~is_weak & ((value != 0) | (stored != 0))))
        bound = max(bound, float(np.max(limit, initial=0)))
        # What is infinite and passes is no error.
        error = max(error, float(np.max(np.where(passes & ~np.isfinite(apart), 0, apart), initial=0)))
    return Check(error, bound, unproved, region_error=error), _verdict(is_good, unproved, proves)


def _verdict(is_good: bool, unproved: int, proves: bool) -> Verdict:
    """The word for a tensor. `proves`: for at least one element other than zero."""
    if not is_good:
        return Verdict.WRONG
    if not unproved:
        return Verdict.RIGHT
    return Verdict.PLAUSIBLE if proves else Verdict.UNPROVED


def _average(expected: Relation, within: Points) -> float:
    """The mean magnitude of the finite elements."""
    names = tuple(map(str, range(len(expected.extents))))
    rows = within.count / expected.extents["0"] if within.indices else 1
    total, count = 0.0, round(rows * prod(expected.extents.values()))
    for _, (piece,) in side_by_side([expected], names, within):
        values = np.abs(piece[0])
        is_finite = np.isfinite(values)
        total += float(np.sum(values, where=is_finite))
        count -= int(np.count_nonzero(~is_finite))
    return total / count if count else np.inf
