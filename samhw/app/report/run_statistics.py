"""Where the cycles of a run went, region by region, as tables of texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from samhw.app.report.region_report import NodeReport, RegionReport, region_report
from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.sim import CAUSES, percents
from samhw.targets.backends import RunResult
from samhw.words import counted, html_scroll, html_section, html_table, html_text

__all__ = ["Limit", "Statistics", "awaited", "limit", "limits", "node_grid", "port_grid", "statistics"]

# What limits a run, ranked: the longest regions, each with its bottleneck, and then what else is busy.


MOST = 5
"""How many are told of."""
_EQUAL = 0.95
"""The share of the longest region's cycles from which on another one is as long, more or less."""


@dataclass(frozen=True)
class Limit:
    """One thing that takes cycles."""

    region: str
    node: str
    cycles: int
    """That the region takes, or that a node of it is busy beside its bottleneck."""
    text: str

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {"region": self.region, "node": self.node, "cycles": self.cycles, "text": self.text}


def limits(regions: Sequence[RegionReport], total: int) -> tuple[Limit, ...]:
    """The five that take longest of the cycles of a run, in this order: the longest regions by their
    bottlenecks, and where there are fewer, the nodes of any that are busy longest besides."""
    longest = sorted(regions, key=lambda region: -region.model_cycles)[:MOST]
    found = []
    for region in longest:
        text = f"{_of(region, total, len(regions))}{_said(region)}"
        found.append(Limit(region.name, _base(region), region.model_cycles, text))
    others = [
        (node.spent.busy, region, node.name)
        for region in longest
        for node in region.nodes
        if node.name != _base(region) and node.spent.busy
    ]
    for busy, region, name in sorted(others, key=lambda one: -one[0])[: MOST - len(found)]:
        where = f" of {region.name}" if len(regions) > 1 else ""
        share = f"{busy:,} of {region.model_cycles:,} cycles ({busy / region.model_cycles:.1%})"
        found.append(Limit(region.name, name, busy, f"{name}{where} is busy in {share}."))
    return tuple(found)


def limit(regions: Sequence[RegionReport], total: int) -> str:
    """What keeps a run of `total` cycles from being shorter, in sentences: the bottleneck of its longest
    region, and which other regions take as long."""
    longest = max(regions, key=lambda region: region.model_cycles)
    if len(regions) == 1:
        return longest.bottleneck.short
    cycles = f"{longest.model_cycles:,} of {total:,} cycles"
    text = f"The region {longest.name} takes {cycles}. {_said(longest)}"
    equal = [r for r in regions if r is not longest and r.model_cycles >= _EQUAL * longest.model_cycles]
    equal.sort(key=lambda region: -region.model_cycles)
    for region in equal[: MOST - 1]:
        text += f" {region.name} takes {region.model_cycles:,}: {_said(region)}"
    return text


def _of(region: RegionReport, total: int, regions: int) -> str:
    if regions == 1:
        return ""
    share = region.model_cycles / max(total, 1)
    return f"{region.name} takes {region.model_cycles:,} of {total:,} cycles ({share:.1%}): "


def _said(region: RegionReport) -> str:
    """The bottleneck of a region, which is `it` where it was named."""
    return region.bottleneck.short.replace("this region", "it")


def _base(region: RegionReport) -> str:
    """The node that limits a region, by the name of all its copies."""
    node = region.compiled.graph.node[region.bottleneck.node]
    return node.copy_of or node.name


@dataclass(frozen=True)
class Statistics:
    """What the simulator counted in a run, region by region."""

    program: str
    cycles: int
    """Of the run. Regions side by side take more together."""
    regions: tuple[RegionReport, ...]

    def __iter__(self) -> Iterator[RegionReport]:
        return iter(self.regions)

    def __len__(self) -> int:
        return len(self.regions)

    @property
    def limit(self) -> str:
        """What keeps the run from being shorter, in a sentence: the bottleneck of its longest region."""
        return limit(self.regions, self.cycles)

    def to_json(self) -> list[dict[str, Any]]:
        """The `regions` of `samhw run --stats --json`."""
        return [region.to_json(details=True) for region in self.regions]

    def __repr__(self) -> str:
        longest = max(self.regions, key=lambda region: region.cycles)
        cycles = f"{self.cycles:,} cycles in {counted(len(self.regions), 'region')}"
        most = f"the longest is {longest.name}, {longest.bottleneck}"
        return f"<Statistics of {self.program}: {cycles}; {most}>"

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
    regions, alone = zip(compiled.regions, run.regions, strict=True), len(run.regions) == 1
    told = (region_report(region, compiled.arch, ran, ran.cycles, alone=alone) for region, ran in regions)
    return Statistics(compiled.program.name, run.cycles, tuple(told))


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
