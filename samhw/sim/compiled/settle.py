"""The cycles of the firings that a phase has found.

Each actor is timed as if all tokens and slots that are not known yet came in time, and once more whenever
something changes that it was timed with. Cycles only ever grow in this, and each is the greatest
of those that it depends on; so when nothing changes any more they are those of the recurrence. Where actors
hold each other up token by token, as at both ends of a channel of one slot, nothing is assumed (careful.py).

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

Marks on actors that have to be timed again, or may go on, since a channel of theirs has changed.
"""

from samhw.sim.compiled.careful import time_carefully
from samhw.sim.compiled.points import begin_points, end_points
from samhw.sim.compiled.records import NEVER, UP_TO_DATE, ActorRecord, ChannelRecord, GraphRecord
from samhw.sim.compiled.rows import exceeds, fill
from samhw.sim.machine_code import apart, call, words_at

__all__ = ["forget_slots", "forget_tokens", "tell_consumer", "tell_producer", "time_firings"]


@apart
def forget_tokens(address: int, unknown: int) -> None:
    """Forgets when those tokens of a channel come that are not timed.

    Args:
        unknown: what stands for the cycles.
    """
    channel = ChannelRecord.at(address)
    first, count = channel.timed_pushed, channel.pushed - channel.timed_pushed
    fill(channel.ready + 8 * first, count, unknown + channel.latency if unknown else 0)


@apart
def forget_slots(address: int, unknown: int) -> None:
    """Forgets when those slots of a channel are free whose pops are not timed.

    Args:
        unknown: what stands for the cycles.
    """
    channel = ChannelRecord.at(address)
    fill(channel.freed + 8 * channel.timed_popped, channel.popped - channel.timed_popped, unknown)


@apart
def tell_producer(address: int, first: int, end: int) -> None:
    """Marks the producer of a channel if pops of the tokens from `first` on, up to `end`, concern it.

    They do if it has pushed a token into a slot that is free only later.
    """
    channel = ChannelRecord.at(address)
    producer = ActorRecord.at(channel.producer)
    count = min(end, channel.pushed - channel.depth) - first
    if count <= 0 or producer.stale <= 0:
        return
    freed = channel.freed + 8 * first
    come = channel.come + 8 * (first + channel.depth)
    # A firing that waited after its slots comes no later for one that is free in the meantime; but it has
    # waited for that one then.
    early = exceeds(freed, come, count, channel.latency + producer.slip)
    if early < count:
        # Where timing has stopped, nobody has held anybody back.
        if words_at(freed, count)[early] < NEVER:
            producer.held = 1
            producer.follows = 0
        producer.stale = min(producer.stale, words_at(come, count)[early] - channel.latency)


@apart
def tell_consumer(address: int, first: int, new: int) -> None:
    """Marks the consumer of a channel if it may have looked at a token before that is there.

    The token `first` comes in another cycle than before, and those after it may.

    Args:
        new: nothing of the producer was timed before in this phase.
    """
    channel = ChannelRecord.at(address)
    consumer = ActorRecord.at(channel.consumer)
    if first < channel.pushed:
        channel.counted = 0
    # After the head of those that are left nobody looks.
    count = min(channel.pushed, channel.popped + 1) - first
    if count <= 0 or consumer.stale <= 0:
        return
    # Nobody looks at a token before the one ahead of it is taken.
    ready, front = channel.ready + 8 * first, channel.freed + 8 * (first - 1)
    early = exceeds(ready, front, count, 0)
    # After those that are taken nobody looks.
    if early < count and words_at(front, count)[early] < NEVER:
        if new and words_at(ready, count)[early] < NEVER:
            if consumer.held:
                # Both waited for their consumers, and it was timed before its producer.
                consumer.follows = 1
            else:
                ActorRecord.at(channel.producer).held = 0
        consumer.stale = min(consumer.stale, words_at(front, count)[early])


CALL = 8
"""What a call of a function costs, in firings."""

CAREFUL = 4
"""Phases that are timed without assumptions, once one has cost too much."""


def time_firings(graph_address: int) -> int:
    """Times what has been found, as far as possible; gives the number of firings, or -1 if there is no code
    for that yet."""
    graph = GraphRecord.at(graph_address)
    if graph.careful == 0:
        once = begin_timing(graph)
        cost = settle(graph_address, once * graph.worth)
        fit_phase(graph, once, cost)
        if cost <= once * graph.worth:
            return end_timing(graph)
        graph.careful = CAREFUL
    if not graph.can_be_careful:
        return -1
    graph.careful -= 1
    return time_carefully(graph_address)


def fit_phase(graph: GraphRecord, once: int, cost: int) -> None:
    """Halves phases in which much was timed again, since what follows on an error is then shorter; doubles
    those in which little was."""
    if cost > 2 * once:
        graph.phase = max(graph.phase >> 1, graph.longest_phase >> 3)
    elif cost < once + (once >> 2):
        graph.phase = min(graph.phase << 1, graph.longest_phase)


def begin_timing(graph: GraphRecord) -> int:
    """Prepares the timing of what has been found; gives what it costs to time all of it once."""
    found = 0
    rows = words_at(graph.actors, graph.actor_count)
    for n in range(graph.actor_count):
        actor = ActorRecord.at(rows[n])
        begin_points(actor)
        actor.beyond = NEVER
        untimed = actor.found - actor.timed
        actor.stale = 0 if untimed else UP_TO_DATE
        actor.fresh = 1 if untimed else 0
        found += untimed + CALL
    forget_outside(graph)
    return found


def end_timing(graph: GraphRecord) -> int:
    """Makes the cycles that are known the truth; gives the number of their firings."""
    rows = words_at(graph.actors, graph.actor_count)
    timed = 0
    for n in range(graph.actor_count):
        timed += end_points(ActorRecord.at(rows[n]))
    return timed


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
