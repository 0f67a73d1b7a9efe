"""What tokens add to the statistics of a channel."""

from samhw.machine_code import apart, words_at
from samhw.sim.compiled.records import ChannelRecord
from samhw.sim.compiled.rows import exceeds, total_difference

__all__ = ["count_taken", "count_tokens"]

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


def count_tokens(channel: ChannelRecord) -> None:
    """Counts what was timed in this phase, which then is timed for good."""
    first = channel.timed_popped
    count = channel.new_popped - first
    if count > 0:
        dwell = total_difference(channel.freed + 8 * first, channel.come + 8 * first, count)
        channel.dwell += dwell + count * (channel.latency - 1)
    raise_high(channel)
    channel.timed_popped = channel.new_popped
    channel.timed_pushed = channel.new_pushed


@apart
def count_kinds(address: int, count: int) -> int:
    """How many tokens are of each kind, in the parts of a word."""
    tokens = words_at(address, count)
    kinds = 0
    for k in range(count):
        kinds += 1 << ((tokens[k] & 3) * PART_BITS)
    return kinds


def raise_high(channel: ChannelRecord) -> None:
    """Looks for the most slots taken at once. In steps that double: a deep channel fills up in one phase."""
    # It cannot be more than the depth.
    step = 1 if channel.high < channel.depth else 0
    while step > 0:
        if is_fuller(channel, channel.high + step - 1):
            channel.high += step
            step <<= 1
        else:
            step >>= 1


def is_fuller(channel: ChannelRecord, slots: int) -> bool:
    """Whether more slots than so many were taken at once: a token was pushed before one had left that came so
    many before it."""
    first = max(channel.guard + 1, min(channel.timed_popped, channel.timed_pushed - slots))
    count = min(channel.new_popped, channel.new_pushed - slots) - first
    if count < 1:
        return False
    freed, come = channel.freed + 8 * first, channel.come + 8 * (first + slots)
    return exceeds(freed, come, count, channel.latency) < count
