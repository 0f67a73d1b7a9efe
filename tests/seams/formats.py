"""Formats for the tensors of a drawn program, and data that fit them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tests.seams.draft import Draft

__all__ = ["WISHES", "drawn", "fitting", "in_blocks", "of_result"]

Array = np.ndarray[Any, np.dtype[Any]]

WISHES = ("compressed", "mode order", "coo", "singleton", "ell", "ragged", "dia", "bcsr", "dense level")
"""The features that a format of an input can have."""


def drawn(draft: Draft, wish: str | None, modes: list[str]) -> tuple[str, list[str]]:
    """A format, and the modes that it is for: those given, or as many as it needs."""
    if wish in ("mode order", "coo", "singleton", "ell", "ragged", "dia", "bcsr") and len(modes) != 2:
        modes = _two(draft, modes)
    chance, rank = draft.random, len(modes)
    if wish is None and rank == 2:
        wish = chance.choice([*WISHES, "dense level", "dense level", "compressed", "compressed"])
        wish = "compressed" if wish in ("singleton", "bcsr", "dia") and draft.chance(0.8) else wish
    if wish is None and rank:
        wish = chance.choice(["dense level", "dense level", "compressed", "mode order"])
    if rank == 0 or wish == "dense level":
        return "dense", modes
    if wish == "mode order" and rank > 1:
        order = list(range(rank))
        while order == sorted(order):
            chance.shuffle(order)
        kind = chance.choice(["dense", "csf"])
        return f"{kind} @ ({', '.join(map(str, order))})", modes
    two = {
        "coo": "coo",
        "singleton": "(dense, singleton)",
        "ell": f"(dense, ell({max(1, draft.shape(modes)[-1])}))",
        "ragged": "(dense, ragged)",
        "dia": "(dense, dia)",
        "bcsr": "bcsr(2)",
    }
    if wish in two and rank == 2:
        return two[wish], modes
    levels = [chance.choice(["dense", "compressed"]) for _ in modes]
    levels[chance.randrange(rank)] = "compressed"
    return f"({', '.join(levels)})", modes


def _two(draft: Draft, modes: list[str]) -> list[str]:
    """Two modes, of these as far as there are."""
    others = [name for name in draft.some(4, 4) if name not in modes]
    return [*modes[:2], *others[: 2 - len(modes[:2])]]


def in_blocks(draft: Draft) -> None:
    """Stores every tensor in blocks of two along each mode, as they have to agree, if they can be."""
    for tensor in draft.tensors.values():
        if tensor.modes and not tensor.places:
            is_sparse = len(tensor.modes) == 2 and tensor.format not in (None, "dense")
            tensor.format = "bcsr(2)" if is_sparse else "bdense(2)"


def of_result(draft: Draft, modes: list[str]) -> str | None:
    """One that a result can have."""
    if not modes:
        return None
    levels = ", ".join(draft.random.choice(["dense", "compressed"]) for _ in modes)
    if len(modes) > 1 and draft.chance(0.3):
        order = draft.random.sample(range(len(modes)), len(modes))
        return f"({levels}) @ ({', '.join(map(str, order))})"
    return f"({levels})"


def fitting(format: str, array: Array, source: random.Random) -> Array:
    """Data that can be stored so: exactly one number in each row of a singleton level."""
    if format != "(dense, singleton)" or not array.size:
        return array
    kept = np.zeros_like(array)
    for row in range(array.shape[0]):
        column = source.randrange(array.shape[1])
        kept[row, column] = array[row, column] or 1
    return kept
