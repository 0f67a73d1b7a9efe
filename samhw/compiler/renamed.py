"""What came of a region, under the names of an equal one (`samhw.compiler.nameless`)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from samhw.compiler.compiled import CompiledRegion
from samhw.compiler.computations import Computation, Occurrence
from samhw.compiler.fusion_table import RenamedTable
from samhw.compiler.scope import Scope
from samhw.cost import Expected
from samhw.graph import Channel, Endpoint, Graph, Memory, Node, TensorBinding
from samhw.graph.fabrics import Form, form_of, keep_form
from samhw.lang import Program
from samhw.lang.decision import RegionDecision
from samhw.lang.fusion import FusedRegion
from samhw.names import Names

__all__ = ["Template", "renamed_decision", "renamed_region"]


_MARKED = re.compile("([\ue000-\uf8ff])(_\\d+)?")
"""A character that stands for a name, and the number of what is named after that."""

_BETWEEN = "\0"
"""What no text has inside."""


@dataclass
class Template:
    """A region that is compiled in characters.

    Attributes:
        texts: those that the last region had in it, which the next one has too.
    """

    region: CompiledRegion
    texts: tuple[str, ...] = ()


class _Names(dict[str, str]):
    """Texts with names in the place of characters. Most come again and again.

    Args:
        names: by number of a character.
        made: names that are not those of their characters with the same numbers after them.
        texts: some that will come. All at once they take less time.
    """

    def __init__(
        self, names: Mapping[int, str], made: Mapping[str, str] | None = None, texts: Iterable[str] = ()
    ) -> None:
        super().__init__()
        self._names = names
        self._made = made or {}
        if texts:
            found = self[_BETWEEN.join(texts)]
            self.update(zip(texts, found.split(_BETWEEN), strict=True))

    def __missing__(self, text: str) -> str:
        if self._made:
            text = _MARKED.sub(lambda found: self._made.get(found[0], found[0]), text)
        found = self[text] = text.translate(self._names)
        return found

    def all(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Several of them."""
        return tuple([self[text] for text in texts])

    def end(self, end: Endpoint) -> Endpoint:
        return Endpoint(self[end.node], end.port)


def renamed_decision(chosen: RegionDecision, names: Mapping[int, str], label: str | None) -> RegionDecision:
    """What is decided about a region, for an equal one.

    Args:
        label: by which a schedule names that one; None for the name of its last result.
    """
    to = _Names(names)
    return RegionDecision(
        to.all(chosen.results),
        label or (chosen.label and to[chosen.label]),
        None if chosen.order is None else to.all(chosen.order),
        chosen.sharing,
        to.all(chosen.compressed),
        to[chosen.why],
    )


def renamed_region(
    template: Template, names: Mapping[int, str], scope: Scope, number: int, note: str
) -> CompiledRegion | None:
    """A compiled region for an equal one; None where that would have been given other names by itself.

    Args:
        names: for the characters in the template, the program's among them.
        note: that of the equal region.
    """
    found, region, program = template.region, scope.program.regions[number], scope.program
    fused = FusedRegion(program, region, found.fused.sharing, scope.recomputed)
    made = dict(zip(found.fused.dimension, fused.dimension, strict=True)) | _columns(found, names, program)
    others = {mark: name for mark, name in made.items() if mark.translate(names) != name}
    to = _Names(names, others, template.texts)
    table, graph = RenamedTable(found.table, to), _graph(found.graph, to, scope.name(number))
    columns = to.all(found.table.columns)
    own = {column for column in columns if column in program.tensors}
    is_clear = (
        own <= {*names.values()}
        and len({*columns}) == len(columns)
        and len({*table.rows}) == len(table.rows)
        and len({node.name for node in graph.nodes}) == len(graph.nodes)
    )
    if not is_clear:
        return None
    keep_form(graph, _form(form_of(found.graph), to))
    renamed = replace(
        found,
        region=region,
        fused=fused,
        order=to.all(found.order),
        table=table,
        graph=graph,
        extent={to[index]: extent for index, extent in found.extent.items()},
        expected=Expected(
            found.expected.cycles,
            {to.end(end): counts for end, counts in found.expected.counts.items()},
            {to[node]: cycles for node, cycles in found.expected.busy.items()},
        ),
        computations=tuple(_computation(computed, to) for computed in found.computations),
        reasons={to[channel]: to[why] for channel, why in found.reasons.items()},
        note=note,
    )
    template.texts = template.texts or tuple(to)
    return renamed


def _columns(found: CompiledRegion, names: Mapping[int, str], program: Program) -> dict[str, str]:
    """The names of the columns that stand for further uses of a tensor, as they are given one by one."""
    matches = map(_MARKED.fullmatch, found.table.columns)
    further = [match for match in matches if match and match[2]]
    given = Names(program.tensors if further else ())
    return {match[0]: given.fresh(names[ord(match[1])]) for match in further}


def _form(form: Form, to: _Names) -> Form:
    return Form(form.nodes, to.all(form.names))


def _graph(graph: Graph, to: _Names, name: str) -> Graph:
    return Graph(
        name,
        graph.value,
        tuple([_node(node, to) for node in graph.nodes]),
        tuple(
            [
                Channel(to.end(channel.source), to.end(channel.sink), channel.latency, channel.depth)
                for channel in graph.channels
            ]
        ),
        tuple([_memory(memory, to) for memory in graph.memories]),
        tuple([_tensor(tensor, to) for tensor in graph.tensors]),
        {to[dimension]: extent for dimension, extent in graph.extents.items()},
    )


def _node(node: Node, to: _Names) -> Node:
    return Node(
        to[node.name],
        node.kind,
        {name: _param(given, to) for name, given in node.params.items()},
        node.inputs,
        node.outputs,
        to[node.note],
        to[node.index],
        to[node.copy_of],
        tuple([(to[index], number) for index, number in node.lane]),
    )


def _param(given: Any, to: _Names) -> Any:
    """A parameter, which may be the name of a memory or of an extent."""
    return to[given] if isinstance(given, str) else given


def _memory(memory: Memory, to: _Names) -> Memory:
    return Memory(
        *(to[memory.name], to[memory.tensor], memory.array, memory.role, memory.capacity),
        *(memory.value, memory.shard, memory.block),
    )


def _tensor(tensor: TensorBinding, to: _Names) -> TensorBinding:
    return TensorBinding(
        *(to[tensor.name], tensor.role, tensor.format, to.all(tensor.indices), tensor.shape),
        *(tensor.shards, tensor.alias_of and to[tensor.alias_of], tensor.is_step, to.all(tensor.rows)),
        to.all(tensor.block_counts),
    )


def _computation(computed: Computation, to: _Names) -> Computation:
    places = tuple(
        Occurrence(
            to.end(place.source),
            to.all(place.inside),
            place.values,
            {to[channel]: to[why] for channel, why in place.waits.items()},
        )
        for place in computed.places
    )
    return Computation(to[computed.tensor], to.all(computed.readers), places, computed.points)
