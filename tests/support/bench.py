"""Runs one primitive alone, between sources and sinks with given timing: cases that model and RTL share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.graph import VAL, Arch, Endpoint, Graph, Kind, Memory, MemoryRole, Node, Token, latency
from samhw.graph.numerics import value_type
from samhw.sim.engines import Engine, execute
from samhw.sim.machine import Ends, Machine, build_node, connect
from samhw.sim.network import Actor, expand
from samhw.sim.result import Trace, raise_fault
from samhw.sim.step import COMMITTED, NONE, Step, Words, firing
from samhw.sim.step import Memory as Stored
from samhw.sim.stores import make_stores
from samhw.sim.worker import Earliest, Queue, Tap, Worker

__all__ = ["Bench", "bench_primitive"]


@dataclass(frozen=True)
class Bench:
    """What came out.

    Attributes:
        outputs: for each output port (cycle in which the sink popped it, token), in order.
        pushed: for each input port the cycle of each push of its source: this shows back-pressure.
        memories: the words that a writer has written to its memories.
        committed: the cycle in which a writer fired on DONE; None for other nodes, or if it has not.
    """

    outputs: Mapping[str, Trace]
    pushed: Mapping[str, Sequence[int]]
    memories: Mapping[str, NDArray[np.int64]]
    committed: int | None


def bench_primitive(
    node: Node,
    arch: Arch,
    inputs: Mapping[str, Sequence[tuple[int, Token]]],
    memories: Mapping[str, NDArray[Any]] | None = None,
    extents: Mapping[str, int] | None = None,
    sinks: Mapping[str, Sequence[int]] | None = None,
    *,
    input_depths: Mapping[str, int] | None = None,
    output_depths: Mapping[str, int] | None = None,
    value: str = "i32",
    engine: Engine = "plain",
) -> Bench:
    """Runs a primitive between a source at each input and a sink at each output, until nothing can fire.

    Cycles are numbered from 0, the cycle in which `start` is accepted.

    * The source of an input has tokens (s_0, T_0), (s_1, T_1), ... It pushes T_k in the first cycle that is
      at least s_k, later than its push of T_(k-1), and in which its channel has a free slot. It may push in
      cycle 0. Its channel has latency 1, so what is pushed in cycle 0 is seen by the primitive in cycle 1.
    * The actors of the primitive fire from cycle 1 on.
    * Each output has a channel with the latency of the port. Its sink pops token k in the first cycle that is
      at least r_k, later than its pop of token k-1, and in which the token is available. Where `sinks` gives
      no r_k it is 0. The cycle reported is that of the pop; the slot is free again in the next one.

    Args:
        node: a node by `make`.
        arch: latencies.
        inputs: for each input port its tokens as (s_k, T_k).
        memories: the words, by the memory names in the node's params; of a writer's memories only the length
            counts, which is the capacity.
        extents: the extent of each index named in the node's params, and the step of each repeat.
        sinks: for output ports, the cycles r_k.
        input_depths: depths of the channels, by input port; else `Arch.internal_depth` of the latency.
        output_depths: the same, by output port.
        value: the value type.
        engine: as for `simulate`.

    Raises:
        RunError: the first overflow, capacity, protocol or range error.
    """
    memories, extents = memories or {}, extents or {}
    graph = _alone(node, value, memories, extents)
    stores, written = make_stores(graph, memories, extents, extents)
    node_outputs: Ends = {}
    node_inputs: Ends = {}
    workers = build_node(node, expand(node, graph, arch), stores, node_outputs, node_inputs)

    pushed: dict[str, list[int]] = {port.name: [] for port in node.inputs}
    outputs: dict[str, Trace] = {port.name: [] for port in node.outputs}
    fed: dict[str, Queue] = {}
    for name, cycles in pushed.items():
        depth = (input_depths or {}).get(name, arch.internal_depth(1))
        payload = graph.taken(node, name)
        queue = fed[name] = Queue(
            f"source->{name}", 1, depth, payload.width(arch.index_bits) // payload.words
        )
        queue.tap = _push_recorder(cycles)
        workers.append(source := _source(inputs[name], payload.words, queue.bits))
        connect(queue, (source, 0), node_inputs[Endpoint(node.name, name)])
    for name, trace in outputs.items():
        delay = latency(node, name, arch, value_type(value))
        depth = (output_depths or {}).get(name, arch.internal_depth(delay))
        payload = graph.given(node, name)
        queue = Queue(f"{name}->sink", delay, depth, payload.width(arch.index_bits) // payload.words)
        queue.tap = _recorder(trace)
        workers.append(sink := _sink((sinks or {}).get(name, ()), payload.words))
        connect(queue, node_outputs[Endpoint(node.name, name)], (sink, 0))
    machine = Machine(workers, {})
    execute(machine, engine)
    raise_fault(graph, workers)
    for name, queue in fed.items():
        pushed[name] += [cycle for _, _, _, cycle in queue.tokens]
    counts = machine.words_written()
    first = workers[0]
    return Bench(
        outputs=outputs,
        pushed=pushed,
        memories={name: array[: counts[name]] for name, array in written.items()},
        committed=first.last if not node.outputs and first.state[COMMITTED] else None,
    )


def _alone(node: Node, value: str, memories: Mapping[str, NDArray[Any]], extents: Mapping[str, int]) -> Graph:
    """A graph of nothing but a node."""
    role = MemoryRole.INPUT if node.outputs else MemoryRole.OUTPUT
    own = tuple(Memory(name, "", "", role, len(words)) for name, words in memories.items())
    return Graph(node.name, value_type(value), (node,), (), own, (), extents)


def _source(tokens: Sequence[tuple[int, Token]], words: int, bits: int) -> Worker:
    """The payload of a block is one number, its words from the lowest bits up."""
    kinds = [int(token.kind) for _, token in tokens]
    payloads = [
        token.payload >> n * bits & (1 << bits) - 1 if words > 1 and token.kind is VAL else token.payload
        for _, token in tokens
        for n in range(words)
    ]
    actor = Actor("source", _give(words), (), ("out",), (0,), widths={"out": words})
    worker = Worker("source", actor, (kinds, payloads))
    worker.gate = Earliest(tuple(earliest for earliest, _ in tokens))
    worker.last = -1
    return worker


def _sink(earliest: Sequence[int], words: int) -> Worker:
    worker = Worker("sink", Actor("sink", _take(), ("in",), widths={"in": words}))
    worker.gate = Earliest(tuple(earliest))
    return worker


def _recorder(trace: Trace) -> Tap:
    def tap(pushed: int, popped: int, kind: int, payload: int) -> None:
        trace.append((popped, Token(Kind(kind), payload)))

    return tap


def _push_recorder(cycles: list[int]) -> Tap:
    def tap(pushed: int, popped: int, kind: int, payload: int) -> None:
        cycles.append(pushed)

    return tap


def _give(words: int) -> Step:
    push = firing(0, 0, 1)
    rest = firing(0)

    def step(kind: Words, data: Words, state: Words, memory: Stored, out_kind: Words, out_data: Words) -> int:
        k = state[0]
        if k == len(memory[0]):
            return rest
        out_kind[0] = memory[0][k]
        n = 0
        while n < words:
            out_data[n] = memory[1][k * words + n]
            n += 1
        state[0] = k + 1
        return push

    return step


def _take() -> Step:
    wait = firing(1)
    take = firing(1, 1)

    def step(kind: Words, data: Words, state: Words, memory: Stored, out_kind: Words, out_data: Words) -> int:
        return wait if kind[0] == NONE else take

    return step
