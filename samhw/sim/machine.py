"""A graph at run time: every actor a `Worker`, every channel a `Queue`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from samhw.graph import Arch, Endpoint, Graph, Node, once_per_graph
from samhw.sim.network import ActorNetwork, Place, expand
from samhw.sim.ports import Arbiter, NodePorts
from samhw.sim.step import Words
from samhw.sim.worker import WORD_BITS, End, LineAccess, Queue, Worker, as_words, connect

__all__ = ["Ends", "Machine", "Stores", "as_words", "build_graph", "build_node", "connect"]

Ends = dict[Endpoint, End]

Stores = Mapping[tuple[Place, str], Words]
"""The memories and the extent registers of a graph."""


@dataclass
class Machine:
    """The workers of a graph, in the order of its nodes, and its channels by name; who serves those that have
    memories off chip, and what these ask."""

    workers: list[Worker]
    channels: dict[str, Queue]
    arbiter: Arbiter | None = None
    accesses: Sequence[LineAccess] = ()

    def dissolve(self) -> None:
        """Parts workers and channels, which hold each other, so that they go without Python's collector."""
        for worker in self.workers:
            worker.inputs.clear()
            worker.outputs.clear()
            worker.plans.clear()

    def words_written(self) -> dict[str, int]:
        """For each memory that a writer writes, how many words it has written."""
        return {
            worker.actor.memory[store].name: worker.state[register]
            for worker in self.workers
            for store, register in worker.actor.written.items()
        }


def build_graph(graph: Graph, arch: Arch, stores: Stores, arbiter: Arbiter | None = None) -> Machine:
    """The machine of a graph; `arbiter` serves what lies off chip, after the ports that it has already."""
    workers: list[Worker] = []
    sources: Ends = {}
    sinks: Ends = {}
    networks = _networks(graph, arch)
    has_ports = arbiter is not None or any(stored.banks for stored in graph.memories)
    ports = NodePorts(graph, arbiter) if has_ports else None
    for node in graph.nodes:
        workers += build_node(node, networks[node.name], stores, sources, sinks, ports)
    channels = {}
    for channel in graph.channels:
        payload = graph.given(graph.node[channel.source.node], channel.source.port)
        bits = payload.element.width if payload.element else WORD_BITS
        queue = Queue(channel.name, channel.latency, channel.depth, bits)
        connect(queue, sources[channel.source], sinks[channel.sink])
        channels[channel.name] = queue
    return Machine(workers, channels, arbiter, ports.finish() if ports else ())


@once_per_graph
def _networks(graph: Graph, arch: Arch) -> Mapping[str, ActorNetwork]:
    """The network of each node, by its name, which every run needs again. Copies that are alike share one:
    nothing but their names tells them apart."""
    networks: dict[str, ActorNetwork] = {}
    originals: dict[str, Node] = {}
    for node in graph.nodes:
        original = originals.setdefault(node.copy_of or node.name, node)
        alike = replace(node, name=original.name, lane=original.lane) == original
        if alike and original.name in networks:
            networks[node.name] = networks[original.name]
        else:
            networks[node.name] = expand(node, graph, arch)
    return networks


def build_node(
    node: Node,
    network: ActorNetwork,
    stores: Stores,
    sources: Ends,
    sinks: Ends,
    ports: NodePorts | None = None,
) -> list[Worker]:
    """The workers of a node, joined by its links, and those of its ports to off-chip memory. Adds its outputs
    to `sources` and its inputs to `sinks`."""
    private: dict[str, Words] = {}
    workers = []
    link_sources: dict[str, End] = {}
    link_sinks: dict[str, End] = {}
    for actor in network.actors:
        memory = []
        for store in actor.memory:
            if store.place is Place.PRIVATE:
                if store.name not in private:
                    private[store.name] = as_words(np.zeros(store.words, np.int64))
                memory.append(private[store.name])
            else:
                memory.append(stores[store.place, store.name])
        changed = ports.changed(node.name, actor) if ports else actor
        worker = Worker(node.name, changed, tuple(memory), node.lane)
        workers.append(worker)
        given: dict[int, Worker] = {}
        if ports:
            behind, given = ports.attach(worker, actor)
            workers += behind
        for i, name in enumerate(actor.inputs):
            if name in network.links:
                link_sinks[name] = worker, i
            else:
                sinks[Endpoint(node.name, name)] = worker, i
        for j, name in enumerate(actor.outputs):
            source = (given[j], 0) if j in given else (worker, j)
            if name in network.links:
                link_sources[name] = source
            else:
                sources[Endpoint(node.name, name)] = source
    for name, link in network.links.items():
        queue = Queue(f"{node.name}/{name}", link.latency, link.depth)
        connect(queue, link_sources[name], link_sinks[name])
        for token in link.initial:
            queue.spare -= 1
            queue.append(int(token.kind), token.payload, 0, -link.latency)
    return workers
