"""A result that lanes have stored in shards, as one (`TensorBinding.shards`)."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from samhw.errors import InputError
from samhw.graph import TensorBinding, memory_name
from samhw.graph.numerics import Words
from samhw.tensors import Format

__all__ = ["joined", "shard_sizes"]


def shard_sizes(binding: TensorBinding, sizes: Sequence[int]) -> Iterator[tuple[int | None, Sequence[int]]]:
    """The shards that a tensor lies in, None for a whole one, each with the sizes of its levels.

    Args:
        sizes: those of the whole.
    """
    if binding.shards == 1:
        yield None, sizes
        return
    for shard in range(binding.shards):
        yield shard, (len(range(shard, sizes[0], binding.shards)), *sizes[1:])


def joined(binding: TensorBinding, shape: tuple[int, ...], words: Mapping[str, Words]) -> dict[str, Words]:
    """The arrays of an output tensor, from the words of its memories.

    Args:
        shape: that of the run.

    Raises:
        InputError: where a shard has fibers that end before they start.
    """
    format = Format.parse(binding.format, len(shape))
    if binding.shards == 1:
        return {name.removeprefix(f"{binding.stored}."): array for name, array in words.items()}

    def stored(array: str) -> list[Words]:
        return [words[memory_name(binding.stored, array, shard)] for shard in range(binding.shards)]

    # For each shard, the outermost coordinate that each of its fibers lies in.
    sizes = format.level_sizes(shape)
    if format.levels[0].is_full:
        rows = [np.arange(shard, sizes[0], binding.shards) for shard in range(binding.shards)]
        whole: dict[str, Words] = {}
    else:
        rows = stored("crd0")
        whole = {"crd0": _by_row(rows, rows)}
        whole["pos0"] = np.array([0, len(whole["crd0"])])
    for level, size in list(enumerate(sizes))[1:]:
        if format.levels[level].is_full:
            rows = [np.repeat(own, size) for own in rows]
            continue
        lengths = [np.diff(pos) for pos in stored(f"pos{level}")]
        if any((own < 0).any() for own in lengths):
            raise InputError(f"a fiber of level {level} ends before it starts")
        whole[f"pos{level}"] = np.concatenate([[0], np.cumsum(_by_row(rows, lengths))])
        rows = [np.repeat(own, length) for own, length in zip(rows, lengths, strict=True)]
        whole[f"crd{level}"] = _by_row(rows, stored(f"crd{level}"))
    whole["vals"] = _by_row(rows, stored("vals"))
    return whole


def _by_row(rows: Sequence[Words], shards: Sequence[Words]) -> Words:
    """What the shards have, row after row. Within a row the order stays."""
    found: Words = np.concatenate(shards)[np.argsort(np.concatenate(rows), kind="stable")]
    return found
