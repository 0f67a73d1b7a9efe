"""What a run tells of one region: where its cycles went, node by node and channel by channel; and what its
hardware could do at best, to hold that against (Williams, Waterman and Patterson, 2009).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from samhw.app.report.alike import Likeness
from samhw.compiler import CompiledRegion
from samhw.graph import Arch, Channel, Graph
from samhw.sim import (
    Account,
    Bottleneck,
    ChannelStats,
    LaneLoads,
    PortStats,
    Result,
    Traffic,
    account,
    bottleneck,
    lane_loads,
    operations,
    traffic,
)
from samhw.targets.backends import RegionRun

__all__ = ["ChannelReport", "NodeReport", "RegionReport", "region_report"]


@dataclass(frozen=True)
class Roof:
    """The limits of a region, by cycle."""

    operations: int
    """If each node that computes did what a payload costs in every cycle."""
    bytes: float
    """If each port to a memory moved all that it can."""

    def at(self, intensity: float) -> float:
        """The most operations a cycle for a number of operations a byte."""
        return min(self.operations, intensity * self.bytes)


def roof(graph: Graph, arch: Arch) -> Roof:
    """The limits of a region's graph."""
    moved = 0.0
    for node in graph.nodes:
        for param, name in node.memories.items():
            use = node.spec.memories[param]
            payload = graph.stored(graph.memory[name])
            moved += payload.width(arch.index_bits) / 8 * (1 if use.written else use.reads)
    works = (node.spec.work(node.params) for node in graph.nodes)
    return Roof(sum(work.each for work in works if work), moved)


@dataclass(frozen=True)
class NodeReport:
    """How a node spent the run. Of copies in lanes, the busiest one is told of, under the name of all."""

    name: str
    copies: int
    """In lanes; 1 for what stands alone."""
    firings: int
    """Of its busiest actor."""
    spent: Account
    """What it did with the cycles of the region, all of which are there."""
    operations: int
    """On values, in all lanes."""
    busiest: str
    """Of the copies in lanes, the one that is told of."""

    @property
    def busy(self) -> float:
        """The share of the region's cycles in which it is."""
        return self.spent.busy / max(self.spent.cycles, 1)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "name": self.name,
            "copies": self.copies,
            "firings": self.firings,
            "spent": self.spent.to_json(),
            "operations": self.operations,
            "busiest": self.busiest,
        }


@dataclass(frozen=True)
class ChannelReport:
    """A channel: how deep it is and why, and what went through it."""

    name: str
    depth: int
    reason: str
    """Why it is deeper than full rate needs; empty where it is not."""
    tokens: int
    high_water: int
    """Greatest number of slots taken in one cycle."""
    mean: float
    """Slots taken, averaged over the region's cycles."""


@dataclass(frozen=True)
class PortReport:
    """What a port to memory off the chip did."""

    port: PortStats
    waited: int
    """Cycles that it waited for that memory, with a token or a place that was ready."""
    bytes_per_cycle: float
    """That it moved, in whole lines, over the region's cycles."""

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        own = {"waited": self.waited, "bytes_per_cycle": round(self.bytes_per_cycle, 4)}
        return {**asdict(self.port), **own}


@dataclass(frozen=True)
class RegionReport:
    """What a run tells of one region. All but `cycles` is the simulator's."""

    name: str
    order: tuple[str, ...]
    """Its indices, outermost first."""
    note: str
    """Where it ends, and why; empty where the program says so."""
    cycles: int
    """By the backend."""
    model_cycles: int
    """By the simulator."""
    lanes: LaneLoads | None
    nodes: tuple[NodeReport, ...]
    channels: tuple[ChannelReport, ...]
    traffic: Mapping[str, Traffic]
    """Between each memory and the graph."""
    ports: Mapping[str, PortReport] | None
    """To off-chip memory, by name; None where there is none."""
    bottleneck: Bottleneck
    start: int
    """The cycle of the run in which it starts."""
    roof: Roof
    """What its hardware could do at best."""
    alike: Likeness
    """What it has in common with those that it is told of with (`alike_regions`)."""
    compiled: CompiledRegion = field(repr=False)
    """What ran: its fusion table, and its graph."""
    result: Result = field(repr=False)
    """The simulator's own account of it."""

    @property
    def operations(self) -> int:
        """On values."""
        return sum(node.operations for node in self.nodes)

    @property
    def bytes(self) -> float:
        """Between its memories and its graph."""
        return sum(moved.bytes for moved in self.traffic.values())

    @property
    def reached(self) -> float | None:
        """Its operations a cycle, as a share of its own roof; None where it does none, or moves nothing."""
        if not self.operations or not self.bytes:
            return None
        return self.operations / max(self.model_cycles, 1) / self.roof.at(self.operations / self.bytes)

    def to_json(self, *, details: bool = False) -> dict[str, Any]:
        """One of the `regions` of `samhw run --json`; with `details`, as with --stats, what its nodes,
        channels and memories did as well."""
        report: dict[str, object] = {
            "name": self.name,
            "order": list(self.order),
            "cycles": self.cycles,
            "model_cycles": self.model_cycles,
            "operations": self.operations,
            "bytes": self.bytes,
            "roof": {**asdict(self.roof), "reached": self.reached},
        }
        if loads := self.lanes:
            balance = round(loads.balance, 4)
            report["lanes"] = {"node": loads.node, "firings": list(loads.firings), "balance": balance}
        if self.result.uncompiled:
            report["uncompiled"] = self.result.uncompiled
        if details:
            report["nodes"] = [node.to_json() for node in self.nodes]
            report["channels"] = [asdict(channel) for channel in self.channels]
            report["traffic"] = {name: asdict(moved) for name, moved in self.traffic.items()}
            if self.ports is not None:
                report["ports"] = {name: port.to_json() for name, port in self.ports.items()}
            report["bottleneck"] = asdict(self.bottleneck)
        return report


def region_report(
    region: CompiledRegion,
    arch: Arch,
    model: RegionRun,
    cycles: int,
    start: int = 0,
    *,
    alone: bool,
    alike: Likeness,
) -> RegionReport:
    """What a run tells of a region.

    Args:
        model: the simulator's run of it.
        cycles: by the backend.
        start: the cycle of the run in which the simulator starts it.
        alone: whether the run has no other.
        alike: what it has in common with others.
    """
    graph, statistics = model.graph, model.statistics
    assert statistics is not None, "a run of the simulator without its statistics"
    found = bottleneck(graph, statistics)
    return RegionReport(
        name=model.name,
        order=tuple(region.order),
        note=region.note,
        cycles=cycles,
        model_cycles=model.cycles,
        lanes=lane_loads(graph, statistics.nodes),
        nodes=_nodes(graph, statistics),
        channels=tuple(
            _channel(channel, region.reasons.get(channel.name, ""), statistics.channels[channel.name])
            for channel in graph.channels
        ),
        traffic=traffic(graph, arch, statistics),
        ports=_ports(statistics),
        bottleneck=found if alone else found.of_region,
        start=start,
        roof=roof(graph, arch),
        alike=alike,
        compiled=region,
        result=statistics,
    )


def _channel(channel: Channel, reason: str, passed: ChannelStats) -> ChannelReport:
    return ChannelReport(channel.name, channel.depth, reason, passed.tokens, passed.high_water, passed.mean)


def _ports(statistics: Result) -> dict[str, PortReport] | None:
    if statistics.memory is None:
        return None
    found = {}
    for name, port in statistics.memory.ports.items():
        node, _, own = name.partition(".")
        actors = statistics.nodes[node].actors
        parts = (actors[part] for part in (f"{own}.{role}" for role in PORT_ACTORS) if part in actors)
        waited = sum(part.memory for part in parts)
        found[name] = PortReport(port, waited, port.bytes / max(1, statistics.cycles))
    return found


PORT_ACTORS = ("look", "deliver", "gather")


def _nodes(graph: Graph, statistics: Result) -> tuple[NodeReport, ...]:
    copies: dict[str, list[str]] = {}
    for node in graph.nodes:
        copies.setdefault(node.copy_of or node.name, []).append(node.name)
    work = operations(graph, statistics)
    reports = []
    for base, names in copies.items():
        name = max(names, key=lambda name: statistics.nodes[name].firings)
        busiest = statistics.nodes[name]
        reports.append(
            NodeReport(
                base,
                len(names),
                busiest.firings,
                account(busiest, statistics.cycles),
                sum(work.get(name, 0) for name in names),
                name,
            )
        )
    return tuple(reports)
