"""What a design takes of an FPGA: the sum of its components, as they were measured."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from samhw.cost.components import (
    BASE,
    DEPTH,
    Component,
    Use,
    are_widths_measured,
    binding_component,
    channel_component,
    control_component,
    memory_component,
    node_component,
    off_chip_component,
    shell_component,
    unit_component,
    use_of_component,
)
from samhw.graph import LUT_PLACES, Arch, Design, Endpoint, Graph, Memory, Node, block_rams
from samhw.graph.banks import bank_ports
from samhw.graph.fabrics import immediates_of
from samhw.graph.off_chip import OffChipLayout
from samhw.graph.off_chip_numbers import Ports
from samhw.graph.pools import pools_of
from samhw.graph.shared_nodes import regions_of, users_by_first
from samhw.graph.shared_ports import SharedPort, shared_ports
from samhw.graph.widths import LEAST_INDEX_BITS, carried_bits, index_bits

__all__ = ["AreaEstimate", "RegionArea", "estimate_area"]

FOUR_INPUTS = ("ecp5", "ice40")
"""Families whose LUTs have four inputs: a multiplexer of two words, where six make one of four."""

KIND_BITS = 2
"""Of a token."""

ASKED_BITS = KIND_BITS + 2
"""Of a token that asks a port for a place, beside the place: its kind, whether it reads, and a note."""


@dataclass(frozen=True)
class RegionArea:
    """What is expected of a region's nodes.

    Attributes:
        name: of its graph.
        nodes: by name, each with the channels at its inputs. They count for the first region of a fabric.
        fabric: the name of that region, if it is another one.
    """

    name: str
    nodes: Mapping[str, Use]
    fabric: str = ""

    @property
    def use(self) -> Use:
        """Of all of them."""
        return sum(self.nodes.values(), Use())


@dataclass(frozen=True)
class AreaEstimate:
    """What is expected of a design with its memories and its host's port, without a board's link.

    Attributes:
        family: of the FPGA, one of `FAMILIES`.
        regions: in the order in which they run.
        memories: those of the tensors.
        control: what starts and ends runs, the host's port, and the registers of bindings.
        off_chip: the ports to memory off the chip, with their masters.
        unmeasured: components of which nothing is known, and which do not count.
        guessed: components that are narrower or wider than those that were measured, or count as their
            operations do.
    """

    family: str
    regions: tuple[RegionArea, ...]
    memories: Use
    control: Use
    unmeasured: tuple[str, ...]
    guessed: tuple[str, ...] = ()
    off_chip: Use = field(default_factory=Use)

    @property
    def use(self) -> Use:
        """Of the whole design, in whole numbers: what is shown is what is compared with an FPGA."""
        parts = sum((region.use for region in self.regions), self.memories + self.control + self.off_chip)
        return parts.whole

    @property
    def caveat(self) -> str:
        """What the figures leave out or guess, in words; empty where all of the design was measured."""
        said = []
        if self.unmeasured:
            said.append(f"without {', '.join(self.unmeasured)}, which have not been measured")
        if self.guessed:
            said.append(f"with {', '.join(self.guessed)} by the area of other types or widths")
        return ", and ".join(said)


def estimate_area(
    design: Design, arch: Arch, family: str = "ecp5", off_chip: OffChipLayout | None = None
) -> AreaEstimate:
    """What a design is expected to take, at the latencies that `Arch` has by default.

    Args:
        off_chip: what lies off the chip, and through which ports; None if nothing does.
    """
    return _Area(design, arch, family, off_chip).estimate()


class _Area:
    def __init__(self, design: Design, arch: Arch, family: str, off_chip: OffChipLayout | None):
        self._design = design
        self._off_chip = off_chip
        self._bits = index_bits(design, arch)
        self._family = family
        self._unmeasured: dict[str, None] = {}
        self._guessed: dict[str, None] = {}

    def estimate(self) -> AreaEstimate:
        design = self._design
        areas = {}
        shared = dict(self._shared())
        for fabric, (group, graph) in enumerate(zip(design.groups, design.built, strict=True)):
            uses = {
                node.name: shared[fabric, node.name]
                if (fabric, node.name) in shared
                else self._node(graph, node)
                for node in graph.nodes
            }
            areas[group[0]] = RegionArea(graph.name, uses)
            for number in group[1:]:
                other = design.regions[number]
                areas[number] = RegionArea(other.name, {node.name: Use() for node in other.nodes}, graph.name)
        regions = tuple(areas[number] for number in design.turns)
        components = users_by_first(design)
        nodes, channels, runs = len(components), len(design.built_channels), len(design.regions)
        writers = sum(not design.built[fabric].node[name].outputs for fabric, name in components)
        control = control_component(nodes, max(writers, runs), runs)
        off_chip = self._masters()
        shell = shell_component(len(design.extents) - len(design.fixed), channels, runs)
        return AreaEstimate(
            self._family,
            regions,
            sum(self._memories(), Use()),
            sum(map(self._use, self._bindings()), self._use(control) + self._use(shell)),
            tuple(self._unmeasured),
            tuple(self._guessed),
            off_chip,
        )

    def _bindings(self) -> Iterator[Component]:
        """The registers of what differs between the regions of a node in hardware. What differs alike has
        one."""
        off = () if self._off_chip is None else self._off_chip.arrays
        bases = {name: base for pool in pools_of(self._design, off) for name, base in pool.bases.items()}
        known: set[Hashable] = set()
        for users in users_by_first(self._design).values():
            bound = regions_of(self._design, users)
            for of, width, by_region in self._bound(bound, bases) if len(bound) > 1 else ():
                key = tuple(bound), of, by_region
                if len({*by_region}) > 1 and key not in known:
                    known.add(key)
                    yield binding_component(of, width, len({*by_region}))

    def _bound(
        self, bound: Mapping[int, Node], bases: Mapping[str, int]
    ) -> Iterator[tuple[str, int, tuple[Hashable, ...]]]:
        """What a node in hardware has by the region: numbers or signals, their bits, and that of each region.

        Args:
            bound: the node of each region for which it stands.
        """
        nodes, graphs = [*bound.values()], [self._design.regions[region] for region in bound]
        first, both = nodes[0], list(zip(graphs, nodes, strict=True))
        known = {index: self._design.extents[index] for index in self._design.fixed}
        for param in first.extents:
            extents = [node.extents[param] for node in nodes]
            kind = "numbers" if known.keys() >= {*extents} else "signals"
            yield kind, self._bits, tuple(known.get(index, index) for index in extents)
        for param in first.repeats:
            yield "signals", self._bits, tuple(node.repeats[param] for node in nodes)
        for name in immediates_of(first):
            width = graphs[0].operand_type(first).width
            yield "numbers", width, tuple(immediates_of(node)[name] for node in nodes)
        for param in first.memories:
            stored = [graph.memory[node.memories[param]] for graph, node in both]
            if first.spec.memories[param].written:
                limits = tuple(memory.capacity for memory in stored)
                yield "numbers", max(limits).bit_length(), limits
            places = tuple(bases.get(memory.name, 0) for memory in stored)
            yield "numbers", max(places).bit_length(), places

    def _memories(self) -> Iterator[Use]:
        """The memories on the chip, as large as their pools."""
        design = self._design
        for pool in pools_of(design, () if self._off_chip is None else self._off_chip.arrays):
            memory = replace(design.memory[pool.name], capacity=pool.capacity)
            yield self._memory(memory, max(design.copies[name] for name in pool.bases))

    def _memory(self, memory: Memory, reads: int) -> Use:
        """A memory of a tensor. How many block RAMs it takes of an ECP5 follows from their shapes; others are
        as large a share of what copies for all reads would take, if both of their ports read."""
        width = self._design.stored(memory).width(self._bits)
        found = self._use(memory_component(memory, width, reads))
        words = memory.payload().words
        blocks = words * block_rams(memory.capacity, width // words, reads, memory.banks)
        if memory.banks:
            found += self._ways_to_banks(memory, width)
        if self._family == BASE:
            return replace(found, block_rams=blocks if memory.capacity > LUT_PLACES else 0)
        if self._family == "ice40":
            return found
        alone = words * reads * block_rams(memory.capacity, width // words)
        return replace(found, block_rams=found.block_rams * blocks / alone)

    def _ways_to_banks(self, memory: Memory, width: int) -> Use:
        """The ports to a memory in banks, and what leads addresses to its banks and words back: for each of
        two ports of a bank a multiplexer for each bit of a bank's number, with a register after the last."""
        bits = (memory.banks - 1).bit_length()
        place = max(memory.capacity - 1, 1).bit_length()
        stages = bits if self._family in FOUR_INPUTS else -(-bits // 2)
        lines = 2 * memory.banks * (width + place - bits)
        own = [Counter(port.memory for port in bank_ports(graph)) for graph in self._design.regions]
        most = max(counts[memory.name] for counts in own)
        ask, wait = self._use(channel_component(place, 2)), self._use(channel_component(width, 6))
        return (ask + wait).times(most) + Use(luts=lines * stages, registers=lines)

    def _masters(self) -> Use:
        """The ports off the chip, with the ways to those that fabrics share."""
        if self._off_chip is None:
            return Use()
        by_master: dict[int, list[SharedPort]] = defaultdict(list)
        ports = shared_ports(self._design, self._off_chip)
        for port in ports:
            by_master[port.first.array.master].append(port)
        if by_master and self._off_chip.ports != Ports():
            self._guessed["ports off the chip"] = None
        masters = sum((self._use(off_chip_component(own)) for own in by_master.values()), Use())
        return masters + sum(map(self._way_to, ports), Use())

    def _way_to(self, port: SharedPort) -> Use:
        """What leads the tokens of several nodes to a port, and tells it of its region."""
        found = Use()
        if len(port.nodes) > 1:
            token = 8 * port.first.array.place_bytes if port.first.write else ASKED_BITS
            found += self._ways(token + (port.places - 1).bit_length(), len(port.nodes))
        for numbers in port.by_region.values():
            values = {*numbers.values()}
            found += self._use(binding_component("numbers", max(values).bit_length(), len(values)))
        return found

    def _shared(self) -> Iterator[tuple[tuple[int, str], Use]]:
        """The nodes that are one in hardware, by fabric and name: the first with the ways of all to its
        channels, the others with nothing."""
        for shared in self._design.shared_nodes:
            users = [(self._design.built[fabric], name) for fabric, name in shared.items()]
            each = [self._node(graph, graph.node[name]) for graph, name in users]
            ways = (self._way_to_input(users, port.name) for port in users[0][0].node[users[0][1]].inputs)
            first, *others = shared.items()
            yield first, sum(ways, max(each, key=lambda use: use.luts))
            yield from ((other, Use()) for other in others)

    def _way_to_input(self, users: Sequence[tuple[Graph, str]], port: str) -> Use:
        """What leads the tokens of several outputs to a channel."""
        sources = ((graph, graph.fanin[Endpoint(name, port)].source) for graph, name in users)
        bits = max(carried_bits(graph, source).bits for graph, source in sources)
        return self._ways(bits + KIND_BITS, len(users))

    def _ways(self, bits: int, count: int) -> Use:
        """A multiplexer of a number of signals, of which a register tells the one that counts."""
        return replace(self._use(binding_component("signals", bits, count)), registers=0)

    def _node(self, graph: Graph, node: Node) -> Use:
        """With the channels at its inputs, as deep as they are."""
        found = self._whole(graph, node)
        for port in node.inputs:
            channel = graph.fanin[Endpoint(node.name, port.name)]
            carried = max(carried_bits(graph, channel.source).bits, LEAST_INDEX_BITS)
            deep = self._use(channel_component(carried, channel.depth))
            usual = self._use(channel_component(graph.taken(node, port.name).width(self._bits), DEPTH))
            found = found + deep - usual
        return found.at_least_none()

    def _whole(self, graph: Graph, node: Node) -> Use:
        """A node with channels of the usual depth; one that was not measured, and makes several operations at
        a time, by the area of as many units for one."""
        whole, work = node_component(graph, node, self._bits), node.spec.work(node.params)
        if work is None or work.each == 1 or use_of_component(whole, self._family) is not None:
            return self._use(whole)
        unit = unit_component(work.operation, graph.operand_type(node), graph.result_type(node))
        each = use_of_component(unit, self._family)
        if each is None:
            return self._use(whole)
        self._guessed[f"{whole.kind} {whole.variant}"] = None
        return each.times(work.each)

    def _use(self, component: Component) -> Use:
        found = use_of_component(component, self._family)
        name = f"{component.kind} {component.variant}".strip()
        if found is None:
            self._unmeasured[name] = None
        elif not are_widths_measured(component):
            self._guessed[name] = None
        return found or Use()
