"""Points in an actor's row of firings from which these can be timed again.

A point is what is known there: how many firings lie before it and when the last of them was, how many tokens
of each channel were taken or pushed, and the waits of the phase so far. The first one is the beginning of the
phase, the last one is where timing has stopped.
"""

from typing import NamedTuple

from samhw.sim.compiled.records import ActorRecord, ChannelRecord
from samhw.sim.machine_code import UNKNOWN, Record, words_at
from samhw.sim.step import Words

__all__ = [
    "CYCLE",
    "HEAD",
    "NUMBER",
    "RUN",
    "SPAN",
    "Now",
    "TimedInput",
    "TimedOutput",
    "Timing",
    "began_of",
    "begin_points",
    "changes_of",
    "end_points",
    "keep_point",
    "known_firings",
    "last_good_point",
    "last_point",
    "pick_up",
    "place_of",
    "point_words",
    "points_words",
    "put_down",
    "words_before",
]

SPAN = 128
"""Firings between two points."""


class Now(Record):
    """Where timing is."""

    number: int
    """Firings before."""
    run: int
    """The run of the next one, or that of the last one."""
    spaced: int
    stalled: int
    cycle: int
    """That of the last one."""
    slip: int
    """The most cycles that a firing of the phase has waited after its slots."""
    calm: int
    """How many of the last ones came without a wait."""
    ease: int
    """This many firings may still be timed one by one before many are timed together."""


class TimedInput(Record):
    """An input while firings are timed."""

    popped: int
    starved: int
    """What the phase has added so far."""
    ready: int
    freed: int
    known: int
    """Tokens from this one on are not timed, but assumed to come in time."""


class TimedOutput(Record):
    """A channel that the actor pushes to, while firings are timed."""

    pushed: int
    blocked: int
    """What the phase has added so far."""
    ready: int
    freed: int
    guard: int
    depth: int
    latency: int
    known: int
    """Slots from this one on are not timed, but assumed to be free in time,"""
    found: int
    """up to this one: from here on they never are."""
    changed: int
    """The first token that comes in another cycle than before."""


class Timing(NamedTuple):
    """An actor while its firings are timed."""

    actor: ActorRecord
    now: Now
    ins: tuple[TimedInput, ...]
    outs: tuple[TimedOutput, ...]


NUMBER, SPACED, STALLED, RUN, CYCLE, HEAD = range(6)
"""Words of a point, and how many they are before those of inputs and channels."""


def point_words(inputs: int, queues: int) -> int:
    """Words of a point."""
    return HEAD + 2 * inputs + 2 * queues


def points_words(phase: int, inputs: int, queues: int) -> int:
    """Words for the points of an actor in a phase of this many firings, for its place after them, and for
    what lies before them."""
    return (phase // SPAN + 4) * point_words(inputs, queues) + words_before(inputs, queues)


def words_before(inputs: int, queues: int) -> int:
    """Words before an actor's points: those of `began_of` and of `changes_of`."""
    return inputs + queues


def began_of(me: ActorRecord) -> Words:
    """For each input how many tokens were taken where timing began the last time."""
    return words_at(me.points - 8 * me.input_count, me.input_count)


def changes_of(me: ActorRecord) -> Words:
    """For each channel that an actor pushes to the first token that comes in another cycle since then."""
    return words_at(me.points - 8 * words_before(me.input_count, me.output_count), me.output_count)


def place_of(me: ActorRecord) -> int:
    """Address of the words after an actor's points in which it puts down where its timing is, while others
    go on with it (many_firings.py): as in a point."""
    return me.points + 8 * point_words(me.input_count, me.output_count) * me.point_count


def put_down(timing: Timing) -> None:
    """Puts down what a point does not say of where timing is."""
    me, now, _, outs = timing
    me.slip = now.slip
    for q in range(len(outs)):
        changes_of(me)[q] = outs[q].changed


def pick_up(point: int, timing: Timing) -> None:
    """Goes on from a point, or from the place of an actor."""
    me, now, _, outs = timing
    look_at(words_at(point, UNKNOWN), timing)
    now.slip = me.slip
    for q in range(len(outs)):
        outs[q].changed = changes_of(me)[q]


def look_at(point: Words, timing: Timing) -> None:
    """Goes to a point."""
    _, now, ins, outs = timing
    now.number, now.spaced, now.stalled = point[NUMBER], point[SPACED], point[STALLED]
    now.run, now.cycle = point[RUN], point[CYCLE]
    for i in range(len(ins)):
        ins[i].popped, ins[i].starved = point[HEAD + 2 * i], point[HEAD + 2 * i + 1]
    for q in range(len(outs)):
        at = HEAD + 2 * len(ins) + 2 * q
        outs[q].pushed, outs[q].blocked = point[at], point[at + 1]


def begin_points(me: ActorRecord) -> None:
    """Makes the first point of a phase."""
    inputs, outputs = words_at(me.inputs, me.input_count), words_at(me.outputs, me.output_count)
    size = point_words(me.input_count, me.output_count)
    point = words_at(me.points, size)
    for k in range(size):
        point[k] = 0
    point[NUMBER], point[RUN], point[CYCLE] = me.timed, me.run, me.last
    for i in range(me.input_count):
        point[HEAD + 2 * i] = ChannelRecord.at(inputs[i]).timed_popped
    for q in range(me.output_count):
        point[HEAD + 2 * me.input_count + 2 * q] = ChannelRecord.at(outputs[q]).timed_pushed
    me.point_count = 1
    me.slip = 0


def end_points(me: ActorRecord) -> int:
    """Makes what is known at the last point of a phase the truth; gives how many firings lie before it."""
    inputs, outputs = words_at(me.inputs, me.input_count), words_at(me.outputs, me.output_count)
    size = point_words(me.input_count, me.output_count)
    point = words_at(last_point(me), size)
    fired = point[NUMBER] - me.timed
    me.timed, me.run, me.last = point[NUMBER], point[RUN], point[CYCLE]
    me.spaced += point[SPACED]
    me.stalled += point[STALLED]
    for i in range(me.input_count):
        channel = ChannelRecord.at(inputs[i])
        channel.new_popped = point[HEAD + 2 * i]
        channel.starved += point[HEAD + 2 * i + 1]
    for q in range(me.output_count):
        at = HEAD + 2 * me.input_count + 2 * q
        channel = ChannelRecord.at(outputs[q])
        channel.new_pushed = point[at]
        channel.blocked += point[at + 1]
    return fired


def last_point(me: ActorRecord) -> int:
    """The address of the last point of a phase."""
    return me.points + 8 * point_words(me.input_count, me.output_count) * (me.point_count - 1)


def known_firings(me: ActorRecord) -> int:
    """How many firings lie before the last point of a phase."""
    return words_at(last_point(me), HEAD)[NUMBER]


def keep_point(timing: Timing) -> None:
    """Adds the point where timing is."""
    me, now, ins, outs = timing
    size = point_words(len(ins), len(outs))
    point = words_at(me.points + 8 * size * me.point_count, size)
    point[NUMBER], point[SPACED], point[STALLED] = now.number, now.spaced, now.stalled
    point[RUN], point[CYCLE] = now.run, now.cycle
    for i in range(len(ins)):
        point[HEAD + 2 * i], point[HEAD + 2 * i + 1] = ins[i].popped, ins[i].starved
    for q in range(len(outs)):
        at = HEAD + 2 * len(ins) + 2 * q
        point[at], point[at + 1] = outs[q].pushed, outs[q].blocked
    me.point_count += 1


def last_good_point(me: ActorRecord) -> int:
    """The address of the last point before which no firing changes; drops those after it.

    Nor is that point itself kept if it is only where timing has stopped, too close to the one before it.
    """
    size = point_words(me.input_count, me.output_count)
    count = me.point_count
    while count > 1 and words_at(me.points + 8 * size * (count - 1), size)[CYCLE] >= me.stale:
        count -= 1
    point = me.points + 8 * size * (count - 1)
    before = words_at(point - 8 * size, size)
    me.point_count = count
    if count > 1 and words_at(point, size)[NUMBER] < before[NUMBER] + SPAN:
        me.point_count -= 1
    return point
