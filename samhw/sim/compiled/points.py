"""Points in an actor's row of firings from which these can be timed again.

A point is what is known there: how many firings lie before it and when the last of them was, how many tokens
of each channel were taken or pushed, and the waits of the phase so far. The first one is the beginning of the
phase, the last one is where timing has stopped.
"""

from samhw.machine_code import Record, words_at
from samhw.sim.compiled.records import ActorRecord, ChannelRecord

__all__ = [
    "SPAN",
    "Now",
    "TimedInput",
    "TimedOutput",
    "begin_points",
    "end_points",
    "keep_point",
    "known_firings",
    "point_words",
    "points_of_phase",
    "take_up_point",
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
    """The most cycles that a firing of the phase has waited behind its slots."""


class TimedInput(Record):
    """An input while firings are timed."""

    popped: int
    starved: int
    """What the phase has added so far."""
    ready: int
    freed: int
    began: int
    """What was popped where timing began."""


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
    changed: int
    """The first token that comes in another cycle than before."""


HEAD = 5
"""Words of a point before those of inputs and channels."""


def point_words(inputs: int, queues: int) -> int:
    """Words of a point."""
    return HEAD + 2 * inputs + 2 * queues


def points_of_phase(phase: int) -> int:
    """The most points of an actor in a phase of so many firings."""
    return phase // SPAN + 3


def begin_points(me: ActorRecord) -> None:
    """Makes the first point of a phase."""
    inputs, outputs = words_at(me.inputs, me.input_count), words_at(me.outputs, me.output_count)
    size = HEAD + 2 * me.input_count + 2 * me.output_count
    point = words_at(me.points, size)
    for k in range(size):
        point[k] = 0
    point[0], point[3], point[4] = me.timed, me.run, me.last
    for i in range(me.input_count):
        point[HEAD + 2 * i] = ChannelRecord.at(inputs[i]).timed_popped
    for q in range(me.output_count):
        point[HEAD + 2 * me.input_count + 2 * q] = ChannelRecord.at(outputs[q]).timed_pushed
    me.point_count = 1
    me.slip = 0


def end_points(me: ActorRecord) -> int:
    """Makes what is known at the last point of a phase the truth; gives how many firings lie before it."""
    inputs, outputs = words_at(me.inputs, me.input_count), words_at(me.outputs, me.output_count)
    size = HEAD + 2 * me.input_count + 2 * me.output_count
    point = words_at(me.points + 8 * size * (me.point_count - 1), size)
    fired = point[0] - me.timed
    me.timed, me.run, me.last = point[0], point[3], point[4]
    me.spaced += point[1]
    me.stalled += point[2]
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


def known_firings(me: ActorRecord) -> int:
    """How many firings lie before the last point of a phase."""
    size = HEAD + 2 * me.input_count + 2 * me.output_count
    return words_at(me.points + 8 * size * (me.point_count - 1), size)[0]


def keep_point(me: ActorRecord, now: Now, ins: tuple[TimedInput, ...], outs: tuple[TimedOutput, ...]) -> None:
    """Adds the point where timing is."""
    size = HEAD + 2 * len(ins) + 2 * len(outs)
    point = words_at(me.points + 8 * size * me.point_count, size)
    point[0], point[1], point[2], point[3] = now.number, now.spaced, now.stalled, now.run
    point[4] = now.cycle
    for i in range(len(ins)):
        point[HEAD + 2 * i], point[HEAD + 2 * i + 1] = ins[i].popped, ins[i].starved
    for q in range(len(outs)):
        at = HEAD + 2 * len(ins) + 2 * q
        point[at], point[at + 1] = outs[q].pushed, outs[q].blocked
    me.point_count += 1


def take_up_point(
    me: ActorRecord, now: Now, ins: tuple[TimedInput, ...], outs: tuple[TimedOutput, ...]
) -> None:
    """Goes back to the last point before which no firing changes, and drops those behind it.

    Nor is that point itself kept if it is only where timing has stopped, too close to the one before it.
    """
    size = HEAD + 2 * len(ins) + 2 * len(outs)
    count = me.point_count
    while count > 1 and words_at(me.points + 8 * size * (count - 1), size)[4] >= me.stale:
        count -= 1
    point = words_at(me.points + 8 * size * (count - 1), size)
    now.number, now.spaced, now.stalled, now.run = point[0], point[1], point[2], point[3]
    now.cycle = point[4]
    for i in range(len(ins)):
        ins[i].popped, ins[i].starved = point[HEAD + 2 * i], point[HEAD + 2 * i + 1]
    for q in range(len(outs)):
        at = HEAD + 2 * len(ins) + 2 * q
        outs[q].pushed, outs[q].blocked = point[at], point[at + 1]
    if count > 1 and now.number < words_at(me.points + 8 * size * (count - 2), size)[0] + SPAN:
        count -= 1
    me.point_count = count
