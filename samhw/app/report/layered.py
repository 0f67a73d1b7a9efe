"""Places for the nodes of a graph in layers, from top to bottom (Sugiyama, Tagawa and Toda, 1981).

Nodes come in an order in which what feeds others is before them, as those of our graphs do. Time grows with
the size of the graph: sweeps become fewer where it is large.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Edge", "Layout", "layered"]

_GAP = 26.0
"""Between neighbours in a layer."""
_RISE = 34.0
"""Between layers."""
_TRUNK = 12.0
"""The room of an edge that passes a layer."""
_WORK = 60_000
"""Places that all sweeps together may move."""

Point = tuple[float, float]


class Edge(NamedTuple):
    """An edge between nodes, by their numbers. Edges of one source and one trunk part as late as they can."""

    source: int
    sink: int
    trunk: Hashable = None


@dataclass(frozen=True)
class Layout:
    """The middles of all nodes, the points that each edge goes through, and the size of the whole."""

    places: Sequence[Point]
    routes: Sequence[Sequence[Point]]
    width: float
    height: float


@dataclass
class _Layers:
    """Nodes, and after them the places where trunks pass a layer, by number; neighbours above and below."""

    widths: list[float]
    rank: list[int]
    above: list[list[int]]
    below: list[list[int]]
    rows: list[list[int]]
    paths: list[list[int]]
    """Of each edge, all that it goes through."""
    nodes: int
    at: list[int] = field(default_factory=list)
    """The place of each in its row."""

    def settle(self) -> None:
        """Brings `at` up to date with `rows`."""
        self.at = [0] * len(self.widths)
        for row in self.rows:
            for place, item in enumerate(row):
                self.at[item] = place

    def crossings(self) -> int:
        """How often edges between neighbouring layers cross."""
        return sum(self._crossings(row) for row in self.rows)

    def _crossings(self, row: Sequence[int]) -> int:
        ends = [end for item in row for end in sorted(self.at[b] for b in self.below[item])]
        tree = [0] * (max(ends, default=0) + 2)
        total = 0
        for count, end in enumerate(ends):
            place, before = end + 1, 0
            while place:
                before += tree[place]
                place &= place - 1
            total += count - before
            place = end + 1
            while place < len(tree):
                tree[place] += 1
                place += place & -place
        return total


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[Edge]) -> Layout:
    """The layout of nodes with these widths and heights.

    Edges against the order of the nodes are straight.
    """
    found = _layers(sizes, edges)
    sweeps = max(2, min(14, _WORK // max(len(found.widths), 1)))
    _untangle(found, sweeps)
    xs = _across(found, sweeps)
    heights = [0.0] * len(found.rows)
    for node, (_, height) in enumerate(sizes):
        heights[found.rank[node]] = max(heights[found.rank[node]], height)
    ys, y = [], 0.0
    for height in heights:
        ys.append(y + height / 2)
        y += height + _RISE
    left = min((x - w / 2 for x, w in zip(xs, found.widths, strict=True)), default=0.0)
    right = max((x + w / 2 for x, w in zip(xs, found.widths, strict=True)), default=0.0)
    points = [(x - left, ys[rank]) for x, rank in zip(xs, found.rank, strict=True)]
    return Layout(
        points[: len(sizes)],
        [[points[item] for item in path] for path in found.paths],
        right - left,
        max(y - _RISE, 0.0),
    )


def _ranks(count: int, edges: Sequence[Edge]) -> list[int]:
    """The layer of each node: below all that feeds it, and where it feeds more than it is fed by, close to
    what it feeds."""
    sources: list[list[int]] = [[] for _ in range(count)]
    sinks: list[list[int]] = [[] for _ in range(count)]
    for edge in edges:
        if edge.source < edge.sink:
            sources[edge.sink].append(edge.source)
            sinks[edge.source].append(edge.sink)
    rank = [0] * count
    for node in range(count):
        rank[node] = max((rank[source] + 1 for source in sources[node]), default=0)
    for node in reversed(range(count)):
        if len(sinks[node]) > len(sources[node]):
            rank[node] = min(rank[sink] for sink in sinks[node]) - 1
    lowest = min(rank, default=0)
    return [r - lowest for r in rank]


def _layers(sizes: Sequence[tuple[float, float]], edges: Sequence[Edge]) -> _Layers:
    """Nodes and trunks, in rows in the order in which they come."""
    rank = _ranks(len(sizes), edges)
    widths = [width for width, _ in sizes]
    above: list[list[int]] = [[] for _ in sizes]
    below: list[list[int]] = [[] for _ in sizes]
    passed: dict[tuple[int, Hashable], list[int]] = {}
    paths = []
    for edge in edges:
        trunk = passed.setdefault((edge.source, edge.trunk), [edge.source])
        while rank[trunk[-1]] < rank[edge.sink] - 1:
            new = len(rank)
            rank.append(rank[trunk[-1]] + 1)
            widths.append(_TRUNK)
            above.append([trunk[-1]])
            below.append([])
            below[trunk[-1]].append(new)
            trunk.append(new)
        path = trunk[: max(1, rank[edge.sink] - rank[edge.source])]
        paths.append([*path, edge.sink])
        if edge.source < edge.sink:
            above[edge.sink].append(path[-1])
            below[path[-1]].append(edge.sink)
    rows: list[list[int]] = [[] for _ in range(max(rank, default=-1) + 1)]
    for item, r in enumerate(rank):
        rows[r].append(item)
    return _Layers(widths, rank, above, below, rows, paths, len(sizes))


def _untangle(found: _Layers, sweeps: int) -> None:
    """Orders the rows so that few edges cross: each by the middle of its neighbours, down and up in turn."""
    found.settle()
    best, rows = found.crossings(), [list(row) for row in found.rows]
    for sweep in range(sweeps):
        down = sweep % 2 == 0
        near = found.above if down else found.below
        for row in found.rows if down else reversed(found.rows):
            key = {item: _mean([found.at[n] for n in near[item]], found.at[item]) for item in row}
            row.sort(key=lambda item: key[item])
            for place, item in enumerate(row):
                found.at[item] = place
        crossings = found.crossings()
        if crossings < best:
            best, rows = crossings, [list(row) for row in found.rows]
    found.rows = rows
    found.settle()


def _mean(values: Sequence[float], default: float) -> float:
    return sum(values) / len(values) if values else default


def _across(found: _Layers, sweeps: int) -> list[float]:
    """Where each stands in its row: as near to its neighbours as the order of the row lets it. Trunks bend
    the least."""
    xs = [0.0] * len(found.widths)
    for row in found.rows:
        for item, x in zip(row, _apart([0.0] * len(row), [1.0] * len(row), row, found.widths), strict=True):
            xs[item] = x
    for sweep in range(2 * sweeps):
        down = sweep % 2 == 0
        last = sweep >= 2 * sweeps - 4
        for row in found.rows if down else reversed(found.rows):
            wanted, weights = [], []
            for item in row:
                near = found.above[item] if down else found.below[item]
                if last or not near:
                    near = found.above[item] + found.below[item]
                pulls = [(n, 8.0 if min(n, item) >= found.nodes else 1.0) for n in near]
                weight = sum(pull for _, pull in pulls)
                wanted.append(sum(xs[n] * pull for n, pull in pulls) / weight if weight else xs[item])
                weights.append(weight or 0.1)
            for item, x in zip(row, _apart(wanted, weights, row, found.widths), strict=True):
                xs[item] = x
    return xs


def _apart(
    wanted: Sequence[float], weights: Sequence[float], row: Sequence[int], widths: Sequence[float]
) -> list[float]:
    """The places nearest to those that are wanted, by weighted squares, at which nothing overlaps (pool
    adjacent violators)."""
    shift, shifts = 0.0, []
    for place, item in enumerate(row):
        if place:
            shift += (widths[row[place - 1]] + widths[item]) / 2 + _GAP
        shifts.append(shift)
    pools: list[tuple[float, float, int]] = []
    for want, weight, moved in zip(wanted, weights, shifts, strict=True):
        mean, total, count = want - moved, weight, 1
        while pools and pools[-1][0] > mean:
            other, more, number = pools.pop()
            mean = (mean * total + other * more) / (total + more)
            total, count = total + more, count + number
        pools.append((mean, total, count))
    levels = [mean for mean, _, count in pools for _ in range(count)]
    return [level + moved for level, moved in zip(levels, shifts, strict=True)]
