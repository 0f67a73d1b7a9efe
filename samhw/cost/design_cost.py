"""What a design costs on data of which statistics are known, without running it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from samhw.cost.counts import TokenCounts
from samhw.cost.cycles import CycleEstimate
from samhw.cost.off_chip import BankCosts, PortCosts, beside_memory
from samhw.cost.statistics import TensorStatistics
from samhw.cost.stream_supports import Results, flows, results_of
from samhw.graph import Arch, Graph, MemoryRole, OffChipMemory, OffChipPort, Parallel, Steps
from samhw.graph.sequence import in_turn, total_of, walk
from samhw.words import counted, html_section, html_table

__all__ = ["DesignEstimate", "NodeEstimate", "RegionEstimate", "estimate_graph", "estimated_cycles"]


@dataclass(frozen=True)
class NodeEstimate:
    """What is expected of a node.

    Attributes:
        operations: on values.
        busy: the cycles that its busiest actor needs.
        start: the cycle in which it starts.
    """

    operations: float
    busy: float
    start: float


@dataclass(frozen=True)
class RegionEstimate:
    """What is expected of a region's run.

    Attributes:
        name: of its graph.
        cycles: until its last writer ends.
        bytes_read: from memories into the graph.
        bytes_written: from the graph into memories.
        nodes: by name.
        coupled: the reducers at which what comes before and what comes after wait for each other's rows,
            and by how much longer the region takes for that.
        lines: that each port to memory off chip asks for, by the port's name.
        apart: the cycles, if that memory kept up with all ports.
        masters: the cycles that each master of it has to do with all lines.
    """

    name: str
    cycles: float
    bytes_read: float
    bytes_written: float
    nodes: Mapping[str, NodeEstimate]
    coupled: Mapping[str, float] = field(default_factory=dict)
    lines: Mapping[str, float] = field(default_factory=dict)
    apart: float = 0.0
    masters: tuple[float, ...] = ()

    def repeated(self, times: int) -> "RegionEstimate":
        """What is expected of this many runs of the region, with a cycle between them."""
        if times == 1:
            return self
        nodes = {
            name: NodeEstimate(times * node.operations, times * node.busy, node.start)
            for name, node in self.nodes.items()
        }
        cycles = times * self.cycles + times - 1
        coupled = {name: times * longer for name, longer in self.coupled.items()}
        lines = {name: times * count for name, count in self.lines.items()}
        moved = times * self.bytes_read, times * self.bytes_written
        masters = tuple(times * busy for busy in self.masters)
        apart = times * self.apart + times - 1
        return RegionEstimate(self.name, cycles, *moved, nodes, coupled, lines, apart, masters)

    @property
    def operations(self) -> float:
        """The operations on values of all nodes."""
        return sum(node.operations for node in self.nodes.values())

    @property
    def bytes(self) -> float:
        """Between memories and the graph, in both directions."""
        return self.bytes_read + self.bytes_written


@dataclass(frozen=True)
class DesignEstimate:
    """What is expected of a run: of its regions in the order in which they run, and the cycles of all."""

    regions: tuple[RegionEstimate, ...]
    cycles: float

    @property
    def operations(self) -> float:
        """The operations on values."""
        return sum(region.operations for region in self.regions)

    @property
    def bytes_read(self) -> float:
        """From memories into graphs."""
        return sum(region.bytes_read for region in self.regions)

    @property
    def bytes_written(self) -> float:
        """From graphs into memories."""
        return sum(region.bytes_written for region in self.regions)

    @property
    def bytes(self) -> float:
        """In both directions."""
        return self.bytes_read + self.bytes_written

    def __repr__(self) -> str:
        work = f"{self.operations:,.0f} operations, {self.bytes:,.0f} bytes"
        regions = counted(len(self.regions), "region")
        return f"<DesignEstimate of {regions}: about {self.cycles:,.0f} cycles, {work}>"

    def _repr_html_(self) -> str:
        rows = [["region", "cycles", "operations", "bytes read", "written", "busiest node"]]
        for region in self.regions:
            busiest = max(region.nodes, key=lambda name: region.nodes[name].busy)
            counts = (region.cycles, region.operations, region.bytes_read, region.bytes_written)
            rows.append([region.name, *(f"{count:,.0f}" for count in counts), busiest])
        return html_section(f"about {self.cycles:,.0f} cycles", html_table(rows))


def estimated_cycles(sequence: Steps, regions: Mapping[int, RegionEstimate]) -> float:
    """The cycles of all regions, by their numbers: of those that run side by side, which wait for each other
    at the masters of a memory off the chip, those of the longest one beside all others."""
    cycles = {number: region.cycles for number, region in regions.items()}
    for step in walk(sequence):
        if isinstance(step, Parallel):
            beside = list(in_turn((step,)))
            busy = [sum(own) for own in zip(*(regions[number].masters for number in beside), strict=True)]
            longest = max(beside, key=cycles.__getitem__)
            meeting = beside_memory(max(regions[number].apart for number in beside), busy)
            cycles[longest] = max(cycles[longest], meeting if busy else 0.0)
    return total_of(sequence, cycles)


def estimate_graph(
    graph: Graph,
    arch: Arch,
    extents: Mapping[str, int],
    statistics: TensorStatistics,
    results: Results,
    *,
    off_chip: tuple[Sequence[OffChipPort], OffChipMemory] | None = None,
    rows_wait: bool = True,
) -> tuple[RegionEstimate, Results]:
    """The estimate for the graph of a region, and what it leaves for the regions after it.

    Costs follow the size of the graph, and for what has not been counted yet the stored coordinates.

    Args:
        graph: with producers before those that read them, and scanners that have their index.
        extents: of the run, by dimension.
        statistics: of the inputs of the program.
        results: what the regions before have left.
        off_chip: the ports to a memory off chip, if there is one.
        rows_wait: whether parts wait for each other's rows; else there are queues everywhere (`Schedule`).
    """
    found = flows(graph, extents, results)
    counts = TokenCounts(graph, arch, found, statistics)
    busiest = TokenCounts(graph, arch, found, statistics, busiest=True)
    ports = None if off_chip is None else PortCosts(busiest, extents, *off_chip)
    asked = None if off_chip is None else PortCosts(counts, extents, *off_chip)
    banks = BankCosts(busiest, extents) if any(memory.banks for memory in graph.memories) else None
    timing = CycleEstimate(busiest, [costs for costs in (ports, banks) if costs is not None])
    nodes = {
        node.name: NodeEstimate(counts.operations(node), timing.busy[node.name], timing.start[node.name])
        for node in graph.nodes
    }
    size = {MemoryRole.INPUT: 0.0, MemoryRole.OUTPUT: 0.0}
    for name in counts.words:
        size[graph.memory[name].role] += counts.bytes(name)
    coupled = timing.coupled if rows_wait else {}
    cycles = max((timing.apart, *coupled.values()))
    region = RegionEstimate(
        graph.name,
        cycles if asked is None else asked.together(cycles),
        size[MemoryRole.INPUT],
        size[MemoryRole.OUTPUT],
        nodes,
        {name: longer - timing.apart for name, longer in coupled.items()},
        {} if asked is None else asked.lines,
        cycles,
        () if asked is None else tuple(asked.masters),
    )
    return region, {**results, **results_of(graph, found)}
