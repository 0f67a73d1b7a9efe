"""One firing: the cycle in which it comes, as in the recurrence of docs/timing.md, and what it does to rows.

There are no branches that depend on the firing, but for whether it pushes anything at all: where streams are
joined, one firing tells nothing about the next.
"""

from samhw.sim.compiled.points import Timing
from samhw.sim.compiled.records import NEVER, ActorRecord
from samhw.sim.machine_code import UNKNOWN, Record, words_at
from samhw.sim.step import PUSHES, TAKES

__all__ = ["Wait", "fire", "wait_for_key", "wait_for_slots", "wait_for_tokens", "wait_for_turn"]


class Wait(Record):
    """What a firing waits for, one after the other, and the cycles in which that is there."""

    soonest: int
    """The cycle after the actor's last firing."""
    there: int
    """All tokens are there."""
    late: int
    """The input whose token came last."""
    room: int
    """All slots are free."""
    narrow: int
    """The channel whose slot came last."""
    apart: int
    """The last update with the same key is done, or it is the firing's turn."""


def wait_for_tokens(word: int, timing: Timing, wait: Wait) -> None:
    """When all tokens are there that a firing needs."""
    ins = timing.ins
    wait.there, wait.late = wait.soonest, 0
    for i in range(len(ins)):
        ready = words_at(ins[i].ready + 8 * ins[i].popped, 1)[0]
        ready = ready if word >> i & 1 and ins[i].popped < ins[i].known else 0
        wait.late = i if ready > wait.there else wait.late
        wait.there = max(wait.there, ready)


def wait_for_slots(word: int, ports: tuple[int, ...], timing: Timing, wait: Wait) -> None:
    """When there are slots for all tokens that a firing pushes."""
    outs = timing.outs
    wait.room, wait.narrow = wait.there, 0
    if word >> PUSHES:
        for q in range(len(outs)):
            slot = max(outs[q].pushed - outs[q].depth, outs[q].guard)
            free = words_at(outs[q].freed + 8 * slot, 1)[0]
            free = free if slot < outs[q].known else 0 if slot < outs[q].found else NEVER
            free = free if word >> PUSHES + ports[q] & 1 else 0
            wait.narrow = q if free > wait.room else wait.narrow
            wait.room = max(wait.room, free)


def wait_for_key(me: ActorRecord, number: int, wait: Wait) -> None:
    """When the last firing with the same key as the one of that number is as many cycles ago as the actor's
    spacing asks for."""
    ago = words_at(me.ago, UNKNOWN)[number]
    if ago:
        wait.apart = max(wait.room, words_at(me.cycles, UNKNOWN)[number - ago] + me.apart)


def wait_for_turn(me: ActorRecord, number: int, wait: Wait) -> None:
    """When it is the turn of the firing of that number."""
    turn = words_at(me.ago, UNKNOWN)[number]
    if turn:
        wait.apart = wait.room + ((turn - 1 - wait.room) & (me.apart - 1))


def fire(word: int, ports: tuple[int, ...], t: int, timing: Timing, wait: Wait) -> None:
    """Does a firing in cycle t: counts what it has waited for, takes tokens and pushes tokens."""
    _, now, ins, outs = timing
    if t > wait.soonest:
        for i in range(len(ins)):
            ins[i].starved += wait.there - wait.soonest if i == wait.late else 0
        for q in range(len(outs)):
            outs[q].blocked += wait.room - wait.there if q == wait.narrow else 0
        if t > wait.there:
            # Of several slots that are free in one cycle, the first one is what was waited for.
            now.slip = max(now.slip, t - wait.room + (1 if len(outs) > 1 else 0))
        now.spaced += wait.apart - wait.room
        now.stalled += t - wait.apart
    for i in range(len(ins)):
        taken = word >> TAKES + i & 1
        freed = words_at(ins[i].freed + 8 * ins[i].popped, 1)
        freed[0] = t + 1 if taken else freed[0]
        ins[i].popped += taken
    if word >> PUSHES:
        for q in range(len(outs)):
            pushed = word >> PUSHES + ports[q] & 1
            ready = words_at(outs[q].ready + 8 * outs[q].pushed, 1)
            come = t + outs[q].latency if pushed else ready[0]
            if ready[0] != come and outs[q].changed == NEVER:
                outs[q].changed = outs[q].pushed
            ready[0] = come
            outs[q].pushed += pushed
    now.number += 1
    now.cycle = t
