"""The cycles of the firings of one actor, from what is known of its channels.

It is the recurrence of docs/timing.md, as `samhw.sim.engine` has it, over firings and tokens that are found
already. Tokens and slots behind those that rows say something of are assumed to come in time; if nothing is
assumed, rows have NEVER for them. Whoever was timed with a cycle that changes is marked, and timed again
(settle.py).
"""

from collections.abc import Callable

from samhw.machine_code import UNKNOWN, call, words_at
from samhw.primitives.step import Words
from samhw.sim.compiled.firings_in_a_row import FEW, MANY, fire_at_once, in_a_row
from samhw.sim.compiled.gate import GateKind, gate_rule
from samhw.sim.compiled.many_firings import CALM, ENDED
from samhw.sim.compiled.off_chip.records import AccessRecord
from samhw.sim.compiled.off_chip.serving import bring_data
from samhw.sim.compiled.off_chip.waiting import count_late, note_asked, wait_for_places
from samhw.sim.compiled.one_firing import Wait, fire, wait_for_key, wait_for_slots, wait_for_tokens
from samhw.sim.compiled.points import (
    NUMBER,
    SPAN,
    Now,
    TimedInput,
    TimedOutput,
    keep_point,
    pick_up,
    place_of,
    put_down,
)
from samhw.sim.compiled.records import NEVER, ActorRecord, ChannelRecord, GraphRecord
from samhw.sim.compiled.rows import differ, follow
from samhw.sim.compiled.turns import begin_turn, end_turn, known_slots, known_tokens

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
    accesses: bool,
) -> Callable[[int, int], int]:
    """The function (address of the actor, address of the graph) -> number of firings that it timed.

    Args:
        inputs: how many the actor has.
        ports: for each channel that it pushes to, the output that it belongs to.
        circular: a channel leads from the actor to itself.
        spaced: it keeps a spacing.
        gate: what else holds it back.
        late: the set of its inputs whose tokens may come with data from off-chip memory.
        accesses: it accesses that memory itself.
    """
    queues = len(ports)
    gated = gate is not GateKind.NOTHING
    single = circular or gated or accesses
    """Firings are never timed at once."""
    together = not single and not late
    """Many may be timed together."""
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

    def time_some(
        me: ActorRecord,
        graph: GraphRecord,
        next_point: int,
        now: Now,
        ins: tuple[TimedInput, ...],
        outs: tuple[TimedOutput, ...],
    ) -> int:
        """Times firings up to the next point, or until many are to be timed together.

        Gives 0 if the cycle of one is not known, or beyond the limit.
        """
        cycles = words_at(me.cycles, UNKNOWN)
        wait = Wait.local(1)[0]
        end = min(me.found, next_point)
        while now.number < end:
            if together and now.ease <= 0:
                break
            run = words_at(me.trail + 16 * now.run, 2)
            if now.number == run[1]:
                now.run += 1
                continue
            word = run[0]
            if not single:
                if now.calm >= CALM_FIRINGS:
                    count = how_many(me, run[1], now, graph.limit)
                    if count >= FEW:
                        count = in_a_row(word, ports, count, now, ins, outs)
                        now.calm = CALM_FIRINGS if count >= FEW else 0
                    if count >= FEW:
                        if spaced:
                            follow(me.cycles + 8 * now.number, count, now.cycle + 1)
                        fire_at_once(word, ports, count, now, ins, outs)
                        now.ease = min(now.ease + count, EASE)
                        continue
                now.ease -= 1
            t = next_cycle(me, word, cycles, now, ins, outs, wait)
            if t > graph.limit:
                me.beyond = min(t, NEVER)
                return 0
            # Where firings have to wait, it is no use to look at many at once.
            now.calm = 0 if t > wait.soonest else now.calm + 1
            if spaced:
                cycles[now.number] = t
            if late:
                count_late(me, late, ins, wait)
            if accesses:
                note_asked(me, now.number, t, wait)
            fire(word, ports, t, now, ins, outs, wait)
        return 1

    def look_at_channels(address: int, ins: tuple[TimedInput, ...], outs: tuple[TimedOutput, ...]) -> None:
        """Notes where their rows are, and what these say."""
        me = ActorRecord.at(address)
        for i in range(inputs):
            channel = ChannelRecord.at(words_at(me.inputs, inputs)[i])
            ins[i].ready, ins[i].freed = channel.ready, channel.freed
            ins[i].known = known_tokens(channel, address)
        for q in range(queues):
            channel = ChannelRecord.at(words_at(me.outputs, queues)[q])
            outs[q].ready, outs[q].freed = channel.come, channel.freed
            outs[q].guard, outs[q].depth, outs[q].latency = channel.guard, channel.depth, channel.latency
            outs[q].known, outs[q].found = known_slots(channel, address), channel.popped

    def time(address: int, graph_address: int) -> int:
        me, graph = ActorRecord.at(address), GraphRecord.at(graph_address)
        now = Now.local(1)[0]
        ins, outs = TimedInput.local(inputs), TimedOutput.local(queues)
        look_at_channels(address, ins, outs)
        now.calm, now.ease = CALM_FIRINGS, EASE
        place = begin_turn(address)
        first = words_at(place, 1)[NUMBER]
        next_point = first + SPAN
        known = 1
        while True:
            if place:
                pick_up(place, me, now, ins, outs)
                place = 0
            if known:
                known = time_some(me, graph, next_point, now, ins, outs)
            keep_point(me, now, ins, outs)
            if not known or now.number >= me.found:
                break
            if together and now.ease <= 0:
                put_down(me, now, outs)
                # The point that has just been added becomes the actor's place.
                me.point_count -= 1
                left = call(graph.time_many, address, graph_address)
                place = place_of(me)
                now.calm, now.ease = CALM_FIRINGS if left == CALM else 0, EASE >> 2
                known = left != ENDED
            else:
                next_point = now.number + SPAN
        put_down(me, now, outs)
        end_turn(address, graph_address)
        if accesses:
            bring_data(AccessRecord.at(me.access))
        return now.number - first

    return time
