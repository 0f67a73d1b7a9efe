"""What must be known of the tensors of a program for some points of its results alone."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from samhw.lang import Access, Add, Expr, Neg, Program, Statement, Sub
from samhw.lang.reference.elimination import sum_next
from samhw.lang.reference.join import distinct, intersection, union
from samhw.lang.reference.relation import Points, Relation
from samhw.lang.traverse import accesses, factors_of

__all__ = ["demands"]


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
