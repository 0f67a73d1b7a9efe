"""Orders that importers would store results in."""

from collections.abc import Sequence

from samhw.frontend.expr import Access, accesses
from samhw.importers.core.build import Build

__all__ = ["hint_order", "order_as_computed"]

Indices = tuple[str, ...]


def hint_order(build: Build, access: Access, order: Sequence[str]) -> None:
    """Asks for an order of a result's storage, unless somebody has."""
    stored = build.stored[access.tensor]
    if stored.fetch is None and not stored.wish:
        own = dict(zip(access.indices, build.axes.resolved(stored.modes), strict=True))
        stored.wish = tuple(own[index] for index in order)


def order_as_computed(build: Build, access: Access) -> Indices:
    """A tensor's indices in the order of what it is computed of: rows before features."""
    for made in build.statements:
        if made.lhs.tensor == access.tensor:
            names = dict(
                zip(
                    build.axes.resolved(made.lhs.indices),
                    build.axes.resolved(access.indices),
                    strict=True,
                )
            )
            first = next(accesses(build.resolve_expr(made.rhs)))
            rest = [index for index in names if index not in first.indices]
            return tuple(names[index] for index in (*first.indices, *rest) if index in names)
    return access.indices
