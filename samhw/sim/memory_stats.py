"""What off-chip memory did in a run, by port, by master, and by channel of a DRAM."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from samhw.graph import Dram, OffChipMemory, RecordedMemory
from samhw.sim.dram import dram_counts
from samhw.sim.off_chip import MemorySystem
from samhw.sim.port_actors import AHEAD, HAVE, USED, VAIN
from samhw.sim.worker import LineAccess

__all__ = ["DramChannelStats", "MasterStats", "MemoryStats", "PortStats", "joined_memory", "memory_stats"]


@dataclass(frozen=True)
class DramChannelStats:
    """What one channel of a DRAM did. Every request is a hit, a miss or a conflict."""

    reads: int
    writes: int
    hits: int
    misses: int
    conflicts: int
    bytes: int
    refreshing: int
    """Clocks of the memory that requests waited for refreshes, summed over the requests."""


@dataclass(frozen=True)
class MasterStats:
    """What one master did."""

    reads: int
    """Lines."""
    writes: int
    bytes: int


@dataclass(frozen=True)
class PortStats:
    """What one port did."""

    write: bool
    accesses: int
    """Beats that firings have read through it, or written."""
    requests: int
    """Lines asked for."""
    ahead: int
    """Of these, lines that it read ahead,"""
    vain: int
    """and of these, those that nobody read."""
    bytes: int
    latency: float
    """Cycles from a request until the last of its answer serves, on average."""


@dataclass(frozen=True)
class MemoryStats:
    """What off-chip memory did in a run of this many cycles.

    Attributes:
        masters: in their order.
        channels: of a DRAM, in their order; else empty. Of regions side by side the first one has those of
            all.
        ports: by name, '<node>.<parameter>', in their order.
    """

    memory: OffChipMemory
    cycles: int
    masters: tuple[MasterStats, ...]
    channels: tuple[DramChannelStats, ...]
    ports: Mapping[str, PortStats]

    @property
    def requests(self) -> int:
        """Lines read and written."""
        return sum(master.reads + master.writes for master in self.masters)

    @property
    def bytes(self) -> int:
        """Bytes moved, whole lines."""
        return sum(master.bytes for master in self.masters)

    @property
    def peak(self) -> float:
        """The most bytes that can move in a cycle one way: those of all masters' buses, or fewer if the
        memory moves fewer."""
        if isinstance(self.memory, RecordedMemory):
            return float(self.memory.width)
        bus = float(self.memory.ports.masters * self.memory.ports.beat)
        return min(bus, self.memory.peak) if isinstance(self.memory, Dram) else bus

    @property
    def utilisation(self) -> float:
        """The share of the peak bandwidth that was used."""
        return self.bytes / (max(self.cycles, 1) * self.peak)

    @property
    def busiest(self) -> float:
        """The greatest share of its own peak bandwidth that a master used."""
        most = max(master.bytes for master in self.masters)
        return most * len(self.masters) / (max(self.cycles, 1) * self.peak)


def joined_memory(stats: Sequence[MemoryStats | None], cycles: int) -> MemoryStats | None:
    """What several runs did together, which took that many cycles."""
    found = [one for one in stats if one is not None]
    if not found:
        return None
    ports = {}
    for name, port in found[0].ports.items():
        own = [one.ports[name] for one in found]
        requests = sum(one.requests for one in own)
        waited = sum(one.latency * one.requests for one in own)
        sums = _sum(own, ("accesses", "requests", "ahead", "vain", "bytes"))
        ports[name] = PortStats(write=port.write, latency=waited / max(requests, 1), **sums)
    masters = zip(*(one.masters for one in found), strict=True)
    channels = zip(*(one.channels for one in found), strict=True)
    return MemoryStats(
        found[0].memory,
        cycles,
        tuple(MasterStats(**_sum(own, vars(own[0]))) for own in masters),
        tuple(DramChannelStats(**_sum(own, vars(own[0]))) for own in channels),
        ports,
    )


def _sum(stats: Sequence[object], names: Iterable[str]) -> dict[str, int]:
    return {name: sum(getattr(one, name) for one in stats) for name in names}


def memory_stats(
    system: MemorySystem, accesses: Sequence[LineAccess], cycles: int, *, first: bool
) -> MemoryStats:
    """The statistics of a memory in the run of a region.

    Args:
        accesses: of the region's ports.
        first: it is the first one of those that run side by side.
    """
    line = system.ports.line
    masters = tuple(_master_stats(accesses, master, line) for master in range(system.ports.masters))
    ports = {access.port.name: _port_stats(access, line) for access in accesses}
    channels = _channels(system) if first else tuple(_NOTHING for _ in _channels(system))
    return MemoryStats(system.memory, cycles, masters, channels, ports)


_NOTHING = DramChannelStats(0, 0, 0, 0, 0, 0, 0)


def _master_stats(accesses: Sequence[LineAccess], master: int, line: int) -> MasterStats:
    own = [access for access in accesses if access.port.array.master == master]
    reads = sum(access.served for access in own if not access.port.write)
    writes = sum(access.served for access in own if access.port.write)
    return MasterStats(reads, writes, (reads + writes) * line)


def _channels(system: MemorySystem) -> tuple[DramChannelStats, ...]:
    dram = system.memory
    if not isinstance(dram, Dram):
        return ()
    return tuple(
        DramChannelStats(
            c.reads,
            c.writes,
            c.hits,
            c.misses,
            c.conflicts,
            (c.reads + c.writes) * dram.burst_bytes,
            c.refreshing,
        )
        for c in dram_counts(system.dram)
    )


def _port_stats(access: LineAccess, line: int) -> PortStats:
    state = access.worker.state
    requests, write = access.served, access.port.write
    return PortStats(
        write=write,
        accesses=state[USED],
        requests=requests,
        ahead=0 if write else state[AHEAD],
        vain=0 if write else state[VAIN] + state[HAVE],
        bytes=requests * line,
        latency=access.waited / max(requests, 1),
    )
