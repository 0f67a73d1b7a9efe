"""Encodings of sparse tensors as storage formats."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from samhw.importers.core import Build, Hints, HostArray, UnsupportedError, Value
from samhw.importers.core.value import Arguments, Fetch
from samhw.importers.mlir.affine import permuted_dimensions
from samhw.importers.mlir.types import Encoding, Level
from samhw.tensors.formats import level_types

__all__ = ["Storage", "check_encoding", "storage_of", "stored_input"]

_KINDS = {name: level for level, type in level_types().items() for name in type.mlir}
_NOTES = {
    "loose_compressed": "a loose_compressed level is stored as a compressed one",
    "structured": "a structured level is stored as a compressed one",
    "block2_4": "a level of 2 out of 4 is stored as a compressed one",
    "batch": "a batch level is stored as a dense one",
}


@dataclass(frozen=True)
class Storage:
    """How a tensor is stored.

    Attributes:
        format: in the words of a declaration, by the dimensions; None for dense.
        blocks: of each dimension, how large the blocks are that it is stored in; 1 for none.
        notes: what is stored in another way than the encoding says.
    """

    format: str | None
    blocks: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


def check_encoding(encoding: Encoding | None) -> None:
    """Raises `UnsupportedError` for an encoding that cannot be followed."""
    if encoding is None:
        return
    if encoding.problem is not None:
        what, _, way_out = encoding.problem.partition("; ")
        raise UnsupportedError(what, way_out)
    for level in encoding.levels:
        if level.kind not in _KINDS:
            raise UnsupportedError(
                f"has an encoding with the level '{level.kind}', which is not known",
                f"use one of {', '.join(_KINDS)}",
            )


def storage_of(encoding: Encoding | None, shape: Sequence[int]) -> Storage:
    """The format that an encoding says."""
    check_encoding(encoding)
    if encoding is None or not encoding.levels:
        return Storage(None)
    levels = encoding.levels
    notes = tuple(dict.fromkeys(_NOTES[level.kind] for level in levels if level.kind in _NOTES))
    dimensions = permuted_dimensions(levels)
    if dimensions is not None:
        return Storage(_format(levels, dimensions), (), notes)
    blocks = _blocks(levels, len(shape))
    if blocks is None:
        raise UnsupportedError(
            "has an encoding that is neither a permutation of the dimensions nor one into blocks",
            "use 'd0 floordiv b' and 'd0 mod b' for blocks of b",
        )
    for size, block in zip(shape, blocks, strict=True):
        if size % block:
            raise UnsupportedError(
                f"has blocks of {block} in a dimension of {size}", "make the one a multiple of the other"
            )
    return Storage(_block_format(levels, blocks), blocks, notes)


def _format(levels: Sequence[Level], dimensions: Sequence[int]) -> str | None:
    kinds = [_KINDS[level.kind] for level in levels]
    if all(level_types()[kind].is_full for kind in kinds) and list(dimensions) == sorted(dimensions):
        return None
    order = "" if list(dimensions) == sorted(dimensions) else f" @ ({', '.join(map(str, dimensions))})"
    return f"({', '.join(kinds)}){order}"


def _blocks(levels: Sequence[Level], rank: int) -> tuple[int, ...] | None:
    """The size of the blocks in each dimension; None where that is not what the levels are."""
    found = [1] * rank
    for level in levels:
        place = level.dimension
        if len(place.factors) != 1 or place.factors[0][1] != 1 or place.offset:
            return None
        size = place.floordiv or place.mod
        if size < 0:
            return None
        if size:
            found[place.factors[0][0]] = size
    wanted = sorted((d, kind) for d in range(rank) for kind in (0, 1)[: 1 + (found[d] > 1)])
    has = sorted((level.dimension.factors[0][0], int(bool(level.dimension.mod))) for level in levels)
    return tuple(found) if has == wanted else None


def _block_format(levels: Sequence[Level], blocks: Sequence[int]) -> str:
    """Of the tensor whose dimensions are split into those of blocks and of what is in them."""
    places: dict[tuple[int, bool], int] = {}
    for dimension, block in enumerate(blocks):
        places[dimension, False] = len(places)
        if block > 1:
            places[dimension, True] = len(places)
    order = [places[level.dimension.factors[0][0], bool(level.dimension.mod)] for level in levels]
    kinds = [_KINDS[level.kind] for level in levels]
    return f"({', '.join(kinds)}) @ ({', '.join(map(str, order))})"


def stored_input(
    build: Build, key: object, label: str, example: HostArray, fetch: Fetch, storage: Storage
) -> Value:
    """An input in its storage format."""
    if not storage.blocks:
        return build.input(key, label, example, fetch, Hints(storage.format))
    split: list[int] = []
    groups: list[int] = []
    for size, block in zip(example.shape, storage.blocks, strict=True):
        parts = [size // block, block] if block > 1 else [size]
        split += parts
        groups.append(len(parts))

    def in_blocks(arguments: Arguments) -> HostArray:
        return fetch(arguments).reshaped(split)

    value = build.input(key, label, example.reshaped(split), in_blocks, Hints(storage.format))
    modes: list[tuple[str, ...]] = []
    left = list(value.modes)
    for count in groups:
        modes.append(tuple(index for mode in left[:count] for index in mode))
        del left[:count]
    assert prod(split) == prod(example.shape)
    return Value(tuple(modes), value.expr)
