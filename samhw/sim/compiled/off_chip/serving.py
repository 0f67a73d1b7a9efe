"""Who is served next, once no firing can be timed, and what the data that come let others do.

What nobody could time yet waits for an answer in the end. It therefore comes as many cycles after the first
request as an answer takes at least; and so all requests that are made before that are known, and can be
served at once.
"""

from samhw.sim.compiled.off_chip.asking import bring_data
from samhw.sim.compiled.off_chip.records import AccessRecord
from samhw.sim.compiled.points import known_firings
from samhw.sim.compiled.records import NEVER, ActorRecord, ChannelRecord, GraphRecord
from samhw.sim.machine_code import UNKNOWN, words_at
from samhw.sim.oracle import BEATS, ORIGIN, USE, answer_request, entry_size, first_answer, note_entry

__all__ = ["serve_lines"]


def serve_lines(graph_address: int, unused: int) -> int:
    """Serves the first requests, if it is certain which they are; gives how many it served.

    It is not while an actor could do more in another phase, or in a channel with room for all its slots.
    """
    graph = GraphRecord.at(graph_address)
    rows = words_at(graph.actors, graph.actor_count)
    for n in range(graph.actor_count):
        actor = ActorRecord.at(rows[n])
        grown = words_at(actor.watch, 1)[0] - actor.seen
        if known_firings(actor) == actor.found and (actor.left == 0 or grown > 0):
            return 0
    channels = words_at(graph.channels, graph.channel_count)
    for n in range(graph.channel_count):
        channel = ChannelRecord.at(channels[n])
        if channel.room < channel.depth and channel.pushed - channel.popped >= channel.room:
            return 0
    accesses = words_at(graph.accesses, graph.access_count)
    served = 0
    horizon = NEVER
    while True:
        first = accesses[0]
        cycle = next_asked(first)
        for n in range(1, graph.access_count):
            other = next_asked(accesses[n])
            first = accesses[n] if other < cycle else first
            cycle = min(cycle, other)
        if cycle >= horizon:
            break
        if served == 0:
            horizon = cycle + graph.line_cycles
        serve(graph, AccessRecord.at(first), cycle)
        served += 1
    if served:
        for n in range(graph.access_count):
            bring_data(accesses[n])
    return served


def next_asked(address: int) -> int:
    """The cycle of the first request of an access that is not served, or NEVER."""
    access = AccessRecord.at(address)
    if access.served == access.timed:
        return NEVER
    return words_at(access.asked, UNKNOWN)[access.served]


def serve(graph: GraphRecord, access: AccessRecord, cycle: int) -> None:
    """Serves the first request of an access that is not served."""
    oracle, number = words_at(graph.oracle, UNKNOWN), access.served
    address = access.first + words_at(access.lines, UNKNOWN)[number] * access.line_bytes
    dram, recorded = words_at(graph.dram, UNKNOWN), words_at(graph.recorded, UNKNOWN)
    answer_request(oracle, dram, recorded, access.master, cycle, address, access.write)
    first, shift = first_answer(oracle), oracle[USE] - 1 - oracle[ORIGIN]
    answered = words_at(access.answered, UNKNOWN)
    for n in range(oracle[BEATS]):
        answered[number * access.beats + n] = oracle[first + n] + shift
    last = first if access.write else first + oracle[BEATS] - 1
    access.waited += oracle[last] + shift + 1 - cycle
    access.served += 1
    if graph.journal:
        size = entry_size(oracle[BEATS])
        journal = words_at(graph.journal, UNKNOWN)
        note_entry(oracle, journal, size * graph.journal_number, access.master, address, access.write)
        graph.journal_number += 1
