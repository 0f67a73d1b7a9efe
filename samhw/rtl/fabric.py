"""What computes: the nodes and channels of a design, and the control of its runs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, ResetInserter, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.graph import Arch, Design, Node, Parallel, Repeat, Run, Step, Steps
from samhw.graph.banks import BankPort
from samhw.graph.fabrics import immediates_of
from samhw.graph.off_chip import OffChipLayout, OffChipPort
from samhw.graph.pools import pools_of
from samhw.graph.sequence import first_of
from samhw.graph.shared_nodes import Key
from samhw.graph.shared_ports import shared_ports
from samhw.rtl.access import MemoryAccess
from samhw.rtl.binding import Bindings, PortPlaces, PortUse
from samhw.rtl.control import RunControl
from samhw.rtl.interface import MemorySignature, RunSignature, Turns, extent_members, memory_members
from samhw.rtl.interleaved import BankPorts
from samhw.rtl.logic import any_of
from samhw.rtl.off_chip import OffChipSignature, PortNeeds, PortTurns, join_ports
from samhw.rtl.streams import Here, Streams
from samhw.rtl.token import meant
from samhw.rtl.units.unit import delayed

__all__ = ["Fabric"]


class Fabric(wiring.Component):
    """The nodes of all fabrics, their channels, and the control that runs region after region.

    Args:
        stall_ports: adds the input `stall`, a bit for each of `stallable`.
        probes: adds outputs that show each token as it leaves its channel, as of `Top`.
        recovery: `run` has a `clear`.
        counters: nodes count what they spend a run on.
        layout: what of the tensors lies off the chip.

    Members:
        run: starts and ends of runs.
        extents: `extent_<index>` for each index whose extent is not fixed; stable during a run.
        memories: `mem_<memory>` for each memory on the chip, with the ports of the nodes to it; one that is a
            pool has the name of its first array.
        off_chip: with a layout, an `OffChipSignature`.

    Attributes:
        ports: the signature of the interface of each memory on the chip.
        needs: the ports to memories off the chip.
        stallable: roots and writers, if there are stall ports.
        streams: nodes and channels.
    """

    run: wiring.PureInterface
    extents: wiring.PureInterface
    memories: wiring.PureInterface
    off_chip: wiring.PureInterface

    def __init__(
        self,
        design: Design,
        arch: Arch,
        *,
        stall_ports: bool = False,
        probes: bool = False,
        recovery: bool = False,
        counters: bool = False,
        layout: OffChipLayout | None = None,
    ):
        self.design = design
        self.layout = layout
        self.arch = arch
        self.probes = probes
        self.recovery = recovery
        self.counters = counters
        self.turn = {region: turn for turn, region in enumerate(design.turns)}
        self._turns = [frozenset(self.turn[region] for region in group) for group in design.groups]
        self._off_chip = {} if layout is None else layout.arrays
        shared = () if layout is None else shared_ports(design, layout)
        self._off_chip_ports = [port.in_turns(self.turn) for port in shared]
        self.banked = BankPorts(design, self._off_chip, counters=counters)
        self.streams = Streams(design, arch, self._accesses(), stall_ports=stall_ports, counters=counters)
        self.nodes, self.channels = self.streams.nodes, self.streams.channels
        self.stallable = [
            (region, node.name)
            for region, node in design.nodes
            if stall_ports and (not node.inputs or not node.outputs)
        ]
        self.banked.make(self._port_of)
        self.pools = pools_of(design, self._off_chip)
        self._uses = list(self._port_uses())
        self.ports = self._ports()
        self.needs = self._needs()
        names = memory_members(self.ports)
        memories = {names[name]: Out(signature) for name, signature in self.ports.items()}
        extents = {name: Out(arch.index_bits) for name in extent_members(design).values()}
        run = RunSignature(
            regions=len(design.regions),
            channels=len(self.channels),
            recovery=recovery,
            drains=recovery and layout is not None,
            counted=counters * (len(self.nodes) + len(self.banked.parts) + len(self.needs)),
        )
        members: dict[str, object] = {
            "run": Out(run),
            "extents": In(wiring.Signature(extents)),
            "memories": Out(wiring.Signature(memories)),
        }
        if layout is not None:
            members["off_chip"] = Out(
                OffChipSignature(
                    self.needs,
                    len(design.regions),
                    apart=design.is_parallel,
                    recovery=recovery,
                    counters=counters,
                )
            )
        if stall_ports:
            members["stall"] = In(len(self.stallable))
        if probes:
            members |= self.probe_members()
        super().__init__(members)
        if recovery:
            for part in (*self.nodes.values(), *self.channels, *self.banked.parts.values()):
                part.clear = self.run.clear

    def probe_members(self) -> dict[str, object]:
        """For channel k of the design `probe<k>_valid`, `probe<k>_kind` and `probe<k>_payload`."""
        members: dict[str, object] = {}
        for k, (_, number) in enumerate(self._probed()):
            channel = self.channels[number]
            members[f"probe{k}_valid"] = Out(1)
            members[f"probe{k}_kind"] = Out(2)
            members[f"probe{k}_payload"] = Out(channel.shape["payload"].shape)
        return members

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        self._control = self._made_control()
        bindings = Bindings(m, self._control.region, first_of(self._control.sequence))

        def here(fabric: int) -> Value:
            return bindings.is_turn(self._turns[fabric])

        self.streams.connect(m, here)
        empty, full = self.streams.states(here)
        m.d.comb += [self.run.empty.eq(empty), self.run.full.eq(full)]
        self._connect_control(m, here)
        self._connect_bound(bindings)
        if self.probes:
            self._connect_probes(m)
        self._connect_memories(m, bindings)
        if self.banked.parts:
            self._connect_banks(m)
        if self.layout is not None:
            self._connect_off_chip(m, bindings)
        if self.counters:
            self._connect_counters(m)
        return m

    def _probed(self) -> Iterator[tuple[int, int]]:
        """For each channel of the design its region, and the number of the channel that is built."""
        first = 0
        numbers: dict[int, int] = {}
        for group, graph in zip(self.design.groups, self.design.built, strict=True):
            numbers |= dict.fromkeys(group, first)
            first += len(graph.channels)
        for region, graph in enumerate(self.design.regions):
            yield from ((region, numbers[region] + k) for k in range(len(graph.channels)))

    def _connect_probes(self, m: Module) -> None:
        for k, (region, number) in enumerate(self._probed()):
            channel, here = self.channels[number], self._control.region[self.turn[region]]
            m.d.comb += [
                getattr(self, f"probe{k}_valid").eq(channel.o.valid & channel.o.ready & here),
                getattr(self, f"probe{k}_kind").eq(channel.o.payload.kind),
                getattr(self, f"probe{k}_payload").eq(meant(channel.o.payload)),
            ]

    def _made_control(self) -> RunControl:
        number = {first: number for number, first in enumerate(self.streams.users)}
        users = [(number[self.streams.first[key]], key[0]) for key in self.nodes]
        return RunControl(
            nodes=len(number),
            writers=[self._turns_of(first) for first in self._writers()],
            watchdog=self.arch.watchdog,
            sequence=_of_turns(self.design.sequence, self.turn),
            index_bits=self.arch.index_bits,
            ports=self.layout is not None,
            of_nodes=[self._turns[fabric] for fabric, _ in self.nodes] if self.design.is_parallel else (),
            users=users if len(number) < len(users) else (),
        )

    def _writers(self) -> list[Key]:
        """The first of the nodes of each component that ends regions."""
        return [key for key in self.streams.users if not self._node(key).outputs]

    def _node(self, key: Key) -> Node:
        fabric, name = key
        return self.design.built[fabric].node[name]

    def _turns_of(self, first: Key) -> Turns:
        """The regions of all nodes for which a component stands."""
        return frozenset[int]().union(*(self._turns[fabric] for fabric, _ in self.streams.users[first]))

    def _connect_control(self, m: Module, here: Here) -> None:
        control, nodes = self._control, [self.nodes[first] for first in self.streams.users]
        roots = [(fabric, node.name) for fabric, node in self.design.built_nodes if not node.inputs]
        run = self.run
        m.submodules.control = ResetInserter(run.clear)(control) if self.recovery else control
        m.d.comb += [
            control.fired.eq(Cat(n.fired for n in nodes)),
            control.committed.eq(Cat(self.nodes[writer].committed for writer in self._writers())),
            control.busy.eq(any_of(n.busy for n in nodes if "busy" in n.signature.members)),
            *(errors.eq(n.error) for errors, n in zip(control.errors, nodes, strict=True)),
            *(self.nodes[root].start.eq(self._start_of(root[0])) for root in roots),
            control.request.eq(run.request),
            run.running.eq(control.running),
            run.done.eq(control.done),
            run.cycle.eq(control.cycle),
            run.region.eq(control.region),
            control.spent_of.eq(run.spent_of),
            run.spent.eq(control.spent),
            run.error.eq(control.error),
            run.error_node.eq(control.error_node),
            run.error_region.eq(control.error_region),
        ]
        if control.users:
            m.d.comb += control.here.eq(Cat(map(here, range(len(self._turns)))))
        extents = self._known_extents()
        for number, repeat in enumerate(control.repeats):
            m.d.comb += control.extents[number].eq(extents[repeat.extent])
        self._connect_stalls(m)

    def _start_of(self, fabric: int) -> Value:
        """The start of one of its regions is accepted."""
        return any_of(self._control.start[turn] for turn in sorted(self._turns[fabric]))

    def _connect_stalls(self, m: Module) -> None:
        """Each node is stalled by the bits of its regions, each while it is under way."""
        bits = {key: self.stall[bit] for bit, key in enumerate(self.stallable)}
        for first, bound in self._bound():
            stalls = [
                bits[region, own.name] & (self._control.region[self.turn[region]] | (len(bound) == 1))
                for region, own in bound.items()
                if (region, own.name) in bits
            ]
            if stalls:
                m.d.comb += self.nodes[first].stall.eq(any_of(stalls))

    def _connect_counters(self, m: Module) -> None:
        run = self.run
        requested = run.request & ~run.running & ~Cat(run.error).any()
        counted = [(unit.counts, self._start_of(fabric)) for (fabric, _), unit in self.nodes.items()]
        for (fabric, *_), part in self.banked.parts.items():
            counted.append((part.counts, self._start_of(fabric)))
        for k, need in enumerate(self.needs):
            starts = any_of(self._control.start[turn] for turn in sorted(need.shared.ports))
            counted.append((getattr(self.off_chip, f"counts{k}"), starts))
        words = []
        for number, (counts, starts) in enumerate(counted):
            select = counts.select
            m.d.comb += [counts.clear.eq(requested), counts.begin.eq(starts), select.eq(run.counter)]
            words.append(Mux(delayed(m, run.counter[len(select) :]) == number, counts.word, 0))
        m.d.sync += run.count.eq(any_of(words))

    def _bound(self) -> Iterator[tuple[Key, Mapping[int, Node]]]:
        """The first of the nodes of each component, and the node of each region for which it stands."""
        for first in self.streams.users:
            yield first, self.streams.stands_for(first)

    def _port_uses(self) -> Iterator[PortUse]:
        """How the ports of all nodes to memories on the chip reach their pools."""
        places = PortPlaces(self.pools, self.turn)
        for first, bound in self._bound():
            node = self._node(first)
            for param, memory in node.memories.items():
                if memory not in self._off_chip:
                    written = node.spec.memories[param].written
                    for word, port in enumerate(self.nodes[first].memory_ports(param)):
                        if not port.signature.members:
                            continue  # Nobody takes what would be read.
                        banked = self.banked.parts.get((*first, param, word))
                        yield places.use(
                            port if banked is None else banked.memory,
                            written,
                            {region: own.memories[param] for region, own in bound.items()},
                        )

    def _ports(self) -> dict[str, MemorySignature]:
        turns: dict[tuple[str, bool], list[frozenset[int]]] = defaultdict(list)
        for use in self._uses:
            for pool, _, bases in use.sides:
                turns[pool, use.written].append(frozenset(bases))
        return {
            pool.name: MemorySignature(
                capacity=pool.capacity,
                width=self.design.stored(self.design.memory[pool.name]).width(self.arch.index_bits),
                readers=turns[pool.name, False],
                writers=turns[pool.name, True],
                banks=self.design.memory[pool.name].banks,
                ports=[port.number for _, port in self.banked.uses if port.memory == pool.name],
            )
            for pool in self.pools
        }

    def _needs(self) -> list[PortNeeds]:
        return [
            PortNeeds.of(shared, [self._port_of(*user).signature for user in shared.users.items()])
            for shared in self._off_chip_ports
        ]

    def _accesses(self) -> dict[Key, dict[str, MemoryAccess]]:
        """How each node reaches those of its memories that lie off the chip, or in banks."""
        off_chip = (user for shared in self._off_chip_ports for user in shared.users.items())
        used = {(fabric, port.node, port.param) for fabric, port in off_chip}
        used |= {(fabric, port.node, port.param) for fabric, port in self.banked.uses}
        return {
            (fabric, node.name): {
                param: MemoryAccess.PORT if (fabric, node.name, param) in used else MemoryAccess.NONE
                for param, name in node.memories.items()
                if name in self._off_chip or (self.design.memory[name].banks and not _writes(node, param))
            }
            for fabric, node in self.design.built_nodes
        }

    def _port_of(self, fabric: int, port: OffChipPort | BankPort) -> wiring.PureInterface:
        return self.nodes[fabric, port.node].memory_ports(port.param)[port.word]

    def _connect_off_chip(self, m: Module, bindings: Bindings) -> None:
        uses: list[PortTurns] = []
        for k, (shared, _) in enumerate(self.needs):
            turns: dict[wiring.PureInterface, Turns] = {}
            for fabric, port in shared.users.items():
                node = self._port_of(fabric, port)
                turns[node] = turns.get(node, frozenset()) | self._turns[fabric]
            uses += [PortTurns(getattr(self.off_chip, f"port{k}"), *way) for way in turns.items()]
            for name, numbers in shared.by_region.items():
                signal = getattr(self.off_chip, f"{name}{k}")
                m.d.comb += signal.eq(bindings.value(numbers, len(signal)))
        join_ports(m, uses, bindings.is_turn)
        control = self._control
        m.d.comb += [
            self.off_chip.start.eq(control.start),
            control.ports_fired.eq(self.off_chip.fired),
            control.ports_settled.eq(self.off_chip.settled),
        ]
        if self.recovery:
            run, drained = self.run, self.off_chip.drained
            m.d.comb += [
                # What comes after an error is of no use, and numbers of ports are of no region then.
                self.off_chip.hold.eq(run.clear | Cat(run.error).any()),
                self.off_chip.clear.eq(run.clear & drained),
                run.drained.eq(drained),
            ]

    def _connect_banks(self, m: Module) -> None:
        """Counts the cycles of regions for memories in banks: of one region for all, or, where several may be
        under way, for each memory those of the one that reads it."""
        members, start = memory_members(self.ports), self._control.start
        banked = [name for name, signature in self.ports.items() if signature.banks]
        groups: list[tuple[Value, list[str]]] = [(start.any(), banked)]
        if self.design.is_parallel:
            groups = [(any_of(start[turn] for turn in self._readers_of(name)), [name]) for name in banked]
        for starts, names in groups:
            cycle = self.banked.connect(m, starts, names, self._port_of, self.streams.submodules)
            for name in names:
                m.d.comb += getattr(self.memories, members[name]).cycle.eq(cycle)

    def _readers_of(self, memory: str) -> list[int]:
        """The turns of the regions with ports to a memory in banks."""
        found = (self._turns[fabric] for fabric, port in self.banked.uses if port.memory == memory)
        return sorted(frozenset[int]().union(*found))

    def _connect_bound(self, bindings: Bindings) -> None:
        """What each node has by the binding of its region."""
        extents = self._known_extents()
        steps = {repeat.index: self._control.steps[n] for n, repeat in enumerate(self._control.repeats)}
        for first, bound in self._bound():
            node, unit = self._node(first), self.nodes[first]
            by_turn = {self.turn[region]: own for region, own in bound.items()}
            graphs = {self.turn[region]: self.design.regions[region] for region in bound}
            for param in node.extents:
                bindings.connect(unit, param, {t: extents[own.extents[param]] for t, own in by_turn.items()})
            for param in node.repeats:
                bindings.connect(unit, param, {t: steps[own.repeats[param]] for t, own in by_turn.items()})
            for param in node.memories:
                places = {t: graphs[t].memory[own.memories[param]].capacity for t, own in by_turn.items()}
                bindings.connect(unit, f"limit_{param}", places)
            for name in immediates_of(node):
                words = {
                    t: graphs[t].operand_type(own).constant(immediates_of(own)[name])
                    for t, own in by_turn.items()
                }
                bindings.connect(unit, f"immediate_{name}", words)

    def _known_extents(self) -> dict[str, Value | int]:
        """The extent of each index: a register of the shell, or a number."""
        names = extent_members(self.design)
        return {
            index: getattr(self.extents, names[index]) if index in names else greatest
            for index, greatest in self.design.extents.items()
        }

    def _connect_memories(self, m: Module, bindings: Bindings) -> None:
        names = memory_members(self.ports)
        for use in self._uses:
            port, words = use.port, []
            for pool, number, bases in use.sides:
                side = getattr(
                    getattr(self.memories, names[pool]), f"{'write' if use.written else 'read'}{number}"
                )
                base = bindings.value(bases, len(side.addr))
                here = bindings.is_turn(frozenset(bases)) if len(use.sides) > 1 else Const(1)
                m.d.comb += [side.addr.eq(port.addr | base), side.en.eq(port.en & here)]
                if use.written:
                    m.d.comb += side.data.eq(port.data)
                else:
                    words.append(Mux(here, side.data, 0) if len(use.sides) > 1 else side.data)
            if words:
                m.d.comb += port.data.eq(any_of(words))


def _writes(node: Node, param: str) -> bool:
    """A node writes the memory that a parameter names."""
    return node.spec.memories[param].written


def _of_turns(steps: Steps, turn: Mapping[int, int]) -> Steps:
    """A sequence in which regions have their numbers in the order of turns."""
    found: list[Step] = []
    for step in steps:
        match step:
            case Run(region):
                found.append(Run(turn[region]))
            case Repeat():
                found.append(replace(step, body=_of_turns(step.body, turn)))
            case Parallel(bodies):
                found.append(Parallel(tuple(_of_turns(body, turn) for body in bodies)))
    return tuple(found)
