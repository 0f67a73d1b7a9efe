"""The next firings of an actor and the tokens that they push, without regard to cycles.

Which firings an actor does, and with what tokens, depends on the tokens that it takes and on nothing else.
"""

from collections.abc import Callable
from typing import NamedTuple

from samhw.machine_code import UNKNOWN, Record, call, local_words, words_at
from samhw.primitives.step import NONE, PUSHES, TAKES, Memory, Step, Words
from samhw.sim.compiled.off_chip.records import AccessRecord
from samhw.sim.compiled.records import KIND_BITS, ActorRecord, ChannelRecord
from samhw.sim.compiled.stores import stores_of
from samhw.sim.compiled.tokens import count_taken
from samhw.sim.engine import FIRES
from samhw.sim.port_rule import Want

__all__ = ["Shape", "finder"]

LEAST_JOINED, MOST_JOINED = 4, 8
"""Where pairs of streams meet, one firing tells little about the next, and a branch would be a guess. So
actors with so many inputs at least, and so many channels at most, look at all heads anew for each firing, and
put tokens down whether they are pushed or not."""


class Shape(NamedTuple):
    """What the code of an actor depends on besides its step function."""

    inputs: int
    ports: tuple[int, ...]
    """For each channel that the actor pushes to, the output that it belongs to."""
    outputs: int
    states: int
    stores: int
    circles: tuple[tuple[int, int], ...]
    """The channels that lead from the actor to itself: input, and number among those that it pushes to."""
    key: int | None
    """Place in the state of the key of the actor's spacing, if it has one."""
    brings: tuple[tuple[int, int], ...] | None
    """The channels whose tokens carry data from off-chip memory: number among those that the actor pushes to,
    and place of what brings them in the rule of its access. None if it has none."""


class Head(Record):
    """An input while firings are found."""

    next: int
    """Address of the next token."""
    end: int
    """Address behind the last one."""


class Tail(Record):
    """A channel that the actor pushes to, while firings are found."""

    next: int
    """Address of the next token."""
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


def finder(step: Step, want: Want, shape: Shape) -> Callable[[int, int], int]:
    """The function (address of the actor, 0) -> number of firings that it found.

    It goes on until a token or room in a channel is lacking, or nothing is left to do in this phase.

    Args:
        want: notes what a firing reads from off-chip memory and writes to it, if the actor has access.
    """
    inputs, outputs, states, circles = shape.inputs, shape.outputs, shape.states, shape.circles
    queues = len(shape.ports)
    port = shape.ports or (0,)
    stored = stores_of(shape.stores)
    spaced = shape.key is not None
    key = shape.key or 0
    circle_count = len(circles)
    self_fed = tuple(i for i, _ in circles)
    joins = inputs >= LEAST_JOINED and inputs + queues <= MOST_JOINED
    accesses = shape.brings is not None
    simple = not accesses and circle_count == 0
    brings = shape.brings or ()
    brings_count = len(brings)

    def behead(head: Head, i: int, kind: Words, data: Words, sure: int) -> None:
        """Puts the token at the head of an input where the step function sees it.

        Args:
            sure: there is one, or nobody looks.
        """
        kind[i] = NONE
        if sure or head.next < head.end:
            token = words_at(head.next, 1)[0]
            kind[i] = token & 3
            data[i] = token >> KIND_BITS

    def rest(address: int, me: ActorRecord, word: int, kind: Words) -> None:
        """Notes what an actor waits for whose step function gave no firing."""
        # For good, unless it waits for a head: then until a token comes in that channel.
        me.watch = address + ActorRecord.offset("find")
        me.seen = me.find
        if word < 0:
            me.fault = word
        else:
            for i in range(inputs):
                if kind[i] == NONE and word >> i & 1:
                    where = words_at(me.inputs, inputs)[i]
                    me.watch = where + ChannelRecord.offset("pushed")
                    me.seen = ChannelRecord.at(where).pushed

    def is_full(me: ActorRecord, word: int, tails: tuple[Tail, ...]) -> int:
        """Whether a firing lacks room in a channel. The actor then waits for as much as is worth a call."""
        full = 0
        for q in range(queues):
            if word >> PUSHES + port[q] & 1 and tails[q].next >= tails[q].end:
                where = words_at(me.outputs, queues)[q]
                me.watch = where + ChannelRecord.offset("popped")
                me.seen = ChannelRecord.at(where).popped
                me.patience = max(1, ChannelRecord.at(where).room >> 1)
                full = 1
        return full

    def note_key(me: ActorRecord, number: int, place: int) -> None:
        """Notes how many firings before this one the last one with the same key was."""
        ago = 0
        if place >= 0:
            keys = words_at(me.keys, UNKNOWN)
            ago = number - keys[place]
            keys[place] = number
        words_at(me.ago, UNKNOWN)[number] = ago if ago < me.apart else 0

    def ask_for_lines(
        me: ActorRecord,
        word: int,
        number: int,
        tails: tuple[Tail, ...],
        kind: Words,
        data: Words,
        state: Words,
        out_kind: Words,
        out_data: Words,
    ) -> None:
        """Notes the lines that a firing asks for, and which ones its tokens wait for."""
        access = AccessRecord.at(me.access)
        rule = words_at(access.rule, UNKNOWN)
        want(word, kind, data, state, out_kind, out_data, rule)
        call(access.note, me.access, number)
        for b in range(brings_count):
            q = brings[b][0]
            if word >> PUSHES + port[q] & 1:
                channel = ChannelRecord.at(words_at(me.outputs, queues)[q])
                words_at(channel.brought + tails[q].next - channel.tokens, 1)[0] = rule[brings[b][1]]

    def move_tokens(
        me: ActorRecord,
        word: int,
        heads: tuple[Head, ...],
        tails: tuple[Tail, ...],
        kind: Words,
        data: Words,
        out_kind: Words,
        out_data: Words,
        sure: int,
    ) -> None:
        """Takes and pushes the tokens of a firing; `sure` as in `behead`."""
        for q in range(queues):
            pushed = word >> PUSHES + port[q] & 1
            if joins or pushed:
                token = out_data[port[q]] << KIND_BITS | out_kind[port[q]]
                words_at(tails[q].next, 1)[0] = token
                tails[q].next += 8 * pushed
        for c in range(circle_count):
            heads[circles[c][0]].end = tails[circles[c][1]].next
        for i in range(inputs):
            taken = word >> TAKES + i & 1
            if joins or taken or i in self_fed:
                heads[i].next += 8 * taken
                if not joins or not sure:
                    behead(heads[i], i, kind, data, sure)
        for c in range(circle_count):
            channel = ChannelRecord.at(words_at(me.outputs, queues)[circles[c][1]])
            tails[circles[c][1]].end = heads[circles[c][0]].next + 8 * channel.room

    def begin(
        me: ActorRecord, heads: tuple[Head, ...], tails: tuple[Tail, ...], kind: Words, data: Words
    ) -> None:
        """Looks at the channels."""
        for i in range(inputs):
            channel = ChannelRecord.at(words_at(me.inputs, inputs)[i])
            heads[i].next = channel.tokens + 8 * channel.popped
            heads[i].end = channel.tokens + 8 * channel.pushed
            data[i] = 0
            behead(heads[i], i, kind, data, 0)
        for q in range(queues):
            channel = ChannelRecord.at(words_at(me.outputs, queues)[q])
            tails[q].next = channel.tokens + 8 * channel.pushed
            tails[q].end = channel.tokens + 8 * (channel.popped + channel.room)

    def note(trail: Trail, word: int) -> None:
        """Adds a firing to the trail."""
        if joins or word != trail.word:
            words_at(trail.run, 2)[1] = trail.number
            trail.run += 16 if word != trail.word else 0
            words_at(trail.run, 2)[0] = word
            trail.word = word
        trail.number += 1

    def surely(most: int, heads: tuple[Head, ...], tails: tuple[Tail, ...]) -> int:
        """How many firings, at most, surely have room for what they push, and tokens where there is one now.

        None in a join that lacks a token: there, nothing is to be asked of heads.
        """
        count = most
        for q in range(queues):
            count = min(count, tails[q].end - tails[q].next >> 3)
        for i in range(inputs):
            if joins or heads[i].next < heads[i].end:
                count = min(count, heads[i].end - heads[i].next >> 3)
        return count

    def fire_freely(
        until: int,
        me: ActorRecord,
        trail: Trail,
        memory: Memory,
        heads: tuple[Head, ...],
        tails: tuple[Tail, ...],
        kind: Words,
        data: Words,
        state: Words,
        out_kind: Words,
        out_data: Words,
    ) -> int:
        """Finds firings without a look at the ends of channels, up to one for which that is needed.

        Gives 0, or what the step function gave in place of a firing. Most firings are found here.
        """
        word = 0
        while trail.number < until:
            if joins:
                for i in range(inputs):
                    behead(heads[i], i, kind, data, 1)
            word = step(kind, data, state, memory, out_kind, out_data)
            if word < FIRES:
                break
            if spaced:
                note_key(me, trail.number, state[key])
            note(trail, word)
            move_tokens(me, word, heads, tails, kind, data, out_kind, out_data, 1)
            word = 0
        for i in range(inputs):
            behead(heads[i], i, kind, data, 0)
        return word

    def end(me: ActorRecord, heads: tuple[Head, ...], tails: tuple[Tail, ...]) -> None:
        """Tells the channels."""
        for i in range(inputs):
            channel = ChannelRecord.at(words_at(me.inputs, inputs)[i])
            before, channel.popped = channel.popped, (heads[i].next - channel.tokens) >> 3
            count_taken(channel, before)
        for q in range(queues):
            channel = ChannelRecord.at(words_at(me.outputs, queues)[q])
            channel.pushed = (tails[q].next - channel.tokens) >> 3

    def find(address: int, unused: int) -> int:
        me = ActorRecord.at(address)
        memory = stored(me.stores)
        kind, data = local_words(inputs), local_words(inputs)
        out_kind, out_data = local_words(outputs), local_words(outputs)
        state = local_words(states)
        copy(words_at(me.tokens, outputs), out_kind, outputs)
        copy(words_at(me.tokens + 8 * outputs, outputs), out_data, outputs)
        copy(words_at(me.state, states), state, states)
        heads, tails = Head.local(inputs), Tail.local(queues)
        begin(me, heads, tails, kind, data)
        word = me.word
        trail = Trail.local(1)[0]
        trail.number = me.found
        trail.run = me.trail + 16 * (me.runs - 1)
        trail.word = words_at(trail.run, 2)[0]
        first = trail.number
        last = first + me.left
        # What it watches differs from what it has seen: it can go on.
        me.watch = address + ActorRecord.offset("found")
        me.seen = -1
        me.patience = 1
        while trail.number < last:
            if simple and word == 0:
                until = trail.number + surely(last - trail.number, heads, tails)
                word = fire_freely(
                    until, me, trail, memory, heads, tails, kind, data, state, out_kind, out_data
                )
                if trail.number == last:
                    break
            if word == 0:
                word = step(kind, data, state, memory, out_kind, out_data)
            if word < FIRES:
                rest(address, me, word, kind)
                word = 0
                break
            if is_full(me, word, tails):
                break
            if accesses:
                ask_for_lines(me, word, trail.number, tails, kind, data, state, out_kind, out_data)
            if spaced:
                note_key(me, trail.number, state[key])
            note(trail, word)
            move_tokens(me, word, heads, tails, kind, data, out_kind, out_data, 0)
            word = 0
        words_at(trail.run, 2)[1] = trail.number
        me.runs = (trail.run - me.trail >> 4) + 1
        me.left = last - trail.number
        me.found = trail.number
        me.word = word
        copy(out_kind, words_at(me.tokens, outputs), outputs)
        copy(out_data, words_at(me.tokens + 8 * outputs, outputs), outputs)
        copy(state, words_at(me.state, states), states)
        end(me, heads, tails)
        return trail.number - first

    return find


def copy(source: Words, target: Words, count: int) -> None:
    """Copies words."""
    for n in range(count):
        target[n] = source[n]
