"""Words of a row, many at once; and tokens as such words, which add to the statistics of a channel."""

from typing import Any

from samhw.sim.compiled.records import NEVER, ChannelRecord
from samhw.sim.machine_code import UNKNOWN, apart, words_at

__all__ = [
    "count_passed",
    "count_taken",
    "differ",
    "end_tokens",
    "exceeds",
    "fill",
    "follow",
    "follows_until",
    "in_time",
    "kind_of",
    "moved",
    "packed",
    "payload_of",
    "place_of_least",
    "put",
    "raise_to",
    "total_difference",
    "unpacked",
]


@apart
def fill(address: int, count: int, word: int) -> None:
    """Sets words."""
    words = words_at(address, count)
    for k in range(count):
        words[k] = word


@apart
def follow(address: int, count: int, first: int) -> None:
    """Sets words to numbers that follow each other."""
    words = words_at(address, count)
    for k in range(count):
        words[k] = first + k


@apart
def follows_until(address: int, count: int, first: int) -> int:
    """How many words hold numbers that follow each other from `first` on."""
    words = words_at(address, count)
    other = 0
    for k in range(count):
        other |= words[k] ^ (first + k)
    if other == 0:
        return count
    same = 0
    while words[same] == first + same:
        same += 1
    return same


@apart
def differ(address: int, count: int, word: int) -> int:
    """0 if all words are this one."""
    words = words_at(address, count)
    other = 0
    for k in range(count):
        other |= words[k] ^ word
    return other


@apart
def in_time(address: int, count: int, first: int) -> int:
    """How many words, from the first on, are not beyond numbers that follow each other from `first` on."""
    words = words_at(address, count)
    late = -NEVER
    for k in range(count):
        late = max(late, words[k] - k)
    if late <= first:
        return count
    early = 0
    while words[early] <= first + early:
        early += 1
    return early


@apart
def raise_to(address: int, other: int, count: int) -> None:
    """Sets words to those of another row that are greater."""
    words, others = words_at(address, count), words_at(other, count)
    for k in range(count):
        words[k] = max(words[k], others[k])


@apart
def put(address: int, other: int, count: int, more: int) -> int:
    """Sets words to those of another row and so much more; gives how many of the first were that already."""
    words, others = words_at(address, count), words_at(other, count)
    different = 0
    for k in range(count):
        different |= words[k] ^ (others[k] + more)
    same = count
    if different:
        same = 0
        while words[same] == others[same] + more:
            same += 1
    for k in range(count):
        words[k] = others[k] + more
    return same


@apart
def exceeds(address: int, other: int, count: int, margin: int) -> int:
    """The first place in which a word and a margin are more than the one of another row, or `count`."""
    words, limits = words_at(address, count), words_at(other, count)
    least = 0
    for k in range(count):
        least = min(least, limits[k] - words[k] - margin)
    if least == 0:
        return count
    within = 0
    while words[within] + margin <= limits[within]:
        within += 1
    return within


@apart
def total_difference(address: int, other: int, count: int) -> int:
    """The sum of words less those of another row."""
    words, others = words_at(address, count), words_at(other, count)
    total = 0
    for k in range(count):
        total += words[k] - others[k]
    return total


@apart
def place_of_least(address: int, count: int) -> int:
    """The first place of the least of some words."""
    words = words_at(address, count)
    least = NEVER
    for k in range(count):
        least = min(least, words[k])
    place = 0
    while words[place] != least:
        place += 1
    return place


@apart
def move(address: int, count: int, far: int) -> None:
    """Moves words towards the front."""
    words = words_at(address - 8 * far, UNKNOWN)
    for k in range(count):
        words[k] = words[k + far]


def moved(row: int, first: int, far: int, count: int) -> int:
    """Moves this many words of a row, from the one numbered `first` on, `far` words towards its front; gives
    where word 0 would be then."""
    move(row + 8 * first, count, far)
    return row - 8 * far


# A token as it lies in the row of its channel: one word, with the payload above the kind; and what tokens add
# to the statistics of a channel.


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
