"""Values become blocks: what one place of a tensor in blocks holds, and what is computed with it."""

from collections.abc import Mapping
from dataclasses import replace

from samhw.compiler.graph_passes import Assembly
from samhw.errors import StreamError
from samhw.graph import Endpoint, Graph, Levels, Node, levels, make, wired, with_indices
from samhw.graph.spec import StreamKind, TakenBlocks, fold_before, turned_blocks
from samhw.names import Names

__all__ = ["blocks"]

Axes = tuple[str, ...]


def blocks(assembly: Assembly) -> Assembly:
    """The graph with values in blocks, where tensors are stored so. Its rows are those of the blocks already.

    A product whose factors have an axis along the index that is summed over next adds up along that axis
    itself; before any other reducer comes a fold, so that the reducer takes whole blocks.

    Raises:
        ScheduleError: for what does not take blocks.
    """
    if not assembly.blocks:
        return assembly
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
        self.levels = dict(levels(self.given))
        self.names = Names(node.name for node in self.given.nodes)
        self.axes: dict[Endpoint, Axes] = {}
        self.made: dict[str, Node] = {}
        self.ends: list[tuple[Endpoint, Endpoint]] = []

    def graph(self) -> Graph:
        """The graph with blocks."""
        graph, made = self.given, self.made
        for node in graph.nodes:
            self.add(node)
        channels = wired(made, self.ends, self.assembly.arch, graph.value)
        shapes = {
            name: (node.outputs or node.inputs)[0].stream.payload.shape
            for node in made.values()
            for name in node.memories.values()
        }
        memories = tuple(replace(memory, block=shapes[memory.name]) for memory in graph.memories)
        return replace(graph, nodes=tuple(made.values()), channels=channels, memories=memories)

    def add(self, node: Node) -> None:
        """A node as it is with blocks, and the channels to it."""
        sources = {p.name: self.given.fanin[Endpoint(node.name, p.name)].source for p in node.inputs}
        reduction = node.spec.reduction(node.params)
        if node.index in self.assembly.blocks and (
            node.spec.carries or node.spec.completes or not self.reduces(node, sources)
        ):
            raise self.refusal(node)
        if reduction is not None and node.index in self.taken(node, sources[reduction.values]):
            if reduction.operation is None:
                raise self.refusal(node)
            sources[reduction.values] = self.fold(node, sources[reduction.values])
        if not node.outputs:
            sources = {port: self.turned(node, source) for port, source in sources.items()}
        made = self.node(node, {port: self.taken(node, source) for port, source in sources.items()})
        self.made[node.name] = made
        for source, port in zip(sources.values(), made.inputs, strict=True):
            self.ends.append((source, Endpoint(node.name, port.name)))

    def fold(self, reducer: Node, source: Endpoint) -> Endpoint:
        """What reduces the blocks of a reducer along its index, as it does from block to block."""
        axes = self.taken(reducer, source)
        depth = self.made[source.node].output(source.port).stream.depth
        shape = [self.assembly.blocks[index] for index in axes]
        kind, params = fold_before(reducer.params, shape, axes.index(reducer.index))
        node = make(kind, self.names.fresh(f"fold_{reducer.name}"), depth, index=reducer.index, **params)
        return self.inserted(node, source, tuple(index for index in axes if index != reducer.index))

    def turned(self, writer: Node, source: Endpoint) -> Endpoint:
        """What turns blocks that lie otherwise than their result has its levels; where they do not, their
        source."""
        axes, order = self.taken(writer, source), self.order(writer)
        if axes == order or {*axes} != {*order}:
            return source
        depth = self.made[source.node].output(source.port).stream.depth
        shape, places = [self.assembly.blocks[index] for index in order], [*map(order.index, axes)]
        kind, params = turned_blocks(writer.params, shape, places)
        node = make(kind, self.names.fresh(f"turn_{writer.name}"), depth, index=writer.index, **params)
        return self.inserted(node, source, order)

    def inserted(self, node: Node, source: Endpoint, axes: Axes) -> Endpoint:
        """A further node after a source of blocks, whose output has these axes."""
        self.made[node.name] = node
        self.ends.append((source, Endpoint(node.name, node.inputs[0].name)))
        given = Endpoint(node.name, node.outputs[0].name)
        self.axes[given], self.levels[given] = axes, self.levels[source]
        return given

    def taken(self, node: Node, source: Endpoint) -> Axes:
        """The axes of what a node takes, under the names of its own rows: streams that share a row may have
        different names for it."""
        names = dict(zip(self.levels[source], self.around(node), strict=False))
        return tuple(names.get(index, index) for index in self.axes.get(source, ()))

    def around(self, node: Node) -> Levels:
        """The indices of the rows around a node, outermost first."""
        if node.outputs and node.spec.kept(node.params) is None:
            return self.levels[Endpoint(node.name, node.outputs[0].name)]
        sources = (self.given.fanin[Endpoint(node.name, port.name)].source for port in node.inputs)
        return max((self.levels[source] for source in sources), key=len, default=())

    def node(self, node: Node, taken: Mapping[str, Axes]) -> Node:
        """A node as it is with blocks; notes the axes of what it gives."""
        carried = {name: axes for name, axes in taken.items() if axes}
        if node.name in self.assembly.reads:
            around, modes = self.around(node), self.assembly.reads[node.name]
            along = (around[n] for n in modes if around[n] in self.assembly.blocks)
            carried[node.outputs[0].name] = tuple(along)
        writes = not node.outputs and any(port.stream.kind is StreamKind.VAL for port in node.inputs)
        if not any(carried.values()) and not (writes and self.order(node)):
            return node
        found = node.spec.blocked(node.params, self.blocks(node, {**taken, **carried}))
        if found is None:
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

    def order(self, node: Node) -> Axes:
        """The indices around a node that go from block to block, outermost first."""
        is_copy = self.assembly.copied and not node.outputs
        around = self.assembly.copied if is_copy else self.around(node)
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

    def reduces(self, node: Node, sources: Mapping[str, Endpoint]) -> bool:
        """Whether blocks come to a reducer along its index, or have been summed along it on their way; true
        of what is none."""
        reduction = node.spec.reduction(node.params)
        if reduction is None or node.index in self.taken(node, sources[reduction.values]):
            return True
        maker = self.given.node[sources[reduction.values].node]
        ends = (self.given.fanin[Endpoint(maker.name, p.name)].source for p in maker.inputs)
        return any(node.index in self.taken(maker, end) for end in ends)

    def refusal(self, node: Node) -> StreamError:
        """Why a node cannot take its blocks."""
        return StreamError(
            f"Blocks come to {node.name} ({node.kind}), which takes none here",
            "leave the blocks out (--blocks)",
            "compute it in a region of its own",
        )
