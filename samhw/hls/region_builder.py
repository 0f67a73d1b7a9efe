"""What the lowering of a graph works with: names, streams, memory ports and the calls made so far."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from samhw.graph import Arch, Endpoint, Graph, Node
from samhw.hls.cpp import memory_word, payload_class, top_name
from samhw.hls.program import Argument, HlsRegion, HlsStream, MemoryPort, Process
from samhw.names import Names, identifiers, plain

__all__ = ["RegionBuilder", "extent_arguments", "step_arguments"]

FANOUT_DEPTH = 2
"""Of a stream that a copy empties at once: one token on its way, one for the next."""

SPREAD = 16
"""Stages of a pipeline that may lie between two outputs of one iteration."""

SPARE = SPREAD + 1
"""As many tokens more fit into the streams of a process that has several outputs, so that it never stops with
a token for one of them for want of room in another. One more than the stages, since a process may look at a
token before it pushes the one before (docs/hls.md, Depths)."""


class RegionBuilder:
    """An HLS program in the making: what the lowerings of nodes (`hls.py` of each kind) add to."""

    def __init__(self, graph: Graph, arch: Arch, off_chip: Collection[str] = ()):
        self.graph = graph
        self.arch = arch
        self.off_chip = off_chip
        """The names of memories."""
        self.streams: list[HlsStream] = []
        self.processes: list[Process] = []
        self.inputs: list[MemoryPort] = []
        self.outputs: list[MemoryPort] = []
        self.errors: list[str] = []
        self.counts: dict[str, str] = {}
        self.begins: dict[str, str] = {}
        self.feeds: dict[Endpoint, HlsStream] = {}
        """The stream of each input port, as far as its producer is lowered."""
        self.words = {name: f"{text}_words" for name, text in identifiers(graph.memory).items()}
        # The function sees these constants, so that nothing in it may have their names.
        self.names = Names([top_name(graph.name), *self.words.values()])
        numbers = identifiers((f"node_{name}" for name in graph.node), self.names)
        self.numbers = {name: numbers[f"node_{name}"] for name in graph.node}
        self.extents = extent_arguments(graph.extents, graph.nodes)
        self.steps = step_arguments(graph.nodes)
        for argument in (*self.extents.values(), *self.steps.values(), "status"):
            self.names.fresh(argument)
        self.note = ""
        self.home = ""
        """The kind whose node is lowered."""

    def process(
        self,
        function: str,
        *arguments: Argument,
        reads: tuple[HlsStream, ...],
        writes: tuple[HlsStream, ...] = (),
        template: tuple[str, ...] = (),
        header: str = "",
    ) -> None:
        """Adds a call of a function in a header: that of the node's kind, unless another is named. The
        comment stands above the first call of a node."""
        called = Process(function, template, arguments, reads, writes, header or self.home, self.note)
        self.processes.append(called)
        self.note = ""

    def number(self, node: Node) -> str:
        """The constant that stands for a node in errors."""
        return self.numbers[node.name]

    def base(self, node: Node) -> str:
        """What streams are named after: the node without its kind, `A_k` for `scan_compressed_A_k`."""
        return node.spec.subject(node.name)

    def extents_of(self, node: Node) -> tuple[str, ...]:
        """The scalars with the extents that a node uses."""
        return tuple(self.extents[index] for index in node.extents.values())

    def steps_of(self, node: Node) -> tuple[str, ...]:
        """The scalars with the steps that a node uses."""
        return tuple(self.steps[repeat] for repeat in node.repeats.values())

    def name(self, text: str) -> str:
        """An identifier like the text that nothing else has."""
        return self.names.fresh(plain(text))

    def input(self, node: Node, port: str) -> HlsStream:
        """The stream that feeds an input."""
        return self.feeds[Endpoint(node.name, port)]

    def internal(self, node: Node, name: str, type: str, depth: int) -> HlsStream:
        """A stream between two processes of one node."""
        stream = HlsStream(self.name(f"{self.base(node)}_{name}"), type, depth)
        self.streams.append(stream)
        return stream

    def output(self, node: Node, port: str) -> HlsStream:
        """The stream that an output feeds. `spread` must follow, after the process that writes it."""
        channels = self.graph.fanout.get(Endpoint(node.name, port), ())
        type = payload_class(self.graph.given(node, port))
        name = self.base(node) if port == "out" else f"{self.base(node)}_{port}"
        only = channels[0] if len(channels) == 1 else None
        stream = HlsStream(
            self.name(name), type, only.depth if only else FANOUT_DEPTH, only.name if only else None
        )
        self.streams.append(stream)
        if only:
            self.feeds[only.sink] = stream
        return stream

    def spread(self, node: Node, outputs: Mapping[str, HlsStream]) -> None:
        """Copies the outputs that feed several inputs, and empties those that feed none."""
        for port, stream in outputs.items():
            channels = self.graph.fanout.get(Endpoint(node.name, port), ())
            if not channels:
                self.process("discard", stream, reads=(stream,), header="fanout")
            if len(channels) > 1:
                copies = []
                for channel in channels:
                    sink = self.graph.node[channel.sink.node]
                    name = self.name(f"{stream.name}_to_{self.base(sink)}")
                    copies.append(HlsStream(name, stream.type, channel.depth, channel.name))
                    self.feeds[channel.sink] = copies[-1]
                self.streams += copies
                self.process("copy", stream, *copies, reads=(stream,), writes=tuple(copies), header="fanout")

    def memory(self, node: Node, param: str) -> MemoryPort:
        """A port for a memory that a node uses."""
        memory = self.graph.memory[node.params[param]]
        name = self.name(memory.name)
        word = memory_word(self.graph.stored(memory))
        array, words = self.name(f"{name}_chip"), self.words[memory.name]
        stored = self.name(f"{name}_stored")
        port = MemoryPort(name, memory, word, words, array, stored, memory.name in self.off_chip)
        # Of what a repeated region writes, it may read earlier steps.
        (self.outputs if node.spec.memories[param].written else self.inputs).append(port)
        return port

    def begin(self, port: MemoryPort) -> str:
        """The scalar for the first word that is written through a port, where that is not always word 0."""
        self.begins[port.name] = self.name(f"{port.name}_begin")
        return self.begins[port.name]

    def count(self, port: MemoryPort) -> str:
        """The scalar for the number of words up to the last one that is written through a port."""
        self.counts[port.name] = self.name(f"{port.name}_count")
        return self.counts[port.name]

    def error(self, node: Node) -> str:
        """The scalar for the error of a writer."""
        self.errors.append(self.name(f"{self.base(node)}_{node.inputs[0].name}_error"))
        return self.errors[-1]

    def region(self) -> HlsRegion:
        """All that was made."""
        deeper = {
            stream.name: replace(stream, depth=stream.depth + SPARE)
            for process in self.processes
            if len(process.writes) > 1
            for stream in process.writes
        }

        def streams(some: Iterable[HlsStream]) -> tuple[HlsStream, ...]:
            return tuple(deeper.get(stream.name, stream) for stream in some)

        processes = [
            replace(
                process,
                arguments=tuple(
                    deeper.get(a.name, a) if isinstance(a, HlsStream) else a for a in process.arguments
                ),
                reads=streams(process.reads),
                writes=streams(process.writes),
            )
            for process in self.processes
        ]
        return HlsRegion(
            name=top_name(self.graph.name),
            extents=self.extents,
            steps=self.steps,
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            streams=streams(self.streams),
            processes=tuple(processes),
            errors=tuple(self.errors),
            counts=self.counts,
            begins=self.begins,
            nodes=tuple(self.number(node) for node in self.graph.nodes),
        )


def extent_arguments(extents: Iterable[str], nodes: Iterable[Node]) -> dict[str, str]:
    """The argument for the extent of each index that one of the nodes uses, by the index."""
    used = {index for node in nodes for index in node.extents.values()}
    names = identifiers(index for index in extents if index in used)
    return {index: f"{name}_extent" for index, name in names.items()}


def step_arguments(nodes: Iterable[Node]) -> dict[str, str]:
    """The argument for the step of each repeat that one of the nodes uses, by the repeat."""
    names = identifiers(dict.fromkeys(repeat for node in nodes for repeat in node.repeats.values()))
    return {repeat: f"{name}_step" for repeat, name in names.items()}
