"""The nodes and channels of all fabrics in hardware, of which fabrics that run in turns may have some in
common."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from amaranth.hdl import Cat, Module, Mux, Value
from amaranth.lib import wiring

from samhw.graph import Arch, Design, Endpoint, Node
from samhw.graph.shared_nodes import Key, regions_of, users_by_first
from samhw.names import identifiers
from samhw.rtl.access import MemoryAccess
from samhw.rtl.actor import Primitive, component
from samhw.rtl.channel import Fifo
from samhw.rtl.counted import Counted
from samhw.rtl.logic import all_of, any_of, in_turn
from samhw.rtl.site import bits_of

__all__ = ["Here", "Streams"]

Here = Callable[[int], Value]
"""Whether a region of a fabric is under way."""


class Streams:
    """The components of nodes and channels.

    Args:
        accesses: how each node reaches those of its memories that do not lie on the chip.
        stall_ports: roots and writers have the input `stall`.
        counters: nodes count what they spend a run on; then fabrics have none in common.

    Attributes:
        nodes: the component of each node. Those that are one have one component.
        users: for the first node of each component, all for which it stands.
        first: for each node, the first of those that are one with it.
        channels: the component of each channel of `Design.built_channels`. Channels are one if their sinks
            are.
        submodules: what the submodule of each node is called.
    """

    def __init__(
        self,
        design: Design,
        arch: Arch,
        accesses: Mapping[Key, Mapping[str, MemoryAccess]],
        *,
        stall_ports: bool,
        counters: bool,
    ):
        self.design = design
        self.arch = arch
        self.accesses = accesses
        keys = [(fabric, node.name) for fabric, node in design.built_nodes]
        self.users = {key: [key] for key in keys} if counters else users_by_first(design)
        self.first = {key: first for first, users in self.users.items() for key in users}
        made: dict[Key, Primitive | Counted] = dict(self._components(stall_ports))
        if counters:
            made = {key: Counted(unit.make) for key, unit in made.items()}
        self.nodes = {key: made[self.first[key]] for key in keys}
        self.submodules = self._submodules()
        self.channels = self._channels()

    def is_shared(self, key: Key) -> bool:
        """Whether a component is that of several nodes."""
        return len(self.users[self.first[key]]) > 1

    def stands_for(self, first: Key) -> dict[int, Node]:
        """The node of each region for which a component stands, by the region."""
        return regions_of(self.design, self.users[first])

    def _components(self, stall_ports: bool) -> Iterator[tuple[Key, Primitive]]:
        """The component of each first node."""
        design = self.design
        for first, keys in self.users.items():
            nodes = [(design.built[fabric].node[name], design.built[fabric]) for fabric, name in keys]
            bound = self.stands_for(first)
            yield (
                first,
                component(
                    *nodes[0],
                    self.arch,
                    stall_port=stall_ports,
                    accesses=self.accesses[first],
                    bound=tuple(bound.values()),
                    graphs=[design.regions[region] for region in bound],
                    others=nodes[1:],
                ),
            )

    def _submodules(self) -> dict[Key, str]:
        several = len(self.design.groups) > 1
        wishes = {key: f"r{key[0]}_{key[1]}" if several else key[1] for key in self.users}
        unique = identifiers(wishes.values())
        return {key: unique[wishes[first]] for key, first in self.first.items()}

    def _channels(self) -> list[Fifo]:
        design = self.design
        sources: dict[tuple[Key, str], list[tuple[int, Endpoint]]] = defaultdict(list)
        sinks = []
        for fabric, channel in design.built_channels:
            sink = self.first[fabric, channel.sink.node], channel.sink.port
            sources[sink].append((fabric, channel.source))
            sinks.append((sink, channel.depth))
        made: dict[tuple[Key, str], Fifo] = {}
        for sink, depth in sinks:
            if sink not in made:
                fabric, source = sources[sink][0]
                shape = getattr(self.nodes[fabric, source.node].o, source.port).signature.shape
                bits = bits_of([(design.built[of], end) for of, end in sources[sink]])
                made[sink] = Fifo(shape, depth, kept=bits.kept, early=bits.early, is_signed=bits.is_signed)
        return [made[sink] for sink, _ in sinks]

    def connect(self, m: Module, here: Here) -> None:
        """Makes submodules of all, and joins them."""
        for first in self.users:
            m.submodules[self.submodules[first]] = self.nodes[first]
        feeds: dict[Fifo, dict[tuple[Key, str], list[int]]] = {}
        behind: dict[tuple[int, Endpoint], list[Fifo]] = defaultdict(list)
        for (fabric, edge), channel in zip(self.design.built_channels, self.channels, strict=True):
            source, sink = edge.source, edge.sink
            behind[fabric, source].append(channel)
            if channel not in feeds:
                feeds[channel] = defaultdict(list)
                m.submodules[f"ch_{self.submodules[fabric, sink.node]}_{sink.port}"] = channel
                wiring.connect(m, channel.o, getattr(self.nodes[fabric, sink.node].i, sink.port))
            feeds[channel][self.first[fabric, source.node], source.port].append(fabric)
        for first in self.users:
            self._connect_ready(m, first, behind, here)
        for channel, sources in feeds.items():
            self._connect_pushes(m, channel, sources, here)

    def states(self, here: Here) -> tuple[Value, Value]:
        """Which channels are empty, and which are full; of those in common the present region's alone."""
        empty, full = [], []
        for (fabric, edge), channel in zip(self.design.built_channels, self.channels, strict=True):
            key = fabric, edge.sink.node
            empty.append(channel.empty | ~here(fabric) if self.is_shared(key) else channel.empty)
            full.append(self.own(key, channel.full, here))
        return Cat(empty), Cat(full)

    def own(self, key: Key, value: Value, here: Here) -> Value:
        """What the component of a node says, as far as it says it of that node; else 0."""
        return Mux(here(key[0]), value, 0) if self.is_shared(key) else value

    def _connect_ready(
        self, m: Module, first: Key, behind: Mapping[tuple[int, Endpoint], list[Fifo]], here: Here
    ) -> None:
        """Tells a component whether the channels that its outputs feed in the present region have room."""
        fabric, name = first
        for port in self.design.built[fabric].node[name].outputs:
            # An output without a channel is always ready.
            ways: dict[tuple[Fifo, ...], list[int]] = defaultdict(list)
            for of, user in self.users[first]:
                ways[tuple(behind.get((of, Endpoint(user, port.name)), ()))].append(of)
            ready = (
                (any_of(map(here, fabrics)), all_of(channel.i.ready for channel in channels))
                for channels, fabrics in ways.items()
            )
            m.d.comb += getattr(self.nodes[first].o, port.name).ready.eq(in_turn(ready))

    def _connect_pushes(
        self, m: Module, channel: Fifo, sources: Mapping[tuple[Key, str], list[int]], here: Here
    ) -> None:
        """Gives a channel the tokens of the output that feeds it in the present region.

        A node at rest pushes nothing, but what it shows may be anything; and one of several nodes may push to
        the channels of another one.
        """
        pushes, strobes, tokens = [], [], []
        for (first, port), fabrics in sources.items():
            output = getattr(self.nodes[first].o, port)
            is_here = any_of(map(here, fabrics))
            is_own = len(fabrics) == len(self.users[first])
            pushes.append(output.push if is_own else output.push & is_here)
            strobes.append(output.strobe if is_own else output.strobe & is_here)
            tokens.append((is_here, Value.cast(output.token)))
        m.d.comb += [
            channel.i.push.eq(any_of(pushes)),
            channel.i.strobe.eq(any_of(strobes)),
            Value.cast(channel.i.token).eq(in_turn(tokens)),
        ]
