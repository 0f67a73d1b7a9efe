"""What a run did with off-chip memory, as a report."""

from typing import Any

from samhw.backends import RunResult
from samhw.sim import MemoryStats

__all__ = ["memory_line", "memory_report", "port_rows"]


def memory_report(result: RunResult) -> dict[str, Any] | None:
    """What `samhw run --json` says under `memory`, over all regions; None if all tensors were on chip."""
    regions = [r.statistics.memory for r in result.regions if r.statistics and r.statistics.memory]
    if not regions:
        return None
    channels = [channel for region in regions for channel in region.channels]
    dram, moved = regions[0].dram, sum(region.bytes for region in regions)
    return {
        "name": dram.name,
        "reads": sum(c.reads for c in channels),
        "writes": sum(c.writes for c in channels),
        "row_hits": sum(c.hits for c in channels),
        "row_misses": sum(c.misses for c in channels),
        "row_conflicts": sum(c.conflicts for c in channels),
        "refresh_clocks": sum(c.refreshing for c in channels),
        "bytes": moved,
        "bytes_per_cycle": moved / result.cycles,
        "peak_bytes_per_cycle": dram.peak,
        "gigabytes_per_second": moved / result.cycles * 1e3 / dram.cycle_ps,
        "peak_gigabytes_per_second": dram.peak * 1e3 / dram.cycle_ps,
    }


def memory_line(report: dict[str, Any]) -> str:
    """The report in a line."""
    requests = report["reads"] + report["writes"]
    return (
        f"{report['name']}: {report['reads']:,} lines read and {report['writes']:,} written "
        f"({report['row_hits'] / max(requests, 1):.0%} in open rows), "
        f"{report['bytes_per_cycle']:.1f} of {report['peak_bytes_per_cycle']:.1f} bytes a cycle, "
        f"{report['gigabytes_per_second']:.2f} of {report['peak_gigabytes_per_second']:.1f} GB/s"
    )


def port_rows(memory: MemoryStats) -> list[list[str]]:
    """A row for each port to off-chip memory, and one of headings."""
    rows: list[list[str]] = [["port", "words", "lines", "ahead", "cycles each"]]
    for name, port in memory.ports.items():
        words = f"{port.words:,} {'written' if port.write else 'read'}"
        rows.append([name, words, f"{port.requests:,}", f"{port.ahead:,}", f"{port.latency:.1f}"])
    return rows
