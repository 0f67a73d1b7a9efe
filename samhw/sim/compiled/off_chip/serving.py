"""Who is served next, once no firing can be timed, and what the data that come let others do.

What nobody could time yet waits for a line in the end: for its data, or for its place. It therefore comes as
many cycles after the first request as a line takes at least; and so all requests that are made before that
are known, and can be served at once.
"""

from samhw.sim.compiled.off_chip.records import AccessRecord, PortRecord
from samhw.sim.compiled.off_chip.waiting import next_asked
from samhw.sim.compiled.points import known_firings
from samhw.sim.compiled.records import NEVER, ActorRecord, GraphRecord, output_channel
from samhw.sim.dram import request
from samhw.sim.machine_code import UNKNOWN, words_at

__all__ = ["bring_data", "serve_lines"]


def serve_lines(graph_address: int, unused: int) -> int:
    """Serves the firings that ask first, if it is certain who they are; gives how many it served.

    It is not while an actor could do more in another phase.
    """
    graph = GraphRecord.at(graph_address)
    rows = words_at(graph.actors, graph.actor_count)
    for n in range(graph.actor_count):
        actor = ActorRecord.at(rows[n])
        grown = words_at(actor.watch, 1)[0] - actor.seen
        if known_firings(actor) == actor.found and (actor.left == 0 or grown > 0):
            return 0
    served = 0
    horizon = NEVER
    while True:
        access = first_asking(graph)
        cycle = access.asks_in
        if cycle >= horizon:
            return served
        if served == 0:
            horizon = cycle + graph.line_cycles
        serve_firing(graph, access)
        served += 1


def first_asking(graph: GraphRecord) -> AccessRecord:
    """The access whose firing comes first, and of several the one whose ports come first."""
    accesses = words_at(graph.accesses, graph.access_count)
    first = accesses[0]
    for n in range(1, graph.access_count):
        if AccessRecord.at(accesses[n]).asks_in < AccessRecord.at(first).asks_in:
            first = accesses[n]
    return AccessRecord.at(first)


def serve_firing(graph: GraphRecord, access: AccessRecord) -> None:
    """Makes the requests of the first firing of an access that is not served."""
    memory = words_at(graph.memory, UNKNOWN)
    ports = words_at(access.ports, access.port_count)
    cycle = access.asks_in
    for p in range(access.port_count):
        port = PortRecord.at(ports[p])
        asked, lines = words_at(port.asked, UNKNOWN), words_at(port.lines, UNKNOWN)
        while port.served < port.timed and asked[port.served] == cycle:
            done = request(memory, cycle, lines[port.served], port.write)
            words_at(port.done, UNKNOWN)[port.served] = done
            port.waited += done - cycle
            port.last_done = max(port.last_done, done)
            port.served += 1
    access.asks_in = next_asked(access)
    actor = ActorRecord.at(access.actor)
    actor.stale = min(actor.stale, NEVER)
    bring_data(access)


def bring_data(access: AccessRecord) -> None:
    """Says when tokens are there whose lines are served, and marks those who take them."""
    actor = ActorRecord.at(access.actor)
    carried = words_at(access.carried, UNKNOWN)
    for c in range(access.carried_count):
        port = PortRecord.at(words_at(access.ports, access.port_count)[carried[2 * c + 1]])
        channel = output_channel(actor, carried[2 * c])
        come, ready = words_at(channel.come, UNKNOWN), words_at(channel.ready, UNKNOWN)
        brought = words_at(channel.brought, UNKNOWN)
        k = channel.resolved
        while k < channel.pushed and come[k] < NEVER:
            done = done_in(port, brought[k] - 1)
            if done >= NEVER:
                break
            ready[k] = max(come[k], done + channel.latency)
            k += 1
        if k > channel.resolved:
            channel.resolved = k
            consumer = ActorRecord.at(channel.consumer)
            consumer.stale = min(consumer.stale, NEVER)


def done_in(port: PortRecord, number: int) -> int:
    """The cycle in which a request is done, or NEVER; 0 for one that was done before what is timed now."""
    if number < port.base:
        return 0
    return words_at(port.done, UNKNOWN)[number]
