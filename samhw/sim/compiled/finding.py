"""An actor while its next firings are found: what it sees, and how that moves on from one firing to the next.

It is read from the actor's record and its channels first, and written back in the end. In between it lies in
registers, as far as there are some.
"""

from collections.abc import Callable
from typing import NamedTuple

from samhw.sim.compiled.actor_shapes import NO_KEY, FinderShape
from samhw.sim.compiled.off_chip import note_request
from samhw.sim.compiled.records import ActorRecord, ChannelRecord, input_channel, output_channel, stores_of
from samhw.sim.compiled.rows import count_taken, kind_of, packed, payload_of
from samhw.sim.engine import FIRES
from samhw.sim.machine_code import UNKNOWN, Record, apart, local_words, words_at
from samhw.sim.step import NONE, PUSHES, TAKES, Memory, Step, Words

__all__ = ["Finding", "begin_finding", "behead", "do_firing", "end_finding", "finder"]


class Head(Record):
    """An input while firings are found."""

    next: int
    """Address of the next token."""
    more: int
    """Address of its further words, if it is a block."""
    end: int
    """Address after the last one."""


class Tail(Record):
    """A channel that the actor pushes to, while firings are found."""

    next: int
    """Address of the next token."""
    more: int
    """Address of its further words, if it is a block."""
    end: int
    """Address of the first one for which there is no room."""


class Trail(Record):
    """The end of an actor's trail."""

    run: int
    """Address of the last run,"""
    word: int
    """and its firing."""
    number: int
    """Firings before the next one."""


class Arguments(NamedTuple):
    """What a step function sees: its arguments, in their order."""

    kind: Words
    data: Words
    state: Words
    memory: Memory
    out_kind: Words
    out_data: Words


class Finding(NamedTuple):
    """An actor while its firings are found."""

    address: int
    """That of the actor."""
    actor: ActorRecord
    heads: tuple[Head, ...]
    tails: tuple[Tail, ...]
    """Of each channel that it pushes to."""
    trail: Trail
    arguments: Arguments


def begin_finding(shape: FinderShape, stored: Callable[[int], Memory], address: int) -> Finding:
    """Begins where an actor's last firing was found.

    Args:
        stored: gives its memories (stores.py).
        address: that of the actor.
    """
    actor = ActorRecord.at(address)
    arguments = Arguments(
        local_words(shape.inputs),
        local_words(shape.data),
        local_words(shape.states),
        stored(actor.stores),
        local_words(shape.outputs),
        local_words(shape.out_data),
    )
    copy(words_at(actor.state, shape.states), arguments.state, shape.states)
    copy(words_at(actor.tokens, shape.outputs), arguments.out_kind, shape.outputs)
    copy(words_at(actor.tokens + 8 * shape.outputs, shape.out_data), arguments.out_data, shape.out_data)
    heads, tails, trail = Head.local(shape.inputs), Tail.local(len(shape.ports)), Trail.local(1)[0]
    finding = Finding(address, actor, heads, tails, trail, arguments)
    for i in range(shape.inputs):
        channel = input_channel(actor, i)
        heads[i].next = channel.tokens + 8 * channel.popped
        heads[i].end = channel.tokens + 8 * channel.pushed
        arguments.data[i] = 0
        if shape.taken[i][1]:
            heads[i].more = channel.more + 8 * channel.more_words * channel.popped
            for n in range(shape.taken[i][1]):
                arguments.data[shape.taken[i][0] + n] = 0
        behead(shape, finding, i, 0)
    for q in range(len(shape.ports)):
        channel = output_channel(actor, q)
        tails[q].next = channel.tokens + 8 * channel.pushed
        tails[q].end = channel.tokens + 8 * (channel.popped + channel.room)
        if shape.given[shape.ports[q]][1]:
            tails[q].more = channel.more + 8 * channel.more_words * channel.pushed
    trail.number = actor.found
    trail.run = actor.trail + 16 * (actor.runs - 1)
    trail.word = words_at(trail.run, 2)[0]
    return finding


def end_finding(shape: FinderShape, finding: Finding) -> None:
    """Writes what was found into the actor's record and its channels."""
    actor, trail, arguments = finding.actor, finding.trail, finding.arguments
    words_at(trail.run, 2)[1] = trail.number
    actor.runs = (trail.run - actor.trail >> 4) + 1
    actor.left -= trail.number - actor.found
    actor.found = trail.number
    copy(arguments.state, words_at(actor.state, shape.states), shape.states)
    copy(arguments.out_kind, words_at(actor.tokens, shape.outputs), shape.outputs)
    copy(arguments.out_data, words_at(actor.tokens + 8 * shape.outputs, shape.out_data), shape.out_data)
    for i in range(shape.inputs):
        channel = input_channel(actor, i)
        before, channel.popped = channel.popped, (finding.heads[i].next - channel.tokens) >> 3
        count_taken(channel, before)
    for q in range(len(shape.ports)):
        channel = output_channel(actor, q)
        channel.pushed = (finding.tails[q].next - channel.tokens) >> 3


def behead(shape: FinderShape, finding: Finding, i: int, sure: int) -> None:
    """Puts the token at the head of an input where the step function sees it.

    Args:
        sure: there is one, or nobody looks.
    """
    head, arguments = finding.heads[i], finding.arguments
    arguments.kind[i] = NONE
    if sure or head.next < head.end:
        token = words_at(head.next, 1)[0]
        arguments.kind[i] = kind_of(token)
        arguments.data[i] = payload_of(token)
        if shape.taken[i][1]:
            begin, count = shape.taken[i]
            words = words_at(head.more, count)
            for n in range(count):
                arguments.data[begin + n] = words[n]


def do_firing(shape: FinderShape, finding: Finding, word: int, sure: int) -> None:
    """Notes a firing, and pushes and takes its tokens; `sure` as in `behead`."""
    if shape.turns:
        place = finding.arguments.state[shape.key]
        words_at(finding.actor.ago, UNKNOWN)[finding.trail.number] = place + 1
    elif shape.key != NO_KEY:
        note_key(finding.actor, finding.trail.number, finding.arguments.state[shape.key])
    note_firing(shape, finding.trail, word)
    push_tokens(shape, finding, word)
    take_tokens(shape, finding, word, sure)


def note_key(actor: ActorRecord, number: int, place: int) -> None:
    """Notes how many firings before this one the last one with the same key was."""
    ago = 0
    if place >= 0:
        keys = words_at(actor.keys, UNKNOWN)
        ago = number - keys[place]
        keys[place] = number
    words_at(actor.ago, UNKNOWN)[number] = ago if ago < actor.apart else 0


def note_firing(shape: FinderShape, trail: Trail, word: int) -> None:
    """Adds a firing to the trail."""
    if shape.joins or word != trail.word:
        words_at(trail.run, 2)[1] = trail.number
        trail.run += 16 if word != trail.word else 0
        words_at(trail.run, 2)[0] = word
        trail.word = word
    trail.number += 1


def push_tokens(shape: FinderShape, finding: Finding, word: int) -> None:
    """Pushes the tokens of a firing. Those that the actor pushes to itself it may take."""
    tails, arguments = finding.tails, finding.arguments
    for q in range(len(shape.ports)):
        port = shape.ports[q]
        pushed = word >> PUSHES + port & 1
        if shape.joins or pushed:
            words_at(tails[q].next, 1)[0] = packed(arguments.out_kind[port], arguments.out_data[port])
            tails[q].next += 8 * pushed
            if shape.given[port][1]:
                begin, count = shape.given[port]
                words = words_at(tails[q].more, count)
                for n in range(count):
                    words[n] = arguments.out_data[begin + n]
                tails[q].more += 8 * count * pushed
    for c in range(len(shape.circles)):
        taker, pusher = shape.circles[c]
        finding.heads[taker].end = tails[pusher].next


def take_tokens(shape: FinderShape, finding: Finding, word: int, sure: int) -> None:
    """Takes the tokens of a firing; `sure` as in `behead`. What the actor pushes to itself may have their
    slots."""
    heads = finding.heads
    for i in range(shape.inputs):
        taken = word >> TAKES + i & 1
        if shape.joins or taken or i in shape.fed_by_itself:
            heads[i].next += 8 * taken
            if shape.taken[i][1]:
                heads[i].more += 8 * shape.taken[i][1] * taken
            # Before each firing that is sure, a join looks at its heads anyway.
            if not shape.joins or not sure:
                behead(shape, finding, i, sure)
    for c in range(len(shape.circles)):
        taker, pusher = shape.circles[c]
        channel = output_channel(finding.actor, pusher)
        finding.tails[pusher].end = heads[taker].next + 8 * channel.room


def copy(source: Words, target: Words, count: int) -> None:
    """Copies words."""
    for n in range(count):
        target[n] = source[n]


# The next firings of an actor and the tokens that they push, without regard to cycles.
#
# Which firings an actor does, and with what tokens, depends on the tokens that it takes and on nothing else.


def finder(step: Step, shape: FinderShape) -> Callable[[int, int], int]:
    """The function (address of the actor, 0) -> number of firings that it found.

    It goes on until a token or room in a channel is lacking, or nothing is left to do in this phase.
    """
    stored = stores_of(shape.stores)

    def find(address: int, unused: int) -> int:
        finding = begin_finding(shape, stored, address)
        first = finding.trail.number
        find_next(shape, step, finding)
        end_finding(shape, finding)
        return finding.trail.number - first

    return apart(find) if shape.long else find


def find_next(shape: FinderShape, step: Step, finding: Finding) -> None:
    """Finds an actor's next firings, and notes what it then waits for."""
    actor, trail = finding.actor, finding.trail
    last = trail.number + actor.left
    # What it watches differs from what it has seen: it can go on.
    actor.watch = finding.address + ActorRecord.offset("found")
    actor.seen = -1
    actor.patience = 1
    word = actor.word
    while trail.number < last:
        if shape.simple and word == 0:
            until = trail.number + surely(shape, finding, last - trail.number)
            word = find_freely(shape, step, finding, until)
            if trail.number == last:
                break
        if word == 0:
            word = step(*finding.arguments)
        if word < FIRES:
            rest(shape, finding, word)
            word = 0
            break
        if is_full(shape, finding, word):
            break
        if shape.accesses:
            token, beat = finding.tails[0].next, finding.arguments.out_data[shape.beat]
            note_request(actor.access, token, beat, finding.arguments.state)
        do_firing(shape, finding, word, 0)
        word = 0
    actor.word = word


def surely(shape: FinderShape, finding: Finding, most: int) -> int:
    """How many firings, at most, surely have room for what they push, and tokens where there is one now.

    None in a join that lacks a token: there, nothing is to be asked of heads.
    """
    heads, tails = finding.heads, finding.tails
    count = most
    for q in range(len(shape.ports)):
        count = min(count, tails[q].end - tails[q].next >> 3)
    for i in range(shape.inputs):
        if shape.joins or heads[i].next < heads[i].end:
            count = min(count, heads[i].end - heads[i].next >> 3)
    return count


def find_freely(shape: FinderShape, step: Step, finding: Finding, until: int) -> int:
    """Finds firings without a look at the ends of channels, up to one for which that is needed.

    Gives 0, or what the step function gave instead of a firing. Most firings are found here.
    """
    word = 0
    while finding.trail.number < until:
        if shape.joins:
            for i in range(shape.inputs):
                behead(shape, finding, i, 1)
        word = step(*finding.arguments)
        if word < FIRES:
            break
        do_firing(shape, finding, word, 1)
        word = 0
    for i in range(shape.inputs):
        behead(shape, finding, i, 0)
    return word


def rest(shape: FinderShape, finding: Finding, word: int) -> None:
    """Notes what an actor waits for whose step function gave no firing."""
    actor, kind = finding.actor, finding.arguments.kind
    # For good, unless it waits for a head: then until a token comes in that channel.
    actor.watch = finding.address + ActorRecord.offset("find")
    actor.seen = actor.find
    if word < 0:
        actor.fault = word
    else:
        for i in range(shape.inputs):
            if kind[i] == NONE and word >> i & 1:
                where = words_at(actor.inputs, shape.inputs)[i]
                actor.watch = where + ChannelRecord.offset("pushed")
                actor.seen = ChannelRecord.at(where).pushed


def is_full(shape: FinderShape, finding: Finding, word: int) -> int:
    """Whether a firing lacks room in a channel. The actor then waits for as much as is worth a call."""
    actor, tails = finding.actor, finding.tails
    full = 0
    for q in range(len(shape.ports)):
        if word >> PUSHES + shape.ports[q] & 1 and tails[q].next >= tails[q].end:
            where = words_at(actor.outputs, len(shape.ports))[q]
            actor.watch = where + ChannelRecord.offset("popped")
            actor.seen = ChannelRecord.at(where).popped
            actor.patience = max(1, ChannelRecord.at(where).room >> 1)
            full = 1
    return full
