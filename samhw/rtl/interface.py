"""What lies between a fabric, which computes, and a shell, which gives it memories and a host
(docs/host_port.md, "Fabric and shell")."""

from collections.abc import Iterable, Sequence

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from samhw.graph import Design
from samhw.graph.address_map import MOST_ACTORS, STATES
from samhw.names import identifiers
from samhw.rtl.access import MemoryReadSignature, MemoryWriteSignature
from samhw.rtl.actor import Error

__all__ = ["MemorySignature", "RunSignature", "Turns", "extent_members", "memory_members"]

Turns = frozenset[int]
"""Regions, by their numbers in the order in which they run."""


class MemorySignature(wiring.Signature):
    """The ports of all nodes to one memory, seen from the fabric.

    Args:
        capacity: in places.
        width: of a place, in bits.
        readers: the regions of each read port. Regions count as they run.
        writers: those of each write port, no two of which have a region in common; none for a memory that
            only the host writes.
        banks: how many it lies in; 0 where each reader may have a copy.
        ports: in banks, the number of each read port in its regions.

    Members:
        read<k>: the read ports, in the order of the nodes.
        write<k>: the write ports.
        cycle: in banks, the cycle of the region, modulo their number.
    """

    def __init__(
        self,
        *,
        capacity: int,
        width: int,
        readers: Sequence[Turns],
        writers: Sequence[Turns] = (),
        banks: int = 0,
        ports: Sequence[int] = (),
    ):
        self.banks = banks
        self.ports = tuple(ports)
        self.readers = tuple(readers)
        self.writers = tuple(writers)
        address = ceil_log2(capacity)
        members = {name: Out(MemoryReadSignature(address, width)) for name in self.reads}
        members |= {name: Out(MemoryWriteSignature(address, width)) for name in self.writes}
        if banks:
            members["cycle"] = Out((banks - 1).bit_length())
        super().__init__(members)

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the read ports."""
        return tuple(f"read{k}" for k in range(len(self.readers)))

    @property
    def writes(self) -> tuple[str, ...]:
        """The names of the write ports."""
        return tuple(f"write{k}" for k in range(len(self.writers)))


class RunSignature(wiring.Signature):
    """How a shell starts runs and learns what came of them, seen from the fabric. But for the last six these
    are members of `RunControl`, which says more of them.

    Members:
        request, running, done, cycle, region, spent_of, spent, error, error_node, error_region: as of
            `RunControl`.
        empty, full: a bit for each channel that is built.
        clear: with `recovery`, takes the fabric to where a reset does.
        drained: with `drains`, no answer from memory off the chip is outstanding. Only then `clear` reaches
            all of the ports there.
        counter: with counters of `counted` nodes and ports, the number of a counter, as the address map has
            them.
        count: the counter that was asked for two cycles ago.
    """

    def __init__(
        self,
        *,
        regions: int,
        channels: int,
        recovery: bool = False,
        drains: bool = False,
        counted: int = 0,
    ):
        super().__init__(
            {
                **({"clear": In(1)} if recovery else {}),
                **({"drained": Out(1)} if drains else {}),
                **({"counter": In(counter_bits(counted)), "count": Out(32)} if counted else {}),
                "request": In(1),
                "running": Out(1),
                "done": Out(1),
                "cycle": Out(64),
                "region": Out(regions),
                "spent_of": In(range(regions)),
                "spent": Out(32),
                "error": Out(Error),
                "error_node": Out(32),
                "error_region": Out(range(regions)),
                "empty": Out(channels),
                "full": Out(channels),
            }
        )


def counter_bits(counted: int) -> int:
    """Bits of the number of a counter: state, actor, node or port."""
    return (counted * MOST_ACTORS * len(STATES) - 1).bit_length()


def memory_members(memories: Iterable[str]) -> dict[str, str]:
    """What the interface to each memory is called."""
    return {name: f"mem_{identifier}" for name, identifier in identifiers(memories).items()}


def extent_members(design: Design) -> dict[str, str]:
    """What the extent of each index is called, but for those that are fixed, which are constants."""
    free = (index for index in design.extents if index not in design.fixed)
    return {index: f"extent_{identifier}" for index, identifier in identifiers(free).items()}
