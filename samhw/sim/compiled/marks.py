"""Marks on actors that have to be timed again, or may go on, since a channel of theirs has changed."""

from samhw.sim.compiled.records import NEVER, ActorRecord, ChannelRecord
from samhw.sim.compiled.rows import exceeds, fill
from samhw.sim.machine_code import apart, words_at

__all__ = ["forget_slots", "forget_tokens", "tell_consumer", "tell_producer"]


@apart
def forget_tokens(address: int, unknown: int) -> None:
    """Forgets when those tokens of a channel come that are not timed.

    Args:
        unknown: what stands for the cycles.
    """
    channel = ChannelRecord.at(address)
    first, count = channel.timed_pushed, channel.pushed - channel.timed_pushed
    ready = unknown + channel.latency if unknown else 0
    fill(channel.ready + 8 * first, count, ready)
    if channel.come != channel.ready:
        fill(channel.come + 8 * first, count, ready)


@apart
def forget_slots(address: int, unknown: int) -> None:
    """Forgets when those slots of a channel are free whose pops are not timed.

    Args:
        unknown: what stands for the cycles.
    """
    channel = ChannelRecord.at(address)
    fill(channel.freed + 8 * channel.timed_popped, channel.popped - channel.timed_popped, unknown)


@apart
def tell_producer(address: int, first: int, end: int, careful: int) -> None:
    """Marks the producer of a channel if pops of the tokens from `first` on, up to `end`, concern it.

    They do if it has pushed a token into a slot that is free only later or, where nothing is assumed, if it
    may have waited for one of them.
    """
    channel = ChannelRecord.at(address)
    producer = ActorRecord.at(channel.producer)
    count = min(end, channel.pushed - channel.depth) - first
    if count <= 0:
        return
    freed = channel.freed + 8 * first
    come = channel.come + 8 * (first + channel.depth)
    if careful:
        if words_at(come, count)[count - 1] >= NEVER:
            producer.stale = min(producer.stale, NEVER)
        return
    if producer.stale <= 0:
        return
    # A firing that waited after its slots comes no later for one that is free in the meantime; but it has
    # waited for that one then.
    early = exceeds(freed, come, count, channel.latency + producer.slip)
    if early < count:
        # Where timing has stopped, nobody has held anybody back.
        if words_at(freed, count)[early] < NEVER:
            producer.held = 1
            producer.follows = 0
        producer.stale = min(producer.stale, words_at(come, count)[early] - channel.latency)


@apart
def tell_consumer(address: int, first: int, new: int, careful: int) -> None:
    """Marks the consumer of a channel if it may have looked at a token before that is there.

    The token `first` comes in another cycle than before, and those after it may.

    Args:
        new: nothing of the producer was timed before in this phase.
    """
    channel = ChannelRecord.at(address)
    consumer = ActorRecord.at(channel.consumer)
    if first < channel.pushed:
        channel.counted = 0
    # After the head of those that are left nobody looks.
    count = min(channel.pushed, channel.popped + 1) - first
    if count <= 0 or consumer.stale <= 0:
        return
    if careful:
        consumer.stale = min(consumer.stale, NEVER)
        return
    # Nobody looks at a token before the one ahead of it is taken.
    ready, front = channel.ready + 8 * first, channel.freed + 8 * (first - 1)
    early = exceeds(ready, front, count, 0)
    # After those that are taken nobody looks.
    if early < count and words_at(front, count)[early] < NEVER:
        if new and words_at(ready, count)[early] < NEVER:
            if consumer.held:
                # Both waited for their consumers, and it was timed before its producer.
                consumer.follows = 1
            else:
                ActorRecord.at(channel.producer).held = 0
        consumer.stale = min(consumer.stale, words_at(front, count)[early])
