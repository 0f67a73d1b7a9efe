"""The cycles of firings without assumptions: each actor goes on as far as all is known that its firings wait
for, and so nothing is timed twice.

This is for what cannot be assumed, as when data come from off-chip memory, and for actors that hold each
other up token by token, of which assumptions would be wrong all the time. Then calls are many and short. So
an actor is called only if it can go on: where one stops, it marks the channel whose token or slot it lacks
(`wanted`, `full`), and who brings that wakes it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from samhw.sim.compiled.actor_shapes import CarefulShape, passes_gate
from samhw.sim.compiled.off_chip import bring_data
from samhw.sim.compiled.one_firing import Wait, wait_for_key, wait_for_turn
from samhw.sim.compiled.records import (
    NEVER,
    ActorRecord,
    ChannelRecord,
    GraphRecord,
    channels_at,
    next_awake,
    wake,
)
from samhw.sim.machine_code import UNKNOWN, Record, call, local_words, words_at
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
        timed, fired = 0, 1
        while fired:
            fired = 0
            for m in range(len(team)):
                fired += time_alike(team[m], graph.limit)
            timed += fired
        for m in range(len(team)):
            end_call(team[m], graph_address, before[m])
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


class Taken(Record):
    """An input while firings that are alike are timed."""

    needed: int
    """They look at its head,"""
    step: int
    """and take it, if this is 1."""
    ready: int
    """Address of the cycle in which the first of these tokens is there,"""
    freed: int
    """and of that in which its slot is free."""


class GivenChannel(Record):
    """A channel that the actor pushes to, while firings that are alike are timed."""

    pushed: int
    """They push to it."""
    freed: int
    """Address of the cycle in which the slot for the first token is free,"""
    guard: int
    """and how many slots to go on by before one that has not long been free."""
    come: int
    """Address of the cycle in which that token comes."""


class Alike(NamedTuple):
    """Firings that are alike, while they are timed."""

    member: Member
    taken: tuple[Taken, ...]
    given: tuple[GivenChannel, ...]
    wait: Wait


def time_alike(member: Member, limit: int) -> int:
    """Times the next firings, as far as they are alike and their cycles known; gives how many."""
    me = member.actor
    if me.timed == me.found:
        return 0
    run = words_at(me.trail + 16 * me.run, 2)
    while me.timed == run[1]:
        me.run += 1
        run = words_at(me.trail + 16 * me.run, 2)
    count = known_firings(member, run[0], run[1] - me.timed)
    if count <= 0:
        return 0
    taken, given = Taken.local(member.shape.inputs), GivenChannel.local(len(member.shape.ports))
    alike = Alike(member, taken, given, Wait.local(1)[0])
    look_at_rows(alike, run[0])
    t, number = me.last, 0
    while number < count:
        last = t
        t = next_cycle(alike, last, number)
        if t > limit:
            me.beyond = t
            t = last
            break
        if t > alike.wait.soonest:
            count_waits(alike, t, number)
        fire(alike, t, number)
        number += 1
    end_run(alike, t, number)
    return number


def known_firings(member: Member, word: int, most: int) -> int:
    """For how many firings that are alike, `most` at most, all tokens and slots are known. If there is none,
    marks a channel that lacks some."""
    shape, _, ins, outs = member
    count = most
    for i in range(shape.inputs):
        if word >> i & 1:
            known = ins[i].resolved if shape.late >> i & 1 else ins[i].new_pushed
            known -= ins[i].new_popped
            if known == 0:
                ins[i].wanted = 1
                return 0
            if word >> TAKES + i & 1:
                count = min(count, known)
    for q in range(len(shape.ports)):
        if word >> PUSHES + shape.ports[q] & 1:
            free = outs[q].new_popped + outs[q].depth - outs[q].new_pushed
            if free == 0:
                outs[q].full = 1
                return 0
            count = min(count, free)
    return count


def look_at_rows(alike: Alike, word: int) -> None:
    """Notes what a firing does, and where the rows of its channels are."""
    shape, _, ins, outs = alike.member
    taken, given = alike.taken, alike.given
    for i in range(shape.inputs):
        taken[i].needed, taken[i].step = word >> i & 1, word >> TAKES + i & 1
        taken[i].ready = ins[i].ready + 8 * ins[i].new_popped
        taken[i].freed = ins[i].freed + 8 * ins[i].new_popped
    for q in range(len(shape.ports)):
        slot = outs[q].new_pushed - outs[q].depth
        given[q].pushed = word >> PUSHES + shape.ports[q] & 1
        given[q].freed, given[q].guard = outs[q].freed + 8 * slot, outs[q].guard - slot
        given[q].come = outs[q].come + 8 * outs[q].new_pushed


def ready_at(taken: Taken, number: int) -> int:
    """When the token is there that the firing of that number looks at."""
    return words_at(taken.ready, UNKNOWN)[number * taken.step]


def free_at(given: GivenChannel, number: int) -> int:
    """When the slot is free that the firing of that number fills."""
    return words_at(given.freed, UNKNOWN)[max(number, given.guard)]


def next_cycle(alike: Alike, last: int, number: int) -> int:
    """The cycle of the firing of that number, after one in the cycle `last`."""
    shape, me, _, _ = alike.member
    taken, given, wait = alike.taken, alike.given, alike.wait
    wait.soonest = wait.there = last + 1
    for i in range(shape.inputs):
        if taken[i].needed:
            wait.there = max(wait.there, ready_at(taken[i], number))
    wait.room = wait.there
    for q in range(len(shape.ports)):
        if given[q].pushed:
            wait.room = max(wait.room, free_at(given[q], number))
    wait.apart = wait.room
    if shape.turns:
        wait_for_turn(me, me.timed + number, wait)
    elif shape.spaced:
        wait_for_key(me, me.timed + number, wait)
    if shape.gate:
        return passes_gate(shape.gate, me.gate, me.gate_words, wait.apart, me.timed + number)
    return wait.apart


def count_waits(alike: Alike, t: int, number: int) -> None:
    """Counts what a firing in cycle t has waited for: the first of the tokens that came last, then the first
    of the slots."""
    shape, me, ins, outs = alike.member
    taken, given, wait = alike.taken, alike.given, alike.wait
    left = wait.there - wait.soonest
    for i in range(shape.inputs):
        if left and taken[i].needed and ready_at(taken[i], number) == wait.there:
            if shape.late >> i & 1:
                # What off-chip memory takes beyond the latency of the channel counts apart.
                come = words_at(ins[i].come, UNKNOWN)[ins[i].new_popped + number * taken[i].step]
                late = max(0, wait.there - max(wait.soonest, come))
                ins[i].late += late
                left -= late
            ins[i].starved += left
            left = 0
    left = wait.room - wait.there
    for q in range(len(shape.ports)):
        if left and given[q].pushed and free_at(given[q], number) == wait.room:
            outs[q].blocked += left
            left = 0
    me.spaced += wait.apart - wait.room
    me.stalled += t - wait.apart


def fire(alike: Alike, t: int, number: int) -> None:
    """Does the firing of that number in cycle t: takes tokens and pushes tokens."""
    shape, me, _, outs = alike.member
    taken, given = alike.taken, alike.given
    for i in range(shape.inputs):
        if taken[i].step:
            words_at(taken[i].freed, UNKNOWN)[number] = t + 1
    for q in range(len(shape.ports)):
        if given[q].pushed:
            words_at(given[q].come, UNKNOWN)[number] = t + outs[q].latency
    if shape.spaced:
        words_at(me.cycles, UNKNOWN)[me.timed + number] = t


def end_run(alike: Alike, last: int, number: int) -> None:
    """Notes that this many firings are timed, and the cycle of the last one."""
    shape, me, ins, outs = alike.member
    me.timed += number
    me.last = last
    for i in range(shape.inputs):
        ins[i].new_popped += number * alike.taken[i].step
    for q in range(len(shape.ports)):
        outs[q].new_pushed += number * alike.given[q].pushed
