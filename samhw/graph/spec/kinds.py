"""From the name of a kind to its spec: the `SPEC` of its folder in `samhw.primitives`."""

from functools import cache

from samhw.errors import InputError
from samhw.graph.spec.base import Spec
from samhw.primitives import folders, role

__all__ = ["kinds", "spec_of"]


@cache
def kinds() -> tuple[str, ...]:
    """The kinds of primitives, in alphabetical order."""
    return tuple(folder for folder in folders() if _spec(folder))


def spec_of(kind: str) -> Spec:
    """What a kind is; raises `InputError` if there is none of that name."""
    spec = _spec(kind)
    if spec is None:
        raise InputError(f"There is no primitive {kind!r}; the kinds are {', '.join(kinds())}.")
    return spec


@cache
def _spec(folder: str) -> Spec | None:
    """The spec in a folder; None if it has what kinds share."""
    return getattr(role(folder, "spec"), "SPEC", None)
