"""What off-chip memory did in a run, by channel of the memory and by port."""

from collections.abc import Mapping
from dataclasses import dataclass

from samhw.graph import Dram
from samhw.sim.port_rule import PortCounts, port_counts
from samhw.sim.ports import Arbiter

__all__ = ["DramChannelStats", "MemoryStats", "PortStats", "memory_stats"]


@dataclass(frozen=True)
class DramChannelStats:
    """What one channel of the memory did. Every request is a hit, a miss or a conflict."""

    reads: int
    writes: int
    hits: int
    misses: int
    conflicts: int
    bytes: int
    refreshing: int
    """Clocks of the memory that requests waited for refreshes, summed over the requests."""


@dataclass(frozen=True)
class PortStats:
    """What one port did."""

    write: bool
    words: int
    """Words that firings have read through it, or written."""
    requests: int
    """Lines asked for."""
    ahead: int
    """Of these, lines that it read ahead."""
    bytes: int
    latency: float
    """Cycles from a request to its end, on average."""


@dataclass(frozen=True)
class MemoryStats:
    """What off-chip memory did in a run of this many cycles.

    Attributes:
        ports: by name, '<node>/<actor>:<memory>', in the order of their numbers.
    """

    dram: Dram
    cycles: int
    channels: tuple[DramChannelStats, ...]
    ports: Mapping[str, PortStats]

    @property
    def requests(self) -> int:
        """Lines read and written."""
        return sum(channel.reads + channel.writes for channel in self.channels)

    @property
    def bytes(self) -> int:
        """Bytes moved, whole lines."""
        return sum(channel.bytes for channel in self.channels)

    @property
    def utilisation(self) -> float:
        """The share of the peak bandwidth of all channels that was used."""
        return self.bytes / (max(self.cycles, 1) * self.dram.peak)

    @property
    def busiest(self) -> float:
        """The greatest share of its own peak bandwidth that a channel used."""
        most = max(channel.bytes for channel in self.channels)
        return most * len(self.channels) / (max(self.cycles, 1) * self.dram.peak)


def memory_stats(arbiter: Arbiter, cycles: int) -> MemoryStats:
    """The statistics of a run's memory."""
    dram = arbiter.memory.dram
    channels = tuple(
        DramChannelStats(
            c.reads,
            c.writes,
            c.hits,
            c.misses,
            c.conflicts,
            (c.reads + c.writes) * dram.burst_bytes,
            c.refreshing,
        )
        for c in arbiter.memory.counts
    )
    ports = {
        name: _port_stats(port_counts(access.words, at), dram)
        for access in arbiter.accesses
        for name, at in access.ports.items()
    }
    return MemoryStats(dram, cycles, channels, ports)


def _port_stats(port: PortCounts, dram: Dram) -> PortStats:
    return PortStats(
        write=port.write,
        words=port.words,
        requests=port.requests,
        ahead=port.ahead,
        bytes=port.requests * dram.burst_bytes,
        latency=port.waited / max(port.requests, 1),
    )
