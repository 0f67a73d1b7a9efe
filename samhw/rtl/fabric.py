"""What computes: the nodes and channels of a design, and the control of its runs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from amaranth.hdl import Cat, Elaboratable, Module, Mux, ResetInserter
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.graph import Arch, Channel, Design, Endpoint, Repeat, Run, Steps
from samhw.graph.off_chip import OffChipLayout, OffChipPort
from samhw.names import identifiers
from samhw.rtl.access import MemoryAccess
from samhw.rtl.actor import Primitive, component
from samhw.rtl.channel import Fifo
from samhw.rtl.control import RunControl
from samhw.rtl.counted import Counted
from samhw.rtl.interface import MemorySignature, RunSignature, extent_members, memory_members
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.off_chip import OffChipSignature, PortNeeds
from samhw.rtl.site import bits_of
from samhw.rtl.token import meant
from samhw.rtl.units.unit import delayed

__all__ = ["Fabric"]

Key = tuple[int, str]
"""A node: the number of its region, and its name there."""


class Fabric(wiring.Component):
    """The nodes of all regions, their channels, and the control that runs region after region.

    Args:
        stall_ports: adds the input `stall`, a bit for each of `stallable`.
        probes: adds outputs that show each token as it leaves its channel, as of `Top`.
        recovery: `run` has a `clear`.
        counters: nodes count what they spend a run on.
        layout: what of the tensors lies off the chip.

    Members:
        run: starts and ends of runs.
        extents: `extent_<index>` for each index; stable during a run.
        memories: `mem_<memory>` for each memory on the chip, with the ports of the nodes to it.
        off_chip: with a layout, an `OffChipSignature`.

    Attributes:
        ports: the signature of the interface of each memory on the chip.
        needs: the ports to memories off the chip.
        stallable: roots and writers, if there are stall ports.
        submodules: what the submodule of each node is called.
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
        self._off_chip = {} if layout is None else layout.arrays
        self._off_chip_ports = [] if layout is None else list(_ports_of(design, layout))
        accesses = self._accesses()
        self.nodes: dict[Key, Primitive | Counted] = {
            (region, node.name): component(
                node,
                design.regions[region],
                arch,
                stall_port=stall_ports,
                accesses=accesses[region, node.name],
            )
            for region, node in design.nodes
        }
        if counters:
            self.nodes = {key: Counted(unit.make) for key, unit in self.nodes.items()}
        self.submodules = self._submodules()
        self.channels = [self._channel(region, channel) for region, channel in design.channels]
        self.stallable = [
            (region, node.name)
            for region, node in design.nodes
            if stall_ports and (not node.inputs or not node.outputs)
        ]
        self.ports = self._ports()
        self.needs = self._needs()
        names = memory_members(self.ports)
        memories = {names[name]: Out(signature) for name, signature in self.ports.items()}
        extents = {name: Out(arch.index_bits) for name in extent_members(design.extents).values()}
        run = RunSignature(
            regions=len(design.regions),
            channels=len(self.channels),
            recovery=recovery,
            counted=len(self.nodes) if counters else 0,
        )
        members: dict[str, object] = {
            "run": Out(run),
            "extents": In(wiring.Signature(extents)),
            "memories": Out(wiring.Signature(memories)),
        }
        if layout is not None:
            members["off_chip"] = Out(OffChipSignature(self.needs, len(design.regions)))
        if stall_ports:
            members["stall"] = In(len(self.stallable))
        if probes:
            members |= self.probe_members()
        super().__init__(members)
        if recovery:
            for part in (*self.nodes.values(), *self.channels):
                part.clear = self.run.clear

    def probe_members(self) -> dict[str, object]:
        """For channel k `probe<k>_valid`, `probe<k>_kind` and `probe<k>_payload`."""
        members: dict[str, object] = {}
        for k, channel in enumerate(self.channels):
            members[f"probe{k}_valid"] = Out(1)
            members[f"probe{k}_kind"] = Out(2)
            members[f"probe{k}_payload"] = Out(channel.shape["payload"].shape)
        return members

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        self._connect_channels(m)
        self._connect_control(m)
        self._connect_memories(m)
        if self.layout is not None:
            self._connect_off_chip(m)
        self._connect_extents(m)
        if self.counters:
            self._connect_counters(m)
        return m

    def _submodules(self) -> dict[Key, str]:
        several = len(self.design.regions) > 1
        wishes = {key: f"r{key[0]}_{key[1]}" if several else key[1] for key in self.nodes}
        unique = identifiers(wishes.values())
        return {key: unique[wish] for key, wish in wishes.items()}

    def _channel(self, region: int, channel: Channel) -> Fifo:
        source = channel.source
        shape = getattr(self.nodes[region, source.node].o, source.port).signature.shape
        kept, early = bits_of(self.design.regions[region], source)
        return Fifo(shape, channel.depth, kept=kept, early=early)

    def _connect_channels(self, m: Module) -> None:
        names = self.submodules
        for key, unit in self.nodes.items():
            m.submodules[names[key]] = unit
        behind: dict[tuple[int, Endpoint], list[Fifo]] = defaultdict(list)
        for k, ((region, edge), channel) in enumerate(zip(self.design.channels, self.channels, strict=True)):
            sink = edge.sink
            m.submodules[f"ch_{names[region, sink.node]}_{sink.port}"] = channel
            wiring.connect(m, channel.o, getattr(self.nodes[region, sink.node].i, sink.port))
            behind[region, edge.source].append(channel)
            if self.probes:
                m.d.comb += [
                    getattr(self, f"probe{k}_valid").eq(channel.o.valid & channel.o.ready),
                    getattr(self, f"probe{k}_kind").eq(channel.o.payload.kind),
                    getattr(self, f"probe{k}_payload").eq(meant(channel.o.payload)),
                ]
        m.d.comb += [
            self.run.empty.eq(Cat(channel.empty for channel in self.channels)),
            self.run.full.eq(Cat(channel.full for channel in self.channels)),
        ]
        for region, node in self.design.nodes:
            for port in node.outputs:
                source = getattr(self.nodes[region, node.name].o, port.name)
                channels = behind[region, Endpoint(node.name, port.name)]
                # An output without a channel is always ready.
                m.d.comb += source.ready.eq(all_of(c.i.ready for c in channels))
                for channel in channels:
                    m.d.comb += [
                        channel.i.push.eq(source.push),
                        channel.i.strobe.eq(source.strobe),
                        channel.i.token.eq(source.token),
                    ]

    def _connect_control(self, m: Module) -> None:
        nodes = list(self.nodes.values())
        roots = [(region, node.name) for region, node in self.design.nodes if not node.inputs]
        writers = [(region, node.name) for region, node in self.design.nodes if not node.outputs]
        self._control = control = RunControl(
            nodes=len(nodes),
            writers=[self.turn[region] for region, _ in writers],
            watchdog=self.arch.watchdog,
            sequence=_of_turns(self.design.sequence, self.turn),
            index_bits=self.arch.index_bits,
            ports=self.layout is not None,
        )
        run = self.run
        m.submodules.control = ResetInserter(run.clear)(control) if self.recovery else control
        m.d.comb += [
            control.fired.eq(Cat(n.fired for n in nodes)),
            control.committed.eq(Cat(self.nodes[writer].committed for writer in writers)),
            control.busy.eq(any_of(n.busy for n in nodes if "busy" in n.signature.members)),
            *(errors.eq(n.error) for errors, n in zip(control.errors, nodes, strict=True)),
            *(self.nodes[root].start.eq(control.start[self.turn[root[0]]]) for root in roots),
            *(self.nodes[key].stall.eq(self.stall[bit]) for bit, key in enumerate(self.stallable)),
            control.request.eq(run.request),
            run.running.eq(control.running),
            run.done.eq(control.done),
            run.cycle.eq(control.cycle),
            run.region.eq(control.region),
            *(ours.eq(theirs) for ours, theirs in zip(run.spent, control.spent, strict=True)),
            run.error.eq(control.error),
            run.error_node.eq(control.error_node),
        ]

        extents = extent_members(self.design.extents)
        for number, repeat in enumerate(control.repeats):
            m.d.comb += control.extents[number].eq(getattr(self.extents, extents[repeat.extent]))
            for region, node in self.design.nodes:
                for param, name in node.repeats.items():
                    if name == repeat.index:
                        m.d.comb += getattr(self.nodes[region, node.name], param).eq(control.steps[number])

    def _connect_counters(self, m: Module) -> None:
        run, control = self.run, self._control
        requested = run.request & ~run.running & ~Cat(run.error).any()
        words = []
        for number, ((region, _), unit) in enumerate(self.nodes.items()):
            select = unit.counts.select
            m.d.comb += [
                unit.counts.clear.eq(requested),
                unit.counts.begin.eq(control.start[self.turn[region]]),
                select.eq(run.counter),
            ]
            words.append(Mux(delayed(m, run.counter[len(select) :]) == number, unit.counts.word, 0))
        m.d.sync += run.count.eq(any_of(words))

    def _memory_ports(self) -> Iterator[tuple[str, bool, int, wiring.PureInterface]]:
        """The ports of all nodes to memories on the chip, each with the name of its memory, whether it
        writes, and its region."""
        for region, node in self.design.nodes:
            for param, name in node.memories.items():
                if name in self._off_chip:
                    continue
                written = node.spec.memories[param].written
                for port in self.nodes[region, node.name].memory_ports(param):
                    yield name, written, region, port

    def _ports(self) -> dict[str, MemorySignature]:
        readers: dict[str, list[int]] = defaultdict(list)
        writers: dict[str, int] = {}
        for name, written, region, _ in self._memory_ports():
            if written:
                writers[name] = self.turn[region]
            else:
                readers[name].append(self.turn[region])
        return {
            memory.name: MemorySignature(
                capacity=memory.capacity,
                width=self.design.stored(memory).width(self.arch.index_bits),
                readers=readers[memory.name],
                writer=writers.get(memory.name),
            )
            for memory in self.design.memories
            if memory.name not in self._off_chip
        }

    def _needs(self) -> list[PortNeeds]:
        return [
            PortNeeds(self.turn[region], port, self._off_chip_port(region, port).signature)
            for region, port in self._off_chip_ports
        ]

    def _accesses(self) -> dict[Key, dict[str, MemoryAccess]]:
        """How each node reaches those of its memories that lie off the chip."""
        ports = {(region, port.node, port.param) for region, port in self._off_chip_ports}
        return {
            (region, node.name): {
                param: MemoryAccess.PORT if (region, node.name, param) in ports else MemoryAccess.NONE
                for param, name in node.memories.items()
                if name in self._off_chip
            }
            for region, node in self.design.nodes
        }

    def _off_chip_port(self, region: int, port: OffChipPort) -> wiring.PureInterface:
        return self.nodes[region, port.node].memory_ports(port.param)[port.word]

    def _connect_off_chip(self, m: Module) -> None:
        off_chip = wiring.flipped(self.off_chip)
        for k, (region, port) in enumerate(self._off_chip_ports):
            wiring.connect(m, self._off_chip_port(region, port), getattr(off_chip, f"port{k}"))
        control = self._control
        m.d.comb += [
            self.off_chip.start.eq(control.start),
            control.ports_fired.eq(self.off_chip.fired),
            control.ports_settled.eq(self.off_chip.settled),
        ]

    def _connect_memories(self, m: Module) -> None:
        names = memory_members(self.ports)
        interfaces = {name: wiring.flipped(getattr(self.memories, names[name])) for name in self.ports}
        free = {name: iter(signature.reads) for name, signature in self.ports.items()}
        for name, written, _, port in self._memory_ports():
            wiring.connect(m, port, getattr(interfaces[name], "write" if written else next(free[name])))

    def _connect_extents(self, m: Module) -> None:
        names = extent_members(self.design.extents)
        for region, node in self.design.nodes:
            for param, index in node.extents.items():
                own = getattr(self.nodes[region, node.name], param)
                m.d.comb += own.eq(getattr(self.extents, names[index]))


def _ports_of(design: Design, layout: OffChipLayout) -> Iterator[tuple[int, OffChipPort]]:
    """All ports to memories off the chip, each with its region."""
    for region, graph in enumerate(design.regions):
        for port in layout.ports_of(graph):
            yield region, port


def _of_turns(steps: Steps, turn: Mapping[int, int]) -> Steps:
    """A sequence in which regions have their numbers in the order of turns."""
    return tuple(
        Run(turn[step.region])
        if isinstance(step, Run)
        else replace(step, body=_of_turns(step.body, turn))
        if isinstance(step, Repeat)
        else step
        for step in steps
    )
