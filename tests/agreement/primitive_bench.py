"""Runs single primitives under Verilator: many instances in one design, a source or a sink at every port.

A source pushes its token k in the first cycle that is not before the token's own cycle and in which the
channel to the primitive (latency 1) has a slot, one token a cycle. A sink pops its token k in the first cycle
that is not before the k-th of its cycles and in which the token is available. Cycle 0 is the one in which a
root's start is accepted.
"""

import struct
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from amaranth.hdl import (
    Cat,
    ClockDomain,
    ClockSignal,
    DomainRenamer,
    Elaboratable,
    Module,
    Mux,
    ResetSignal,
    Signal,
    Value,
)
from amaranth.lib import memory, wiring

from samhw.graph import Arch, Graph, Kind, MemoryRole, Node, Token
from samhw.interpreter import no_collection
from samhw.rtl.access import MemoryWriteSignature
from samhw.rtl.actor import component
from samhw.rtl.channel import Fifo
from samhw.rtl.logic import any_of
from samhw.rtl.token import LEVEL_BITS, meant
from samhw.rtl.verilog import convert
from samhw.rtl.verilog_platform import VerilogPlatform
from samhw.targets.building.build_cache import cached, digest
from samhw.targets.building.elaborate import generator_digest
from samhw.targets.building.verilator import build_program

__all__ = ["Bench", "Case", "Instance", "Outcome"]

_MEANINGLESS = -1 << LEVEL_BITS & (1 << 32) - 1
"""The bits of a stop's payload, and of that of DONE, that must not matter."""

TimedTokens = Sequence[tuple[int, Token]]
"""Tokens, each with a cycle."""


@dataclass(frozen=True)
class Instance:
    """One primitive in the bench. `graph` holds the node, its memories and its index; `depths` gives the
    depth of the channel at each port, inputs by `i.<name>` and outputs by `o.<name>`."""

    name: str
    graph: Graph
    arch: Arch
    depths: Mapping[str, int]

    @property
    def node(self) -> Node:
        """The primitive."""
        return self.graph.nodes[0]


@dataclass(frozen=True)
class Case:
    """One run of one instance: what each source pushes, not before which cycle; not before which cycles each
    sink pops (tokens beyond the list: at once); the words of the input memories; the extent."""

    inputs: Mapping[str, TimedTokens] = field(default_factory=dict)
    releases: Mapping[str, Sequence[int]] = field(default_factory=dict)
    memories: Mapping[str, Sequence[int]] = field(default_factory=dict)
    extent: int = 0


@dataclass(frozen=True)
class Outcome:
    """What came of a case: the tokens of each output with the cycles in which they were popped, the cycles in
    which each source pushed, the cycle in which a writer committed, and all words of the output memories."""

    outputs: Mapping[str, TimedTokens]
    pushed: Mapping[str, Sequence[int]]
    committed: int | None
    memories: Mapping[str, Sequence[int]]
    error: int
    """The error bits that were ever high."""
    ended: bool
    """Every output gave DONE (a writer committed), every token was taken, and nothing came afterwards."""


class Bench:
    """The instances as one program. Verilog and program come from the build cache if nothing has changed."""

    def __init__(self, instances: Sequence[Instance]):
        self.instances = list(instances)
        top = _Top(self.instances)
        key = digest(generator_digest(), Path(__file__).read_bytes(), repr(self.instances))
        text = cached("verilog", key, lambda folder: _write_verilog(top, folder / "bench.v")) / "bench.v"
        glue = Path(__file__).with_name("primitive_bench.cpp").read_text()
        glue = glue.replace("INPUT_LANES", _lanes("in", len(top.inputs)))
        glue = glue.replace("OUTPUT_LANES", _lanes("out", len(top.outputs)))
        self.program = build_program(text.read_text(), glue, harness=None, top="bench")

    def run(self, cases: Iterable[tuple[int, Case]]) -> list[Outcome]:
        """Runs cases, each given with the number of its instance, one after the other."""
        cases = list(cases)
        work = b"".join(_pack(number, self.instances[number], case) for number, case in cases)
        done = subprocess.run([self.program.path], input=work, capture_output=True, check=True)
        words = iter(np.frombuffer(done.stdout, np.uint32).tolist())
        return [_unpack(self.instances[number], words) for number, _ in cases]


def _words(values: Sequence[int]) -> bytes:
    return struct.pack(f"=I{len(values)}I", len(values), *values)


def _pack(number: int, instance: Instance, case: Case) -> bytes:
    """The case as primitive_bench.cpp reads it: words, each list after its length."""
    node, memories = instance.node, instance.graph.memories
    parts = [_words([number, case.extent])]
    parts.append(_words([len(node.inputs), len(node.outputs)]))
    for port in node.inputs:
        tokens = case.inputs[port.name]
        parts.append(_words([word for cycle, (kind, payload) in tokens for word in (cycle, kind, payload)]))
    parts += [_words(case.releases.get(port.name, [])) for port in node.outputs]
    loaded = [m for m in memories if m.role is MemoryRole.INPUT]
    stored = [m for m in memories if m.role is MemoryRole.OUTPUT]
    parts.append(_words([len(loaded), len(stored)]))
    for m in loaded:
        parts.append(_words([memories.index(m), *case.memories[m.name]]))
    parts += [_words([memories.index(m), m.capacity]) for m in stored]
    return b"".join(parts)


def _unpack(instance: Instance, words: Iterator[int]) -> Outcome:
    ended, error, committed = next(words), next(words), next(words)
    pushed = {port.name: list(islice(words, next(words))) for port in instance.node.inputs}
    outputs = {}
    for port in instance.node.outputs:
        records = [list(islice(words, 3)) for _ in range(next(words))]
        outputs[port.name] = [(cycle, Token(Kind(kind), payload)) for cycle, kind, payload in records]
    stored = [m for m in instance.graph.memories if m.role is MemoryRole.OUTPUT]
    memories = {m.name: list(islice(words, m.capacity)) for m in stored}
    return Outcome(outputs, pushed, committed - 1 if committed else None, memories, error, bool(ended))


def _write_verilog(top: "_Top", path: Path) -> None:
    with no_collection():
        path.write_text(convert(top, VerilogPlatform("bench"), "bench", top.ports))


def _lanes(prefix: str, count: int) -> str:
    """The C++ initialisers of a lane each: the addresses of its four ports."""
    ports = ("go", "ready", "kind", "payload")
    return ", ".join("{" + ", ".join(f"&top.{prefix}{k}_{p}" for p in ports) + "}" for k in range(count))


class _Lane:
    """One input or one output: `go` says that a token is pushed (an input) or available (an output), `ready`
    that there is a slot, or that the token is popped."""

    def __init__(self, name: str):
        self.go = Signal(name=f"{name}_go")
        self.ready = Signal(name=f"{name}_ready")
        self.kind = Signal(2, name=f"{name}_kind")
        self.payload = Signal(32, name=f"{name}_payload")


class _Ports(Elaboratable):
    """The ports that every instance has, and the whole design: the latter passes them on to one instance."""

    def __init__(self, inputs: int, outputs: int):
        self.inputs = [_Lane(f"in{k}") for k in range(inputs)]
        self.outputs = [_Lane(f"out{k}") for k in range(outputs)]
        self.start = Signal()
        self.extent = Signal(32)
        self.mem_select = Signal(2)
        self.mem_write = Signal()
        self.mem_addr = Signal(16)
        self.mem_wdata = Signal(32)
        self.mem_rdata = Signal(32)
        self.error = Signal(5)
        self.committed = Signal()
        self.idle = Signal()  # No token waits at an input.

    @property
    def controls(self) -> list[Signal]:
        """What happens only in the instance that is selected."""
        return [self.start, self.mem_write, *(i.go for i in self.inputs), *(o.ready for o in self.outputs)]

    @property
    def data(self) -> list[Signal]:
        """What goes with the controls."""
        tokens = [signal for i in self.inputs for signal in (i.kind, i.payload)]
        return [self.extent, self.mem_select, self.mem_addr, self.mem_wdata, *tokens]

    @property
    def answers(self) -> list[Signal]:
        """What comes back."""
        tokens = [signal for o in self.outputs for signal in (o.go, o.kind, o.payload)]
        return [
            self.mem_rdata,
            self.error,
            self.committed,
            self.idle,
            *(i.ready for i in self.inputs),
            *tokens,
        ]


class _Top(_Ports):
    """All instances. The one whose number is one less than `selected` is joined to the ports, and its clock
    alone runs, which spares Verilator the others."""

    def __init__(self, instances: Sequence[Instance]):
        self.instances = instances
        super().__init__(
            max(len(i.node.inputs) for i in instances), max(len(i.node.outputs) for i in instances)
        )
        self.selected = Signal(range(len(self.instances) + 1))

    @property
    def ports(self) -> list[Signal]:
        return [self.selected, *self.controls, *self.data, *self.answers]

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        answers: dict[str, list[Value]] = defaultdict(list)
        mine = {signal.name: signal for signal in self.answers}
        for number, instance in enumerate(self.instances):
            cell, domain = _Cell(instance), f"clock{number}"
            m.submodules[f"instance{number}"] = DomainRenamer(domain)(cell)
            selected = self.selected == number + 1
            m.domains += ClockDomain(domain)
            m.d.comb += ClockSignal(domain).eq(ClockSignal() & selected)
            m.d.comb += ResetSignal(domain).eq(ResetSignal())
            controls = {signal.name: signal for signal in self.controls}
            data = {signal.name: signal for signal in self.data}
            m.d.comb += [signal.eq(controls[signal.name] & selected) for signal in cell.controls]
            m.d.comb += [signal.eq(data[signal.name]) for signal in cell.data]
            for signal in cell.answers:
                answers[signal.name].append(Mux(selected, signal, 0))
        m.d.comb += [mine[name].eq(any_of(those)) for name, those in answers.items()]
        return m


class _Cell(_Ports):
    """One primitive with its channels and its memories."""

    def __init__(self, instance: Instance):
        self.instance = instance
        super().__init__(len(instance.node.inputs), len(instance.node.outputs))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        node, graph, depths = self.instance.node, self.instance.graph, self.instance.depths
        m.submodules.dut = dut = component(node, graph, self.instance.arch, stall_port=False)
        waiting = []
        for port, lane in zip(node.inputs, self.inputs, strict=True):
            sink = getattr(dut.i, port.name)
            m.submodules[f"i_{port.name}"] = channel = Fifo(sink.payload.shape(), depths[f"i.{port.name}"])
            wiring.connect(m, channel.o, sink)
            m.d.comb += [
                channel.i.push.eq(lane.go),
                channel.i.strobe.eq(lane.go),
                channel.i.token.kind.eq(lane.kind),
                channel.i.token.payload.eq(Mux(lane.kind[0], lane.payload | _MEANINGLESS, lane.payload)),
                lane.ready.eq(channel.i.ready),
            ]
            waiting.append(channel.o.valid)
        for port, lane in zip(node.outputs, self.outputs, strict=True):
            source = getattr(dut.o, port.name)
            m.submodules[f"o_{port.name}"] = channel = Fifo(source.token.shape(), depths[f"o.{port.name}"])
            wiring.connect(m, source, channel.i)
            m.d.comb += [
                lane.go.eq(channel.o.valid),
                lane.kind.eq(channel.o.payload.kind),
                lane.payload.eq(meant(channel.o.payload)),
                channel.o.ready.eq(lane.ready),
            ]
        m.d.comb += [self.error.eq(dut.error), self.idle.eq(~Cat(waiting).any())]
        members = dut.signature.members
        if "start" in members:
            m.d.comb += dut.start.eq(self.start)
        # A repeat is at the step that the extent says.
        m.d.comb += [getattr(dut, param).eq(self.extent) for param in (*node.extents, *node.repeats)]
        if "committed" in members:
            m.d.comb += self.committed.eq(dut.committed)
        for number, stored in enumerate(graph.memories):
            users = [
                port
                for param, name in node.memories.items()
                for port in dut.memory_ports(param)
                if name == stored.name
            ]
            self._memory(m, number, stored.capacity, users)
        return m

    def _memory(self, m: Module, number: int, capacity: int, users: Sequence[wiring.PureInterface]) -> None:
        """A memory that the bench writes and the primitive reads, or the other way round."""
        width = users[0].data.shape().width
        m.submodules[f"memory{number}"] = store = memory.Memory(shape=width, depth=capacity, init=[])
        if isinstance(users[0].signature, MemoryWriteSignature):
            read, write = store.read_port(), store.write_port()
            m.d.comb += [read.addr.eq(self.mem_addr), read.en.eq(1)]
            m.d.comb += [write.addr.eq(users[0].addr), write.data.eq(users[0].data), write.en.eq(users[0].en)]
            with m.If(self.mem_select == number):
                m.d.comb += self.mem_rdata.eq(read.data)
        else:
            write = store.write_port()
            m.d.comb += [
                write.addr.eq(self.mem_addr),
                write.data.eq(self.mem_wdata),
                write.en.eq(self.mem_write & (self.mem_select == number)),
            ]
            for user in users:
                read = store.read_port()
                m.d.comb += [read.addr.eq(user.addr), read.en.eq(user.en), user.data.eq(read.data)]
