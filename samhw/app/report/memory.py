"""What a run did with off-chip memory."""

from dataclasses import asdict, dataclass
from typing import Any

from samhw.targets.backends import RunResult

__all__ = ["MemoryReport", "memory_report"]


@dataclass(frozen=True)
class MemoryReport:
    """What a memory did over all regions of a run. Requests are for lines; rates are of all cycles."""

    name: str
    reads: int
    writes: int
    row_hits: int
    row_misses: int
    row_conflicts: int
    refresh_clocks: int
    """Clocks of the memory that requests waited for refreshes, summed over the requests."""
    bytes: int
    """Moved, in whole lines."""
    bytes_per_cycle: float
    peak_bytes_per_cycle: float
    gigabytes_per_second: float
    peak_gigabytes_per_second: float

    def to_json(self) -> dict[str, Any]:
        """What `samhw run --json` says under `memory`."""
        return asdict(self)

    def __str__(self) -> str:
        requests = self.reads + self.writes
        return (
            f"{self.name}: {self.reads:,} lines read and {self.writes:,} written "
            f"({self.row_hits / max(requests, 1):.0%} in open rows), "
            f"{self.bytes_per_cycle:.1f} of {self.peak_bytes_per_cycle:.1f} bytes a cycle, "
            f"{self.gigabytes_per_second:.2f} of {self.peak_gigabytes_per_second:.1f} GB/s"
        )


def memory_report(result: RunResult) -> MemoryReport | None:
    """What the memory did in a run of the simulator; None if all tensors were on chip."""
    regions = [r.statistics.memory for r in result.regions if r.statistics and r.statistics.memory]
    if not regions:
        return None
    channels = [channel for region in regions for channel in region.channels]
    dram, moved = regions[0].dram, sum(region.bytes for region in regions)
    return MemoryReport(
        name=dram.name,
        reads=sum(c.reads for c in channels),
        writes=sum(c.writes for c in channels),
        row_hits=sum(c.hits for c in channels),
        row_misses=sum(c.misses for c in channels),
        row_conflicts=sum(c.conflicts for c in channels),
        refresh_clocks=sum(c.refreshing for c in channels),
        bytes=moved,
        bytes_per_cycle=moved / result.cycles,
        peak_bytes_per_cycle=dram.peak,
        gigabytes_per_second=moved / result.cycles * 1e3 / dram.cycle_ps,
        peak_gigabytes_per_second=dram.peak * 1e3 / dram.cycle_ps,
    )
