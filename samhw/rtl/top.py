"""A whole design in hardware: nodes, channels, tensor memories, and the host's port to them."""

import gc
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from amaranth.back import verilog as verilog_backend
from amaranth.hdl import Array, Cat, Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.errors import InputError
from samhw.graph import Arch, Design, Endpoint, MemoryRole, Node, validate_design
from samhw.graph.address_map import AddressMap, Register, Window
from samhw.graph.names import identifiers
from samhw.rtl.actor import Primitive
from samhw.rtl.channel import Channel
from samhw.rtl.control import RunControl
from samhw.rtl.host_port import AxiLiteSignature, HostPort
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.memories import TensorMemory
from samhw.rtl.registry import component
from samhw.rtl.verilog_memory import VerilogMemories

__all__ = ["Top", "verilog"]

_AXI = "s_axi_"


class Top(wiring.Component):
    """The RTL of a design (docs/host_port.md). It is independent of the data: one build runs whatever fits.

    Its regions run one after another, and what they pass on stays in the memories between them.

    Raises `InputError` for a design that does not hang together, or for which the RTL lacks something.

    Args:
        stall_ports: adds the input `stall`, a bit for each root and writer in the order of the nodes.
        probes: adds outputs that show each token as it leaves its channel: for channel k `probe<k>_valid`,
            `probe<k>_kind` and `probe<k>_payload`.

    Members:
        s_axi_..: the AXI4-Lite slave.
        running, done, error: of the present or last run.
        cycle: the number of the present cycle of the run.
    """

    def __init__(self, design: Design, arch: Arch, *, stall_ports: bool = False, probes: bool = False):
        validate_design(design)
        self.design = design
        if arch.fanout:
            raise InputError(
                f"Arch.fanout is {arch.fanout}, but the RTL feeds several inputs at once; give 0, or take "
                "another target."
            )
        self.arch = arch
        self.map = AddressMap(design, arch)
        self.probes = probes
        self.turn = {step.region: turn for turn, step in enumerate(design.sequence)}
        self.nodes: dict[tuple[int, str], Primitive] = {
            (region, node.name): component(node, design.regions[region], arch, stall_port=stall_ports)
            for region, node in design.nodes
        }
        self.channels = [
            Channel(getattr(self.nodes[region, c.source.node].o, c.source.port).signature.shape, c.depth)
            for region, c in design.channels
        ]
        self.stallable = [
            (region, node.name)
            for region, node in design.nodes
            if stall_ports and (not node.inputs or not node.outputs)
        ]
        members: dict[str, object] = {
            _AXI + name: member for name, member in AxiLiteSignature().members.items()
        }
        members |= {"running": Out(1), "done": Out(1), "error": Out(1), "cycle": Out(64)}
        if stall_ports:
            members["stall"] = In(len(self.stallable))
        if probes:
            for k, channel in enumerate(self.channels):
                token = channel.shape
                members[f"probe{k}_valid"] = Out(1)
                members[f"probe{k}_kind"] = Out(2)
                members[f"probe{k}_payload"] = Out(token["payload"].shape)
        super().__init__(members)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        self._connect_channels(m)
        control = self._connect_control(m)
        memories = self._connect_memories(m, control.region)
        extents = self._connect_extents(m)
        self._connect_host(m, memories, control, extents)
        return m

    # The graphs

    def _connect_channels(self, m: Module) -> None:
        design = self.design
        several = len(design.regions) > 1
        wishes = {key: f"r{key[0]}_{key[1]}" if several else key[1] for key in self.nodes}
        unique = identifiers(wishes.values())
        names = {key: unique[wish] for key, wish in wishes.items()}
        for key, unit in self.nodes.items():
            m.submodules[names[key]] = unit
        behind: dict[tuple[int, Endpoint], list[Channel]] = defaultdict(list)
        for k, ((region, edge), channel) in enumerate(zip(design.channels, self.channels, strict=True)):
            sink = edge.sink
            m.submodules[f"ch_{names[region, sink.node]}_{sink.port}"] = channel
            wiring.connect(m, channel.o, getattr(self.nodes[region, sink.node].i, sink.port))
            behind[region, edge.source].append(channel)
            if self.probes:
                m.d.comb += [
                    getattr(self, f"probe{k}_valid").eq(channel.o.valid & channel.o.ready),
                    getattr(self, f"probe{k}_kind").eq(channel.o.payload.kind),
                    getattr(self, f"probe{k}_payload").eq(channel.o.payload.payload),
                ]
        for region, node in design.nodes:
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

    def _memory_ports(self) -> Iterator[tuple[str, int, Node, wiring.PureInterface]]:
        """The memory ports of all nodes, each with the name of its memory, its region and its node."""
        for region, node in self.design.nodes:
            unit = self.nodes[region, node.name]
            for member in unit.signature.members:
                if member.startswith("mem_"):
                    param = member.removeprefix("mem_").removesuffix("_next")
                    yield node.params[param], region, node, getattr(unit, member)

    def _connect_memories(self, m: Module, under_way: Value) -> dict[str, TensorMemory]:
        reads: dict[str, list[tuple[int, wiring.PureInterface]]] = defaultdict(list)
        writes: dict[str, tuple[int, wiring.PureInterface]] = {}
        for name, region, node, port in self._memory_ports():
            if node.outputs:
                reads[name].append((self.turn[region], port))
            else:
                writes[name] = self.turn[region], port
        memories = {}
        for name, identifier in identifiers(self.map.windows).items():
            window = self.map.windows[name]
            memories[name] = tensor = TensorMemory(
                window,
                regions=len(self.design.regions),
                readers=[turn for turn, _ in reads[name]],
                writer=writes[name][0] if name in writes else 0,
            )
            m.submodules[f"mem_{identifier}"] = tensor
            m.d.comb += tensor.region.eq(under_way)
            for (_, port), read in zip(reads[name], tensor.reads, strict=True):
                wiring.connect(m, port, read)
            if name in writes:
                wiring.connect(m, writes[name][1], tensor.write)
        return memories

    def _connect_control(self, m: Module) -> RunControl:
        nodes = list(self.nodes.values())
        roots = [(region, node.name) for region, node in self.design.nodes if not node.inputs]
        writers = [(region, node.name) for region, node in self.design.nodes if not node.outputs]
        m.submodules.control = control = RunControl(
            nodes=len(nodes),
            writers=[self.turn[region] for region, _ in writers],
            watchdog=self.arch.watchdog,
        )
        m.d.comb += [
            control.fired.eq(Cat(n.fired for n in nodes)),
            control.committed.eq(Cat(self.nodes[writer].committed for writer in writers)),
            control.busy.eq(any_of(n.busy for n in nodes if "busy" in n.signature.members)),
            *(errors.eq(n.error) for errors, n in zip(control.errors, nodes, strict=True)),
            *(self.nodes[root].start.eq(control.start[self.turn[root[0]]]) for root in roots),
            *(self.nodes[key].stall.eq(self.stall[bit]) for bit, key in enumerate(self.stallable)),
            self.running.eq(control.running),
            self.done.eq(control.done),
            self.error.eq(Cat(control.error).any()),
            self.cycle.eq(control.cycle),
        ]
        return control

    def _connect_extents(self, m: Module) -> dict[str, Signal]:
        names = identifiers(self.map.extents)
        extents = {
            index: Signal(self.arch.index_bits, name=f"extent_{names[index]}") for index in self.map.extents
        }
        for region, node in self.design.nodes:
            unit = self.nodes[region, node.name]
            if "extent" in unit.signature.members:
                m.d.comb += unit.extent.eq(extents[node.params["extent"]])
        return extents

    # The host

    def _connect_host(
        self, m: Module, memories: dict[str, TensorMemory], control: RunControl, extents: dict[str, Signal]
    ) -> None:
        m.submodules.host_port = host = HostPort()
        for name, member in AxiLiteSignature().members.items():
            ours, theirs = getattr(self, _AXI + name), getattr(host.axi, name)
            m.d.comb += theirs.eq(ours) if member.flow is In else ours.eq(theirs)
        self._host_writes(m, host, memories, control, extents)
        self._host_reads(m, host, memories, control, extents)

    def _host_writes(
        self,
        m: Module,
        host: HostPort,
        memories: dict[str, TensorMemory],
        control: RunControl,
        extents: dict[str, Signal],
    ) -> None:
        """CONTROL always; extents, up to the greatest, and input memories only between runs."""
        accepted = []
        is_control = host.write_addr == Register.CONTROL
        m.d.comb += control.request.eq(host.write & is_control & host.write_data[0])
        accepted.append(is_control)
        for index, register in extents.items():
            here = (host.write_addr == self.map.extents[index]) & ~control.running
            fits = host.write_data <= self.design.extents[index]
            with m.If(host.write & here & fits):
                m.d.sync += register.eq(host.write_data)
            accepted.append(here & fits)
        for name, tensor in memories.items():
            window = self.map.windows[name]
            if window.memory.role is MemoryRole.INPUT:
                here, word = _within(window, host.write_addr)
                m.d.comb += [
                    tensor.host.addr.eq(word),
                    tensor.host.data.eq(host.write_data),
                    tensor.host.en.eq(host.write & here),
                ]
                accepted.append(here & ~control.running)
        m.d.comb += host.write_ok.eq(any_of(accepted))

    def _host_reads(
        self,
        m: Module,
        host: HostPort,
        memories: dict[str, TensorMemory],
        control: RunControl,
        extents: dict[str, Signal],
    ) -> None:
        """In the first cycle, addresses are decoded and memories read; in the second, each kind of word is
        picked; in the third, one of them."""
        registers = self._registers(control, extents)
        number = host.read_addr[2:]
        width = max(1, (len(registers) - 1).bit_length())
        chosen = Signal(width)
        is_register = Signal()
        m.d.sync += [chosen.eq(number[:width]), is_register.eq(number < len(registers))]
        word = Signal(32)
        word_ok = Signal()
        m.d.sync += [word.eq(Mux(is_register, Array(registers)[chosen], 0)), word_ok.eq(is_register)]

        found: list[Value] = []
        data: list[Value] = []
        for name, tensor in memories.items():
            window = self.map.windows[name]
            if window.memory.role is not MemoryRole.INPUT:
                here, address = _within(window, host.read_addr)
                hit = Signal(name=f"hit_{len(found)}")
                m.d.comb += [tensor.host.addr.eq(address), tensor.host.en.eq(host.read & here)]
                m.d.sync += hit.eq(here & ~control.running)
                found.append(hit)
                data.append(Mux(hit, tensor.host.data, 0))
        memory_word = Signal(32)
        memory_ok = Signal()
        m.d.sync += [memory_word.eq(any_of(data)), memory_ok.eq(any_of(found))]
        m.d.sync += [host.read_data.eq(word | memory_word), host.read_ok.eq(word_ok | memory_ok)]

    def _registers(self, control: RunControl, extents: dict[str, Signal]) -> list[Value]:
        """What each register reads, from address 0 on."""
        by_address: dict[int, Value] = {
            Register.CONTROL: Const(0, 32),
            Register.STATUS: Cat(control.running, control.done, Cat(control.error).any()),
            Register.ERROR: Cat(control.error),
            Register.ERROR_NODE: control.error_node,
            Register.CYCLES_LO: control.cycle[:32],
            Register.CYCLES_HI: control.cycle[32:],
            Register.IDENTITY: Const(self.map.identity, 32),
        }
        by_address |= {self.map.extents[index]: register for index, register in extents.items()}
        by_address |= dict(zip(self.map.region_ends, control.ends, strict=True))
        states = Cat(Cat(c.empty, c.full) for c in self.channels)
        for n, address in enumerate(self.map.channel_states):
            by_address[address] = states[32 * n : 32 * (n + 1)]
        registers = [by_address[4 * n] for n in range(len(by_address))]
        return [_word(register) for register in registers]


def _word(value: Value) -> Value:
    return Cat(value, Const(0, 32 - len(value))) if len(value) < 32 else value


def _within(window: Window, address: Value) -> tuple[Value, Value]:
    """Whether a byte address lies in a memory, and the word it names there."""
    bits = (window.size - 1).bit_length()
    word = address[2:bits]
    here = address[bits:] == window.base >> bits
    capacity = window.memory.capacity
    return (here & (word < capacity) if capacity << 2 < window.size else here), word


def verilog(
    design: Design, arch: Arch, *, name: str = "samhw_top", stall_ports: bool = False, probes: bool = False
) -> str:
    """The Verilog of a design's `Top`, one file; the same text for the same design on every machine."""
    top = Top(design, arch, stall_ports=stall_ports, probes=probes)
    memories = VerilogMemories(f"{name}_memory")
    with _no_garbage_collection():
        text: str = verilog_backend.convert(
            top, name=name, platform=memories, emit_src=False, strip_internal_attrs=True
        )
    return text + memories.text


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """The objects of a netlist all live until the end. Python's collector would walk through them again and
    again, for a third of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
