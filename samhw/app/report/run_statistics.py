"""Where the cycles of a run went, region by region, as tables of texts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from samhw.app.report.limits import limit
from samhw.app.report.region_report import NodeReport, RegionReport, region_report
from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.html import html_scroll, html_section, html_table, html_text
from samhw.sim import CAUSES, percents
from samhw.targets.backends import RunResult
from samhw.words import counted

__all__ = ["Statistics", "awaited", "node_grid", "port_grid", "statistics"]


@dataclass(frozen=True)
class Statistics:
    """What the simulator counted in a run, region by region."""

    program: str
    regions: tuple[RegionReport, ...]

    def __iter__(self) -> Iterator[RegionReport]:
        return iter(self.regions)

    def __len__(self) -> int:
        return len(self.regions)

    @property
    def limit(self) -> str:
        """What keeps the run from being shorter, in a sentence: the bottleneck of its longest region."""
        return limit(self.regions)

    def to_json(self) -> list[dict[str, Any]]:
        """The `regions` of `samhw run --stats --json`."""
        return [region.to_json(details=True) for region in self.regions]

    def __repr__(self) -> str:
        longest = max(self.regions, key=lambda region: region.cycles)
        cycles = sum(region.cycles for region in self.regions)
        return (
            f"<Statistics of {self.program}: {cycles:,} cycles in {counted(len(self.regions), 'region')}; "
            f"the longest is {longest.name}, {longest.bottleneck}>"
        )

    def _repr_html_(self) -> str:
        parts = (
            html_section(
                f"{region.name}: {region.cycles:,} cycles",
                html_text(f"bottleneck: {region.bottleneck}") + html_table(node_grid(region)),
            )
            for region in self.regions
        )
        return html_scroll("".join(parts))


def statistics(compiled: Compiled, run: RunResult) -> Statistics:
    """What a run of the simulator tells of its regions.

    Raises:
        InputError: for a run of another backend, which counts nothing.
    """
    if any(region.statistics is None for region in run.regions):
        raise InputError(
            f"The backend '{run.backend}' counts cycles alone; the backend 'sim' says where they went, and "
            "they are the same."
        )
    regions = zip(compiled.regions, run.regions, strict=True)
    told = (region_report(region, compiled.arch, model, model.cycles) for region, model in regions)
    return Statistics(compiled.program.name, tuple(told))


def node_grid(region: RegionReport) -> list[list[str]]:
    """Texts by rows, headings first: of each node its firings, where its cycles went in whole percents that
    add up to 100, and the node for which it waited longest. Causes that no node has are left out."""
    all_causes = [node.spent.causes for node in region.nodes]
    shown = [cause for cause in CAUSES if cause in _ALWAYS or any(own[cause] for own in all_causes)]
    rows = [["node", "firings", *(f"{cause} %" for cause in shown), "waited most for"]]
    for node, causes in zip(region.nodes, all_causes, strict=True):
        name = f"{node.name} ({node.copies} lanes)" if node.copies > 1 else node.name
        parts = percents({cause: causes[cause] for cause in shown})
        rows.append([name, f"{node.firings:,}", *map(str, parts.values()), _awaited(node)])
    return rows


def port_grid(region: RegionReport) -> list[list[str]]:
    """Texts by rows, headings first: what each port to memory off the chip did; only those if there is
    none."""
    rows = [["port", "beats", "lines", "ahead", "in vain", "cycles each", "waited", "bytes a cycle"]]
    for name, found in (region.ports or {}).items():
        port = found.port
        beats = f"{port.accesses:,} {'written' if port.write else 'read'}"
        lines = (f"{count:,}" for count in (port.requests, port.ahead, port.vain))
        rates = f"{port.latency:.1f}", f"{found.waited:,}", f"{found.bytes_per_cycle:.2f}"
        rows.append([name, beats, *lines, *rates])
    return rows


_ALWAYS = ("busy", "starved", "blocked", "done")


def _awaited(node: NodeReport) -> str:
    """The node that it waited for longest, and the cycles."""
    if node.spent.longest is None:
        return ""
    cause, channel, cycles = node.spent.longest
    return f"{awaited(cause, channel)}: {cycles:,}"


def awaited(cause: str, channel: str) -> str:
    """The node at the other end of a channel that is waited for: by one that is starved, or blocked."""
    source, _, sink = channel.partition("->")
    return (source if cause == "starved" else sink).partition(".")[0]
