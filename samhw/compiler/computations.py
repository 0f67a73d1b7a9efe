"""How often a region computes each of its intermediates, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from samhw.compiler.fusion_table import FusionTable
from samhw.cost import Expected
from samhw.graph import Endpoint, Graph, levels
from samhw.graph.spec import StreamKind
from samhw.lang import Region

__all__ = ["Computation", "Occurrence", "computations", "own_cycles", "with_waits"]


@dataclass(frozen=True)
class Occurrence:
    """A place of a graph at which an intermediate is computed.

    Attributes:
        source: the output that gives its values.
        inside: the indices inside of whose rows that is, although the intermediate does not have them: for
            each of their coordinates it is recomputed.
        values: about how many values it gives in a run.
        waits: the channels in which the values wait for another way, and why.
    """

    source: Endpoint
    inside: tuple[str, ...]
    values: float
    waits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Computation:
    """How a region computes an intermediate.

    Attributes:
        tensor: the intermediate.
        readers: the results whose statements use it inside of the region.
        places: where it is computed. Uses that share a place share its streams.
        points: the most values that it has.
    """

    tensor: str
    readers: tuple[str, ...]
    places: tuple[Occurrence, ...]
    points: int

    @property
    def is_once(self) -> bool:
        """Each of its values is computed once at most."""
        return len(self.places) == 1 and not self.places[0].inside

    @property
    def times(self) -> float:
        """About how many values are computed for each that there is, at least 1."""
        return 1.0 if self.is_once else max(1.0, sum(p.values for p in self.places) / self.points)

    @property
    def times_at_a_place(self) -> float:
        """About how many values its busiest place computes for each that there is, at least 1."""
        return 1.0 if self.is_once else max(1.0, max(p.values for p in self.places) / self.points)

    @property
    def how(self) -> str:
        """What is done about its uses: `stream`, `buffer` (values wait in a channel) or `recompute`."""
        if not self.is_once:
            return "recompute"
        return "buffer" if any(place.waits for place in self.places) else "stream"

    @property
    def why(self) -> str:
        """The reason in words; nothing where a stream serves by itself."""
        if self.is_once:
            return "; ".join(f"{c}: {why}" for place in self.places for c, why in place.waits.items())
        parts = []
        if inside := list(dict.fromkeys(index for place in self.places for index in place.inside)):
            parts.append(f"it is read inside of {', '.join(inside)}, for each of which it is computed")
        if len(self.places) > 1:
            parts.append(f"{len(self.places)} uses meet its rows at different places")
        return "; ".join(parts)

    def to_json(self) -> dict[str, object]:
        """A JSON object."""
        return {
            "tensor": self.tensor,
            "readers": list(self.readers),
            "how": self.how,
            "places": len(self.places),
            "times": round(self.times, 2),
            "inside": list(dict.fromkeys(index for place in self.places for index in place.inside)),
            "why": self.why,
        }


def computations(
    region: Region,
    table: FusionTable,
    graph: Graph,
    expected: Expected,
    points: Mapping[str, int],
) -> tuple[Computation, ...]:
    """The intermediates of a region, in the order of its statements.

    Args:
        expected: the estimate for the graph.
        points: the most values of each intermediate.
    """
    around = levels(graph)
    found: dict[str, dict[Endpoint, Occurrence]] = {}
    for column, (tensor, indices) in table.computes.items():
        output = table.values.get(column)
        if output is None:
            continue
        source = Endpoint(output.node.name, output.port)
        if source not in around:
            # Another place has served its uses after all.
            continue
        places = found.setdefault(tensor, {})
        # Rows may have the names of another use.
        outer = around[source]
        others = [index for index in outer if index not in indices]
        inside = tuple(others[: len(outer) - len(indices)])
        if source in places and len(inside) >= len(places[source].inside):
            continue
        places[source] = Occurrence(source, inside, expected.payloads(source))
    readers = _readers(region)
    return tuple(
        Computation(tensor, readers[tensor], tuple(found[tensor].values()), points[tensor])
        for tensor in region.written
        if found.get(tensor)
    )


def own_cycles(found: Sequence[Computation], graph: Graph, expected: Expected) -> dict[str, float]:
    """The cycles that each intermediate takes at the least, as often as it is computed, by its tensor: those
    of its busiest node, of all after the intermediates that it reads."""
    sources = {place.source for computation in found for place in computation.places}
    busiest: dict[str, float] = {}
    for node in graph.nodes:
        values = (port for port in node.inputs if port.stream.kind is StreamKind.VAL)
        before = (graph.fanin[Endpoint(node.name, port.name)].source for port in values)
        own = (busiest[source.node] for source in before if source not in sources)
        busiest[node.name] = max((expected.busy[node.name], *own))
    return {c.tensor: max(busiest[place.source.node] for place in c.places) for c in found}


def with_waits(
    found: Sequence[Computation], graph: Graph, held: Mapping[str, str]
) -> tuple[Computation, ...]:
    """The same, with the channels in which values wait.

    Args:
        graph: in which they have been found.
        held: the channels whose tokens wait for another way, by their names, and why.
    """

    def waiting(place: Occurrence) -> Occurrence:
        names = [channel.name for channel in graph.fanout.get(place.source, ())]
        return replace(place, waits={name: held[name] for name in names if name in held})

    return tuple(replace(c, places=tuple(map(waiting, c.places))) for c in found)


def _readers(region: Region) -> dict[str, tuple[str, ...]]:
    """The results whose statements read each tensor, in the order of the statements."""
    found: dict[str, dict[str, None]] = {}
    for statement in region.statements:
        for access in statement.reads:
            found.setdefault(access.tensor, {})[statement.lhs.tensor] = None
    return {tensor: tuple(names) for tensor, names in found.items()}
