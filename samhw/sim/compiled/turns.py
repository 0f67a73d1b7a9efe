"""What surrounds the timing of an actor (timing.py): where it goes on, and who learns what came of it.

These functions serve all actors, so that the code of each has only what depends on its kind.
"""

from samhw.sim.compiled.points import HEAD, began_of, changes_of, last_good_point, last_point, point_words
from samhw.sim.compiled.records import NEVER, UP_TO_DATE, ActorRecord, ChannelRecord
from samhw.sim.compiled.rows import count_passed, differ, fill
from samhw.sim.compiled.settle import forget_slots, forget_tokens, tell_consumer, tell_producer
from samhw.sim.machine_code import apart, words_at
from samhw.sim.step import Words

__all__ = ["begin_turn", "end_turn", "known_slots", "known_tokens"]


@apart
def begin_turn(address: int) -> int:
    """Prepares an actor to be timed; gives the address of the point from which that goes on."""
    me = ActorRecord.at(address)
    place = last_good_point(me)
    point = words_at(place, point_words(me.input_count, me.output_count))
    began, changes = began_of(me), changes_of(me)
    inputs, outputs = words_at(me.inputs, me.input_count), words_at(me.outputs, me.output_count)
    for i in range(me.input_count):
        began[i] = point[HEAD + 2 * i]
        if me.fresh and ChannelRecord.at(inputs[i]).producer == address:
            forget_tokens(inputs[i], 0)
            forget_slots(inputs[i], 0)
    for q in range(me.output_count):
        # What rows say of tokens that were not timed yet is of no account.
        changes[q] = ChannelRecord.at(outputs[q]).timed_pushed if me.fresh else NEVER
    me.stale = UP_TO_DATE
    me.beyond = NEVER
    return place


def is_fresh(address: int) -> bool:
    """Whether an actor was not timed yet in this phase: its firings are assumed to come in time."""
    return ActorRecord.at(address).fresh != 0


def known_tokens(channel: ChannelRecord, address: int) -> int:
    """Up to which token its row says when they come: those after are assumed to come in time.

    Args:
        address: the consumer's. What it pushes itself it finds in the row.
    """
    assumed = channel.producer != address and is_fresh(channel.producer)
    return channel.timed_pushed if assumed else channel.pushed


def known_slots(channel: ChannelRecord, address: int) -> int:
    """Up to which token its row says when their slots are free: those of the others that are found to be
    popped are assumed to be so in time.

    Args:
        address: the producer's. What it pops itself it finds in the row.
    """
    assumed = channel.consumer != address and is_fresh(channel.consumer)
    return channel.timed_popped if assumed else channel.popped


@apart
def end_turn(address: int) -> None:
    """Tells the channels of an actor what is timed, up to its last point, and who else has to be."""
    me = ActorRecord.at(address)
    point = words_at(last_point(me), point_words(me.input_count, me.output_count))
    # Who was timed again in the phase before may be again: then it counts at the end of the phase.
    new = me.fresh
    counts = new != 0 and not me.again
    me.again = not new
    me.fresh = 0
    inputs, outputs = words_at(me.inputs, me.input_count), words_at(me.outputs, me.output_count)
    began, changes = began_of(me), changes_of(me)
    # Of the firings that are left, the cycles are not known.
    for q in range(me.output_count):
        forget_pushes(ChannelRecord.at(outputs[q]), point[HEAD + 2 * (me.input_count + q)], q, changes)
    for i in range(me.input_count):
        channel, popped = ChannelRecord.at(inputs[i]), point[HEAD + 2 * i]
        fill(channel.freed + 8 * popped, channel.popped - popped, NEVER)
        tell_producer(inputs[i], began[i], channel.popped)
        channel.counted = 0
        if counts and not is_fresh(channel.producer):
            count_passed(inputs[i], popped, channel.pushed)
    for q in range(me.output_count):
        tell_consumer(outputs[q], changes[q], new)


def forget_pushes(channel: ChannelRecord, first: int, q: int, changes: Words) -> None:
    """Notes that it is not known when the tokens from `first` on come, and that they have changed if so."""
    come, count = channel.come + 8 * first, channel.pushed - first
    unknown = NEVER + channel.latency
    if count > 0 and differ(come, count, unknown) != 0:
        changes[q] = min(changes[q], first)
        fill(come, count, unknown)
