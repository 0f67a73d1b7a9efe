"""The cycles of the firings of one actor, from what is known of its channels.

It is the recurrence of docs/timing.md, as `samhw.sim.engine` has it, over firings and tokens that are found
already. Words that are not known yet, of tokens and of slots, are 0 if they are assumed to come in time, or
NEVER if nothing is assumed. Whoever was timed with a word that changes is marked, and timed again
(settle.py).
"""

from collections.abc import Callable

from samhw.machine_code import UNKNOWN, call, words_at
from samhw.primitives.step import Words
from samhw.sim.compiled.firings_in_a_row import FEW, MANY, fire_at_once, in_a_row
from samhw.sim.compiled.gate import GateKind, gate_rule
from samhw.sim.compiled.many_firings import CALM, ENDED
from samhw.sim.compiled.marks import forget, tell_consumer, tell_producer
from samhw.sim.compiled.off_chip.records import AccessRecord
from samhw.sim.compiled.off_chip.serving import bring_data
from samhw.sim.compiled.off_chip.waiting import count_late, note_asked, wait_for_places
from samhw.sim.compiled.one_firing import Wait, fire, wait_for_key, wait_for_slots, wait_for_tokens
from samhw.sim.compiled.points import (
    SPAN,
    Now,
    TimedInput,
    TimedOutput,
    keep_point,
    pick_up,
    put_down,
    take_up_point,
)
from samhw.sim.compiled.records import NEVER, UP_TO_DATE, ActorRecord, ChannelRecord, GraphRecord
from samhw.sim.compiled.rows import differ, fill, follow
from samhw.sim.compiled.tokens import count_passed

__all__ = ["timer"]

CALM_FIRINGS = 2
"""Firings that come without a wait before it is worth to look at many at once."""

EASE = 16
"""So many firings may be timed one by one, beyond those timed at once, before many are timed together."""


def timer(
    inputs: int,
    ports: tuple[int, ...],
    *,
    circular: bool,
    spaced: bool,
    gate: GateKind,
    late: int,
    carries: tuple[bool, ...] | None,
) -> Callable[[int, int], int]:
    """The function (address of the actor, address of the graph) -> number of firings that it timed.

    Args:
        inputs: how many the actor has.
        ports: for each channel that it pushes to, the output that it belongs to.
        circular: a channel leads from the actor to itself.
        spaced: it keeps a spacing.
        gate: what else holds it back.
        late: the set of its inputs whose tokens may come with data from off-chip memory.
        carries: for each channel that it pushes to whether it puts such data in; None if it does not access
            that memory.
    """
    queues = len(ports)
    gated = gate is not GateKind.NOTHING
    accesses = carries is not None
    brings = carries or (False,) * queues
    single = circular or gated or accesses
    """Firings are never timed together."""
    allowed = gate_rule(gate)

    def how_many(me: ActorRecord, end: int, now: Now, limit: int) -> int:
        """How many firings may be timed at once, of those up to `end`, which are alike."""
        count = min(end - now.number, MANY, limit - now.cycle)
        if spaced and count >= FEW and differ(me.ago + 8 * now.number, count, 0) != 0:
            return 0
        return count

    def next_cycle(
        me: ActorRecord,
        word: int,
        cycles: Words,
        now: Now,
        ins: tuple[TimedInput, ...],
        outs: tuple[TimedOutput, ...],
        wait: Wait,
    ) -> int:
        """The cycle of the next firing; NEVER or more if that is not known."""
        wait.soonest = now.cycle + 1
        wait_for_tokens(word, ins, wait)
        wait_for_slots(word, ports, outs, wait)
        wait.apart = wait.room
        if spaced:
            wait_for_key(me, cycles, now, wait)
        wait.placed = wait.apart
        if accesses:
            wait_for_places(me, now.number, wait)
        if gated and wait.placed < NEVER:
            return allowed(me.gate, me.gate_words, wait.placed, now.number)
        return wait.placed

    def time_firings(
        address: int,
        graph_address: int,
        now: Now,
        ins: tuple[TimedInput, ...],
        outs: tuple[TimedOutput, ...],
    ) -> None:
        """Times firings up to the first one whose cycle is not known, or beyond the limit."""
        me, graph = ActorRecord.at(address), GraphRecord.at(graph_address)
        cycles = words_at(me.cycles, UNKNOWN)
        wait = Wait.local(1)[0]
        next_point = now.number + SPAN
        calm, ease = CALM_FIRINGS, EASE
        while now.number < me.found:
            stuck = 1 if ease <= 0 and not single and not late else 0
            if stuck or now.number >= next_point:
                keep_point(me, now, ins, outs)
                if stuck:
                    put_down(me, now, outs)
                    left = call(graph.time_many, address, graph_address)
                    pick_up(me, now, ins, outs)
                    if left == ENDED:
                        break
                    calm = CALM_FIRINGS if left == CALM else 0
                    ease = EASE >> 2
                    continue
                next_point = now.number + SPAN
            run = words_at(me.trail + 16 * now.run, 2)
            if now.number == run[1]:
                now.run += 1
                continue
            word = run[0]
            if not single:
                if calm >= CALM_FIRINGS:
                    count = how_many(me, run[1], now, graph.limit)
                    if count >= FEW:
                        count = in_a_row(word, ports, count, now, ins, outs)
                        calm = CALM_FIRINGS if count >= FEW else 0
                    if count >= FEW:
                        if spaced:
                            follow(me.cycles + 8 * now.number, count, now.cycle + 1)
                        fire_at_once(word, ports, count, now, ins, outs)
                        ease = min(ease + count, EASE)
                        continue
                ease -= 1
            t = next_cycle(me, word, cycles, now, ins, outs, wait)
            if t > graph.limit:
                me.beyond = min(t, NEVER)
                break
            # Where firings have to wait, it is no use to look at many at once.
            calm = 0 if t > wait.soonest else calm + 1
            if spaced:
                cycles[now.number] = t
            if late:
                count_late(me, late, ins, wait)
            if accesses:
                note_asked(me, now.number, t, wait)
            fire(word, ports, t, now, ins, outs, wait)

    def begin(me: ActorRecord, ins: tuple[TimedInput, ...], outs: tuple[TimedOutput, ...]) -> None:
        """Looks at the channels."""
        for i in range(inputs):
            channel = ChannelRecord.at(words_at(me.inputs, inputs)[i])
            ins[i].ready, ins[i].freed = channel.ready, channel.freed
            ins[i].began = ins[i].popped
        for q in range(queues):
            channel = ChannelRecord.at(words_at(me.outputs, queues)[q])
            outs[q].ready, outs[q].freed = channel.come, channel.freed
            outs[q].guard, outs[q].depth, outs[q].latency = channel.guard, channel.depth, channel.latency
            outs[q].changed = NEVER

    def stop(me: ActorRecord, ins: tuple[TimedInput, ...], outs: tuple[TimedOutput, ...]) -> None:
        """Of the firings that are left, the cycles are not known."""
        for i in range(inputs):
            channel = ChannelRecord.at(words_at(me.inputs, inputs)[i])
            fill(ins[i].freed + 8 * ins[i].popped, channel.popped - ins[i].popped, NEVER)
        for q in range(queues):
            channel = ChannelRecord.at(words_at(me.outputs, queues)[q])
            ready, count = outs[q].ready + 8 * outs[q].pushed, channel.pushed - outs[q].pushed
            unknown = NEVER + outs[q].latency
            if count > 0 and differ(ready, count, unknown) != 0:
                outs[q].changed = min(outs[q].changed, outs[q].pushed)
                fill(ready, count, unknown)

    def time(address: int, graph_address: int) -> int:
        me = ActorRecord.at(address)
        graph = GraphRecord.at(graph_address)
        now = Now.local(1)[0]
        ins, outs = TimedInput.local(inputs), TimedOutput.local(queues)
        take_up_point(me, now, ins, outs)
        begin(me, ins, outs)
        me.stale = UP_TO_DATE
        me.beyond = NEVER
        fresh = me.fresh
        # Who was timed again in the phase before may be again: then it counts at the end of the phase.
        counts = fresh and not me.again
        me.again = not fresh
        if fresh:
            me.fresh = 0
            for q in range(queues):
                where = words_at(me.outputs, queues)[q]
                if not ChannelRecord.at(where).backward:
                    forget(where, 0)
        now.slip = me.slip
        first = now.number
        time_firings(address, graph_address, now, ins, outs)
        keep_point(me, now, ins, outs)
        me.slip = now.slip
        if not graph.careful:
            stop(me, ins, outs)
        for i in range(inputs):
            where = words_at(me.inputs, inputs)[i]
            end = ins[i].popped if graph.careful else ChannelRecord.at(where).popped
            tell_producer(where, ins[i].began, end, graph.careful)
            ChannelRecord.at(where).counted = 0
            if counts:
                count_passed(where, ins[i].popped)
        if accesses:
            bring_data(AccessRecord.at(me.access))
        for q in range(queues):
            if not brings[q]:
                tell_consumer(words_at(me.outputs, queues)[q], outs[q].changed, graph.careful)
        return now.number - first

    return time
