"""Loops over the firings of an actor for one of its channels, and for all of them.

Rows are those of many_firings.py: word k belongs to firing k. `firings` is what the step function gave:
bit i of a word says whether a firing needs input i, bit TAKES + i whether it takes from it, bit PUSHES + j
whether it pushes to output j.
"""

from samhw.sim.machine_code import apart, words_at
from samhw.sim.step import TAKES

__all__ = [
    "HALF",
    "HALF_BITS",
    "block",
    "of_all",
    "of_any",
    "pick_two",
    "share_of",
    "spread",
    "starve",
    "take_turns",
    "wait_for_some",
    "wait_for_two",
]

HALF_BITS = 32
"""Bits of each number in a word that holds two of them."""

HALF = (1 << HALF_BITS) - 1
"""Set bits for the first one."""


@apart
def spread(run: int, first: int, count: int, words: int, marks: int) -> int:
    """Writes out this many firings from a run on, of which `first` is the first; gives the last one's run."""
    marked, firings = words_at(marks, count), words_at(words, count)
    for k in range(count):
        marked[k] = 0
    at = run
    end = words_at(at, 2)[1] - first
    while end < count:
        marked[end] = 16
        at += 16
        end = words_at(at, 2)[1] - first
    at = run
    for k in range(count):
        at += marked[k]
        firings[k] = words_at(at, 1)[0]
    return at


@apart
def of_all(address: int, count: int) -> int:
    """The bits that all words have."""
    words = words_at(address, count)
    bits = -1
    for k in range(count):
        bits &= words[k]
    return bits


@apart
def of_any(address: int, count: int) -> int:
    """The bits that any of the words has."""
    words = words_at(address, count)
    bits = 0
    for k in range(count):
        bits |= words[k]
    return bits


@apart
def wait_for_two(tokens: int, firings: int, count: int, i: int, ready: int, other: int, zero: int) -> None:
    """Raises the cycles in which firings have their tokens to those of inputs i and i + 1.

    Args:
        ready: address of the cycle in which the next token of input i is there, and after it those of the
            ones that follow.
        other: the same of input i + 1.
        zero: address of a zero.
    """
    there, words = words_at(tokens, count), words_at(firings, count)
    for k in range(count):
        word = words[k] >> i
        # Loads a zero instead of a token that is not needed: a branch would be a guess.
        due = words_at(ready if word & 1 else zero, 1)[0]
        due = max(due, words_at(other if word & 2 else zero, 1)[0])
        there[k] = max(there[k], due)
        ready += (word >> TAKES & 1) << 3
        other += (word >> TAKES + 1 & 1) << 3


@apart
def wait_for_some(slots: int, firings: int, count: int, bit: int, freed: int, slot: int, guard: int) -> None:
    """Raises the cycles in which firings have their slots to those of a channel."""
    free, words, row = words_at(slots, count), words_at(firings, count), words_at(freed, count)
    for k in range(count):
        pushed = words[k] >> bit & 1
        free[k] = max(free[k], row[max(slot, guard) if pushed else guard])
        slot += pushed


@apart
def take_turns(cycles: int, tokens: int, slots: int, count: int, last: int) -> None:
    """The cycles of firings that follow one in the cycle `last`."""
    times, there, free = words_at(cycles, count), words_at(tokens, count), words_at(slots, count)
    for k in range(count):
        due = max(there[k], free[k])
        last = max(last + 1, due)
        times[k] = last


@apart
def pick_two(cycles: int, firings: int, count: int, bit: int, other: int, first: int, second: int) -> int:
    """The cycles of the firings with a bit, one after the other, and of those with another in a second row.

    Gives how many they are, in the halves of a word.
    """
    times, words = words_at(cycles, count), words_at(firings, count)
    some, others = words_at(first, count), words_at(second, count)
    picked, more = 0, 0
    for k in range(count):
        some[picked] = times[k]
        others[more] = times[k]
        picked += words[k] >> bit & 1
        more += words[k] >> other & 1
    return picked | more << HALF_BITS


@apart
def starve(waits: int, cycles: int, tokens: int, count: int) -> int:
    """How long firings wait for their tokens; gives the sum."""
    words, there, before = words_at(waits, count), words_at(tokens, count), words_at(cycles - 8, count)
    total = 0
    for k in range(count):
        wait = max(there[k] - before[k] - 1, 0)
        words[k] = wait
        total += wait
    return total


@apart
def block(waits: int, cycles: int, tokens: int, count: int) -> int:
    """How long firings wait for their slots, when their tokens are there; gives the sum."""
    words, there, before = words_at(waits, count), words_at(tokens, count), words_at(cycles - 8, count + 1)
    total = 0
    for k in range(count):
        wait = before[k + 1] - max(there[k], before[k] + 1)
        words[k] = wait
        total += wait
    return total


@apart
def share_of(
    waits: int, due: int, firings: int, count: int, need: int, move: int, row: int, at: int, least: int
) -> int:
    """How much of the waits is for a channel, and takes it away from them.

    Args:
        due: the cycles that firings waited for.
        need: the bit of the firings that need a token or a slot.
        move: that of those which move on to the next.
        row: address of the cycles in which its tokens, or slots, come.
        at: the first firing's; but none before `least` is looked at.
    """
    words, dues, words_of = words_at(waits, count), words_at(due, count), words_at(firings, count)
    cycles = words_at(row, count)
    total = 0
    for k in range(count):
        mine = cycles[max(at, least)] == dues[k] and words_of[k] >> need & 1 != 0
        wait = words[k] if mine else 0
        words[k] -= wait
        total += wait
        at += words_of[k] >> move & 1
    return total
