"""A run in phases: first tokens, then their cycles.

In a phase each actor first finds its next firings and tokens, as far as others let it and up to some number
(tokens.py). Producers run further ahead than the depths of channels allow, since what tokens there are does
not depend on cycles. Then all these firings are timed (timing.py).
"""

from typing import Any

from samhw.machine_code import UNKNOWN, call, words_at
from samhw.sim.compiled.on_chip.layout import ENTRY, A, C, G, S
from samhw.sim.compiled.on_chip.timing import time_firings

__all__ = ["LACKS_ROOM", "MORE", "QUIET", "run_phases"]

ACTOR, CHANNEL, GRAPH, STATE = len(A), len(C), len(G), len(S)

QUIET, MORE, LACKS_ROOM = range(3)
"""How phases end: nothing can go on; they may go on; rows of a channel are too short for another phase."""

PART_BITS = 16
"""Tokens of a phase are counted by kind in the four parts of one word."""
PART = (1 << PART_BITS) - 1


def find_firings(graph: Any) -> int:
    """Lets each actor find firings until none can; gives their number.

    Who lacks room waits until there is room for many tokens, since a call costs as much as some ten firings.
    Where that leaves little to do, nobody waits for more than one.
    """
    rows = words_at(graph[G.ACTORS], graph[G.ACTOR_COUNT])
    found = 0
    patient = True
    while True:
        before = found
        n = 0
        while n < graph[G.ACTOR_COUNT]:
            actor = words_at(rows[n], ACTOR)
            n += 1
            if can_find(actor, patient):
                found += call(actor[A.FIRE], rows[n - 1], 0)
                if can_find(words_at(rows[actor[A.EARLIER]], ACTOR), patient):
                    # Circles go on to their end before others follow.
                    n = min(n, actor[A.EARLIER])
        if found == before:
            if not patient or found >= graph[G.PHASE]:
                return found
            patient = False


def can_find(actor: Any, patient: bool) -> bool:
    """Whether an actor may find more firings."""
    grown = words_at(actor[A.WATCH], 1)[0] - actor[A.SEEN]
    return actor[A.LEFT] > 0 and grown > 0 and (grown >= actor[A.PATIENCE] or not patient)


def make_room(graph: Any) -> bool:
    """Moves what is still needed to the front of trails and rows; gives whether there is room for a phase."""
    rows = words_at(graph[G.ACTORS], graph[G.ACTOR_COUNT])
    for n in range(graph[G.ACTOR_COUNT]):
        actor = words_at(rows[n], ACTOR)
        first = ENTRY * actor[A.AT]
        if first > 0:
            move(actor[A.TRAIL] + 8 * first, ENTRY * actor[A.WRITTEN] - first, first)
            actor[A.WRITTEN] -= actor[A.AT]
            actor[A.AT] = 0
        actor[A.LEFT] = graph[G.PHASE] - (actor[A.FOUND] - actor[A.TIMED])
    channels = words_at(graph[G.CHANNELS], graph[G.CHANNEL_COUNT])
    enough = True
    for n in range(graph[G.CHANNEL_COUNT]):
        channel = words_at(channels[n], CHANNEL)
        # Slots that have become free before the producer's last push do not hold back later ones.
        last = words_at(channel[C.PRODUCER], ACTOR)[A.LAST]
        kept = max(channel[C.KEPT], channel[C.TIMED_PUSHED] - channel[C.DEPTH])
        while kept < channel[C.TIMED_POPPED] and words_at(channel[C.FREE] + 8 * kept, 1)[0] <= last:
            kept += 1
        channel[C.KEPT] = kept
        far = kept - channel[C.BASE]
        if far > 0:
            move(channel[C.TOKENS] + 8 * kept, channel[C.PUSHED] - kept, far)
            move(channel[C.READY] + 8 * kept, channel[C.TIMED_PUSHED] - kept, far)
            move(channel[C.FREE] + 8 * kept, channel[C.TIMED_POPPED] - kept, far)
            channel[C.TOKENS] -= 8 * far
            channel[C.READY] -= 8 * far
            channel[C.FREE] -= 8 * far
            channel[C.BASE] = kept
        if channel[C.PUSHED] + graph[G.PHASE] > kept + channel[C.SIZE]:
            enough = False
    return enough


def move(address: int, count: int, far: int) -> None:
    """Moves words towards the front."""
    words = words_at(address - 8 * far, UNKNOWN)
    for k in range(count):
        words[k] = words[k + far]


def end_phase(graph: Any) -> int:
    """Makes what is assumed of a phase the truth; gives the number of its firings."""
    rows = words_at(graph[G.ACTORS], graph[G.ACTOR_COUNT])
    fired = 0
    for n in range(graph[G.ACTOR_COUNT]):
        actor = words_at(rows[n], ACTOR)
        fired += actor[A.NEW_TIMED] - actor[A.TIMED]
        state = words_at(actor[A.SAVES] + 8 * actor[A.SAVE_WORDS] * (actor[A.SAVED] - 1), STATE)
        actor[A.AT] = state[S.AT]
        actor[A.PAST] = state[S.PAST]
        actor[A.LAST] = state[S.LAST]
        actor[A.TIMED] = state[S.TIMED]
        actor[A.SPACED] += state[S.SPACED]
        actor[A.STALLED] += state[S.STALLED]
    channels = words_at(graph[G.CHANNELS], graph[G.CHANNEL_COUNT])
    for n in range(graph[G.CHANNEL_COUNT]):
        channel = words_at(channels[n], CHANNEL)
        count_tokens(channel)
        channel[C.TIMED_PUSHED] = channel[C.NEW_PUSHED]
        channel[C.TIMED_POPPED] = channel[C.NEW_POPPED]
        channel[C.STARVED] += channel[C.NEW_STARVED]
        channel[C.BLOCKED] += channel[C.NEW_BLOCKED]
    return fired


def count_tokens(channel: Any) -> None:
    """What the tokens of a phase add to the statistics of a channel."""
    first = channel[C.TIMED_POPPED]
    count = channel[C.NEW_POPPED] - first
    if count > 0:
        tokens = words_at(channel[C.TOKENS] + 8 * first, count)
        ready = words_at(channel[C.READY] + 8 * first, count)
        free = words_at(channel[C.FREE] + 8 * first, count)
        kinds = 0
        dwell = 0
        for k in range(count):
            kinds += 1 << ((tokens[k] & 3) * PART_BITS)
            dwell += free[k] - ready[k]
        channel[C.DWELL] += dwell + count * (channel[C.LATENCY] - 1)
        for kind in range(4):
            channel[C.VALS + kind] += kinds >> (kind * PART_BITS) & PART
    # Was a token pushed before another one left, that many before it?
    while True:
        high = channel[C.HIGH]
        first = max(channel[C.KEPT], min(channel[C.TIMED_POPPED], channel[C.TIMED_PUSHED] - high))
        count = min(channel[C.NEW_POPPED], channel[C.NEW_PUSHED] - high) - first
        if count < 1:
            return
        ready = words_at(channel[C.READY] + 8 * (first + high), count)
        free = words_at(channel[C.FREE] + 8 * first, count)
        before = 0
        for k in range(count):
            before |= ready[k] - channel[C.LATENCY] - free[k]
        if before >= 0:
            return
        channel[C.HIGH] = high + 1


def run_phases(address: int, most: int) -> int:
    """Runs a graph for about so many firings; gives how it ended."""
    graph = words_at(address, GRAPH)
    timed = 0
    while timed < most:
        if not make_room(graph):
            return LACKS_ROOM
        found = find_firings(graph)
        time_firings(graph)
        fired = end_phase(graph)
        timed += fired
        if found == 0 and fired == 0:
            return QUIET
    return MORE
