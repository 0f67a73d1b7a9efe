"""From the filled table to the graph (FuseFlow section 6.2): a cell becomes a node once it is asked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from samhw.compiler.fusion_table import Feed, FusionTable, PlannedNode, PlannedOutput
from samhw.errors import StreamError
from samhw.graph import Arch, Endpoint, Graph, Memory, Node, TensorBinding, make, memory_name, wired
from samhw.graph.numerics import WIDENING, Float, Integer, ValueType, holds, widens
from samhw.graph.spec import Role, StoredArray, spec_of
from samhw.names import plain

__all__ = ["generate"]


def generate(
    name: str,
    table: FusionTable,
    value: ValueType,
    arch: Arch,
    memories: Sequence[Memory],
    tensors: Sequence[TensorBinding],
    extents: Mapping[str, int],
) -> Graph:
    """Expands the writers of the table, and recursively what they read; producers come first in the graph.

    Scanners and joiners get the index of their coordinates, from which `with_indices` gives the others
    theirs. Channels get the latency of their source and the least depth that runs at full rate;
    passes of graphs deepen them.

    Raises:
        StreamError: where a stream would be made of itself.
    """
    notes: dict[PlannedNode, str] = {}
    for row, column, cell in table.cells():
        notes.setdefault(table.resolve(cell.source).node, f"{row}, {column}: {cell.label}")
    making = _Making(table, value, memories, tensors, notes)
    for sink in table.sinks:
        making.expand(sink)
    nodes = {node.name: node for node in making.nodes.values()}
    used = {memory for node in nodes.values() for memory in node.memories.values()}
    return Graph(
        name=name,
        value=value,
        nodes=tuple(nodes.values()),
        channels=wired(nodes, making.ends, arch, value),
        memories=tuple(m for m in memories if m.name in used),
        tensors=tuple(tensors),
        extents=dict(extents),
    )


Sources: TypeAlias = dict[str, PlannedOutput]


class _Making:
    """The nodes of a graph in the making. Each has the type of what comes in, which goes along the streams
    from the memories on: what computes has operands of one type."""

    def __init__(
        self,
        table: FusionTable,
        value: ValueType,
        memories: Sequence[Memory],
        tensors: Sequence[TensorBinding],
        notes: Mapping[PlannedNode, str],
    ):
        self.table = table
        self.value = value
        self.notes = notes
        self.stored = {memory.name: memory.payload(value).element for memory in memories}
        self.lies_in = {own: other for tensor in tensors for own, other in _lies_in(tensor)}
        self.nodes: dict[PlannedNode, Node] = {}
        self.ends: list[tuple[Endpoint, Endpoint]] = []
        self.expanding: set[PlannedNode] = set()
        self.conversions: dict[tuple[PlannedNode, ValueType], PlannedNode] = {}

    def expand(self, planned: PlannedNode) -> Node:
        """A node, after all that it reads. Raises `StreamError` where it would read what it gives."""
        if planned in self.nodes:
            return self.nodes[planned]
        if planned in self.expanding:
            raise StreamError(f"what comes out of {planned.name} would have to come in there")
        self.expanding.add(planned)
        given = {port: self.table.resolve(source) for port, source in planned.inputs.items()}
        sources, widened = self.widened(planned, given)
        sources = self.chosen_by(planned, sources)
        made = {port: self.expand(source.node) for port, source in sources.items()}
        # What reads an alias reads the memory that it lies in.
        memories = spec_of(planned.kind).memories
        named = {name: str(planned.params[name]) for name in memories if name in planned.params}
        lies = {name: self.lies_in[memory] for name, memory in named.items() if memory in self.lies_in}
        params = {**planned.params, **lies, **widened}
        node = self.nodes[planned] = make(
            planned.kind,
            planned.name,
            planned.depth,
            note=self.notes.get(planned, ""),
            index=planned.index,
            **{**params, **self.types(planned.kind, params, sources)},
        )
        for port, source in sources.items():
            self.ends.append((Endpoint(made[port].name, source.port), Endpoint(node.name, port)))
        return node

    def type_of(self, source: PlannedOutput) -> ValueType | None:
        """The type of the values of a stream; None for indices."""
        node = self.expand(source.node)
        return (
            node.output(source.port).stream.payload.of(node.spec.result_type(node.params, self.value)).element
        )

    def types(self, kind: str, params: Mapping[str, Any], sources: Sources) -> dict[str, Any]:
        """The parameters with the types of what comes in, where they are not the graph's."""
        spec = spec_of(kind)
        own = next((name for name, param in spec.params.items() if param.role is Role.OPERAND), None)
        if own is None or own in params:
            return {}
        kinds = {port: self.type_of(source) for port, source in sources.items()}
        found = {kind for kind in kinds.values() if kind is not None}
        found |= {self.stored[params[name]] or self.value for name, use in spec.memories.items() if use.reads}
        if len(found) > 1:
            # A joiner passes on values as they are.
            return {"values": [str(kinds[f"ref{n}"] or "") for n in range(params["inputs"])]}
        return {} if found <= {self.value} else {own: found.pop()}

    def widened(self, planned: PlannedNode, sources: Sources) -> tuple[Sources, dict[str, ValueType]]:
        """The sources of a node, and its parameters: where both operands come from conversions that its unit
        does by itself, what these convert."""
        op, before = planned.params.get("op"), [source.node for source in sources.values()]
        converted = {node.params.get("to") for node in before if node.params.get("op") == "convert"}
        if op not in WIDENING or len(before) != 2 or len(converted) != 1:
            return sources, {}
        (to,) = converted
        if not isinstance(to, ValueType) or any(node.params.get("op") != "convert" for node in before):
            return sources, {}
        inner = {port: self.table.resolve(source.node.inputs["a"]) for port, source in sources.items()}
        kinds = {port: self.type_of(source) for port, source in inner.items()}
        known = [kind for kind in kinds.values() if kind is not None]
        between = sorted([*known, *_BETWEEN], key=lambda kind: kind.width)
        fits = [kind for kind in between if widens(kind, to) and all(holds(kind, own) for own in known)]
        if len(known) < 2 or not fits:
            return sources, {}
        for port, own in kinds.items():
            if own != fits[0]:
                inner[port] = self.converted(sources[port].node, fits[0])
        return inner, {"value": fits[0], "to": to}

    def converted(self, conversion: PlannedNode, to: ValueType) -> PlannedOutput:
        """What a conversion takes, in another type."""
        key = conversion, to
        if key not in self.conversions:
            name = f"{conversion.name}_{plain(to.name)}"
            self.conversions[key] = replace(conversion, name=name, params={**conversion.params, "to": to})
        return self.conversions[key].output("val")

    def chosen_by(self, planned: PlannedNode, sources: Sources) -> Sources:
        """The sources of a node. The condition of a `select` is of the type of what it chooses: where a mask
        is of another one, 1 or 0 for it."""
        if planned.params.get("op") != "select" or "a" not in sources or len(sources) < 2:
            return sources
        kinds = {port: self.type_of(source) for port, source in sources.items()}
        kind = next(kind for port, kind in kinds.items() if port != "a")
        if kinds["a"] == kind:
            return sources
        ones = {"op": "select", "immediates": {"b": 1, "c": 0}}
        counts = PlannedNode("alu", f"{planned.name}_counts", planned.depth, {"a": sources["a"]}, ones)
        inputs: dict[str, Feed] = {"a": counts.output("val")}
        condition = PlannedNode(
            "alu", f"{planned.name}_condition", planned.depth, inputs, {"op": "convert", "to": kind}
        )
        return {**sources, "a": condition.output("val")}


_BETWEEN = (Integer(16), Float("bf16"), Float("f16"))
"""Types in which a unit can have operands of two narrower ones."""


def _lies_in(tensor: TensorBinding) -> Iterator[tuple[str, str]]:
    """The memories of a tensor, each with the one in which it lies if it is an alias. The levels of a step
    are those of the whole tensor without the outermost one."""
    yield memory_name(tensor.name, StoredArray.VALS), memory_name(tensor.stored, StoredArray.VALS)
    if tensor.is_step:
        for level in range(len(tensor.indices)):
            for array in set(StoredArray) - {StoredArray.VALS}:
                whole = memory_name(tensor.stored, f"{array}{level + 1}")
                yield memory_name(tensor.name, f"{array}{level}"), whole
