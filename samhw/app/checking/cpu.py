"""The same program on this machine's processor, by SciPy and NumPy, for a comparison of times.

A product of a sparse matrix is SciPy's, other sums of products are `numpy.einsum`'s, and what else a
statement does NumPy computes on whole arrays. A statement that these cannot say, or of which they give
another result, is the reference's, which is slower.
"""

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import ceil, inf, log2, prod
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse

from samhw.app.workload import Workload
from samhw.compiler import Compiled, area_of
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.compiler.search.tried import expected_cycles
from samhw.cost import FITS, SHOWN_DEVICES
from samhw.errors import InputError
from samhw.lang import Access, Add, Call, Div, Expr, Literal, Mul, Neg, Program, Statement, Sub
from samhw.lang.reference import Relation, evaluate, results
from samhw.lang.reference.plain_values import VALUES
from samhw.lang.traverse import factors_of
from samhw.tensors import Tensor
from samhw.words import counted

__all__ = ["AsFast", "CpuRun", "as_fast", "cpu_run"]

_DENSE = 3 * 10**7
"""The most points of an array that NumPy is given whole."""
_SPARSE = 0.3
"""A matrix with a smaller share of its elements is one of SciPy's."""
_SECONDS, _TIMES = 1.0, 20
"""How long, and how often, a program is repeated; the shortest time counts."""
_LANES = 64
"""The most lanes that are considered."""

Array = Any
"""An array of NumPy, or a sparse matrix of SciPy."""


class _CannotError(Exception):
    """NumPy has no short way to say a statement."""


@dataclass(frozen=True)
class CpuRun:
    """What the program took on this machine."""

    seconds: float
    """The shortest of several runs, without loading data."""
    ways: Mapping[str, str]
    """By result: `SciPy`, `NumPy` or `reference`."""
    machine: str

    def __str__(self) -> str:
        ways = {way: sum(w == way for w in self.ways.values()) for way in dict.fromkeys(self.ways.values())}
        (first, count), *others = ways.items()
        said = f"{counted(count, 'statement')} by {first}" if others else f"by {first}"
        said = ", ".join([said, *(f"{count} by {way}" for way, count in others)])
        return f"{1e6 * self.seconds:,.1f} µs {said} on {self.machine}"


def cpu_run(workload: Workload) -> CpuRun:
    """Times the program of a workload."""
    program = workload.program.bind({name: t.shape for name, t in workload.tensors.items()})
    given = {name: _array(tensor) for name, tensor in workload.tensors.items()}
    expected = results(program, workload.tensors)
    ways, steps = {}, []
    known = dict(given)
    for statement in program.statements:
        name = statement.lhs.tensor
        way, step = _step(program, statement, known, expected[name])
        ways[name] = way
        steps.append((name, step))
        known[name] = step(known)

    def once() -> float:
        known = dict(given)
        start = perf_counter()
        for name, step in steps:
            known[name] = step(known)
        return perf_counter() - start

    times: list[float] = []
    while len(times) < 2 or (sum(times) < _SECONDS and len(times) < _TIMES):
        times.append(once())
    return CpuRun(min(times), ways, _machine())


def _machine() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")
    return f"{model or platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def _array(tensor: Tensor) -> Array:
    """As SciPy or NumPy have it; floating-point numbers in single precision."""
    dense = prod(tensor.shape)
    if tensor.rank == 2 and tensor.nnz < _SPARSE * dense:
        return _single(scipy.sparse.csr_array(tensor.to_scipy()))
    if dense > _DENSE:
        raise InputError(
            f"A tensor of {'x'.join(map(str, tensor.shape))} elements is too large for NumPy; '--compare "
            "cpu' "
            "takes smaller data."
        )
    return _single(tensor.to_dense())


def _single(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype.kind == "f" else array


def _step(
    program: Program, statement: Statement, known: Mapping[str, Array], expected: Relation
) -> tuple[str, Callable[[Mapping[str, Array]], Array]]:
    """The fastest way to a result, by its name, that gives what is expected."""
    extents = {n: e for n, e in program.extents(statement).items() if e is not None}
    wanted = expected.to_array()
    for way, step in (
        ("SciPy", partial(_by_scipy, statement)),
        ("NumPy", partial(_by_numpy, statement, extents)),
    ):
        try:
            found = _dense(step(known))
        except _CannotError:
            continue
        if found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-3, atol=1e-5):
            return way, step
    return "reference", partial(_by_reference, statement, extents)


def _by_reference(statement: Statement, extents: Mapping[str, int], known: Mapping[str, Array]) -> Array:
    if statement.scan is not None:
        raise InputError(f"'--compare cpu' knows no scans, as that of {statement.lhs.tensor}; leave it out.")
    read = {access.tensor: _dense(known[access.tensor]) for access in statement.reads}
    return evaluate(statement, read, extents)


def _dense(array: Array) -> Array:
    found: Array = array
    return found.toarray() if scipy.sparse.issparse(array) else np.asarray(array)


def _names(access: Access) -> tuple[str, ...]:
    try:
        names = access.names
    except InputError:
        raise _CannotError from None
    if len(set(names)) < len(names):
        raise _CannotError
    return names


def _factors(expr: Expr) -> list[Access]:
    factors = list(factors_of(expr))
    if not all(isinstance(factor, Access) for factor in factors):
        raise _CannotError
    return [factor for factor in factors if isinstance(factor, Access)]


def _by_scipy(statement: Statement, known: Mapping[str, Array]) -> Array:
    """A product of two matrices, or of a matrix and a vector, or one that a sparse matrix samples."""
    if statement.reduction != "sum" or statement.scan is not None:
        raise _CannotError
    left, factors = _names(statement.lhs), _factors(statement.rhs)
    if statement.mask is not None:
        factors.append(statement.mask)
    if not any(scipy.sparse.issparse(known[factor.tensor]) for factor in factors):
        raise _CannotError
    names = [_names(factor) for factor in factors]
    if len(factors) == 2 and statement.mask is None:
        return _product(left, names, [known[factor.tensor] for factor in factors])
    return _sampled(statement, left, names, [known[factor.tensor] for factor in factors])


def _product(left: tuple[str, ...], names: Sequence[tuple[str, ...]], arrays: Sequence[Array]) -> Array:
    (first, second), (a, b) = names, arrays
    shared = set(first) & set(second) - set(left)
    if len(shared) != 1 or set(first) & set(second) != shared or max(map(len, names)) > 2:
        raise _CannotError
    (over,) = shared
    a = a.T if len(first) == 2 and first[0] == over else a
    b = b.T if len(second) == 2 and second[1] == over else b
    outer = tuple(n for n in (*first, *second) if n != over)
    found = a @ b
    if outer == left:
        return found
    if outer[::-1] == left:
        return found.T
    raise _CannotError


def _sampled(
    statement: Statement, left: tuple[str, ...], names: Sequence[tuple[str, ...]], arrays: Sequence[Array]
) -> Array:
    """A product of dense factors at the places of one sparse matrix over the indices of the result."""
    places = [n for n, array in enumerate(arrays) if scipy.sparse.issparse(array)]
    if len(places) != 1 or names[places[0]] != left:
        raise _CannotError
    matrix = arrays[places[0]].tocoo()
    at = dict(zip(left, (matrix.row, matrix.col), strict=True))
    letters = _Letters("n")
    terms, operands = [], []
    for n, (own, array) in enumerate(zip(names, arrays, strict=True)):
        if n == places[0]:
            continue
        kept = [name for name in own if name not in at]
        order = [own.index(name) for name in (*[m for m in own if m in at], *kept)]
        picked = array.transpose(order)[tuple(at[name] for name in own if name in at)]
        terms.append(("n" if any(m in at for m in own) else "") + letters.of(kept))
        operands.append(picked)
    values = np.einsum(f"{','.join(terms)}->n", *operands, optimize=True)
    values = values if statement.mask is not None else values * matrix.data
    return scipy.sparse.csr_array((values, (matrix.row, matrix.col)), shape=matrix.shape)


class _Letters:
    """A letter for each index, but for those that are taken."""

    def __init__(self, taken: str = ""):
        self.free = iter(letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter not in taken)
        self.known: dict[str, str] = {}

    def of(self, names: Sequence[str]) -> str:
        for name in names:
            if name not in self.known:
                self.known[name] = next(self.free)
        return "".join(self.known[name] for name in names)


def _by_numpy(statement: Statement, extents: Mapping[str, int], known: Mapping[str, Array]) -> Array:
    """The statement on whole arrays."""
    if statement.scan is not None or statement.reduction not in ("sum", "max", "min"):
        raise _CannotError
    left = _names(statement.lhs)
    arrays = {access.tensor: _dense(known[access.tensor]) for access in statement.reads}
    shape = tuple(extents[name] for name in left)
    if statement.mask is None and statement.reduction == "sum":
        return np.broadcast_to(_terms(statement.rhs, left, extents, arrays), shape)
    value = _whole(statement.rhs, statement.indices, extents, arrays)
    over = tuple(range(len(left), len(statement.indices)))
    mask = np.ones((), bool)
    if statement.mask is not None:
        mask = _whole(statement.mask, statement.indices, extents, arrays) != 0
    if statement.reduction == "sum" or not over:
        return np.broadcast_to(np.where(mask, value, 0).sum(axis=over), shape)
    least = statement.reduction == "min"
    whole = np.where(mask, value, inf if least else -inf)
    whole = np.broadcast_to(whole, tuple(extents[name] for name in statement.indices))
    found = whole.min(axis=over) if least else whole.max(axis=over)
    return np.where(np.isinf(found), 0, found)


def _terms(
    expr: Expr, left: tuple[str, ...], extents: Mapping[str, int], arrays: Mapping[str, Array]
) -> Array:
    """Terms, each of which is summed over its own indices; axes are those of the left side."""
    match expr:
        case Add() | Sub():
            first, second = (_terms(child, left, extents, arrays) for child in expr.children)
            return first + second if isinstance(expr, Add) else first - second
        case Neg():
            return -_terms(expr.children[0], left, extents, arrays)
        case Mul() | Access():
            try:
                factors = _factors(expr)
            except _CannotError:
                pass
            else:
                letters = _Letters()
                terms = [letters.of(_names(factor)) for factor in factors]
                kept = [name for name in left if any(name in _names(factor) for factor in factors)]
                operands = [arrays[factor.tensor] for factor in factors]
                if len(factors) == 2:
                    try:
                        return _product(left, [_names(factor) for factor in factors], operands)
                    except _CannotError:
                        pass
                found = np.einsum(f"{','.join(terms)}->{letters.of(kept)}", *operands, optimize=True)
                return _along(found, kept, left)
    indices = (*left, *(name for name in _free(expr) if name not in left))
    value = _whole(expr, indices, extents, arrays)
    return value.sum(axis=tuple(range(len(left), len(indices))))


def _free(expr: Expr) -> list[str]:
    if isinstance(expr, Access):
        return list(_names(expr))
    return list(dict.fromkeys(name for child in expr.children for name in _free(child)))


def _along(array: Array, own: Sequence[str], names: Sequence[str]) -> Array:
    """An array whose axes are `own` with those of `names`, of length 1 where it has none."""
    order = [own.index(name) for name in names if name in own]
    places = tuple(slice(None) if name in own else None for name in names)
    return np.asarray(array).transpose(order)[places]


def _whole(
    expr: Expr, names: tuple[str, ...], extents: Mapping[str, int], arrays: Mapping[str, Array]
) -> Array:
    """An expression at all points of indices."""
    if prod(extents[name] for name in names) > _DENSE:
        raise _CannotError
    if isinstance(expr, Access):
        return _along(arrays[expr.tensor], _names(expr), names)
    if isinstance(expr, Literal):
        return np.asarray(expr.value)
    children = [_whole(child, names, extents, arrays) for child in expr.children]
    with np.errstate(all="ignore"):
        match expr:
            case Add():
                return reduce(np.add, children)
            case Sub():
                return children[0] - children[1]
            case Mul():
                return children[0] * children[1]
            case Div():
                return np.where(children[0] == 0, 0, children[0] / children[1])
            case Neg():
                return -children[0]
            case Call():
                return VALUES.call(expr.function, children)
    raise _CannotError


@dataclass(frozen=True)
class AsFast:
    """The design with as many lanes as it would take to be as fast, by estimate."""

    lanes: int
    cycles: float
    luts: float
    fits: tuple[str, ...]
    """The FPGAs, one of each family, that it fits."""

    def __str__(self) -> str:
        where = f"fits {', '.join(self.fits)}" if self.fits else "fits no FPGA that samhw shows"
        return (
            f"about {self.lanes} lanes are as fast: {self.cycles:,.0f} cycles, {self.luts:,.0f} LUTs; {where}"
        )


def as_fast(job: Job, compiled: Compiled, cycles: int, wanted: float) -> AsFast | None:
    """The fewest lanes, a power of 2, of the outermost indices that are expected to take no more cycles than
    `wanted`; None where as many as 64 do not."""
    schedule = compiled.schedule if job.schedule.is_open else job.schedule
    outer = dict.fromkeys(region.order[0] for region in compiled.regions if region.order)
    known = job.statistics(schedule)
    right = cycles / max(expected_cycles(compiled, known), 1)
    for power in range(max(1, ceil(log2(max(cycles / wanted, 2)))), int(log2(_LANES)) + 1):
        lanes = 2**power
        found = replace(schedule, lanes=dict(schedule.lanes) | dict.fromkeys(outer, lanes))
        try:
            wide = compile_job(job.under(found))
        except InputError:
            return None
        expected = right * expected_cycles(wide, job.statistics(found))
        if expected <= wanted:
            fits = tuple(d.name for d in SHOWN_DEVICES if d.verdict(area_of(wide, d.family).use) == FITS)
            return AsFast(lanes, expected, area_of(wide).use.luts, fits)
    return None
