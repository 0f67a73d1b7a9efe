"""What a program means: the result of each statement, at a cost that follows what is stored.

This is the reference that every backend is checked against. It knows nothing of orders or streams, and shares
no code with the compiler; of formats it knows which coordinates they store. For some points of the results
alone, it finds what must be known of the tensors.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from samhw.errors import InputError
from samhw.lang import Access, Add, Expr, Neg, Program, Statement, Sub
from samhw.lang.reference.bounds import Rounding, RunningError
from samhw.lang.reference.elimination import sum_next
from samhw.lang.reference.evaluate_statement import evaluate_statement
from samhw.lang.reference.extended import Extended
from samhw.lang.reference.join import distinct, intersection, union
from samhw.lang.reference.plain_values import VALUES
from samhw.lang.reference.relation import Array, Mask, Points, Relation
from samhw.lang.reference.saturating import Saturating
from samhw.lang.reference.scan import evaluate_scan
from samhw.lang.reference.typed_statements import Domains, one_type_each
from samhw.lang.traverse import accesses, factors_of
from samhw.lang.typed import REAL, Kind, typed
from samhw.tensors import Tensor

__all__ = ["Bounded", "bounds", "evaluate", "evaluate_program", "evaluate_with_bounds", "results"]


class Bounded(NamedTuple):
    """A result as NumPy computes it, and how far from it a backend's may be, element by element.

    Where it is `open`, a backend's may also be an infinity or NaN, as the order of a sum decides; there, the
    value is the number that it may be, or an infinity or NaN if it may be none.
    """

    value: Array
    bound: Array
    open: Mask


def results(
    program: Program,
    tensors: Mapping[str, Tensor | ArrayLike],
    rounding: Rounding | Callable[[Kind], Rounding | None] | None = None,
    wanted: Mapping[str, Points] | None = None,
) -> dict[str, Relation]:
    """The result of every statement of a program, by the name of the tensor that it writes.

    Without a rounding a result has its values, integers in int64 as far as the operations give integers and
    everything else in float64. With one it has the parts of `Bounded`, all float64.

    Args:
        tensors: a tensor, or a dense array, for each input; with a rounding, exactly the backend's values.
        rounding: of the type of all values, or of any type, for a program whose types are written out.
        wanted: by result, points over its modes ("0", "1", ...). Only there, and where they depend on, are
            results computed; the others are left out.

    Raises:
        InputError: when an input is missing, or shapes do not agree or leave an extent open.
    """
    known = {name: Relation.of(tensor) for name, tensor in tensors.items()}
    program = _bound(typed(program, program.value or REAL), known)
    if rounding is None:
        return _results(program, known, Domains.one(VALUES), wanted)
    finite = all(np.isfinite(relation.values).all() for relation in known.values())
    if not isinstance(rounding, Rounding):
        return _of_types(program, known, rounding, wanted, finite)
    if finite:
        running = RunningError(rounding)
        found = _results(program, known, Domains.one(running), wanted)
        if running.is_in_range:
            return found
    beyond = Saturating if rounding.saturates else Extended
    return _results(program, known, Domains.one(beyond(rounding)), wanted)


def _of_types(
    program: Program,
    known: Mapping[str, Relation],
    rounding: Callable[[Kind], Rounding | None],
    wanted: Mapping[str, Points] | None,
    finite: bool,
) -> dict[str, Relation]:
    """The results of a program of several types."""
    whole, kinds = one_type_each(program)
    domains = Domains.of_types(kinds, rounding, finite=finite)
    found = _results(whole, known, domains, wanted)
    while domains.widened():
        found = _results(whole, known, domains, wanted)
    return {name: result for name, result in found.items() if name in program.tensors}


def _results(
    program: Program, inputs: Mapping[str, Relation], domains: Domains, wanted: Mapping[str, Points] | None
) -> dict[str, Relation]:
    known = dict(inputs)
    needed = None if wanted is None else demands(program, known, wanted)
    found = {}
    read_later = {access.tensor for start in program.starts for access in start.reads}
    lasts = []
    for statement in reversed(program.statements):
        lasts.append(statement.lhs.tensor not in read_later)
        read_later.update(access.tensor for access in statement.reads)
    for statement, is_last in zip(program.statements, reversed(lasts), strict=True):
        domain = domains.of(statement.lhs.tensor)
        if statement.scan is not None:
            if statement.lhs.tensor not in known:
                own = [s for s in program.statements if s.scan == statement.scan]
                known |= evaluate_scan(domains, program, statement.scan, own, known)
            result = known[statement.lhs.tensor]
            found[statement.lhs.tensor] = replace(result, values=domain.result(result.values))
            continue
        extents = {
            index: extent for index, extent in program.extents(statement).items() if extent is not None
        }
        within = None if needed is None else needed[statement.lhs.tensor]
        shape = [extent or 0 for extent in program.tensors[statement.lhs.tensor].shape]
        reads = domains.known(statement, known, domain)
        result = evaluate_statement(
            domain, statement, reads, extents, shape=shape, is_last=is_last, within=within
        )
        name = statement.lhs.tensor
        known[name] = result
        found[name] = result if is_last else replace(result, values=domain.result(result.values))
    return found


def evaluate_program(program: Program, tensors: Mapping[str, Tensor | ArrayLike]) -> dict[str, Array]:
    """The values of `results` as dense arrays."""
    return {name: result.to_array() for name, result in results(program, tensors).items()}


def evaluate_with_bounds(
    program: Program, tensors: Mapping[str, Tensor | ArrayLike], rounding: Rounding
) -> dict[str, Bounded]:
    """The values and bounds of `results` as dense arrays."""
    found = results(program, tensors, rounding)
    arrays = {name: result.to_array() for name, result in found.items()}
    return {name: Bounded(value, bound, is_open > 0) for name, (value, bound, is_open) in arrays.items()}


def evaluate(statement: Statement, tensors: Mapping[str, ArrayLike], extents: Mapping[str, int]) -> Array:
    """The dense result of a statement, modes in the order of its left side.

    Args:
        tensors: a tensor, or a dense array, for each that the statement reads.
        extents: the extent of every index.
    """
    known = {name: Relation.of(tensor) for name, tensor in tensors.items()}
    return evaluate_statement(VALUES, statement, known, extents).to_array()


def bounds(
    statement: Statement,
    tensors: Mapping[str, ArrayLike],
    errors: Mapping[str, ArrayLike],
    extents: Mapping[str, int],
    rounding: Rounding,
) -> Array:
    """The bound for each element of a statement's result, modes in the order of its left side.

    Args:
        tensors: a dense array for each tensor that the statement reads.
        errors: how far the backend's elements may be from those; a tensor without an entry is exact.
        extents: the extent of every index.
    """
    domain = RunningError(rounding)
    known = {}
    for name, tensor in tensors.items():
        relation = Relation.of(tensor)
        if name in errors:
            values = domain.element(relation.values, np.asarray(errors[name])[None])
            relation = Relation(relation.points, relation.dense, values, relation.extents)
        known[name] = relation
    bound: Array = evaluate_statement(domain, statement, known, extents).to_array()[1]
    return bound


def _bound(program: Program, tensors: Mapping[str, Relation]) -> Program:
    """The program with the extents of its inputs."""
    shapes = {}
    for decl in program.inputs:
        if decl.name not in tensors:
            raise InputError(f"program '{program.name}' has no data for '{decl.name}'; give it an array")
        extents = tensors[decl.name].extents
        shapes[decl.name] = tuple(extents[str(mode)] for mode in range(len(extents)))
    bound = program.bind(shapes)
    for decl in bound.tensors.values():
        if None in decl.shape:
            index = decl.indices[decl.shape.index(None)]
            raise InputError(
                f"nothing fixes the extent of '{index}' in tensor '{decl.name}'; declare it, as in {index}=16"
            )
    return bound


def demands(
    program: Program, inputs: Mapping[str, Relation], wanted: Mapping[str, Points]
) -> dict[str, Points]:
    """For each result of a program, by name, the points at which it must be computed.

    Args:
        inputs: by the modes of each input.
        wanted: points over modes of those results that are wanted for themselves.
    """
    # The steps of a scan need all of those before them.
    scanned = [s for s in program.statements if s.scan is not None]
    needed: dict[str, Points] = {**wanted, **{s.lhs.tensor: Points.everything() for s in scanned}}
    for access in (access for start in program.starts for access in start.reads):
        needed[access.tensor] = Points.everything()
    for statement in reversed(program.statements):
        own = needed.setdefault(statement.lhs.tensor, Points.nothing())
        extents = {index: extent or 1 for index, extent in program.extents(statement).items()}
        for access in dict.fromkeys(statement.reads):
            if access.tensor in inputs:
                continue
            if statement.scan is not None or not statement.is_plain:
                # Any place may be named.
                if own.count:
                    needed[access.tensor] = Points.everything()
                continue
            shape = {str(mode): extents[index] for mode, index in enumerate(access.names) if index in extents}
            for points in _read(statement, access, own, inputs, extents):
                known = needed.get(access.tensor, Points.nothing())
                needed[access.tensor] = union(known, points, shape)
    return needed


def _read(
    statement: Statement,
    access: Access,
    own: Points,
    inputs: Mapping[str, Relation],
    extents: Mapping[str, int],
) -> Iterator[Points]:
    """The points, over modes, of a tensor that a statement reads for some points of its result: for each use
    of it."""
    if statement.is_move or not own.count:
        yield Points.everything() if own.count else Points.nothing()
        return
    sets = [Points(tuple(statement.lhs.names[int(mode)] for mode in own.indices), own.coords)]
    if statement.runs_along is not None:
        sets = [sets[0].all_along(statement.runs_along, extents)]
    if statement.mask is not None and statement.mask.tensor in inputs:
        sets.append(_points(inputs[statement.mask.tensor], statement.mask))
    uses = [product for product in _products(statement.rhs) if access in accesses(product)]
    others = [[f for f in factors_of(product) if isinstance(f, Access)] for product in uses]
    if access == statement.mask:
        others.append([])
    for factors in others:
        around = [_points(inputs[factor.tensor], factor) for factor in factors if factor.tensor in inputs]
        found = _projected([*sets, *around], access.names, extents)
        yield Points(tuple(str(access.names.index(index)) for index in found.indices), found.coords)


def _products(expr: Expr) -> Iterator[Expr]:
    """The operands of all outermost sums, differences and signs."""
    if isinstance(expr, Add | Sub | Neg):
        for child in expr.children:
            yield from _products(child)
    else:
        yield expr


def _projected(sets: Sequence[Points], kept: Collection[str], extents: Mapping[str, int]) -> Points:
    """What is in all of some sets, as far as some of their indices can tell."""
    sets = distinct(sets)
    while True:
        others = {index for points in sets for index in points.indices}.difference(kept)
        factors = [(points.indices, points.density(extents)) for points in sets]
        taken, gone, _ = sum_next(factors, others, extents)
        found = intersection([sets[n] for n in taken], extents)
        rest = [index for index in found.indices if index not in gone]
        if found.count:
            found = found.onto(rest, extents) if rest else Points.everything()
        if len(taken) == len(sets) or not found.count:
            return found if found.count else Points.nothing()
        sets = distinct([*(points for n, points in enumerate(sets) if n not in taken), found])


def _points(relation: Relation, access: Access) -> Points:
    points = relation.points
    return Points(tuple(access.names[int(mode)] for mode in points.indices), points.coords)
