"""Firings that are alike and come one in each cycle, timed at once.

Tokens become available in different cycles, and so do slots. So a token is in time if it is there when an
actor comes to it that fires in every cycle.
"""

from samhw.sim.compiled.points import Timing
from samhw.sim.compiled.records import NEVER
from samhw.sim.compiled.rows import follow, follows_until, in_time
from samhw.sim.machine_code import words_at
from samhw.sim.step import PUSHES, TAKES

__all__ = ["FEW", "MANY", "fire_at_once", "in_a_row"]

MANY, FEW = 128, 6
"""This many are timed at once at most; and this many at least are worth it."""


def in_a_row(word: int, ports: tuple[int, ...], most: int, timing: Timing) -> int:
    """How many of the next firings, `most` of which are alike, come in the cycles that follow, one in each.

    Where they are fewer than FEW, any number that is.
    """
    _, now, ins, outs = timing
    first = now.cycle + 1
    count = most
    for i in range(len(ins)):
        if word >> i & 1 and count >= FEW:
            if word >> TAKES + i & 1:
                known = min(max(0, ins[i].known - ins[i].popped), count)
                there = in_time(ins[i].ready + 8 * ins[i].popped, known, first)
                count = count if there == known else there
            elif ins[i].popped < ins[i].known and words_at(ins[i].ready + 8 * ins[i].popped, 1)[0] > first:
                count = 0
    for q in range(len(outs)):
        if word >> PUSHES + ports[q] & 1 and count >= FEW:
            slot = outs[q].pushed - outs[q].depth
            before = min(max(0, outs[q].guard - slot), count)
            known = min(max(0, outs[q].known - slot), count)
            free = before + in_time(outs[q].freed + 8 * (slot + before), known - before, first + before)
            count = min(count, outs[q].found - slot) if free == known else free
    return count


def fire_at_once(word: int, ports: tuple[int, ...], count: int, timing: Timing) -> None:
    """Times this many firings that come one in each cycle."""
    _, now, ins, outs = timing
    first = now.cycle + 1
    for i in range(len(ins)):
        if word >> TAKES + i & 1:
            follow(ins[i].freed + 8 * ins[i].popped, count, first + 1)
            ins[i].popped += count
    for q in range(len(outs)):
        if word >> PUSHES + ports[q] & 1:
            ready = outs[q].ready + 8 * outs[q].pushed
            come = first + outs[q].latency
            if outs[q].changed == NEVER:
                same = follows_until(ready, count, come)
                outs[q].changed = outs[q].pushed + same if same < count else NEVER
            follow(ready, count, come)
            outs[q].pushed += count
    now.number += count
    now.cycle += count
