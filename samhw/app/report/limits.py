"""What limits a run, ranked: the longest regions, each with its bottleneck, and then what else is busy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from samhw.app.report.region_report import RegionReport

__all__ = ["Limit", "limit", "limits"]

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


def limits(regions: Sequence[RegionReport]) -> tuple[Limit, ...]:
    """The five that take longest, in this order: the longest regions by their bottlenecks, and where there
    are fewer, the nodes of any that are busy longest besides."""
    longest = sorted(regions, key=lambda region: -region.model_cycles)[:MOST]
    total = _cycles(regions)
    found = []
    for region in longest:
        said = _said(region, len(regions) > 1)
        found.append(Limit(region.name, _base(region), region.model_cycles, f"{_of(region, total)}{said}"))
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


def limit(regions: Sequence[RegionReport]) -> str:
    """What keeps a run from being shorter, in sentences: the bottleneck of its longest region, and which
    other regions take as long."""
    longest = max(regions, key=lambda region: region.model_cycles)
    if len(regions) == 1:
        return longest.bottleneck.short
    cycles = f"{longest.model_cycles:,} of {_cycles(regions):,} cycles"
    text = f"The region {longest.name} takes {cycles}. {_said(longest, True)}"
    equal = [r for r in regions if r is not longest and r.model_cycles >= _EQUAL * longest.model_cycles]
    equal.sort(key=lambda region: -region.model_cycles)
    for region in equal[: MOST - 1]:
        text += f" {region.name} takes {region.model_cycles:,}: {_said(region, True)}"
    return text


def _cycles(regions: Sequence[RegionReport]) -> int:
    """Those of the run, with one for each change of regions."""
    return sum(region.model_cycles for region in regions) + len(regions) - 1


def _of(region: RegionReport, total: int) -> str:
    if region.model_cycles == total:
        return ""
    share = region.model_cycles / max(total, 1)
    return f"{region.name} takes {region.model_cycles:,} of {total:,} cycles ({share:.1%}): "


def _said(region: RegionReport, several: bool) -> str:
    """The bottleneck of a region, which is `it` where it was named."""
    said = region.bottleneck.short
    return said.replace("limits the run", "limits it").replace("the run", "it") if several else said


def _base(region: RegionReport) -> str:
    """The node that limits a region, by the name of all its copies."""
    node = region.compiled.graph.node[region.bottleneck.node]
    return node.copy_of or node.name
