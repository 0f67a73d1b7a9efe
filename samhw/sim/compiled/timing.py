"""The cycles of the firings of one actor, from what is known of its channels.

It is the recurrence of docs/timing.md, as in `samhw.sim.engine`, over firings and tokens that are found
already. Tokens and slots after those that rows say something of are assumed to come in time; if nothing is
assumed, rows have NEVER for them. Whoever was timed with a cycle that changes is marked, and timed again
(settle.py).
"""

from collections.abc import Callable

from samhw.sim.compiled.actor_shapes import TimerShape, passes_gate
from samhw.sim.compiled.many_firings import CALM, ENDED, FEW, MANY, fire_at_once, in_a_row
from samhw.sim.compiled.one_firing import (
    Wait,
    fire,
    wait_for_key,
    wait_for_slots,
    wait_for_tokens,
    wait_for_turn,
)
from samhw.sim.compiled.points import (
    NUMBER,
    SPAN,
    Now,
    TimedInput,
    TimedOutput,
    Timing,
    keep_point,
    pick_up,
    place_of,
    put_down,
)
from samhw.sim.compiled.records import NEVER, ActorRecord, GraphRecord, input_channel, output_channel
from samhw.sim.compiled.rows import differ, follow
from samhw.sim.compiled.turns import begin_turn, end_turn, known_slots, known_tokens
from samhw.sim.machine_code import UNKNOWN, call, words_at

__all__ = ["timer"]

CALM_FIRINGS = 2
"""Firings that come without a wait before it is worth to look at many at once."""

EASE = 16
"""This many firings may be timed one by one, beyond those timed at once, before many are timed together."""


def timer(shape: TimerShape) -> Callable[[int, int], int]:
    """The function (address of the actor, address of the graph) -> number of firings that it timed."""

    def time(address: int, graph_address: int) -> int:
        return time_actor(shape, address, graph_address)

    return time


def time_actor(shape: TimerShape, address: int, graph_address: int) -> int:
    """Times the firings that an actor has found, as far as their cycles are known; gives their number."""
    me, graph = ActorRecord.at(address), GraphRecord.at(graph_address)
    now = Now.local(1)[0]
    timing = Timing(me, now, TimedInput.local(shape.inputs), TimedOutput.local(len(shape.ports)))
    look_at_channels(timing, address)
    now.calm, now.ease = CALM_FIRINGS, EASE
    place = begin_turn(address)
    first = words_at(place, 1)[NUMBER]
    next_point = first + SPAN
    known = 1
    while True:
        if place:
            pick_up(place, timing)
            place = 0
        if known:
            known = time_some(shape, timing, graph, min(me.found, next_point))
        keep_point(timing)
        if not known or now.number >= me.found:
            break
        if shape.together and now.ease <= 0:
            put_down(timing)
            # The point that has just been added becomes the actor's place.
            me.point_count -= 1
            left = call(graph.time_many, address, graph_address)
            place = place_of(me)
            now.calm, now.ease = CALM_FIRINGS if left == CALM else 0, EASE >> 2
            known = left != ENDED
        else:
            next_point = now.number + SPAN
    put_down(timing)
    end_turn(address)
    return now.number - first


def look_at_channels(timing: Timing, address: int) -> None:
    """Notes where the rows of an actor's channels are, and what these say."""
    me, _, ins, outs = timing
    for i in range(len(ins)):
        channel = input_channel(me, i)
        ins[i].ready, ins[i].freed = channel.ready, channel.freed
        ins[i].known = known_tokens(channel, address)
    for q in range(len(outs)):
        channel = output_channel(me, q)
        outs[q].ready, outs[q].freed = channel.come, channel.freed
        outs[q].guard, outs[q].depth, outs[q].latency = channel.guard, channel.depth, channel.latency
        outs[q].known, outs[q].found = known_slots(channel, address), channel.popped


def time_some(shape: TimerShape, timing: Timing, graph: GraphRecord, end: int) -> int:
    """Times firings up to `end`, or until many are to be timed together.

    Gives 0 if the cycle of one is not known, or beyond the limit.
    """
    now = timing.now
    wait = Wait.local(1)[0]
    while now.number < end:
        if shape.together and now.ease <= 0:
            break
        run = words_at(timing.actor.trail + 16 * now.run, 2)
        if now.number == run[1]:
            now.run += 1
            continue
        if not shape.single:
            if time_at_once(shape, timing, run[0], run[1], graph.limit):
                continue
            now.ease -= 1
        if not time_one(shape, timing, run[0], graph.limit, wait):
            return 0
    return 1


def time_at_once(shape: TimerShape, timing: Timing, word: int, end: int, limit: int) -> int:
    """Times the next firings, which are alike up to `end`, if some come one in each cycle; gives how many."""
    me, now, _, _ = timing
    if now.calm < CALM_FIRINGS:
        return 0
    count = min(end - now.number, MANY, limit - now.cycle)
    if shape.spaced and count >= FEW and differ(me.ago + 8 * now.number, count, 0) != 0:
        return 0
    if count < FEW:
        return 0
    count = in_a_row(word, shape.ports, count, timing)
    if count < FEW:
        now.calm = 0
        return 0
    if shape.spaced:
        follow(me.cycles + 8 * now.number, count, now.cycle + 1)
    fire_at_once(word, shape.ports, count, timing)
    now.calm = CALM_FIRINGS
    now.ease = min(now.ease + count, EASE)
    return count


def time_one(shape: TimerShape, timing: Timing, word: int, limit: int, wait: Wait) -> int:
    """Times the next firing; gives 0 if its cycle is not known, or beyond the limit."""
    me, now, _, _ = timing
    t = next_cycle(shape, timing, word, wait)
    if t > limit:
        me.beyond = min(t, NEVER)
        return 0
    # Where firings have to wait, it is no use to look at many at once.
    now.calm = 0 if t > wait.soonest else now.calm + 1
    if shape.spaced:
        words_at(me.cycles, UNKNOWN)[now.number] = t
    fire(word, shape.ports, t, timing, wait)
    return 1


def next_cycle(shape: TimerShape, timing: Timing, word: int, wait: Wait) -> int:
    """The cycle of the next firing; NEVER or more if that is not known."""
    me, now, _, _ = timing
    wait.soonest = now.cycle + 1
    wait_for_tokens(word, timing, wait)
    wait_for_slots(word, shape.ports, timing, wait)
    wait.apart = wait.room
    if shape.turns:
        wait_for_turn(me, now.number, wait)
    elif shape.spaced:
        wait_for_key(me, now.number, wait)
    if shape.gate and wait.apart < NEVER:
        return passes_gate(shape.gate, me.gate, me.gate_words, wait.apart, now.number)
    return wait.apart
