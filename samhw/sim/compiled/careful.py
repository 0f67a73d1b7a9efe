"""The cycles of firings without assumptions: each actor goes on as far as all is known that its firings wait
for, and so nothing is timed twice.

This is for what cannot be assumed, as when data come from off-chip memory, and for actors that hold each
other up token by token, of which assumptions would be wrong all the time. Then calls are many and short. So
an actor is called only if it can go on: where one stops, it marks the channel whose token or slot it lacks
(`wanted`, `full`), and who brings that wakes it (awake.py).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from samhw.sim.compiled.actor_shapes import CarefulShape, passes_gate
from samhw.sim.compiled.awake import next_awake, wake
from samhw.sim.compiled.off_chip.requests import bring_data
from samhw.sim.compiled.one_firing import Wait, wait_for_key
from samhw.sim.compiled.records import NEVER, ActorRecord, ChannelRecord, GraphRecord, channels_at
from samhw.sim.machine_code import UNKNOWN, call, local_words, words_at
from samhw.sim.step import PUSHES, TAKES

__all__ = ["careful_timer", "time_carefully"]


def time_carefully(graph_address: int) -> int:
    """Times what has been found, as far as that is possible; gives the number of firings.

    Requests to off-chip memory are served when nobody can go on without.
    """
    graph = GraphRecord.at(graph_address)
    begin(graph)
    timed = 0
    while True:
        while graph.awake_count:
            address = next_awake(graph)
            timed += call(ActorRecord.at(address).careful, address, graph_address)
        if not graph.serve or graph.ends or not call(graph.serve, graph_address, 0):
            return timed


def begin(graph: GraphRecord) -> None:
    """Wakes all actors of a graph."""
    channels = words_at(graph.channels, graph.channel_count)
    graph.ends = 0
    for n in range(graph.channel_count):
        channel = ChannelRecord.at(channels[n])
        channel.wanted = channel.full = channel.counted = 0
        if channel.room < channel.depth and channel.pushed - channel.popped >= channel.room:
            graph.ends = 1
    rows = words_at(graph.actors, graph.actor_count)
    for n in range(graph.actor_count):
        ActorRecord.at(rows[n]).beyond = NEVER
        wake(graph, rows[n])


class Member(NamedTuple):
    """An actor of a team while its firings are timed."""

    shape: CarefulShape
    actor: ActorRecord
    ins: tuple[ChannelRecord, ...]
    outs: tuple[ChannelRecord, ...]


def careful_timer(shape: CarefulShape) -> Callable[[int, int], int]:
    """The function (address of the actor, address of the graph) -> number of firings that it timed.

    It times an actor with those of its ports that it tells what it reads or writes. Between them there are
    two slots, in which they would hold each other up.
    """
    first, others = member_at(shape), members_at(shape.asks)

    def time(address: int, graph_address: int) -> int:
        graph = GraphRecord.at(graph_address)
        leader = first(address)
        team = (leader, *others(leader.outs))
        before = local_words(len(team))
        for m in range(len(team)):
            before[m] = team[m].actor.timed
        wait = Wait.local(1)[0]
        fired = 1
        while fired:
            fired = 0
            for m in range(len(team)):
                fired |= time_next(team[m], graph.limit, wait)
        timed = 0
        for m in range(len(team)):
            end_call(team[m], graph_address, before[m])
            timed += team[m].actor.timed - before[m]
        return timed

    return time


def member_at(shape: CarefulShape) -> Callable[[int], Member]:
    """The function that gives the actor of a shape that lies at an address."""
    inputs, outputs = channels_at(shape.inputs), channels_at(len(shape.ports))

    def member(address: int) -> Member:
        actor = ActorRecord.at(address)
        return Member(shape, actor, inputs(actor.inputs), outputs(actor.outputs))

    return member


def members_at(asks: tuple[tuple[int, CarefulShape], ...]) -> Callable[[tuple[ChannelRecord, ...]], Any]:
    """The function that gives the actors of these shapes, from the channels of which some lead to them."""
    if not asks:

        def nobody(outs: tuple[ChannelRecord, ...]) -> tuple[Member, ...]:
            return ()

        return nobody
    before, (q, shape) = members_at(asks[:-1]), asks[-1]
    last = member_at(shape)

    def members(outs: tuple[ChannelRecord, ...]) -> tuple[Member, ...]:
        return (*before(outs), last(outs[q].consumer))

    return members


def time_next(member: Member, limit: int, wait: Wait) -> int:
    """Times the next firing; gives 0 if there is none whose cycle is known and within the limit."""
    shape, me, _, _ = member
    if me.timed == me.found:
        return 0
    run = words_at(me.trail + 16 * me.run, 2)
    while me.timed == run[1]:
        me.run += 1
        run = words_at(me.trail + 16 * me.run, 2)
    word = run[0]
    wait.soonest = me.last + 1
    wait_for_tokens(member, word, wait)
    wait_for_slots(member, word, wait)
    wait.apart = wait.room
    if shape.spaced:
        wait_for_key(me, me.timed, wait)
    t = wait.apart
    if shape.gate and t < NEVER:
        t = passes_gate(shape.gate, me.gate, me.gate_words, t, me.timed)
    if t > limit:
        me.beyond = min(t, NEVER)
        mark_channel(member, wait)
        return 0
    if shape.spaced:
        words_at(me.cycles, UNKNOWN)[me.timed] = t
    if t > wait.soonest:
        count_waits(member, wait, t)
    fire(member, word, t)
    me.timed += 1
    me.last = t
    return 1


def end_call(member: Member, graph_address: int, before: int) -> None:
    """Wakes who waited for a token or a slot that there is now, if more firings are timed than before."""
    shape, me, ins, outs = member
    graph = GraphRecord.at(graph_address)
    if me.timed > before:
        for i in range(shape.inputs):
            if ins[i].full and ins[i].new_pushed < ins[i].new_popped + ins[i].depth:
                ins[i].full = 0
                wake(graph, ins[i].producer)
        for q in range(len(shape.ports)):
            # Tokens that come with data may still have to wait for these.
            late = shape.accesses and shape.ports[q] == 0
            if not late and outs[q].wanted and outs[q].new_popped < outs[q].new_pushed:
                outs[q].wanted = 0
                wake(graph, outs[q].consumer)
        if shape.accesses:
            bring_data(me.access, graph_address)
    if me.timed == me.found and (me.left == 0 or words_at(me.watch, 1)[0] > me.seen):
        graph.ends = 1


def wait_for_tokens(member: Member, word: int, wait: Wait) -> None:
    """When all tokens are there that a firing needs."""
    shape, _, ins, _ = member
    wait.there, wait.late = wait.soonest, 0
    for i in range(shape.inputs):
        popped = ins[i].new_popped
        ready = words_at(ins[i].ready, UNKNOWN)[popped]
        known = ins[i].resolved if shape.late >> i & 1 else ins[i].new_pushed
        ready = ready if popped < known else NEVER
        ready = ready if word >> i & 1 else 0
        wait.late = i if ready > wait.there else wait.late
        wait.there = max(wait.there, ready)


def wait_for_slots(member: Member, word: int, wait: Wait) -> None:
    """When there are slots for all tokens that a firing pushes."""
    shape, _, _, outs = member
    wait.room, wait.narrow = wait.there, 0
    for q in range(len(shape.ports)):
        slot = max(outs[q].new_pushed - outs[q].depth, outs[q].guard)
        free = words_at(outs[q].freed, UNKNOWN)[slot]
        free = free if slot < outs[q].new_popped else NEVER
        free = free if word >> PUSHES + shape.ports[q] & 1 else 0
        wait.narrow = q if free > wait.room else wait.narrow
        wait.room = max(wait.room, free)


def mark_channel(member: Member, wait: Wait) -> None:
    """Marks the channel that a firing lacks a token of, or else a slot."""
    shape, _, ins, outs = member
    for i in range(shape.inputs):
        if wait.there >= NEVER and wait.late == i:
            ins[i].wanted = 1
    for q in range(len(shape.ports)):
        if wait.there < NEVER and wait.room >= NEVER and wait.narrow == q:
            outs[q].full = 1


def count_waits(member: Member, wait: Wait, t: int) -> None:
    """Counts what a firing in cycle t has waited for."""
    shape, me, ins, outs = member
    for i in range(shape.inputs):
        if wait.late == i:
            waited = wait.there - wait.soonest
            if shape.late >> i & 1:
                # What off-chip memory takes beyond the latency of the channel counts apart.
                come = words_at(ins[i].come, UNKNOWN)[ins[i].new_popped]
                late = max(0, wait.there - max(wait.soonest, come))
                ins[i].late += late
                waited -= late
            ins[i].starved += waited
    for q in range(len(shape.ports)):
        if wait.narrow == q:
            outs[q].blocked += wait.room - wait.there
    me.spaced += wait.apart - wait.room
    me.stalled += t - wait.apart


def fire(member: Member, word: int, t: int) -> None:
    """Does a firing in cycle t: takes tokens and pushes tokens."""
    shape, _, ins, outs = member
    for i in range(shape.inputs):
        taken = word >> TAKES + i & 1
        freed = words_at(ins[i].freed + 8 * ins[i].new_popped, 1)
        freed[0] = t + 1 if taken else freed[0]
        ins[i].new_popped += taken
    if word >> PUSHES:
        for q in range(len(shape.ports)):
            pushed = word >> PUSHES + shape.ports[q] & 1
            come = words_at(outs[q].come + 8 * outs[q].new_pushed, 1)
            come[0] = t + outs[q].latency if pushed else come[0]
            outs[q].new_pushed += pushed
