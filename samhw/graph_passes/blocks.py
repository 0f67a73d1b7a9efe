"""Values become blocks: what one place of a tensor in blocks holds, and what is computed with it."""

from collections.abc import Mapping
from dataclasses import replace

from samhw.errors import StreamError
from samhw.graph import Endpoint, Graph, Node, levels, make, wired, with_indices
from samhw.graph_passes.assembly import Assembly
from samhw.spec import StreamKind, TakenBlocks

__all__ = ["blocks"]

Axes = tuple[str, ...]


def blocks(assembly: Assembly) -> Assembly:
    """The graph with values in blocks, where tensors are stored so. Its rows are those of the blocks already.

    A product whose factors have an axis along the index that is summed over next adds up along that axis
    itself, so that the reducer behind it adds blocks.

    Raises:
        ScheduleError: for what does not take blocks.
    """
    if not assembly.blocks:
        return assembly
    if any(count > 1 for count in assembly.lanes.values()):
        raise StreamError("Lanes distribute no blocks", "leave out --lanes", "leave out --blocks")
    if moved := [node.name for node in assembly.graph.nodes if node.spec.moves]:
        raise StreamError(
            f"{moved[0]} moves coordinates, which may not be those of blocks",
            "leave the blocks out of what is concatenated",
        )
    return replace(assembly, graph=_Blocker(assembly).graph())


class _Blocker:
    def __init__(self, assembly: Assembly):
        self.given = with_indices(assembly.graph)
        self.assembly = assembly
        self.levels = levels(self.given)
        self.axes: dict[Endpoint, Axes] = {}

    def graph(self) -> Graph:
        """The graph with blocks."""
        graph, assembly = self.given, self.assembly
        nodes = {node.name: self.node(node) for node in graph.nodes}
        ends = [(channel.source, channel.sink) for channel in graph.channels]
        ends = [(source, self.sink(sink, nodes[sink.node])) for source, sink in ends]
        channels = wired(nodes, ends, assembly.arch, graph.value)
        shapes = {
            name: (node.outputs or node.inputs)[0].stream.payload.shape
            for node in nodes.values()
            for name in node.memories.values()
        }
        memories = tuple(replace(memory, block=shapes[memory.name]) for memory in graph.memories)
        return replace(graph, nodes=tuple(nodes.values()), channels=channels, memories=memories)

    def sink(self, sink: Endpoint, node: Node) -> Endpoint:
        """An input, by the name that it has now: inputs keep their order."""
        before = [port.name for port in self.given.node[sink.node].inputs]
        return Endpoint(sink.node, node.inputs[before.index(sink.port)].name)

    def node(self, node: Node) -> Node:
        """A node as it is with blocks; notes the axes of what it gives."""
        taken = {port.name: self.axes_of(node, port.name) for port in node.inputs}
        carried = {name: axes for name, axes in taken.items() if axes}
        if node.name in self.assembly.reads:
            along = (index for index in self.assembly.reads[node.name] if index in self.assembly.blocks)
            carried[node.outputs[0].name] = tuple(along)
        writes = not node.outputs and any(port.stream.kind is StreamKind.VAL for port in node.inputs)
        if not any(carried.values()) and not (writes and self.order(node)):
            return node
        found = node.spec.blocked(node.params, self.blocks(node, taken | carried))
        if found is None or self.sums_inside(node, taken):
            raise self.refusal(node)
        self.axes |= {Endpoint(node.name, port): axes for port, axes in found.given.items()}
        made = make(
            found.kind,
            node.name,
            node.inputs[0].stream.depth,
            note=node.note,
            index=node.index,
            **found.params,
        )
        return replace(made, copy_of=node.copy_of, lane=node.lane)

    def blocks(self, node: Node, axes: Mapping[str, Axes]) -> TakenBlocks:
        """What a node has to know of its blocks."""
        return TakenBlocks(axes, self.assembly.blocks, self.order(node), self.summed(node, axes))

    def axes_of(self, node: Node, port: str) -> Axes:
        """The axes of what comes in at an input."""
        return self.axes.get(self.given.fanin[Endpoint(node.name, port)].source, ())

    def order(self, node: Node) -> Axes:
        """The indices around a node that go from block to block, outermost first."""
        sources = [self.given.fanin[Endpoint(node.name, port.name)].source for port in node.inputs]
        around = max((self.levels[source] for source in sources), key=len, default=())
        return tuple(index for index in around if index in self.assembly.blocks)

    def summed(self, node: Node, axes: Mapping[str, Axes]) -> str:
        """The index that all readers of a node sum over, if an operand has it as an axis; else none."""
        ends = [Endpoint(node.name, port.name) for port in node.outputs]
        readers = [self.given.node[c.sink.node] for end in ends for c in self.given.fanout.get(end, ())]
        reductions = [reader.spec.reduction(reader.params) for reader in readers]
        indices = {reader.index for reader in readers}
        if len(indices) != 1 or not all(found and found.operation == "add" for found in reductions):
            return ""
        (index,) = indices
        return index if any(index in own for own in axes.values()) else ""

    def sums_inside(self, node: Node, taken: Mapping[str, Axes]) -> bool:
        """Whether a node reduces an index along which blocks lie, that come to it or should."""
        reduction = node.spec.reduction(node.params)
        return (
            reduction is not None
            and node.index in self.assembly.blocks
            and (node.index in taken[reduction.values] or not self.is_product(node, reduction.values))
        )

    def is_product(self, node: Node, port: str) -> bool:
        """Whether a reducer takes what has been added up inside of blocks already."""
        source = self.given.fanin[Endpoint(node.name, port)].source
        maker = self.given.node[source.node]
        axes = [self.axes_of(maker, p.name) for p in maker.inputs]
        return any(node.index in own for own in axes)

    def refusal(self, node: Node) -> StreamError:
        """Why a node cannot take its blocks."""
        return StreamError(
            f"Blocks come to {node.name} ({node.kind}), which takes none here",
            "leave the blocks out (--blocks)",
            "compute it in a region of its own",
        )
