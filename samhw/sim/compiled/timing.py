"""The cycles of the firings of one actor, from what is known of its channels.

The recurrence of docs/timing.md as `samhw.sim.engine` has it, over firings and tokens that are found already.
Words that are not known yet, of tokens and of slots, are 0 if they are assumed to come in time, or NEVER if
nothing is assumed. Whoever was timed with a word that changes is marked, and timed again (settle.py).
"""

from collections.abc import Callable

from samhw.machine_code import UNKNOWN, words_at
from samhw.primitives.step import PUSHES, TAKES, Words
from samhw.sim.compiled.gate import GateKind, gate_rule
from samhw.sim.compiled.marks import tell_consumer, tell_producer
from samhw.sim.compiled.points import SPAN, Input, Now, Output, keep_point, take_up_point
from samhw.sim.compiled.records import NEVER, UP_TO_DATE, Actor, Channel, Graph
from samhw.sim.compiled.rows import differ, fill, follow, follows_until, in_time

__all__ = ["timer"]

MANY, FEW = 64, 6
"""Firings in a row that are timed at once: so many at most, and so many at least."""

CALM = 2
"""Firings that come without a wait before it is worth to look at many at once."""


def timer(
    inputs: int, ports: tuple[int, ...], *, circular: bool, spaced: bool, gate: GateKind
) -> Callable[[int, int], int]:
    """The function (address of the actor, address of the graph) -> number of firings that it timed.

    Args:
        inputs: how many the actor has.
        ports: for each channel that it pushes to, the output that it belongs to.
        circular: a channel leads from the actor to itself.
        spaced: it keeps a spacing.
        gate: what else holds it back.
    """
    queues = len(ports)
    port = ports or (0,)
    gated = gate is not GateKind.NOTHING
    allowed = gate_rule(gate)

    def in_a_row(
        me: Actor,
        word: int,
        most: int,
        now: Now,
        limit: int,
        ins: tuple[Input, ...],
        outs: tuple[Output, ...],
    ) -> int:
        """How many of the next firings, which are alike, come in the cycles that follow, one in each.

        Tokens become available in different cycles, and so do slots: so a token is in time if it is there
        when an actor comes to it that fires in every cycle.
        """
        first = now.cycle + 1
        count = min(most, limit - now.cycle)
        if spaced and count >= FEW and differ(me.ago + 8 * now.number, count, 0) != 0:
            count = 0
        for i in range(inputs):
            if word >> i & 1 and count >= FEW:
                if word >> TAKES + i & 1:
                    count = in_time(ins[i].ready + 8 * ins[i].popped, count, first)
                elif words_at(ins[i].ready + 8 * ins[i].popped, 1)[0] > first:
                    count = 0
        for q in range(queues):
            if word >> PUSHES + port[q] & 1 and count >= FEW:
                slot = outs[q].pushed - outs[q].depth
                before = min(max(0, outs[q].guard - slot), count)
                freed = outs[q].freed + 8 * (slot + before)
                count = before + in_time(freed, count - before, first + before)
        return count

    def all_at_once(
        word: int, count: int, cycles: int, now: Now, ins: tuple[Input, ...], outs: tuple[Output, ...]
    ) -> None:
        """Times so many firings that come one in each cycle."""
        first = now.cycle + 1
        follow(cycles + 8 * now.number, count, first)
        for i in range(inputs):
            if word >> TAKES + i & 1:
                follow(ins[i].freed + 8 * ins[i].popped, count, first + 1)
                ins[i].popped += count
        for q in range(queues):
            if word >> PUSHES + port[q] & 1:
                ready = outs[q].ready + 8 * outs[q].pushed
                come = first + outs[q].latency
                if outs[q].changed == NEVER:
                    same = follows_until(ready, count, come)
                    outs[q].changed = outs[q].pushed + same if same < count else NEVER
                follow(ready, count, come)
                outs[q].pushed += count
        now.number += count
        now.cycle += count

    def one(
        me: Actor,
        word: int,
        limit: int,
        cycles: Words,
        now: Now,
        ins: tuple[Input, ...],
        outs: tuple[Output, ...],
    ) -> int:
        """Times the next firing; gives its cycle, and does nothing if that is unknown or beyond the limit."""
        soonest = now.cycle + 1
        there = soonest
        late = 0
        for i in range(inputs):
            ready = words_at(ins[i].ready + 8 * ins[i].popped, 1)[0]
            ready = ready if word >> i & 1 else 0
            late = i if ready > there else late
            there = max(there, ready)
        room = there
        narrow = 0
        if word >> PUSHES:
            for q in range(queues):
                slot = max(outs[q].pushed - outs[q].depth, outs[q].guard)
                free = words_at(outs[q].freed + 8 * slot, 1)[0]
                free = free if word >> PUSHES + port[q] & 1 else 0
                narrow = q if free > room else narrow
                room = max(room, free)
        apart = room
        if spaced:
            ago = words_at(me.ago, UNKNOWN)[now.number]
            if ago:
                apart = max(room, cycles[now.number - ago] + me.apart)
        t = apart
        if gated:
            t = allowed(me.gate, me.gate_words, apart, now.number) if apart < NEVER else NEVER
        if t > limit:
            return t
        if t > soonest:
            for i in range(inputs):
                ins[i].starved += there - soonest if i == late else 0
            for q in range(queues):
                outs[q].blocked += room - there if q == narrow else 0
            if spaced or gated:
                me.slip = max(me.slip, t - room)
            now.spaced += apart - room
            now.stalled += t - apart
        cycles[now.number] = t
        for i in range(inputs):
            taken = word >> TAKES + i & 1
            left = words_at(ins[i].freed + 8 * ins[i].popped, 1)
            left[0] = t + 1 if taken else left[0]
            ins[i].popped += taken
        if word >> PUSHES:
            for q in range(queues):
                pushes = word >> PUSHES + port[q] & 1
                token = words_at(outs[q].ready + 8 * outs[q].pushed, 1)
                come = t + outs[q].latency if pushes else token[0]
                if token[0] != come and outs[q].changed == NEVER:
                    outs[q].changed = outs[q].pushed
                token[0] = come
                outs[q].pushed += pushes
        now.number += 1
        now.cycle = t
        return t

    def stop(me: Actor, now: Now, ins: tuple[Input, ...], outs: tuple[Output, ...]) -> None:
        """Of what is left the cycles are not known."""
        for i in range(inputs):
            channel = Channel.at(words_at(me.inputs, inputs)[i])
            fill(ins[i].freed + 8 * ins[i].popped, channel.popped - ins[i].popped, NEVER)
        for q in range(queues):
            channel = Channel.at(words_at(me.outputs, queues)[q])
            ready, count = outs[q].ready + 8 * outs[q].pushed, channel.pushed - outs[q].pushed
            unknown = NEVER + outs[q].latency
            if count > 0 and differ(ready, count, unknown) != 0:
                outs[q].changed = min(outs[q].changed, outs[q].pushed)
                fill(ready, count, unknown)

    def begin(me: Actor, ins: tuple[Input, ...], outs: tuple[Output, ...]) -> None:
        for i in range(inputs):
            channel = Channel.at(words_at(me.inputs, inputs)[i])
            ins[i].ready, ins[i].freed = channel.ready, channel.freed
            ins[i].began = ins[i].popped
        for q in range(queues):
            channel = Channel.at(words_at(me.outputs, queues)[q])
            outs[q].ready, outs[q].freed = channel.ready, channel.freed
            outs[q].guard, outs[q].depth, outs[q].latency = channel.guard, channel.depth, channel.latency
            outs[q].changed = NEVER

    def time(address: int, graph_address: int) -> int:
        me = Actor.at(address)
        graph = Graph.at(graph_address)
        cycles = words_at(me.cycles, UNKNOWN)
        now = Now.local(1)[0]
        ins, outs = Input.local(inputs), Output.local(queues)
        take_up_point(me, cycles, now, ins, outs)
        begin(me, ins, outs)
        me.stale = UP_TO_DATE
        me.beyond = NEVER
        first = now.number
        next_point = now.number + SPAN
        calm = CALM
        while now.number < me.found:
            if now.number >= next_point:
                keep_point(me, now, ins, outs)
                next_point = now.number + SPAN
            run = words_at(me.trail + 16 * now.run, 2)
            if now.number == run[1]:
                now.run += 1
                continue
            word = run[0]
            count = min(run[1] - now.number, MANY)
            together = not circular and not gated and count >= FEW and calm >= CALM
            if together:
                count = in_a_row(me, word, count, now, graph.limit, ins, outs)
            if together and count >= FEW:
                all_at_once(word, count, me.cycles, now, ins, outs)
            else:
                soonest = now.cycle + 1
                t = one(me, word, graph.limit, cycles, now, ins, outs)
                if t > graph.limit:
                    me.beyond = min(t, NEVER)
                    break
                # Where firings have to wait, it is no use to look at many at once.
                calm = 0 if together or t > soonest else calm + 1
        keep_point(me, now, ins, outs)
        if not graph.careful:
            stop(me, now, ins, outs)
        for i in range(inputs):
            channel = Channel.at(words_at(me.inputs, inputs)[i])
            end = ins[i].popped if graph.careful else channel.popped
            tell_producer(channel, ins[i].began, end, graph.careful)
        for q in range(queues):
            channel = Channel.at(words_at(me.outputs, queues)[q])
            tell_consumer(channel, outs[q].changed, graph.careful)
        return now.number - first

    return time
