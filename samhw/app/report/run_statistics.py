"""Where the cycles of a run went, region by region, as tables of texts."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Any

from samhw.app.report.alike import ToldTogether, alike_regions, grouped
from samhw.app.report.region_report import NodeReport, RegionReport, region_report
from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.sim import CAUSES, percents
from samhw.targets.backends import RunResult
from samhw.words import counted, html_scroll, html_section, html_table, html_text, in_columns

__all__ = [
    "Limit",
    "Regions",
    "Statistics",
    "awaited",
    "limit",
    "limits",
    "longest",
    "node_grid",
    "port_grid",
    "statistics",
    "title",
    "told",
]

_WIDTH = 110
"""Of sentences below a table."""

# What limits a run, ranked: the longest regions, each with its bottleneck, and then what else is busy.


MOST = 5
"""How many are told of."""
_EQUAL = 0.95
"""The share of the longest region's cycles from which on another one is as long, more or less."""


@dataclass(frozen=True)
class Limit:
    """One thing that takes cycles."""

    region: str
    """Of regions that are alike, the longest,"""
    regions: int
    """and how many they are."""
    node: str
    cycles: int
    """That they take, or that a node of the region is busy beside its bottleneck."""
    text: str

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)


Regions = ToldTogether[RegionReport]
"""Regions that are told of together."""


def told(regions: Sequence[RegionReport]) -> list[Regions]:
    """The regions as they are told of: those of equal layers together."""
    return grouped(regions, (region.alike for region in regions))


def longest(group: Regions) -> RegionReport:
    """The one that takes the most cycles, which is told of."""
    return max(group.members, key=lambda region: region.model_cycles)


def _cycles(group: Regions) -> int:
    """That all of them take."""
    return sum(region.model_cycles for region in group.members)


def limits(regions: Sequence[RegionReport], total: int) -> tuple[Limit, ...]:
    """The five that take longest of the cycles of a run, in this order: the longest regions by their
    bottlenecks, and where there are fewer, the nodes of any that are busy longest besides."""
    groups = sorted(told(regions), key=lambda group: -_cycles(group))[:MOST]
    several = len(regions) > 1
    found = []
    for group in groups:
        region, cycles = longest(group), _cycles(group)
        share = f"{_subject(group)} {cycles:,} of {total:,} cycles ({cycles / max(total, 1):.1%}): "
        text = f"{share if several else ''}{_said(region)}"
        found.append(Limit(region.name, len(group.members), _base(region), cycles, text))
    others = [
        (node.spent.busy, region, node)
        for region in map(longest, groups)
        for node in region.nodes
        if node.name != _base(region) and node.spent.busy
    ]
    for busy, region, node in sorted(others, key=lambda one: -one[0])[: MOST - len(found)]:
        where, end = (f" of {region.name}", region.name) if several else ("", "the run")
        share = f"{busy:,} of {region.model_cycles:,} cycles ({busy / region.model_cycles:.1%})"
        text = f"{node.name}{where} is busy in {share}{_why_not(node, region, end)}."
        found.append(Limit(region.name, 1, node.name, busy, text))
    return tuple(found)


def _why_not(node: NodeReport, region: RegionReport, end: str) -> str:
    """Why a node does not limit its region, if it is busier than the one that does."""
    base = next(one for one in region.nodes if one.name == _base(region))
    if node.spent.busy <= base.spent.busy:
        return ""
    waits = ""
    if region.bottleneck.reason == "firing":
        longest_wait = base.spent.longest
        waits = f", which waits for no node longer than {longest_wait[2] if longest_wait else 0:,} cycles"
    return f", but the end of {end} waits for {base.name}{waits}"


def limit(regions: Sequence[RegionReport], total: int) -> str:
    """What keeps a run of `total` cycles from being shorter, in sentences: the bottleneck of its longest
    region, and which other regions take as long."""
    if len(regions) == 1:
        return regions[0].bottleneck.short
    first, *others = sorted(told(regions), key=lambda group: -_cycles(group))
    noun = "regions" if first.others else "region"
    text = f"The {noun} {_subject(first)} {_cycles(first):,} of {total:,} cycles. {_said(longest(first))}"
    for group in others[: MOST - 1]:
        if _cycles(group) >= _EQUAL * _cycles(first):
            text += f" {_subject(group)} {_cycles(group):,}: {_said(longest(group))}"
    return text


def _subject(group: Regions) -> str:
    """What takes cycles: `f_23 takes`, `f_23 and 11 alike (layers_*_b) take`."""
    return f"{longest(group).name}{group.and_others} {'take' if group.others else 'takes'}"


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
        most_cycles = max(self.regions, key=lambda region: region.cycles)
        cycles = f"{self.cycles:,} cycles in {counted(len(self.regions), 'region')}"
        most = f"the longest is {most_cycles.name}, {most_cycles.bottleneck}"
        return f"<Statistics of {self.program}: {cycles}; {most}>"

    def __str__(self) -> str:
        parts = (
            f"{title(group)}\n{in_columns(node_grid(longest(group)))}\n"
            f"{fill(str(longest(group).bottleneck), _WIDTH)}"
            for group in told(self.regions)
        )
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        parts = (
            html_section(
                f"{title(group)}: {longest(group).cycles:,} cycles",
                html_text(f"bottleneck: {longest(group).bottleneck}") + html_table(node_grid(longest(group))),
            )
            for group in told(self.regions)
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
    regions = zip(compiled.regions, run.regions, alike_regions(compiled), strict=True)
    alone = len(run.regions) == 1
    reports = (
        region_report(region, compiled.arch, ran, ran.cycles, alone=alone, alike=alike)
        for region, ran, alike in regions
    )
    return Statistics(compiled.program.name, run.cycles, tuple(reports))


def title(group: Regions) -> str:
    """The region that is told of, and for which others: `f_23, the longest of 12 alike (layers_*_b)`."""
    return f"{longest(group).name}{group.of_others}"


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
