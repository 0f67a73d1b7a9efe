"""Compares what a run has stored with NumPy."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samhw.checking.verdict import Verdict, weakest
from samhw.compiler import Compiled
from samhw.errors import RunError
from samhw.frontend import Access, Program, Region, Statement
from samhw.limits import memory_limit
from samhw.numerics import Fixed, Float, ValueType
from samhw.reference import Points, Relation, Rounding, results, side_by_side
from samhw.schedule import Schedule
from samhw.splits import split_program
from samhw.tensors import Tensor
from samhw.workload import Workload, predict_effort

if TYPE_CHECKING:
    from samhw.cascade import Cascaded

__all__ = ["Check", "check"]

_ELEMENT = 100
"""Bytes that the reference takes for an element of a result: five numbers, their copies, and coordinates."""


@dataclass(frozen=True, repr=False)
class Check:
    """The comparison with the reference.

    `max_abs_error` is the greatest difference of the program's results from NumPy's; a NaN where NumPy has a
    number is infinitely far from it. `bound` is the greatest error that the value type allows a result (0 for
    integers). `unproved` counts the elements that pass and prove nothing: they are NaN, or differ and pass
    only because their bound is infinite, or no less than what the tensor's elements are on average: there,
    zero would have been as good; or they are an infinity because the order of a sum decides. What is infinite
    and passes adds nothing to `max_abs_error`.

    `tensors` has the verdict on each tensor that a region has stored, by what NumPy computes from the
    region's own inputs; `verdict` is the weakest of them.

    `sampled` has, by name, the results of which only a sample was compared, as all would not have fitted this
    machine: how many rows, of how many. Then `max_abs_error` is that of regions by themselves.

    `compared` is whether the program was compared with what it was made of, if it was: it is not where that
    takes too long.

    `plain_bound` is what `bound` would be for the cascades as they are written, where they were computed in
    another form, and that fits this machine; None otherwise.
    """

    max_abs_error: float
    bound: float
    unproved: int = 0
    tensors: Mapping[str, Verdict] = field(default_factory=dict)
    sampled: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    compared: bool = True
    plain_bound: float | None = None

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
        figures = f"max_abs_error={self.max_abs_error:g}, bound={self.bound:g}, unproved={self.unproved}"
        return f"<Check: {self.verdict}, {figures}>"


def check(workload: Workload, compiled: Compiled, outputs: Mapping[str, Tensor]) -> Check:
    """Compares everything that a run has stored with NumPy's evaluation on the same (encoded) values.

    Brackets and splits that the schedule has are followed, so that bounds are those of what is computed; the
    greatest difference is from the program as it is written. Integers have no bounds, and are compared with
    the program that is not split.

    Region by region, since the errors that a type may make grow with every statement behind them, until
    nothing could be told from a wrong result. Time and memory follow what is stored. A program that was made
    of something else is compared with that first.

    Raises:
        RunError: for a result that is absent or of a wrong shape, or a program that is not what it was made
            of.
    """
    absent = [d.name for d in workload.program.outputs if d.name not in outputs.keys() | compiled.aliases]
    if absent:
        raise RunError(f"The run has stored no {', '.join(absent)}; please report this as a bug.")
    compared = workload.oracle is None or workload.oracle() is not None
    kind = compiled.value
    is_bounded = isinstance(kind, Fixed | Float)
    chosen = compiled.schedule if is_bounded else replace(compiled.schedule, split={})
    given = chosen.apply(workload.program)
    split = split_program(given, chosen.split, compiled.joined, chosen.stored_terms)
    cascades = _cascades(chosen, split.program)
    program = split.program if cascades is None else cascades.program
    known = {
        name: tensor
        if name in program.index_tensors
        else replace(tensor, vals=kind.decode(kind.encode(tensor.vals)))
        for name, tensor in workload.tensors.items()
    }
    # By the data as a run has them: what the type makes zero is an entry there.
    order = chosen.row_orders(given).with_alike(split.like()).drawn(workload.tensors)
    parts = order.back(split.derived(order.there(known)))
    if cascades is not None:
        parts |= cascades.derived({**known, **parts})
        program = program.bind({name: part.shape for name, part in parts.items()})
    results_of = {decl.name for decl in program.outputs}
    whole: Mapping[str, Relation] = {}
    # As it is written: other brackets, parts and segments have the same results.
    written_as = workload.program if chosen.brackets or parts else program
    if (len(program.regions) > 1 or written_as is not program) and _share(written_as, known) == 1:
        whole = results(written_as, known)
    known |= parts
    found = Check(0.0, 0.0)
    is_rewritten = cascades is not None and cascades.program is not split.program
    for statements in _units(program):
        for statement in statements:
            alias = statement.lhs.tensor
            if alias in compiled.aliases and alias not in outputs:
                # Of an input: nothing has been stored.
                known[alias] = _in_shape(known[compiled.aliases[alias]], program, alias)
        alone, stored = _alone(program, statements)
        known |= {name: outputs[tensor] for name, tensor in stored.items()}
        inputs = {decl.name: known[decl.name] for decl in alone.inputs}
        # What has not left the region is not looked at.
        written = [statement.lhs.tensor for statement in statements if statement.lhs.tensor in outputs]
        rows = _sample({name: outputs[name] for name in written}, _share(alone, inputs))
        wanted = {name: rows.get(name, Points.everything()) for name in written}
        expected = results(alone, inputs, _rounding(kind), wanted if rows else None)
        for name in written:
            actual = known[name] = outputs[name]
            shape = tuple(expected[name].extents[str(mode)] for mode in range(len(expected[name].extents)))
            if actual.shape != shape:
                raise RunError(
                    f"The result {name} has the shape {actual.shape}, but {shape} was expected; "
                    "please report this as a bug."
                )
            others = [expected[name], *([whole[name]] if name in whole else [])]
            seen, verdict = _compared(Relation.of(actual), others, wanted[name], is_bounded)
            if name in results_of:
                error, bound = max(found.max_abs_error, seen.max_abs_error), max(found.bound, seen.bound)
                found = replace(found, max_abs_error=error, bound=bound)
            found = replace(
                found,
                unproved=found.unproved + seen.unproved,
                tensors={**found.tensors, name: verdict},
                sampled={**found.sampled, **({name: (rows[name].count, shape[0])} if name in rows else {})},
            )
        if is_rewritten and not rows:
            as_written = _as_written(split.program, set(written) & results_of, known, kind)
            found = _with_form(found, expected, as_written, is_bounded)
    return replace(found, compared=compared, plain_bound=None if found.sampled else found.plain_bound)


def _with_form(
    found: Check, form: Mapping[str, Relation], as_written: Mapping[str, Relation], is_bounded: bool
) -> Check:
    """The check with what the results as they are written say of the form of a cascade."""
    wrong = [name for name in as_written if not _have_same_values(form[name], as_written[name], is_bounded)]
    found = replace(found, tensors={**found.tensors, **dict.fromkeys(wrong, Verdict.WRONG)})
    if not is_bounded:
        return found
    bounds = [found.plain_bound or 0.0, *map(_bound_of, as_written.values())]
    return replace(found, plain_bound=max(bounds))


def _as_written(
    program: Program, written: Collection[str], known: Mapping[str, Tensor], kind: ValueType
) -> dict[str, Relation]:
    """Some results, of those regions of a program that write them."""
    expected: dict[str, Relation] = {}
    for statements in _units(program):
        if names := [s.lhs.tensor for s in statements if s.lhs.tensor in written]:
            alone, _ = _alone(program, statements)
            found = results(alone, {decl.name: known[decl.name] for decl in alone.inputs}, _rounding(kind))
            expected |= {name: found[name] for name in names}
    return expected


def _bound_of(expected: Relation) -> float:
    """The greatest bound of a result."""
    names = tuple(map(str, range(len(expected.extents))))
    pieces = side_by_side([expected], names, Points.everything())
    return max((float(np.max(limit, initial=0)) for _, ((_, limit, _),) in pieces), default=0.0)


def _have_same_values(form: Relation, as_written: Relation, is_bounded: bool) -> bool:
    """Whether a form of a cascade has the values of the program as it is written, where both are numbers.

    The run is compared with the form, which is made by the pass: so the pass itself is looked at here. What
    the form may be off in real numbers is far less than what both may be off in the type.
    """
    names = tuple(map(str, range(len(form.extents))))
    for _, pieces in side_by_side([form, as_written], names, Points.everything()):
        (one, limit, _), (other, further, _) = (
            piece if is_bounded else (piece, np.zeros(()), np.zeros(())) for piece in pieces
        )
        far = np.abs(one - other) > limit + further + 1e-9 * np.abs(other)
        if bool(np.any(far & np.isfinite(one) & np.isfinite(other))):
            return False
    return True


def _units(program: Program) -> Iterator[tuple[Statement, ...]]:
    """The statements that are compared together: those of a region, or of a scan."""
    for scan, regions in groupby(program.regions, lambda region: region.scan):
        if scan is None:
            yield from (region.statements for region in regions)
        else:
            yield tuple(statement for region in regions for statement in region.statements)


def _alone(program: Program, statements: Sequence[Statement]) -> tuple[Program, dict[str, str]]:
    """The program of some statements. Those of a scan get what earlier steps have stored, as inputs: so no
    error of a step counts for those behind it.

    Returns:
        The program, and the tensors of the whole program that such inputs are, by name.
    """
    stored = {f"{s.lhs.tensor} before": s.lhs.tensor for s in statements if s.lhs.step is not None}
    before = {tensor: name for name, tensor in stored.items()}

    def change(access: Access) -> Access:
        is_earlier = access.step is not None and access.step[1].offset
        return replace(access, tensor=before.get(access.tensor, access.tensor)) if is_earlier else access

    scan = statements[0].scan
    if scan is not None:
        starts = (replace(s, lhs=replace(s.lhs, tensor=before[s.lhs.tensor])) for s in scan.starts)
        scan = replace(scan, starts=tuple(starts))
        statements = [replace(s.with_accesses(change), scan=scan) for s in statements]
    every = (*statements, *(() if scan is None else scan.starts))
    used = {access.tensor for statement in every for access in statement.accesses}
    tensors = {name: decl for name, decl in program.tensors.items() if name in used}
    stored = {name: tensor for name, tensor in stored.items() if name in used}
    tensors |= {name: replace(program.tensors[tensor], name=name) for name, tensor in stored.items()}
    return replace(program, tensors=tensors, regions=(Region(tuple(statements)),)), stored


def _cascades(schedule: Schedule, program: Program) -> "Cascaded | None":
    """The program in the form in which its cascades are computed: their bounds are another form's. None where
    that is its own."""
    if schedule.cascade_form == "off":
        return None
    # SymPy takes a while to import.
    from samhw.cascade import cascaded

    return cascaded(program, schedule.cascade_form, schedule.lanes, schedule.tile)


def _in_shape(tensor: Tensor, program: Program, alias: str) -> Tensor:
    """A dense tensor in the shape of another one."""
    shape = tuple(extent for extent in program.bind({}).tensors[alias].shape if extent is not None)
    return Tensor.from_dense(tensor.to_dense().reshape(shape), "dense")


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


def _rounding(kind: ValueType) -> Rounding | None:
    """How the type rounds; None for integers, which do not."""
    if isinstance(kind, Fixed):
        return Rounding.fixed(kind.fraction)
    if not isinstance(kind, Float):
        return None
    f = kind.format
    if not f.subnormals:
        return Rounding.floating(f.mantissa)
    least, greatest, beyond = kind.decode([f.least, f.lowest_nan - 1 - f.infinities, f.infinity]).tolist()
    return Rounding.gradual(f.mantissa, least, greatest, beyond)


def _compared(
    actual: Relation, others: Sequence[Relation], within: Points, is_bounded: bool
) -> tuple[Check, Verdict]:
    """One tensor within some points, with what its region should have made of its inputs, and how far that
    may be off; and with what the whole program should have, if that is the second of the others."""
    average = _average(others[0], within) if is_bounded else np.inf
    error, bound, unproved = 0.0, 0.0, 0
    is_good, proves = True, False
    names = tuple(map(str, range(len(actual.extents))))
    for _, (stored, wanted, *exact) in side_by_side([actual, *others], names, within):
        value, limit, is_open = wanted if is_bounded else (wanted, np.zeros(()), np.zeros(()))
        difference = _difference(stored, value)
        # Where the order decides, an infinity or NaN is as good as the number; elsewhere no bound makes up
        # for one.
        either = (is_open > 0) & ~np.isfinite(stored)
        passes = either | ((difference <= limit) & (np.isnan(stored) == np.isnan(value)))
        is_good = is_good and bool(np.all(passes))
        # NaN comes of any NaN among the operands, whatever was computed of them.
        is_weak = passes & (np.isnan(stored) | ((difference > 0) & (either | (limit >= average))))
        unproved += int(np.count_nonzero(is_weak))
        # Zeros are mostly those of the operands, or a shortage of bits.
        proves = proves or bool(np.any(passes & ~is_weak & ((value != 0) | (stored != 0))))
        bound = max(bound, float(np.max(limit, initial=0)))
        last = _difference(stored, exact[0]) if exact else difference
        # What is infinite and passes is no error.
        last = np.where(passes & ~np.isfinite(last), 0, last)
        error = max(error, float(np.max(last, initial=0)))
    return Check(error, bound, unproved), _verdict(is_good, unproved, proves)


def _verdict(is_good: bool, unproved: int, proves: bool) -> Verdict:
    """The word for a tensor. `proves`: for at least one element other than zero."""
    if not is_good:
        return Verdict.WRONG
    if not unproved:
        return Verdict.RIGHT
    return Verdict.PLAUSIBLE if proves else Verdict.UNPROVED


def _difference(actual: NDArray[Any], expected: NDArray[Any]) -> NDArray[Any]:
    """Of each element. None where both are the same infinity, or no number; an infinite one where one of them
    is no number."""
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        difference = np.abs(actual - expected)
    return np.where(same, 0.0, np.where(np.isnan(difference), np.inf, difference))


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
