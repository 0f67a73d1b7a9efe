"""The cycles of the firings that a phase has found.

Each actor is timed as if pops that are not timed yet came in time, and once more whenever something changes
that it was timed with (cycles.py). Cycles only ever grow in this, and each is the greatest of those that it
depends on; so when nothing changes any more they are those of the recurrence. Where actors hold each other up
token by token, as at both ends of a channel of one slot, each is timed as far as everything is known, and
then goes on.

Whatever is timed in the end depends on firings that are timed too, so what others find later cannot change
it.
"""

from typing import Any

from samhw.machine_code import call, words_at
from samhw.sim.compiled.on_chip.layout import NEVER, UP_TO_DATE, A, C, G
from samhw.sim.compiled.on_chip.marks import retake

__all__ = ["time_firings"]

ACTOR, CHANNEL = len(A), len(C)

CALL = 8
"""What a call of a function costs, in firings."""

WORTH = 4
"""So many times over actors are timed before assumptions are given up."""

CAREFUL = 32
"""Phases that are then timed without."""


def time_firings(graph: Any) -> None:
    """Times what has been found, as far as possible."""
    if graph[G.CAREFUL] == 0 and not time_boldly(graph):
        graph[G.CAREFUL] = CAREFUL
    if graph[G.CAREFUL] > 0:
        graph[G.CAREFUL] -= 1
        begin_timing(graph, 0)
        while settle_tokens(graph, NEVER) or settle_slots(graph):
            pass


def time_boldly(graph: Any) -> bool:
    """Times firings as if all pops that are found came in time, and then again what that was wrong for.

    Gives whether that came to an end in good time. It does not where actors hold each other up token by
    token.
    """
    most = begin_timing(graph, 1)
    settle_tokens(graph, most)
    close_channels(graph)
    return settle_earliest(graph, most)


def begin_timing(graph: Any, opened: int) -> int:
    """Forgets what is assumed of firings that are not timed; gives the work that assumptions are worth.

    Args:
        opened: 1 if pops are to be assumed.
    """
    rows = words_at(graph[G.ACTORS], graph[G.ACTOR_COUNT])
    found = 0
    for n in range(graph[G.ACTOR_COUNT]):
        actor = words_at(rows[n], ACTOR)
        actor[A.STALE] = NEVER
        actor[A.NARROW] = UP_TO_DATE
        actor[A.SAVED] = 0
        actor[A.NEXT] = NEVER
        actor[A.CLOSE] = 0
        found += actor[A.FOUND] - actor[A.TIMED] + CALL
    channels = words_at(graph[G.CHANNELS], graph[G.CHANNEL_COUNT])
    for n in range(graph[G.CHANNEL_COUNT]):
        channel = words_at(channels[n], CHANNEL)
        channel[C.NEW_PUSHED] = channel[C.TIMED_PUSHED]
        channel[C.NEW_POPPED] = channel[C.TIMED_POPPED]
        channel[C.OPEN] = opened
    graph[G.WORK] = 0
    return WORTH * found


def settle_earliest(graph: Any, most: int) -> bool:
    """Times actors until nothing changes any more, always the one next for which something changes first.

    Gives whether that took no more work than this.
    """
    rows = words_at(graph[G.ACTORS], graph[G.ACTOR_COUNT])
    while graph[G.WORK] <= most:
        first = UP_TO_DATE
        who = 0
        for n in range(graph[G.ACTOR_COUNT]):
            actor = words_at(rows[n], ACTOR)
            changed = min(actor[A.STALE], actor[A.NARROW])
            if changed < first:
                first = changed
                who = n
        if first == UP_TO_DATE:
            return True
        graph[G.WORK] += CALL + call(words_at(rows[who], ACTOR)[A.TIME], rows[who], graph[G.LIMIT])
    return False


def settle_tokens(graph: Any, most: int) -> bool:
    """Times whoever takes tokens that have changed, forward and in circles, with some work at most.

    Gives whether there was anybody.
    """
    rows = words_at(graph[G.ACTORS], graph[G.ACTOR_COUNT])
    calls = 0
    while True:
        before = calls
        n = 0
        while n < graph[G.ACTOR_COUNT] and graph[G.WORK] <= most:
            actor = words_at(rows[n], ACTOR)
            n += 1
            if actor[A.STALE] != UP_TO_DATE:
                graph[G.WORK] += CALL + call(actor[A.TIME], rows[n - 1], graph[G.LIMIT])
                calls += 1
                if words_at(rows[actor[A.EARLIER]], ACTOR)[A.STALE] != UP_TO_DATE:
                    n = min(n, actor[A.EARLIER])
        if calls == before:
            return calls > 0


def settle_slots(graph: Any) -> bool:
    """Times whoever has taken slots that have changed, backward once; gives whether there was anybody."""
    rows = words_at(graph[G.ACTORS], graph[G.ACTOR_COUNT])
    calls = 0
    for k in range(graph[G.ACTOR_COUNT]):
        n = graph[G.ACTOR_COUNT] - 1 - k
        actor = words_at(rows[n], ACTOR)
        if actor[A.NARROW] != UP_TO_DATE:
            graph[G.WORK] += CALL + call(actor[A.TIME], rows[n], graph[G.LIMIT])
            calls += 1
    return calls > 0


def close_channels(graph: Any) -> None:
    """Takes back what was assumed of pops that do not even come if slots are no obstacle."""
    channels = words_at(graph[G.CHANNELS], graph[G.CHANNEL_COUNT])
    for n in range(graph[G.CHANNEL_COUNT]):
        channel = words_at(channels[n], CHANNEL)
        channel[C.OPEN] = 0
        if channel[C.NEW_PUSHED] - channel[C.DEPTH] > channel[C.NEW_POPPED]:
            retake(channel, channel[C.NEW_POPPED])
