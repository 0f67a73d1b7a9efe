"""Inputs in their storage formats, as encodings say them, and data that a text holds, or that its numbers of
rows decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from samhw.importers.core import Build, Hints, HostArray, UnsupportedError, Value
from samhw.importers.core.value import Arguments, Fetch
from samhw.importers.mlir.attributes import raw_elements
from samhw.importers.mlir.compute import Compute
from samhw.importers.mlir.operation import Elements, MlirModule
from samhw.importers.mlir.types import Encoding, Level, TensorType
from samhw.importers.mlir.whole_numbers import is_float
from samhw.lang.expr import Access
from samhw.tensors.formats import level_types

__all__ = [
    "Storage",
    "check_encoding",
    "constant",
    "constant_shape",
    "storage_of",
    "stored_input",
    "values_of",
]

Array = npt.NDArray[np.float64]

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


DENSE = Storage(None)


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
    in_blocks = any(level.dimension.divides for level in levels)
    return Storage(_format(levels, blocks, in_blocks=in_blocks), blocks if in_blocks else (), notes)


def _blocks(levels: Sequence[Level], rank: int) -> tuple[int, ...] | None:
    """The size of the blocks in each dimension, 1 for none; None where that is not what the levels are."""
    found = [1] * rank
    for level in levels:
        place = level.dimension
        if len(place.factors) != 1 or place.factors[0][1] != 1 or place.offset:
            return None
        size = place.floordiv or place.mod
        if size:
            dimension = place.factors[0][0]
            if size < 0 or found[dimension] not in (1, size):
                return None
            found[dimension] = size
    wanted = sorted((d, kind) for d in range(rank) for kind in (False, True)[: 1 + (found[d] > 1)])
    return tuple(found) if sorted(map(_part, levels)) == wanted else None


def _part(level: Level) -> tuple[int, bool]:
    """The dimension of a level, and whether it is what is in its blocks."""
    return level.dimension.factors[0][0], bool(level.dimension.mod)


def _format(levels: Sequence[Level], blocks: Sequence[int], *, in_blocks: bool) -> str | None:
    """In the words of a declaration, of the tensor whose dimensions are split into those of blocks and of
    what is in them; None for dense."""
    parts = [(d, inner) for d, block in enumerate(blocks) for inner in (False, True)[: 1 + (block > 1)]]
    order = [parts.index(_part(level)) for level in levels]
    kinds = [_KINDS[level.kind] for level in levels]
    if order == sorted(order) and not in_blocks:
        return None if all(level_types()[kind].is_full for kind in kinds) else f"({', '.join(kinds)})"
    return f"({', '.join(kinds)}) @ ({', '.join(map(str, order))})"


def stored_input(
    build: Build, key: object, label: str, example: HostArray, fetch: Fetch, storage: Storage
) -> Value:
    """An input in its storage format."""
    if not storage.blocks:
        return build.input(key, label, example, fetch, Hints(storage.format))
    parts = [
        [size // block, block] if block > 1 else [size]
        for size, block in zip(example.shape, storage.blocks, strict=True)
    ]
    split = [size for part in parts for size in part]

    def in_blocks(arguments: Arguments) -> HostArray:
        return fetch(arguments).reshaped(split)

    value = build.input(key, label, example.reshaped(split), in_blocks, Hints(storage.format))
    left = iter(value.modes)
    modes = [tuple(index for mode in islice(left, len(part)) for index in mode) for part in parts]
    return Value(tuple(modes), value.expr)


# Constants


def constant_shape(kind: TensorType) -> tuple[int, ...]:
    """That of a tensor in the text.

    Raises:
        UnsupportedError: for one that cannot be computed with.
    """
    if kind.element.startswith("complex"):
        raise UnsupportedError("has complex numbers", "compute with real numbers")
    shape = tuple(size or 0 for size in kind.shape)
    if 0 in shape:
        raise UnsupportedError("has no elements", "leave it out")
    return shape


def values_of(module: MlirModule, held: Elements) -> Array | None:
    """The data of a tensor, of the module's resources perhaps; None where the text leaves them out."""
    found = module.resources.get(held.name)
    if held.values is not None or found is None:
        return held.values
    try:
        return raw_elements(bytes.fromhex(found[2:])[4:], held.type.element, constant_shape(held.type))
    except ValueError:
        raise UnsupportedError(f"has data ('{held.name}') that do not fit {held.type}", "mend them") from None


def constant(compute: Compute, name: str, values: Array, element: str, storage: Storage = DENSE) -> Value:
    """Data that are the same in every run. What is -inf of them is hidden; conditions are stored where they
    hold."""
    build = compute.build
    first = values.reshape(-1)[0]
    if (values == first).all():
        return compute.uniform(float(first), values.shape)
    hidden = np.isneginf(values)
    if hidden.any():
        rest = constant(compute, name, np.where(hidden, 0, values), element, storage)
        shown = constant(compute, name, np.where(hidden, 0.0, 1.0), "i1")
        modes, (expr, mask), _ = compute.operations.broadcast([rest, shown])
        assert isinstance(mask, Access)
        return Value(modes, expr, mask)
    if element == "i1" and storage.format is None:
        coords = np.array(np.nonzero(values))
        held = HostArray(values.shape, np.ones(coords.shape[1], np.float32), coords)
        kinds = ["dense"] * (values.ndim - 1) + ["compressed"]
        return build.constant(held, name, Hints(f"({', '.join(kinds)})"))
    example = HostArray.dense(values.astype(np.float32) if is_float(element) else values)
    return stored_input(build, ("data", example.content, storage), name, example, lambda _: example, storage)
