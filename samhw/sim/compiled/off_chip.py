"""Tensors off chip in the compiled engine (docs/memory.md): what firings ask of off-chip memory, and what its
answers let others do.

What the next firing of an actor asks for and its token comes with is found when the firing is (finding.py);
in which cycle it asks, when it is timed (careful.py).

Once no firing can be timed, whoever is to go on waits for an answer in the end. What is to come therefore
comes as many cycles after the first request as an answer takes at least; and so all requests that are made
before that are known, and can be served at once.
"""

from collections.abc import Sequence

from samhw.sim.compiled.records import NEVER, AccessRecord, ChannelRecord, GraphRecord, wake
from samhw.sim.compiled.rows import moved, place_of_least
from samhw.sim.machine_code import UNKNOWN, apart, words_at
from samhw.sim.oracle import BEATS, ORIGIN, USE, answer_request, entry_size, first_answer, note_entry
from samhw.sim.port_actors import LINE_ASKED, REQUESTS

__all__ = ["bring_data", "make_line_room", "note_request", "serve_lines"]


def note_request(address: int, token: int, beat: int, state: Sequence[int]) -> None:
    """Notes what the next firing of an actor asks for, and which beat its token waits for.

    Args:
        address: that of the access.
        token: the address of the token that it may push.
        beat: one more than the number of the beat, or 0.
        state: the actor's registers.
    """
    access = AccessRecord.at(address)
    channel = ChannelRecord.at(access.channel)
    words_at(channel.brought + token - channel.tokens, 1)[0] = beat
    if state[REQUESTS] > access.found:
        words_at(access.lines, UNKNOWN)[access.found] = state[LINE_ASKED]
        words_at(access.tokens, UNKNOWN)[access.found] = (token - channel.tokens) >> 3
        access.found += 1


@apart
def bring_data(address: int, graph_address: int) -> None:
    """Notes in which cycles requests are made, and when tokens are there whose lines are served; wakes who
    waits for one."""
    access, graph = AccessRecord.at(address), GraphRecord.at(graph_address)
    channel = ChannelRecord.at(access.channel)
    come, ready = words_at(channel.come, UNKNOWN), words_at(channel.ready, UNKNOWN)
    tokens, asked = words_at(access.tokens, UNKNOWN), words_at(access.asked, UNKNOWN)
    brought, answered = words_at(channel.brought, UNKNOWN), words_at(access.answered, UNKNOWN)
    while access.timed < access.found and tokens[access.timed] < channel.new_pushed:
        asked[access.timed] = come[tokens[access.timed]] - channel.latency
        access.timed += 1
    if access.served < access.timed:
        words_at(graph.next_asked, UNKNOWN)[access.number] = asked[access.served]
    k = channel.resolved
    first, end = access.base * access.beats, access.served * access.beats
    while k < channel.new_pushed and brought[k] <= end:
        ready[k] = come[k]
        if brought[k] > first:
            ready[k] = max(come[k], answered[brought[k] - 1] + channel.latency)
        k += 1
    channel.resolved = k
    if channel.wanted and channel.new_popped < k:
        channel.wanted = 0
        wake(graph, channel.consumer)


def serve_lines(graph_address: int, unused: int) -> int:
    """Serves the first requests; gives how many it served."""
    graph = GraphRecord.at(graph_address)
    accesses = words_at(graph.accesses, graph.access_count)
    asked = words_at(graph.next_asked, graph.access_count)
    served = 0
    horizon = NEVER
    while True:
        first = place_of_least(graph.next_asked, graph.access_count)
        cycle = asked[first]
        if cycle >= horizon:
            break
        if served == 0:
            horizon = cycle + graph.line_cycles
        serve(graph, AccessRecord.at(accesses[first]), cycle)
        bring_data(accesses[first], graph_address)
        served += 1
    return served


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
    following = words_at(access.asked, UNKNOWN)[number + 1] if number + 1 < access.timed else NEVER
    words_at(graph.next_asked, UNKNOWN)[access.number] = following
    if graph.journal:
        size = entry_size(oracle[BEATS])
        journal = words_at(graph.journal, UNKNOWN)
        note_entry(oracle, journal, size * graph.journal_number, access.master, address, access.write)
        graph.journal_number += 1


def make_line_room(graph_address: int, unused: int) -> int:
    """Moves what is still needed to the front of the rows of accesses; gives whether there is room for a
    phase."""
    graph = GraphRecord.at(graph_address)
    accesses = words_at(graph.accesses, graph.access_count)
    enough = 1
    for n in range(graph.access_count):
        access = AccessRecord.at(accesses[n])
        drop_requests(access, graph.stored)
        if access.found + graph.phase > access.base + access.size:
            enough = 0
    if graph.journal and graph.journal_number + graph.phase * graph.access_count > graph.journal_room:
        enough = 0
    return enough


def drop_requests(access: AccessRecord, stored: int) -> None:
    """Drops requests that are served and that no token waits for, nor one that comes: it waits for one of the
    latest lines, of which there are at most `stored`."""
    channel = ChannelRecord.at(access.channel)
    brought = words_at(channel.brought, UNKNOWN)
    needed = min(access.served, access.found - stored)
    k = channel.resolved
    while k < channel.pushed and brought[k] == 0:
        k += 1
    if k < channel.pushed:
        needed = min(needed, (brought[k] - 1) // access.beats)
    far = needed - access.base
    if far > 0:
        count = access.found - needed
        access.lines = moved(access.lines, needed, far, count)
        access.tokens = moved(access.tokens, needed, far, count)
        access.asked = moved(access.asked, needed, far, count)
        beats = access.beats
        access.answered = moved(access.answered, needed * beats, far * beats, count * beats)
        access.base = needed
