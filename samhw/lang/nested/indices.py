"""Affine indices: whole numbers and multiples of loop variables, as `samhw.lang.ComputedIndex` has them,
with what access maps need in addition."""

from collections.abc import Mapping, Sequence

from samhw.lang.index import ComputedIndex

__all__ = ["Affine", "constant", "matrix", "span", "substituted", "text_of", "value_of", "variable"]

Affine = ComputedIndex


def variable(name: str) -> Affine:
    """A loop variable as an index."""
    return Affine(((name, 1),))


def constant(number: int) -> Affine:
    """A number as an index."""
    return Affine((), number)


def substituted(index: Affine, values: Mapping[str, Affine]) -> Affine:
    """The index with indices instead of variables, all at once; one that `values` lacks stays."""
    terms: list[tuple[str, int]] = []
    offset = index.offset
    for name, factor in index.terms:
        value = values.get(name)
        if value is None:
            terms.append((name, factor))
        else:
            terms += [(inner, factor * k) for inner, k in value.terms]
            offset += factor * value.offset
    return Affine.of(terms, offset)


def span(index: Affine, extents: Mapping[str, int]) -> tuple[int, int]:
    """The least and the greatest value while each variable goes from 0 to its extent less 1."""
    ends = [(factor * (extents[name] - 1)) for name, factor in index.terms]
    return index.offset + sum(e for e in ends if e < 0), index.offset + sum(e for e in ends if e > 0)


def value_of(index: Affine, values: Mapping[str, int]) -> int:
    """The number that it is."""
    return index.offset + sum(factor * values[name] for name, factor in index.terms)


def matrix(
    indices: Sequence[Affine], variables: Sequence[str]
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """An access map as the FractalTensor paper writes it: M and o of ``M t + o``."""
    rows = tuple(tuple(dict(index.terms).get(name, 0) for name in variables) for index in indices)
    return rows, tuple(index.offset for index in indices)


def text_of(index: Affine) -> str:
    """The index as text: ``2*t + d - 1``."""
    if len(index.terms) == 1 and index.terms[0][1] == 1 and not index.offset:
        return index.terms[0][0]
    return str(index)
