"""Sums with a single point in each of their rows, in which what is multiplied can be looked up."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from samhw.compiler.einsum import MUL, Apply, Einsum, PickedLevel, View

__all__ = ["picked"]


def picked(e: Einsum, summed: Collection[str]) -> Einsum:
    """e, in which factors are looked up where a sum has nothing to add: over the coordinates of a tensor that
    stores one point in each row (`View.one_each`), and of dense levels of one other factor.

    That tensor gives its values by row, and its coordinates are read where the other factor is entered: there
    is no row of theirs any more, and nothing to be summed.

    Args:
        summed: the indices that e will be summed over.
    """
    match e:
        case Apply(op="neg" | "add" | "sub"):
            return replace(e, operands=tuple(picked(operand, summed) for operand in e.operands))
        case Apply() if e.op == MUL:
            factors = e.operands
            for selector in [f for f in factors if isinstance(f, View) and f.one_each and not f.sieve]:
                factors = _without_rows(factors, selector, summed)
            return e if factors == e.operands else replace(e, operands=factors)
    return e


def _without_rows(factors: tuple[Einsum, ...], selector: View, summed: Collection[str]) -> tuple[Einsum, ...]:
    """The factors of a product, after one of them has been made to select what another is looked up by; as
    they are where that cannot be."""
    places = selector.indices[selector.one_each :]
    using = [f for f in factors if f is not selector and f.free.intersection(places)]
    if len(using) != 1 or not set(places) <= set(summed):
        return factors
    (source,) = using
    if not isinstance(source, View) or source.pattern or source.part or not _can_be_entered(source, places):
        return factors
    rows = replace(
        selector, indices=selector.indices[: selector.one_each], levels=selector.levels[: selector.one_each]
    )
    crd = {place: f"{selector.tensor}.crd{selector.indices.index(place)}" for place in places}
    found = [PickedLevel(source.indices.index(place), rows, crd[place]) for place in places]
    picks = sorted((*source.picks, *found), key=lambda level: level.level)
    changed = {selector: rows, source: replace(source, picks=tuple(picks))}
    return tuple(changed.get(f, f) if isinstance(f, View) else f for f in factors)


def _can_be_entered(source: View, places: Sequence[str]) -> bool:
    """All of these are indices of dense levels."""
    return set(places) <= set(source.indices) and all(
        level.locator is not None or index not in places
        for index, level in zip(source.indices, source.levels, strict=True)
    )
