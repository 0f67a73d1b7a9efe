"""What a run has recorded of tokens: as curves over its cycles, how full channels were and how busy nodes;
and as a file, for Perfetto or as waves."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from samhw.app.workload import Workload, predict_effort
from samhw.errors import InputError
from samhw.graph import Graph, Node
from samhw.sim import (
    Result,
    load_fst,
    load_perfetto,
    write_chrome_trace,
    write_fst,
    write_gtkwave,
    write_perfetto_trace,
    write_surfer,
    write_vcd,
)
from samhw.targets.backends import RunResult

__all__ = ["activity", "check_trace", "fill", "is_short", "write_trace"]

_RECORDED = 100_000
"""The points of a run up to which a report records every token, and so shows channels and nodes over time."""

SPANS = 160
"""The most points of a curve. Each is the mean of a span of cycles."""


def is_short(workload: Workload) -> bool:
    """Whether a run on that data is so short that a report can record every token."""
    return predict_effort(workload.program, workload.tensors).points <= _RECORDED


def fill(result: Result, channel: str) -> tuple[float, ...]:
    """The slots of a channel that are taken, over the cycles of the run; empty if not all of its tokens were
    recorded."""
    passages = result.passages.get(channel, ())
    if not passages or len(passages) < result.channels[channel].tokens:
        return ()
    edges = _edges(result.cycles)
    pushed = np.array([passage.pushed for passage in passages], np.int64)
    freed = np.array([passage.popped + 1 for passage in passages], np.int64)
    return _means(_since(pushed, edges) - _since(freed, edges), edges)


def activity(graph: Graph, result: Result, node: Node) -> tuple[float, ...]:
    """The share of cycles in which a node takes tokens from, or gives them to, the busiest of its channels;
    empty if they were not recorded."""
    ends = [channel for channel in graph.channels if node.name in (channel.sink.node, channel.source.node)]
    if not ends:
        return ()
    busiest = max(ends, key=lambda channel: result.channels[channel.name].tokens)
    passages = result.passages.get(busiest.name, ())
    if not passages or len(passages) < result.channels[busiest.name].tokens:
        return ()
    edges = _edges(result.cycles)
    takes = busiest.sink.node == node.name
    cycles = np.sort(np.array([p.popped if takes else p.pushed for p in passages], np.int64))
    return _means(np.searchsorted(cycles, edges).astype(np.int64), edges)


def _edges(cycles: int) -> NDArray[np.int64]:
    """Where the spans of a run begin and end: cycles count from 1."""
    spans = max(1, min(SPANS, cycles))
    return np.linspace(1, cycles + 1, spans + 1).astype(np.int64)


def _since(starts: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """At each edge, the cycles that have gone by since each of the starts before it, summed."""
    starts = np.sort(starts)
    before = np.searchsorted(starts, edges)
    total = np.concatenate([np.zeros(1, np.int64), np.cumsum(starts)])
    return np.asarray(before * edges - total[before], np.int64)


def _means(integral: NDArray[np.int64], edges: NDArray[np.int64]) -> tuple[float, ...]:
    return tuple(float(x) for x in np.round(np.diff(integral) / np.diff(edges), 3))


_WRITERS = {
    ".json": write_chrome_trace,
    ".pftrace": write_perfetto_trace,
    ".vcd": write_vcd,
    ".fst": write_fst,
    ".gtkw": write_gtkwave,
    ".sucl": write_surfer,
}


_PACKAGES = {".pftrace": load_perfetto, ".fst": load_fst}
"""By suffix, what loads the package that writes such a trace."""


def check_trace(path: Path) -> Path:
    """The path of a trace, whose suffix is one of those that there are; raises `InputError` for another, and
    where the package that writes it is not installed."""
    if path.suffix not in _WRITERS:
        *most, last = _WRITERS
        raise InputError(f"{path} is no trace file; give it the suffix {', '.join(most)} or {last}.")
    if path.suffix in _PACKAGES:
        _PACKAGES[path.suffix]()
    return path


def write_trace(path: Path, model: RunResult) -> None:
    """Writes the tokens that a run of the simulator has recorded, in the form of the file's suffix."""
    runs = [(region.graph, region.statistics) for region in model.regions if region.statistics is not None]
    assert len(runs) == len(model.regions), "a run without its tokens"
    _WRITERS[check_trace(path).suffix](path, runs)
