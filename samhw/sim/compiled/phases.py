"""A run in phases: first tokens, then their cycles.

In a phase each actor first finds its next firings and tokens, as far as others let it and up to some number
(finding.py). Producers run further ahead than the depths of channels allow, since what tokens there are does
not depend on cycles. Then all these firings are timed (settle.py).
"""

from samhw.sim.compiled.records import ActorRecord, ChannelRecord, GraphRecord
from samhw.sim.compiled.rows import end_tokens, move, moved
from samhw.sim.compiled.settle import time_firings
from samhw.sim.machine_code import UNKNOWN, call, words_at

__all__ = ["LACKS_CODE", "LACKS_ROOM", "MORE", "QUIET", "SLACK", "run_phases"]

SLACK = 2
"""Words after the last token that are looked at, though nothing comes of it."""

QUIET, MORE, LACKS_ROOM, LACKS_CODE = range(4)
"""How phases end: nothing can go on; they may go on; rows of a channel are too short for another phase; there
is no code to time without assumptions."""


def run_phases(address: int, most: int) -> int:
    """Runs a graph for about this many firings; gives how it ended."""
    graph = GraphRecord.at(address)
    timed = 0
    while timed < most:
        if not make_room(address):
            return LACKS_ROOM
        hide_outside(graph)
        found = find_firings(graph)
        show_outside(graph)
        fired = time_firings(address)
        if fired < 0:
            return LACKS_CODE
        end_phase(graph)
        timed += fired
        if found == 0 and fired == 0:
            return QUIET
    return MORE


def hide_outside(graph: GraphRecord) -> None:
    """Leaves only those tokens and slots at the borders of a partition whose cycles are known: what was found
    with others could not be timed."""
    entries, exits = words_at(graph.entries, graph.entry_count), words_at(graph.exits, graph.exit_count)
    for n in range(graph.entry_count):
        channel = ChannelRecord.at(entries[n])
        channel.hidden = channel.pushed
        channel.pushed = channel.timed_pushed
    for n in range(graph.exit_count):
        channel = ChannelRecord.at(exits[n])
        channel.hidden = channel.room
        channel.room = min(channel.room, channel.timed_popped + channel.depth - channel.popped)


def show_outside(graph: GraphRecord) -> None:
    """Undoes `hide_outside`."""
    entries, exits = words_at(graph.entries, graph.entry_count), words_at(graph.exits, graph.exit_count)
    for n in range(graph.entry_count):
        channel = ChannelRecord.at(entries[n])
        channel.pushed = channel.hidden
    for n in range(graph.exit_count):
        channel = ChannelRecord.at(exits[n])
        channel.room = channel.hidden


def find_firings(graph: GraphRecord) -> int:
    """Lets each actor find firings until none can; gives their number.

    Who lacks room waits until there is room for many tokens, since a call costs as much as some ten firings.
    Where that leaves little to do, nobody waits for more than one.
    """
    rows = words_at(graph.actors, graph.actor_count)
    found = 0
    patient = 1
    while True:
        before = found
        n = 0
        while n < graph.actor_count:
            actor = ActorRecord.at(rows[n])
            n += 1
            if can_find(actor, patient):
                found += call(actor.find, rows[n - 1], 0)
                earlier = max(actor.earlier - graph.before, 0)
                if can_find(ActorRecord.at(rows[earlier]), patient):
                    # Circles go on to their end before others follow.
                    n = min(n, earlier)
        if found == before:
            if not patient or found >= graph.phase:
                return found
            patient = 0


def can_find(actor: ActorRecord, patient: int) -> bool:
    """Whether an actor may find more firings."""
    grown = words_at(actor.watch, 1)[0] - actor.seen
    return actor.left > 0 and grown > 0 and (grown >= actor.patience or not patient)


def make_room(address: int) -> int:
    """Moves what is still needed to the front of trails and rows; gives whether there is room for a phase."""
    graph = GraphRecord.at(address)
    enough = 1
    if graph.line_room:
        enough = call(graph.line_room, address, 0)
    rows = words_at(graph.actors, graph.actor_count)
    for n in range(graph.actor_count):
        actor = ActorRecord.at(rows[n])
        # The firings that are not timed, and before them cycles that spacings look back to.
        far = actor.timed - graph.history - actor.base
        if far > 0:
            count = actor.found - actor.timed + graph.history
            if actor.apart:
                actor.ago = moved(actor.ago, actor.base + far, far, count)
                actor.cycles = moved(actor.cycles, actor.base + far, far, count)
            actor.base += far
        if actor.run > 0:
            move(actor.trail + 16 * actor.run, 2 * (actor.runs - actor.run), 2 * actor.run)
            actor.runs -= actor.run
            actor.run = 0
        actor.left = graph.phase - (actor.found - actor.timed)
    channels = words_at(graph.channels, graph.channel_count)
    for n in range(graph.channel_count):
        channel = ChannelRecord.at(channels[n])
        raise_guard(channel)
        far = channel.guard - channel.base
        count = channel.pushed - channel.guard
        if far > 0 and (far >= count or not has_room(channel, graph.phase)):
            move_rows(channel, far)
        words_at(channel.freed + 8 * channel.guard, 1)[0] = 0
        if not has_room(channel, graph.phase):
            enough = 0
    return enough


def move_rows(channel: ChannelRecord, far: int) -> None:
    """Moves what is still needed of a channel's rows to their front, `far` words on.

    Cycles that are not timed are not needed: they are assumed again.
    """
    start = channel.timed_popped
    channel.tokens = moved(channel.tokens, start, far, channel.pushed - start)
    late = channel.come != channel.ready
    channel.ready = moved(channel.ready, start, far, channel.timed_pushed - start)
    if late:
        channel.come = moved(channel.come, start, far, channel.timed_pushed - start)
        channel.brought = moved(channel.brought, start, far, channel.pushed - start)
    else:
        channel.come = channel.ready
    if channel.more_words:
        words = channel.more_words
        channel.more = moved(channel.more, words * start, words * far, words * (channel.pushed - start))
    channel.freed = moved(channel.freed, channel.guard, far, start - channel.guard)
    channel.base += far


def has_room(channel: ChannelRecord, phase: int) -> bool:
    """Whether the rows of a channel have room for the tokens of a phase."""
    return channel.pushed + phase + SLACK <= channel.base + channel.size


def raise_guard(channel: ChannelRecord) -> None:
    """Looks which slots have been free since before the producer's last push, and hold back no later one."""
    producer = ActorRecord.at(channel.producer)
    guard = max(channel.guard, channel.timed_pushed - channel.depth - 1)
    freed = words_at(channel.freed, UNKNOWN)
    while guard + 1 < channel.timed_popped and freed[guard + 1] <= producer.last:
        guard += 1
    channel.guard = guard


def end_phase(graph: GraphRecord) -> None:
    """Counts the tokens that were timed in a phase, and makes what is known of them the truth."""
    channels = words_at(graph.channels, graph.channel_count)
    for n in range(graph.channel_count):
        end_tokens(channels[n])
