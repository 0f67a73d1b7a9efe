"""The cycles of the firings that a phase has found.

Each actor is timed as if all tokens and slots that are not known yet came in time, and once more whenever
something changes that it was timed with (marks.py). Cycles only ever grow in this, and each is the greatest
of those that it depends on; so when nothing changes any more they are those of the recurrence. Where actors
hold each other up token by token, as at both ends of a channel of one slot, each is timed as far as
everything is known, and then goes on.

Whatever is timed in the end depends on firings that are timed too, so what is found later cannot change it.

For example, A feeds B and B feeds C through channels of latency 1 with two slots each, and C may fire in
every third cycle only. These are the cycles of their first six firings:

    A, as if slots came in time            1   2   3   4   5   6
    B, after A's tokens                    2   3   4   5   6   7
    C, after B's tokens                    3   6   9  12  15  18
    B again: C's slots in 4, 7, 10, 13     2   3   4   7  10  13
    A again: B's slots in 3, 4, 5, 8       1   2   3   4   5   8

B's fourth token now comes in cycle 8. C looks for it no earlier than cycle 10, so C is not marked. A's sixth
token comes in cycle 9, and B takes it after cycle 10, so B is not marked either.
"""

from samhw.sim.compiled.marks import forget_slots, forget_tokens
from samhw.sim.compiled.records import NEVER, UP_TO_DATE, ActorRecord, ChannelRecord, GraphRecord
from samhw.sim.machine_code import apart, call, words_at

__all__ = ["time_firings"]

CALL = 8
"""What a call of a function costs, in firings."""

CAREFUL = 4
"""Phases that are timed without assumptions, once one has cost too much."""


def time_firings(graph_address: int) -> None:
    """Times what has been found, as far as possible."""
    graph = GraphRecord.at(graph_address)
    if graph.careful == 0:
        once = begin_timing(graph, 0)
        cost = settle(graph_address, once * graph.worth)
        fit_phase(graph, once, cost)
        if cost <= once * graph.worth:
            return
        graph.careful = CAREFUL
    begin_timing(graph, NEVER)
    settle(graph_address, NEVER)
    while graph.serve and call(graph.serve, graph_address, 0):
        settle(graph_address, NEVER)
    graph.careful -= 1


def fit_phase(graph: GraphRecord, once: int, cost: int) -> None:
    """Halves phases in which much was timed again, since what follows on an error is then shorter; doubles
    those in which little was."""
    if cost > 2 * once:
        graph.phase = max(graph.phase >> 1, graph.longest_phase >> 3)
    elif cost < once + (once >> 2):
        graph.phase = min(graph.phase << 1, graph.longest_phase)


def begin_timing(graph: GraphRecord, unknown: int) -> int:
    """Prepares the timing of what has been found; gives what it costs to time all of it once.

    Args:
        unknown: what stands for the cycles of tokens and of slots that are not known; 0 if these are assumed,
            which rows say nothing of (turns.py).
    """
    found = 0
    rows = words_at(graph.actors, graph.actor_count)
    for n in range(graph.actor_count):
        actor = ActorRecord.at(rows[n])
        actor.point_count = 1
        actor.beyond = NEVER
        untimed = actor.found - actor.timed
        actor.stale = 0 if untimed else UP_TO_DATE
        actor.fresh = 1 if untimed and not unknown else 0
        found += untimed + CALL
    forget_outside(graph)
    if unknown:
        channels = words_at(graph.channels, graph.channel_count)
        for n in range(graph.channel_count):
            forget_tokens(channels[n], unknown)
            forget_slots(channels[n], unknown)
    return found


def forget_outside(graph: GraphRecord) -> None:
    """Notes that nothing is known, nor assumed, of what is found outside of a partition and not timed."""
    entries, exits = words_at(graph.entries, graph.entry_count), words_at(graph.exits, graph.exit_count)
    for n in range(graph.entry_count):
        forget_tokens(entries[n], NEVER)
    for n in range(graph.exit_count):
        forget_slots(exits[n], NEVER)


def settle(graph_address: int, most: int) -> int:
    """Times actors until nothing changes any more, or until that has cost more than `most` firings.

    Gives what it has cost.

    Forward and back in turn: tokens come before the slots that they leave. Who has been held back by slots is
    not timed before these are known, but on the first way back; or on the second way forward, if the tokens
    are to be known too.
    """
    graph = GraphRecord.at(graph_address)
    rows = words_at(graph.actors, graph.actor_count)
    cost = 0
    before = -1
    defers = 1
    while before < cost <= most:
        before = cost
        n = 0
        while n < graph.actor_count:
            actor = ActorRecord.at(rows[n])
            n += 1
            if actor.stale != UP_TO_DATE and not (defers and actor.fresh and actor.held):
                cost += CALL + call(actor.time, rows[n - 1], graph_address)
                earlier = max(actor.earlier - graph.before, 0)
                if ActorRecord.at(rows[earlier]).stale != UP_TO_DATE and cost <= most:
                    n = min(n, earlier)
        while n > 0:
            n -= 1
            actor = ActorRecord.at(rows[n])
            if actor.stale != UP_TO_DATE and not (defers and actor.follows and is_ahead(rows[n])):
                cost += CALL + call(actor.time, rows[n], graph_address)
        defers = 0
    return cost


@apart
def is_ahead(address: int) -> int:
    """Whether neither an actor was timed yet in this phase nor one of its producers that come before it."""
    me = ActorRecord.at(address)
    inputs = words_at(me.inputs, me.input_count)
    ahead = 0
    for i in range(me.input_count):
        producer = ChannelRecord.at(inputs[i]).producer
        if me.fresh and producer < address and ActorRecord.at(producer).fresh:
            ahead = 1
    return ahead
