"""Copies between the host's memory and arrays on the chip."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from samhw.graph import MemoryRole
from samhw.hls.interface import Sequencer
from samhw.hls.program import HlsRegion

__all__ = ["Copies", "CopyIn", "CopyOut", "copies_of_region", "copies_of_sequence"]

T = TypeVar("T")


@dataclass(frozen=True)
class CopyIn:
    """What is copied from a port: to each of some arrays, as many words as the scalar `stored` says."""

    port: str
    memory: str
    word: str
    stored: str
    arrays: tuple[str, ...]


@dataclass(frozen=True)
class CopyOut:
    """What is copied to a port from an array: as many words as the scalar `count` says."""

    port: str
    memory: str
    word: str
    count: str
    array: str

    @property
    def told(self) -> str:
        """The scalar by which the host learns how many they are."""
        return f"{self.count}_told"


@dataclass(frozen=True)
class Copies:
    """All copies of a kernel before it runs and afterwards."""

    loads: Sequence[CopyIn]
    stores: Sequence[CopyOut]

    def by_master(
        self, bundles: Mapping[str, str]
    ) -> tuple[dict[str, list[CopyIn]], dict[str, list[CopyOut]]]:
        """Loads and stores by master, by which they come and go one after another; several masters work side
        by side."""
        return _grouped(self.loads, lambda load: bundles[load.port]), _grouped(
            self.stores, lambda store: bundles[store.port]
        )


def _grouped(some: Sequence[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for one in some:
        found.setdefault(key(one), []).append(one)
    return found


def copies_of_region(region: HlsRegion) -> Copies:
    """Those of a region that is a kernel itself: each port has an array."""
    return Copies(
        [
            CopyIn(port.name, port.memory.name, port.word, port.stored, (port.array,))
            for port in region.inputs
            if not port.off_chip
        ],
        [
            CopyOut(port.name, port.memory.name, port.word, region.counts[port.name], port.array)
            for port in region.outputs
            if not port.off_chip
        ],
    )


def copies_of_sequence(order: Sequencer) -> Copies:
    """Those of a kernel that runs several regions: the host's inputs to all of their arrays, and its
    outputs."""
    loads: dict[str, CopyIn] = {}
    for array in order.arrays:
        if array.memory.role is MemoryRole.INPUT:
            before = loads[array.first].arrays if array.first in loads else ()
            loads[array.first] = CopyIn(
                array.first, array.memory.name, array.word, f"{array.first}_stored", (*before, array.array)
            )
    stores = [
        CopyOut(array.first, array.memory.name, array.word, order.counts[array.memory.name], array.array)
        for array in order.arrays
        if array.memory.role is MemoryRole.OUTPUT and array.name == array.first
    ]
    return Copies(list(loads.values()), stores)
