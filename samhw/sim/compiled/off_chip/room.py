"""Room for the requests of another phase."""

from samhw.sim.compiled.off_chip.records import AccessRecord
from samhw.sim.compiled.records import ChannelRecord, GraphRecord
from samhw.sim.compiled.rows import moved
from samhw.sim.machine_code import UNKNOWN, words_at

__all__ = ["make_line_room"]


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
