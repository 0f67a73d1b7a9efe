"""Many firings timed together that differ, or have to wait: channel by channel instead of firing by firing.

Each channel has its own loop over the firings: from when on do its tokens, or its slots, let them come? One
loop is left that depends on the cycle before. Then each channel has a loop again, for what the firings do to
it. Such loops know no branches that depend on a firing, and keep all that they need in registers.

The function here serves all actors. An actor's own timing (timing.py) hands over to it where that pays.

Firings that are alike and come one in each cycle, timed at once.

Tokens become available in different cycles, and so do slots. So a token is in time if it is there when an
actor comes to it that fires in every cycle.
"""

from samhw.sim.compiled.channel_loops import (
    HALF,
    HALF_BITS,
    block,
    of_all,
    of_any,
    pick_two,
    share_of,
    spread,
    starve,
    take_turns,
    wait_for_some,
    wait_for_two,
)
from samhw.sim.compiled.points import CYCLE, HEAD, NUMBER, RUN, Timing, changes_of, place_of
from samhw.sim.compiled.records import NEVER, ActorRecord, GraphRecord, input_channel, output_channel
from samhw.sim.compiled.rows import differ, fill, follow, follows_until, in_time, put, raise_to
from samhw.sim.compiled.turns import known_slots, known_tokens
from samhw.sim.machine_code import words_at
from samhw.sim.step import PUSHES, TAKES, Words

__all__ = ["CALM", "ENDED", "FEW", "MANY", "SCRATCH", "fire_at_once", "in_a_row", "time_many"]

MANY, FEW = 128, 6
"""This many are timed at once at most; and this many at least are worth it."""


def in_a_row(word: int, ports: tuple[int, ...], most: int, timing: Timing) -> int:
    """How many of the next firings, `most` of which are alike, come in the cycles that follow, one in each.

    Where they are fewer than FEW, any number that is.
    """
    _, now, ins, outs = timing
    first = now.cycle + 1
    count = most
    for i in range(len(ins)):
        if word >> i & 1 and count >= FEW:
            if word >> TAKES + i & 1:
                known = min(max(0, ins[i].known - ins[i].popped), count)
                there = in_time(ins[i].ready + 8 * ins[i].popped, known, first)
                count = count if there == known else there
            elif ins[i].popped < ins[i].known and words_at(ins[i].ready + 8 * ins[i].popped, 1)[0] > first:
                count = 0
    for q in range(len(outs)):
        if word >> PUSHES + ports[q] & 1 and count >= FEW:
            slot = outs[q].pushed - outs[q].depth
            before = min(max(0, outs[q].guard - slot), count)
            known = min(max(0, outs[q].known - slot), count)
            free = before + in_time(outs[q].freed + 8 * (slot + before), known - before, first + before)
            count = min(count, outs[q].found - slot) if free == known else free
    return count


def fire_at_once(word: int, ports: tuple[int, ...], count: int, timing: Timing) -> None:
    """Times this many firings that come one in each cycle."""
    _, now, ins, outs = timing
    first = now.cycle + 1
    for i in range(len(ins)):
        if word >> TAKES + i & 1:
            follow(ins[i].freed + 8 * ins[i].popped, count, first + 1)
            ins[i].popped += count
    for q in range(len(outs)):
        if word >> PUSHES + ports[q] & 1:
            ready = outs[q].ready + 8 * outs[q].pushed
            come = first + outs[q].latency
            if outs[q].changed == NEVER:
                same = follows_until(ready, count, come)
                outs[q].changed = outs[q].pushed + same if same < count else NEVER
            follow(ready, count, come)
            outs[q].pushed += count
    now.number += count
    now.cycle += count


ROWS = 128
"""The most firings that are timed together."""

ENDED, CALM, AGAIN = range(3)
"""What is left: no firing that can be timed; those that follow some that did not wait; others."""

ZERO, LAST = 0, 8
"""Where words lie after `GraphRecord.scratch`: a zero, and the cycle of the firing before;"""

CYCLES, WORDS, TOKENS, SLOTS, SOME, OTHER = (16 + 8 * ROWS * row for row in range(6))
"""and rows of the firings: their cycles, what the step function gave, when their tokens are there and when
their slots are free; and twice the cycles of some of them."""

SCRATCH = 2 + 6 * ROWS
"""Words of all that."""


def time_many(address: int, graph_address: int) -> int:
    """Times the next firings of an actor, from where it put itself down (points.py); gives what is left."""
    me, graph = ActorRecord.at(address), GraphRecord.at(graph_address)
    place = place_of(me)
    point = words_at(place, HEAD)
    first = point[NUMBER]
    most = min(me.found - first, ROWS)
    if me.apart and differ(me.ago + 8 * first, most, 0) != 0:
        return AGAIN
    words, cycles = graph.scratch + WORDS, graph.scratch + CYCLES
    words_at(graph.scratch + ZERO, 1)[0] = 0
    words_at(graph.scratch + LAST, 1)[0] = point[CYCLE]
    first_run = me.trail + 16 * point[RUN]
    run = spread(first_run, first, most, words, graph.scratch + SOME)
    every, some = of_all(words, most), of_any(words, most)
    put_assumptions(address, most)
    row_of_tokens(me, graph.scratch, most, every, some)
    row_of_slots(me, graph.scratch, most, every, some)
    take_turns(cycles, graph.scratch + TOKENS, graph.scratch + SLOTS, most, point[CYCLE])
    count = up_to(cycles, most, graph.limit)
    times = words_at(cycles, ROWS)
    if count:
        if times[count - 1] - point[CYCLE] > count:
            count_waits(me, graph.scratch, count)
        take_tokens(me, graph.scratch, count, every, some)
        push_tokens(me, graph.scratch, count, every, some)
        if me.apart:
            put(me.cycles + 8 * first, cycles, count, 0)
        point[NUMBER] += count
        point[CYCLE] = times[count - 1]
        if count < most:
            run = first_run
            while words_at(run, 2)[1] < point[NUMBER]:
                run += 16
        point[RUN] = (run - me.trail) >> 4
    if count < most:
        me.beyond = min(times[count], NEVER)
        return ENDED
    return CALM if count >= FEW and times[count - 1] - times[count - FEW] < FEW else AGAIN


def put_assumptions(address: int, count: int) -> None:
    """Puts what is assumed of the tokens and slots of this many firings into their rows."""
    me = ActorRecord.at(address)
    for i in range(me.input_count):
        channel, popped = input_channel(me, i), popped_of(me, i)[0]
        known = max(known_tokens(channel, address), popped)
        fill(channel.ready + 8 * known, min(popped + count, channel.pushed) - known, 0)
    for q in range(me.output_count):
        channel = output_channel(me, q)
        slot = pushed_of(me, q)[0] - channel.depth
        known, found = max(known_slots(channel, address), slot), max(channel.popped, slot)
        fill(channel.freed + 8 * known, min(slot + count, found) - known, 0)
        fill(channel.freed + 8 * found, min(slot + count, channel.pushed) - found, NEVER)


def row_of_tokens(me: ActorRecord, scratch: int, count: int, every: int, some: int) -> None:
    """When firings have all their tokens."""
    tokens = scratch + TOKENS
    fill(tokens, count, 0)
    i = 0
    while i < me.input_count:
        ready = next_ready(me, i)
        if some >> i & 1:
            if every >> TAKES + i & 1:
                raise_to(tokens, ready, count)
            elif i + 1 < me.input_count:
                other = next_ready(me, i + 1)
                wait_for_two(tokens, scratch + WORDS, count, i, ready, other, scratch + ZERO)
                i += 1
            else:
                wait_for_two(tokens, scratch + WORDS, count, i, ready, ready, scratch + ZERO)
        i += 1


def row_of_slots(me: ActorRecord, scratch: int, count: int, every: int, some: int) -> None:
    """When firings have all their slots."""
    fill(scratch + SLOTS, count, 0)
    ports = words_at(me.ports, me.output_count)
    for q in range(me.output_count):
        channel = output_channel(me, q)
        slot = pushed_of(me, q)[0] - channel.depth
        bit = PUSHES + ports[q]
        if every >> bit & 1:
            before = min(max(0, channel.guard - slot), count)
            raise_to(scratch + SLOTS + 8 * before, channel.freed + 8 * (slot + before), count - before)
        elif some >> bit & 1:
            wait_for_some(scratch + SLOTS, scratch + WORDS, count, bit, channel.freed, slot, channel.guard)


def take_tokens(me: ActorRecord, scratch: int, count: int, every: int, some: int) -> None:
    """Notes when the tokens leave that firings take."""
    i = 0
    while i < me.input_count:
        if every >> TAKES + i & 1:
            leave(me, i, scratch + CYCLES, count)
        elif some >> TAKES + i & 1:
            taken = pick(scratch, count, TAKES + i, TAKES + i + 1)
            leave(me, i, scratch + SOME, taken & HALF)
            i += 1
            if i < me.input_count:
                leave(me, i, scratch + OTHER, taken >> HALF_BITS)
        i += 1


def push_tokens(me: ActorRecord, scratch: int, count: int, every: int, some: int) -> None:
    """Notes when the tokens come that firings push, and the first one that comes otherwise than before."""
    ports = words_at(me.ports, me.output_count)
    for q in range(me.output_count):
        channel = output_channel(me, q)
        bit = PUSHES + ports[q]
        if some >> bit & 1:
            cycles, pushed = scratch + CYCLES, count
            if every >> bit & 1 == 0:
                cycles, pushed = scratch + SOME, pick(scratch, count, bit, bit) & HALF
            before = pushed_of(me, q)
            same = put(channel.come + 8 * before[0], cycles, pushed, channel.latency)
            if same < pushed:
                changes = changes_of(me)
                changes[q] = min(changes[q], before[0] + same)
            before[0] += pushed


def count_waits(me: ActorRecord, scratch: int, count: int) -> None:
    """Counts how long firings waited, for the first of the tokens that came last, and then of the slots."""
    cycles, firings, waits = scratch + CYCLES, scratch + WORDS, scratch + SOME
    tokens, slots = scratch + TOKENS, scratch + SLOTS
    left = starve(waits, cycles, tokens, count)
    for i in range(me.input_count):
        if left:
            channel, at = input_channel(me, i), popped_of(me, i)[0]
            share = share_of(waits, tokens, firings, count, i, TAKES + i, channel.ready, at, at)
            popped_of(me, i)[1] += share
            left -= share
    left = block(waits, cycles, tokens, count)
    if left and me.output_count > 1:
        # Of several slots that are free in one cycle, the first one is what was waited for.
        me.slip = max(me.slip, 1)
    ports = words_at(me.ports, me.output_count)
    for q in range(me.output_count):
        if left:
            channel = output_channel(me, q)
            at, bit = pushed_of(me, q)[0] - channel.depth, PUSHES + ports[q]
            share = share_of(waits, slots, firings, count, bit, bit, channel.freed, at, channel.guard)
            pushed_of(me, q)[1] += share
            left -= share


def popped_of(me: ActorRecord, i: int) -> Words:
    """What the actor's place says of input i: tokens that are taken, cycles that it waited."""
    return words_at(place_of(me) + 8 * (HEAD + 2 * i), 2)


def pushed_of(me: ActorRecord, q: int) -> Words:
    """What the actor's place says of a channel: tokens that are pushed, cycles that it waited."""
    return words_at(place_of(me) + 8 * (HEAD + 2 * me.input_count + 2 * q), 2)


def next_ready(me: ActorRecord, i: int) -> int:
    """Address of the cycle in which the next token of input i is there."""
    return input_channel(me, i).ready + 8 * popped_of(me, i)[0]


def leave(me: ActorRecord, i: int, cycles: int, count: int) -> None:
    """Notes the cycles after those in which this many tokens of input i are taken."""
    channel, popped = input_channel(me, i), popped_of(me, i)
    put(channel.freed + 8 * popped[0], cycles, count, 1)
    popped[0] += count


def pick(scratch: int, count: int, bit: int, other: int) -> int:
    """The cycles of the firings with a bit, and of those with another one, in two rows; and their numbers."""
    return pick_two(scratch + CYCLES, scratch + WORDS, count, bit, other, scratch + SOME, scratch + OTHER)


def up_to(cycles: int, count: int, limit: int) -> int:
    """How many cycles, which ascend, are not beyond a limit."""
    words = words_at(cycles, count)
    while count > 0 and words[count - 1] > limit:
        count -= 1
    return count
