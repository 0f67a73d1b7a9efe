"""Runs a graph: from memories and extents to memories, cycles, statistics and traces."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from samhw.errors import InputError
from samhw.graph import Arch, GrammarChecker, Graph, Kind, Token
from samhw.graph.validate import validate
from samhw.primitives import ordered
from samhw.sim.engine import UNLIMITED, run
from samhw.sim.fault import raise_failure
from samhw.sim.machine import Gate, Machine, Tap, build_graph
from samhw.sim.result import Result, Trace, channel_stats, node_stats
from samhw.sim.stores import make_stores

__all__ = ["simulate"]


def simulate(
    graph: Graph,
    arch: Arch,
    memories: Mapping[str, NDArray[Any]],
    extents: Mapping[str, int],
    *,
    trace: bool | Collection[str] = False,
    check: bool = False,
    stalls: Mapping[str, Sequence[bool]] | None = None,
    limit: int = UNLIMITED,
) -> Result:
    """Runs a graph to its end, cycle for cycle as docs/timing.md has it.

    Args:
        graph: any graph that `validate` accepts; its channels have the latencies and depths given there.
        arch: gives the latencies inside of nodes.
        memories: words of each INPUT memory, as bit patterns; at most its capacity.
        extents: the run's extent of each index of the graph.
        trace: the channels whose tokens to record, or True for all.
        check: check every stream against the grammar, and the order of coordinates where a node relies on it.
        stalls: for some roots and writers a pattern: the node must not fire in cycle t if pattern[t % len].
        limit: last cycle in which a firing may happen.

    Raises:
        InputError: if the graph is not sound, or memories, extents, channels or stalls do not fit it.
        DeadlockError: if no node can fire before every writer has committed.
        RunError: overflow, capacity, protocol or range, whichever comes first; or the limit is exceeded.
    """
    validate(graph)
    stores, outputs = make_stores(graph, memories, extents)
    machine = build_graph(graph, arch, stores)
    for name, pattern in (stalls or {}).items():
        _stall(graph, machine, name, pattern)
    traces = _tap(graph, machine, trace, check)
    run(machine.workers, limit)
    raise_failure(graph, machine)

    writers = {node.name for node in graph.writers()}
    cycles = max(worker.last for worker in machine.workers if worker.node in writers)
    written = machine.words_written()
    return Result(
        cycles=cycles,
        memories={name: array[: written.get(name, 0)] for name, array in outputs.items()},
        nodes=node_stats(machine),
        channels={name: channel_stats(queue, cycles) for name, queue in machine.channels.items()},
        traces=traces,
    )


def _stall(graph: Graph, machine: Machine, name: str, pattern: Sequence[bool]) -> None:
    if name not in graph.node or (graph.node[name].inputs and graph.node[name].outputs):
        raise InputError(f"There is no root or writer {name!r} to stall; name one.")
    if all(pattern):
        raise InputError(f"The stall pattern of {name!r} never lets it fire; let one cycle be False.")
    for worker in machine.workers:
        if worker.node == name:
            worker.gate = _gate(tuple(pattern))


def _gate(pattern: tuple[bool, ...]) -> Gate:
    length = len(pattern)

    def gate(cycle: int, firing: int) -> int:
        while pattern[cycle % length]:
            cycle += 1
        return cycle

    return gate


def _tap(graph: Graph, machine: Machine, trace: bool | Collection[str], check: bool) -> dict[str, Trace]:
    """Puts recorders and checkers on the channels; gives the traces, which the run will fill."""
    wanted = set(machine.channels if trace is True else trace or ())
    if unknown := sorted(wanted - set(machine.channels)):
        raise InputError(f"There is no channel {unknown[0]!r} to trace; the form is 'node.out->node.in'.")
    traces: dict[str, Trace] = {name: [] for name in machine.channels if name in wanted}
    for channel in graph.channels:
        checker = None
        if check:
            in_order = ordered(graph.node[channel.sink.node], channel.sink.port)
            checker = GrammarChecker(graph.stream(channel).depth, ordered=in_order, name=channel.name)
        if checker is not None or channel.name in traces:
            machine.channels[channel.name].tap = _observer(traces.get(channel.name), checker)
    return traces


def _observer(trace: Trace | None, checker: GrammarChecker | None) -> Tap:
    def tap(cycle: int, kind: int, payload: int) -> None:
        token = Token(Kind(kind), payload)
        if checker is not None:
            checker.push(token)
        if trace is not None:
            trace.append((cycle, token))

    return tap
