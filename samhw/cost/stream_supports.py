"""What the streams of a graph carry, as supports: level by level, from the scanners to the writers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from samhw.cost.statistics import Dealt, Support, all_of, any_of, entries, every, onto, relabelled, shifted
from samhw.graph import Endpoint, Graph, Levels, Node, StreamKind, levels
from samhw.graph.numerics.operations import vanishes, vanishes_by_first
from samhw.graph.spec import Port, StoredArray
from samhw.tensors import Format

__all__ = ["Carried", "ResultLevel", "Results", "flows", "results_of"]


@dataclass(frozen=True)
class Led:
    """A level of a tensor that references have come through.

    Attributes:
        index: of its coordinates, as they are now.
        distance: how far these have been shifted.
        met: they have met others since, and what shifts them from now on is more.
    """

    index: str
    distance: int = 0
    met: bool = False


@dataclass(frozen=True)
class Carried:
    """A stream.

    Attributes:
        levels: for each level, the coordinates that there are, over all indices up to it.
        present: the coordinates whose payload is not EMPTY, where some are.
        path: of references, the levels of the tensor that they lead into.
        moved: how far the coordinates of the innermost level have been shifted since they met others.
        lanes: by index, the lanes that share its coordinates.
        nonzero: of values, the coordinates of those that may not be zero; None for all of them.
    """

    levels: tuple[Support, ...] = ()
    present: Support | None = None
    path: tuple[Led, ...] = ()
    moved: int = 0
    lanes: Mapping[str, Dealt] = field(default_factory=dict)
    nonzero: Support | None = None

    @property
    def all(self) -> Support:
        """The coordinates of all payloads."""
        return self.levels[-1] if self.levels else all_of(())

    @property
    def some(self) -> Support:
        """Those of the payloads that are not EMPTY."""
        return self.all if self.present is None else self.present

    def beside(self, own: Levels, others: Levels) -> "Carried":
        """The same under the indices of what it runs beside, level by level."""
        names = {index: other for index, other in zip(own, others, strict=False) if index != other}
        return self.renamed(names) if names else self

    def renamed(self, names: Mapping[str, str]) -> "Carried":
        """Its coordinates under other indices; one that `names` lacks keeps its name."""

        def of(support: Support) -> Support:
            return relabelled(support, {index: names.get(index, index) for index in support.indices})

        return replace(
            self,
            levels=tuple(map(of, self.levels)),
            path=tuple(replace(led, index=names.get(led.index, led.index)) for led in self.path),
            present=None if self.present is None else of(self.present),
            nonzero=None if self.nonzero is None else of(self.nonzero),
        )


@dataclass(frozen=True)
class ResultLevel:
    """What a compressed level of a result stores, or its values, over the indices of its levels, outermost
    first; of values also which of them may not be zero, if that is known."""

    support: Support
    names: tuple[str, ...]
    nonzero: Support | None = None


Results = Mapping[str, ResultLevel]
"""What results store, by the names of the memories of their coordinates and values, but for shards."""


def flows(graph: Graph, extents: Mapping[str, int], results: Results) -> dict[Endpoint, Carried]:
    """The streams of all outputs.

    Args:
        graph: with producers before those that read them, and scanners that have their index.
        extents: of a run, by dimension.
        results: of the regions before.
    """
    walk = _Walk(graph, extents, results)
    for node in graph.nodes:
        walk.take(node)
    return walk.found


def results_of(graph: Graph, found: Mapping[Endpoint, Carried]) -> dict[str, ResultLevel]:
    """The compressed levels of what a graph writes.

    Args:
        found: its streams.
    """
    indices = levels(graph)
    made = {}
    for node in graph.writers():
        for param, name in node.memories.items():
            if node.spec.memories[param].array in (StoredArray.CRD, StoredArray.VALS):
                source = graph.fanin[Endpoint(node.name, node.inputs[0].name)].source
                memory = graph.memory[name]
                flow = found[source]
                level = ResultLevel(flow.all, indices[source], flow.nonzero)
                made[f"{memory.tensor}.{memory.array}"] = level
    return made


class _Walk:
    """Through the nodes of a graph, in its order."""

    def __init__(self, graph: Graph, extents: Mapping[str, int], results: Results):
        self._graph = graph
        self._extents = extents
        self._results = results
        self._indices = levels(graph)
        formats = {t.name: Format.parse(t.format, len(t.indices)) for t in graph.tensors}
        self._orders = {name: format.mode_order for name, format in formats.items()}
        self._blocks = {name: _block(format) for name, format in formats.items()}
        self._ranges = _ranges(graph)
        self.found: dict[Endpoint, Carried] = {}

    def take(self, node: Node) -> None:
        """Adds what a node gives."""
        sources = {p.name: self._graph.fanin[Endpoint(node.name, p.name)].source for p in node.inputs}
        for port in node.outputs:
            end = Endpoint(node.name, port.name)
            taken = {name: self._taken(node, port, name, sources) for name in sources}
            if not node.inputs:
                self.found[end] = Carried()
            elif node.spec.scans:
                self.found[end] = self._scanned(node, next(iter(taken.values())))
            elif node.spec.joins(node.params):
                self.found[end] = self._joined(node, port.name, taken, sources)
            elif node.spec.kept(node.params) is not None:
                self.found[end] = self._reduced(node, port, taken)
            elif node.spec.distribution(node.params):
                self.found[end] = self._distributed(node, next(iter(taken.values())))
            elif node.spec.thins:
                self.found[end] = self._dropped(node, port.name, taken)
            else:
                self.found[end] = self._passed(node, port.name, taken)

    def _taken(self, node: Node, port: Port, name: str, sources: Mapping[str, Endpoint]) -> Carried:
        """What comes in at a port, under the indices of what it runs beside: an intermediate that is computed
        once for several uses has those of one of them."""
        own = sources[name]
        outer = None
        if joins := node.spec.joins(node.params):
            # Parts of a concatenation keep the index that they have side by side.
            beside = sources[joins[0].crd]
            outer = len(self._indices[beside]) - 1 if node.index else None
        elif node.spec.kept(node.params) is not None or node.spec.thins:
            beside = next(iter(sources.values()))
        else:
            followed = node.spec.follows(port.name, node.params)
            beside = own if followed is None else sources[followed]
        return self.found[own].beside(self._indices[own][:outer], self._indices[beside])

    def _scanned(self, node: Node, above: Carried) -> Carried:
        """One level more: of what is stored below the references, or all along the index."""
        memories = {node.spec.memories[param].array: name for param, name in node.memories.items()}
        path = (*above.path, Led(node.index))
        own = every(node.index, self._extents[next(iter(node.extents.values()))])
        if memories:
            own = self._stored(memories.get(StoredArray.CRD, next(iter(memories.values()))), path)
        made = all_of((above.some, own))
        lanes = above.lanes
        if node.index in self._ranges and not above.levels:
            lanes = {node.index: Dealt(node.index, made, self._ranges[node.index], is_even=True)}
        return Carried((*above.levels, made), path=path, lanes=lanes)

    def _stored(self, memory: str, path: tuple[Led, ...]) -> Support:
        """What lies in a level of a tensor, under the indices that lead there."""
        stored = self._graph.memory[memory]
        tensor, indices = stored.tensor, [led.index for led in path]
        result = self._results.get(f"{tensor}.{stored.array}")
        # A step of a tensor has no index for the level of the steps: it counts as if it had what any of
        # them has.
        steps = [f"{tensor}.{n}" for n in range((stored.level or 0) + 1 - len(indices))]
        if result is None:
            # Dense levels outside keep nothing out, so that a level has what all of the tensor has there.
            order, block = self._orders[tensor], self._blocks[tensor]
            names = dict(zip(order, (*steps, *indices), strict=False))
            modes = (names.get(m, f"{tensor}.{m}") for m in range(len(order)))
            found = onto(entries(tensor, modes, block), indices)
        else:
            own = dict(zip(result.names, (*steps, *indices), strict=True))
            found = onto(relabelled(result.support, own), indices)
        return _moved(found, path)

    def _joined(
        self, node: Node, port: str, taken: Mapping[str, Carried], sources: Mapping[str, Endpoint]
    ) -> Carried:
        """All or some of the coordinates that meet. Parts of a concatenation come under an index of all."""
        joins = node.spec.joins(node.params)
        own = {join.crd: self._indices[sources[join.crd]][-1] for join in joins}
        sides = [self._under(node.index, own[join.crd], taken[join.crd].all) for join in joins]
        first = taken[joins[0].crd]
        made = all_of(sides) if node.spec.thins else any_of(sides)
        result = Carried((*first.levels[:-1], made), lanes=first.lanes)
        for join, side in zip(joins, sides, strict=True):
            if join.payload != port:
                continue
            payload, crd = taken[join.payload], taken[join.crd]
            there = side if payload.present is None else self._under(node.index, own[join.crd], payload.some)
            present = all_of((made, there))
            path = tuple(
                Led(node.index, crd.moved + led.distance * led.met, met=True)
                if node.index and led.index == own[join.crd]
                else led
                for led in payload.path
            )
            nonzero = payload.nonzero
            if nonzero is not None and node.index and own[join.crd] in nonzero.indices:
                nonzero = shifted(nonzero, own[join.crd], node.index, crd.moved)
            return replace(result, present=None if present is made else present, path=path, nonzero=nonzero)
        return result

    def _under(self, index: str, own: str, support: Support) -> Support:
        return shifted(support, own, index, 0) if index else support

    def _reduced(self, node: Node, port: Port, taken: Mapping[str, Carried]) -> Carried:
        """A level less: what is kept inside of it has coordinates where any of the level had one, and sums
        that are not zero where any value was not."""
        reduction = node.spec.reduction(node.params)
        assert reduction is not None
        first = taken[reduction.coordinates[0] if reduction.coordinates else reduction.values]
        place = len(first.levels) - 1 - len(reduction.coordinates)
        inside = first.levels[place + 1 :]
        outer = first.levels[place - 1].indices if place else frozenset()
        gone = first.levels[place].indices - outer
        made = [*first.levels[:place]]
        for level in inside:
            made.append(onto(first.all, level.indices - gone))
        result = Carried(tuple(made[: port.stream.depth]), lanes=first.lanes)
        values = taken[port.name]
        if reduction.operation != "add" or port.name != reduction.values or values.nonzero is None:
            return result
        return replace(result, nonzero=_among(result.all, onto(_all(values), result.all.indices)))

    def _distributed(self, node: Node, flow: Carried) -> Carried:
        """The same coordinates, of which each lane has a share."""
        distribution = node.spec.distribution(node.params)
        assert distribution is not None
        before = flow.lanes.get(node.index, Dealt(node.index, flow.all, 1))
        count = (
            before.lanes // distribution.lanes if distribution.collects else before.lanes * distribution.lanes
        )
        return replace(flow, lanes={**flow.lanes, node.index: replace(before, lanes=count)})

    def _dropped(self, node: Node, port: str, taken: Mapping[str, Carried]) -> Carried:
        """Without coordinates that have nothing inside, or without values that are zero."""
        outer, inner = taken.values()
        if len(outer.levels) < len(inner.levels):
            above = all_of((outer.all, onto(inner.all, outer.all.indices)))
            kept = replace(taken[port], present=None)
            if len(kept.levels) == len(outer.levels):
                return replace(kept, levels=(*outer.levels[:-1], above))
            return replace(kept, levels=(*outer.levels[:-1], above, inner.all))
        made = outer.all if inner.nonzero is None else all_of((outer.all, inner.nonzero))
        return replace(taken[port], levels=(*outer.levels[:-1], made), present=None, nonzero=None)

    def _read(self, node: Node, like: Carried) -> Support | None:
        """Where the values that are read from a tensor may not be zero."""
        memory = next(iter(node.memories.values()))
        tensor, array = self._graph.memory[memory].tensor, self._graph.memory[memory].array
        if len(like.path) != len(self._orders[tensor]):
            return None
        result = self._results.get(f"{tensor}.{array}")
        if result is None:
            stored = self._stored(memory, like.path)
        elif result.nonzero is None:
            return _among(like.all, like.some)
        else:
            names = dict(zip(result.names, (led.index for led in like.path), strict=True))
            known = {name: names[name] for name in result.nonzero.indices}
            stored = _moved(relabelled(result.nonzero, known), like.path)
        return _among(like.all, all_of((like.some, stored)))

    def _computed(self, node: Node, taken: Mapping[str, Carried], like: Carried) -> Support | None:
        """Where what a node computes of values, or passes on of them, may not be zero."""
        work = node.spec.work(node.params)
        if work is None:
            values = [p.name for p in node.inputs if p.stream.kind is StreamKind.VAL]
            if len(values) != 1 or node.spec.carries or node.spec.completes:
                return None
            nonzero = taken[values[0]].nonzero
            return None if nonzero is None else _among(like.all, nonzero)
        streams = [taken[operand] for operand in work.operands if isinstance(operand, str)]
        numbers = [None if isinstance(operand, str) else operand for operand in work.operands]
        if work.operation == "mul":
            return _among(like.all, all_of(map(_all, streams)))
        if not work.operands or not vanishes(work.operation, numbers):
            return None
        if vanishes_by_first(work.operation):
            streams = streams[:1]
        if any(flow.nonzero is None for flow in streams):
            return None
        sides = (all_of((like.all, onto(_all(flow), like.all.indices))) for flow in streams)
        return _among(like.all, any_of(sides))

    def _passed(self, node: Node, port: str, taken: Mapping[str, Carried]) -> Carried:
        """The levels of what the output follows, with payloads of another stream, or made of them."""
        followed = node.spec.follows(port, node.params)
        assert followed is not None
        like = taken[followed]
        result = Carried(like.levels, lanes=like.lanes)
        if node.spec.moves:
            index = self._indices[Endpoint(node.name, port)][-1]
            distance = self._extents[next(iter(node.extents.values()))]
            made = shifted(like.all, index, index, distance)
            return replace(result, levels=(*like.levels[:-1], made), moved=like.moved + distance)
        if any(use.array is StoredArray.VALS for use in node.spec.memories.values()):
            return replace(result, nonzero=self._read(node, like))
        given = node.output(port).stream.kind
        if given is StreamKind.VAL:
            result = replace(result, nonzero=self._computed(node, taken, like))
        if node.spec.work(node.params) is not None:
            return result
        for flow in taken.values():
            if flow.present is not None:
                result = replace(result, present=all_of((like.all, flow.present)))
        if given is StreamKind.REF:
            held = next(flow.path for name, flow in taken.items() if name != followed)
            located = (Led(self._indices[Endpoint(node.name, port)][-1], like.moved),) if node.extents else ()
            result = replace(result, path=(*held, *located))
        return result


def _ranges(graph: Graph) -> Mapping[str, int]:
    """By index, how many lanes have ranges of its rows: those that scan it themselves."""
    counts: dict[str, int] = {}
    for node in graph.nodes:
        for index, lane in node.lane if node.spec.scans else ():
            if index == node.index:
                counts[index] = max(lane + 1, counts.get(index, 0))
    return counts


def _all(values: Carried) -> Support:
    """The coordinates of values that may not be zero."""
    return values.all if values.nonzero is None else values.nonzero


def _among(all_: Support, nonzero: Support) -> Support | None:
    """Those that may not be zero, among all; None if that is all of them. Operands that run side by side may
    have other names for what all are over; of these nothing is known here."""
    made = all_of((all_, onto(nonzero, all_.indices)))
    return None if made is all_ else made


def _moved(support: Support, path: tuple[Led, ...]) -> Support:
    """A support of what a tensor stores, under coordinates as they are where it is read."""
    for led in path:
        support = shifted(support, led.index, led.index, led.distance)
    return support


def _block(format: Format) -> tuple[int, ...]:
    """The sizes of its blocks by mode; () without blocks."""
    return tuple(map(format.block_of, range(format.rank))) if format.block is not None else ()
