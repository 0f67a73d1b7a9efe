"""The memories and extents of a run, checked against the graph."""

import mmap
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError
from samhw.graph import Graph, Memory, MemoryRole
from samhw.limits import WORD, check_memory
from samhw.sim.machine import Stores
from samhw.sim.network import Place
from samhw.sim.worker import as_words

__all__ = ["make_stores", "zeros"]

_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
"""Of Linux; Python has its name since 3.13."""


def make_stores(
    graph: Graph,
    memories: Mapping[str, NDArray[Any]],
    extents: Mapping[str, int],
    steps: Mapping[str, int] = MappingProxyType({}),
    kept: Mapping[str, NDArray[np.int64]] = MappingProxyType({}),
) -> tuple[Stores, dict[str, NDArray[np.int64]]]:
    """The stores of a run, and those of them that are its OUTPUT memories, as arrays of their capacity.

    Args:
        steps: those that the repeats around the graph are at.
        kept: the OUTPUT memories that an earlier run has left.

    Raises:
        InputError: for a memory, a step or an extent that the run lacks, or that does not fit the graph or
            this machine.
    """
    written = [m for m in graph.memories if m.role is MemoryRole.OUTPUT]
    outputs = {m.name: kept[m.name] if m.name in kept else zeros(m) for m in written}
    inputs = {m.name: _input(m, memories) for m in graph.memories if m.role is MemoryRole.INPUT}
    stores = {(Place.MEMORY, name): as_words(array) for name, array in (inputs | outputs).items()}
    for index, greatest in graph.extents.items():
        if index not in extents:
            raise InputError(f"The run lacks the extent of index {index!r}; give it.")
        if not 0 <= extents[index] <= greatest:
            raise InputError(f"Index {index!r} has extent {extents[index]}; give 0 to {greatest}.")
        stores[Place.EXTENT, index] = [int(extents[index])]
    for repeat in {name for node in graph.nodes for name in node.repeats.values()}:
        if repeat not in steps:
            raise InputError(f"The run lacks the step of the repeat {repeat!r}; give it.")
        stores[Place.STEP, repeat] = [int(steps[repeat])]
    return stores, outputs


def zeros(memory: Memory) -> NDArray[np.int64]:
    """The words of a memory. Only those that are written take memory of this machine: the capacity of a
    compressed level is what its extents allow, which may be far more than a run stores."""
    size = WORD * memory.words
    if not size:
        return np.zeros(0, np.int64)
    try:
        pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    except (OSError, OverflowError, MemoryError):
        check_memory(size, f"Memory {memory.name!r}", "build with a smaller capacity (--capacity)")
        raise
    return np.frombuffer(pages, np.int64)


def _input(memory: Memory, memories: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
    if memory.name not in memories:
        raise InputError(f"The run lacks memory {memory.name!r}; give its words.")
    words = np.asarray(memories[memory.name])
    if words.ndim != 1 or (words.size and (words.dtype.kind not in "iu" or words.min() < 0)):
        raise InputError(f"Memory {memory.name!r} holds words; give a flat array of integers >= 0.")
    if words.size > memory.words:
        raise InputError(
            f"Memory {memory.name!r} holds {memory.words} words, but {words.size} were given; "
            "build with a greater capacity (--capacity)."
        )
    return np.ascontiguousarray(words, np.int64)
