"""A token as it lies in the row of its channel: one word, with the payload above the kind; and what tokens
add to the statistics of a channel."""

from typing import Any

from samhw.sim.compiled.records import ChannelRecord
from samhw.sim.compiled.rows import exceeds, total_difference
from samhw.sim.machine_code import apart, words_at

__all__ = ["count_passed", "count_taken", "end_tokens", "kind_of", "packed", "payload_of", "unpacked"]

KIND_BITS = 2
KINDS = (1 << KIND_BITS) - 1


def packed(kind: int, payload: int) -> int:
    """The word of a token."""
    return payload << KIND_BITS | kind


def kind_of(token: Any) -> Any:
    """The kind of a token, by its word."""
    return token & KINDS


def payload_of(token: int) -> int:
    """The payload of a token, by its word."""
    return token >> KIND_BITS


def unpacked(token: int) -> tuple[int, int]:
    """The kind and the payload of a token, by its word; of a token outside of machine code."""
    return kind_of(token), payload_of(token)


PART_BITS = 16
"""Tokens of a phase are counted by kind in the four parts of one word."""
PART = (1 << PART_BITS) - 1


def count_taken(channel: ChannelRecord, first: int) -> None:
    """Counts the tokens that were taken, from this one on, by kind."""
    kinds = count_kinds(channel.tokens + 8 * first, channel.popped - first)
    channel.vals += kinds & PART
    channel.stops += kinds >> PART_BITS & PART
    channel.empties += kinds >> 2 * PART_BITS & PART
    channel.dones += kinds >> 3 * PART_BITS & PART


@apart
def count_passed(address: int, popped: int, pushed: int) -> None:
    """Counts what those tokens of a channel add that are popped in a phase, up to `popped`.

    Args:
        pushed: rows say in which cycles tokens up to this one come. Those after it come later.
    """
    channel = ChannelRecord.at(address)
    first = channel.timed_popped
    count = popped - first
    channel.new_dwell = 0
    if count > 0:
        dwell = total_difference(channel.freed + 8 * first, channel.come + 8 * first, count)
        channel.new_dwell = dwell + count * (channel.latency - 1)
    channel.new_high = highest(channel, popped, pushed)
    channel.counted = 1


def end_tokens(address: int) -> None:
    """Makes what was timed in a phase the truth."""
    channel = ChannelRecord.at(address)
    if not channel.counted:
        count_passed(address, channel.new_popped, channel.new_pushed)
    channel.counted = 0
    channel.dwell += channel.new_dwell
    channel.high = channel.new_high
    channel.timed_popped = channel.new_popped
    channel.timed_pushed = channel.new_pushed


@apart
def count_kinds(address: int, count: int) -> int:
    """How many tokens are of each kind, in the parts of a word."""
    tokens = words_at(address, count)
    kinds = 0
    for k in range(count):
        kinds += 1 << (kind_of(tokens[k]) * PART_BITS)
    return kinds


def highest(channel: ChannelRecord, popped: int, pushed: int) -> int:
    """The most slots taken at once, by tokens up to `popped`.

    In steps that double: a deep channel fills up in one phase.
    """
    high = channel.high
    # It cannot be more than the depth.
    step = 1 if high < channel.depth else 0
    while step > 0:
        if is_fuller(channel, high + step - 1, popped, pushed):
            high += step
            step <<= 1
        else:
            step >>= 1
    return high


def is_fuller(channel: ChannelRecord, slots: int, popped: int, pushed: int) -> bool:
    """Whether more slots than this many were taken at once: a token was pushed before one had left that came
    this many before it."""
    first = max(channel.guard + 1, min(channel.timed_popped, channel.timed_pushed - slots))
    count = min(popped, pushed - slots) - first
    if count < 1:
        return False
    freed, come = channel.freed + 8 * first, channel.come + 8 * (first + slots)
    return exceeds(freed, come, count, channel.latency) < count
