"""The cycles of the firings of one actor, from what is known of its channels.

The recurrence of docs/timing.md as `samhw.sim.engine` has it, but over firings that are known. A pop that is
found but not timed is assumed to have come in time; so a cycle is at first a lower bound. Whoever was timed
with something that changes is marked (marks.py), and timed again (timing.py).
"""

from collections.abc import Callable
from enum import auto

from samhw.machine_code import UNKNOWN, local_words, words_at
from samhw.primitives.step import PUSHES, TAKES, Words
from samhw.sim.compiled.actor import RecordPlace
from samhw.sim.compiled.gate import GateKind, gate_rule
from samhw.sim.compiled.on_chip.layout import COUNT_BITS, ENTRY, NEVER, UP_TO_DATE, A, C, S
from samhw.sim.compiled.on_chip.marks import tell_consumer, tell_producer

__all__ = ["STATES", "actor_cycles", "save_size"]

CHANNEL, STATE = len(C), len(S)

COUNT = (1 << COUNT_BITS) - 1

LEAST = 8
"""Fewer firings are not worth a look at all at once."""

STREAK = 4
"""After so many firings in a row all that follow are worth a look at once."""

SPAN = 128
"""Firings between two states that are saved."""

STATES = 40
"""The states that there is room for: those of a phase, and a few more."""


class X(RecordPlace):
    """What is kept at hand of an input."""

    READY = auto()
    FREE = auto()
    POPPED = auto()
    KNOWN = auto()
    """Tokens whose cycles are known."""
    BEFORE = auto()
    """What POPPED was before."""
    STARVED = auto()
    CHANGED = auto()
    """The first token whose cycle in FREE is another one than before."""


class Y(RecordPlace):
    """What is kept at hand of a channel that the actor pushes to."""

    READY = auto()
    FREE = auto()
    PUSHED = auto()
    DEPTH = auto()
    LATENCY = auto()
    KEPT = auto()
    POPPED = auto()
    """Tokens whose pops are timed."""
    STOP = auto()
    """What PUSHED may become: nothing is known of later slots."""
    SEEN = auto()
    """The first token whose cycle the consumer has not seen."""
    BLOCKED = auto()
    CHANGED = auto()
    """The first cycle in which the consumer lacks a token that it has seen, or sees one that it lacked."""


IN, OUT = len(X), len(Y)


def actor_cycles(
    ports: tuple[int, ...], *, inputs: int, feeds_itself: bool, spaced: bool, gate: GateKind
) -> Callable[[int, int], int]:
    """The function (address of the actor's record, last cycle) -> number of firings that it timed.

    Arguments as those of `actor_tokens`; spaced: the actor keeps a spacing.
    """
    input_at = len(A)
    queue_at = input_at + inputs
    queues = len(ports)
    words = queue_at + queues
    port = ports or (0,)
    in_words, out_words = inputs * IN, queues * OUT
    save_words = save_size(inputs, queues)
    gated = gate is not GateKind.NOTHING
    allowed = gate_rule(gate)

    def save(me: Words, count: int, now: Words, ins: Words, outs: Words) -> None:
        state = words_at(me[A.SAVES] + 8 * save_words * count, save_words)
        for k in range(STATE):
            state[k] = now[k]
        for i in range(inputs):
            state[STATE + 2 * i] = ins[i * IN + X.POPPED]
            state[STATE + 2 * i + 1] = ins[i * IN + X.STARVED]
        for q in range(queues):
            state[STATE + 2 * inputs + 2 * q] = outs[q * OUT + Y.PUSHED]
            state[STATE + 2 * inputs + 2 * q + 1] = outs[q * OUT + Y.BLOCKED]

    def go_back(me: Words, now: Words, ins: Words, outs: Words) -> int:
        """Takes up the last saved state that still holds; gives the number of those before and itself."""
        count = me[A.SAVED]
        first = min(me[A.STALE], me[A.NARROW])
        while count > 0 and words_at(me[A.SAVES] + 8 * save_words * (count - 1), 1)[0] >= first:
            count -= 1
        if count > 0:
            state = words_at(me[A.SAVES] + 8 * save_words * (count - 1), save_words)
            for k in range(STATE):
                now[k] = state[k]
            for i in range(inputs):
                ins[i * IN + X.POPPED] = state[STATE + 2 * i]
                ins[i * IN + X.STARVED] = state[STATE + 2 * i + 1]
            for q in range(queues):
                outs[q * OUT + Y.PUSHED] = state[STATE + 2 * inputs + 2 * q]
                outs[q * OUT + Y.BLOCKED] = state[STATE + 2 * inputs + 2 * q + 1]
        else:
            now[S.LAST] = me[A.LAST]
            now[S.AT] = me[A.AT]
            now[S.PAST] = me[A.PAST]
            now[S.TIMED] = me[A.TIMED]
            now[S.SPACED] = 0
            now[S.STALLED] = 0
            now[S.BLOCKED] = 0
            for i in range(inputs):
                ins[i * IN + X.POPPED] = words_at(me[input_at + i], CHANNEL)[C.TIMED_POPPED]
                ins[i * IN + X.STARVED] = 0
            for q in range(queues):
                outs[q * OUT + Y.PUSHED] = words_at(me[queue_at + q], CHANNEL)[C.TIMED_PUSHED]
                outs[q * OUT + Y.BLOCKED] = 0
        return count

    def known_firings(word: int, most: int, ins: Words, outs: Words) -> int:
        """How many firings of a word there are for which all tokens and slots are known: `most` or fewer."""
        n = most
        for i in range(inputs):
            if word >> i & 1:
                tokens = ins[i * IN + X.KNOWN] - ins[i * IN + X.POPPED]
                if word >> TAKES + i & 1:
                    n = min(n, tokens)
                elif tokens == 0:
                    n = 0
        for q in range(queues):
            if word >> PUSHES + port[q] & 1:
                n = min(n, outs[q * OUT + Y.STOP] - outs[q * OUT + Y.PUSHED])
        return n

    def free_in(q: int, slot: int, outs: Words) -> int:
        """The cycle in which a slot is free, as far as it is known."""
        if outs[q * OUT + Y.KEPT] <= slot and slot < outs[q * OUT + Y.POPPED]:
            return words_at(outs[q * OUT + Y.FREE] + 8 * slot, 1)[0]
        return 0

    def firings_in_a_row(word: int, t: int, most: int, ins: Words, outs: Words) -> int:
        """How many firings of a word come in the cycles behind t, one in each: `most` or fewer.

        Tokens become available in different cycles, and so do slots: if the last one of a batch is there in
        time, so are all before it.
        """
        n = most
        for i in range(inputs):
            if word >> i & 1 and words_at(ins[i * IN + X.READY] + 8 * ins[i * IN + X.POPPED], 1)[0] > t + 1:
                n = 0
        for q in range(queues):
            if word >> PUSHES + port[q] & 1:
                slot = outs[q * OUT + Y.PUSHED] - outs[q * OUT + Y.DEPTH]
                if free_in(q, slot, outs) > t + 1:
                    n = 0
        for i in range(inputs):
            if word >> TAKES + i & 1:
                heads = words_at(ins[i * IN + X.READY] + 8 * ins[i * IN + X.POPPED], n)
                while n >= LEAST and heads[n - 1] > t + n:
                    n >>= 1
        for q in range(queues):
            if word >> PUSHES + port[q] & 1:
                first = outs[q * OUT + Y.PUSHED] - outs[q * OUT + Y.DEPTH]
                while n >= LEAST:
                    last = min(first + n, outs[q * OUT + Y.POPPED]) - 1
                    if last < first or free_in(q, last, outs) <= t + 1 + last - first:
                        break
                    n >>= 1
        return n

    def note(q: int, token: int, before: int, after: int, outs: Words) -> None:
        """Keeps in mind when the consumer sees a difference, as a token is available in another cycle."""
        # Nobody looks at a token before the one in front of it is taken.
        front = free_in(q, token - 1, outs)
        if max(before, after) > front:
            outs[q * OUT + Y.CHANGED] = min(outs[q * OUT + Y.CHANGED], max(min(before, after), front))

    def take(i: int, n: int, t: int, ins: Words) -> None:
        """Takes n tokens of an input, the first one in cycle t."""
        popped = ins[i * IN + X.POPPED]
        free = words_at(ins[i * IN + X.FREE] + 8 * popped, n)
        if ins[i * IN + X.CHANGED] == NEVER:
            before = min(n, ins[i * IN + X.BEFORE] - popped)
            other = 0
            for k in range(before):
                other |= free[k] ^ (t + 1 + k)
            if other:
                first = 0
                while free[first] == t + 1 + first:
                    first += 1
                ins[i * IN + X.CHANGED] = popped + first
        for k in range(n):
            free[k] = t + 1 + k
        ins[i * IN + X.POPPED] = popped + n

    def push(q: int, n: int, t: int, outs: Words) -> None:
        """Pushes n tokens, the first one in cycle t."""
        pushed = outs[q * OUT + Y.PUSHED]
        ready = words_at(outs[q * OUT + Y.READY] + 8 * pushed, n)
        t += outs[q * OUT + Y.LATENCY]
        if outs[q * OUT + Y.CHANGED] == NEVER:
            seen = min(n, outs[q * OUT + Y.SEEN] - pushed)
            other = 0
            for k in range(seen):
                other |= ready[k] ^ (t + k)
            if other:
                for k in range(seen):
                    if ready[k] != t + k:
                        note(q, pushed + k, ready[k], t + k, outs)
                        if outs[q * OUT + Y.CHANGED] < NEVER:
                            break
        for k in range(n):
            ready[k] = t + k
        outs[q * OUT + Y.PUSHED] = pushed + n

    def all_at_once(word: int, n: int, me: Words, now: Words, ins: Words, outs: Words) -> None:
        """Times n firings of a word that come in a row."""
        t = now[S.LAST] + 1
        for i in range(inputs):
            if word >> TAKES + i & 1:
                take(i, n, t, ins)
        for q in range(queues):
            if word >> PUSHES + port[q] & 1:
                push(q, n, t, outs)
        if spaced:
            recent = words_at(me[A.RECENT], UNKNOWN)
            for k in range(n):
                recent[now[S.TIMED] + k & me[A.RECENT_MASK]] = t + k
        now[S.LAST] += n
        now[S.TIMED] += n
        now[S.PAST] += n

    def one_by_one(
        word: int, most: int, ago: int, limit: int, me: Words, now: Words, ins: Words, outs: Words
    ) -> int:
        """Times firings of a word: `most`, or fewer if STREAK of them come in a row.

        Gives the cycle of the next one if that is beyond the limit, else NEVER.
        """
        streak = 0
        while most > 0 and streak < STREAK:
            # t(n) = max(t(n-1) + 1, heads that it needs, slots that it takes, the last update of its key)
            soonest = now[S.LAST] + 1
            t = soonest
            late = 0
            for i in range(inputs):
                if word >> i & 1:
                    ready = words_at(ins[i * IN + X.READY] + 8 * ins[i * IN + X.POPPED], 1)[0]
                    if ready > t:
                        t = ready
                        late = i
            there = t
            narrow = 0
            for q in range(queues):
                if word >> PUSHES + port[q] & 1:
                    free = free_in(q, outs[q * OUT + Y.PUSHED] - outs[q * OUT + Y.DEPTH], outs)
                    if free > t:
                        t = free
                        narrow = q
            room = t
            if ago:
                former = words_at(me[A.RECENT], UNKNOWN)[now[S.TIMED] - ago & me[A.RECENT_MASK]]
                t = max(t, former + me[A.APART])
            apart = t
            if gated:
                t = allowed(me[A.GATE], me[A.GATE_WORDS], t, now[S.TIMED])
            if t > limit:
                return t
            streak += 1
            if t > soonest:
                streak = 0
                for i in range(inputs):
                    if i == late:
                        ins[i * IN + X.STARVED] += there - soonest
                for q in range(queues):
                    if q == narrow:
                        outs[q * OUT + Y.BLOCKED] += room - there
                now[S.BLOCKED] |= room - there
                now[S.SPACED] += apart - room
                now[S.STALLED] += t - apart
            for i in range(inputs):
                if word >> TAKES + i & 1:
                    popped = ins[i * IN + X.POPPED]
                    slot = words_at(ins[i * IN + X.FREE] + 8 * popped, 1)
                    if popped < ins[i * IN + X.BEFORE] and slot[0] != t + 1:
                        ins[i * IN + X.CHANGED] = min(ins[i * IN + X.CHANGED], popped)
                    slot[0] = t + 1
                    ins[i * IN + X.POPPED] = popped + 1
            for q in range(queues):
                if word >> PUSHES + port[q] & 1:
                    pushed = outs[q * OUT + Y.PUSHED]
                    come = t + outs[q * OUT + Y.LATENCY]
                    head = words_at(outs[q * OUT + Y.READY] + 8 * pushed, 1)
                    if pushed < outs[q * OUT + Y.SEEN] and head[0] != come:
                        note(q, pushed, head[0], come, outs)
                    head[0] = come
                    outs[q * OUT + Y.PUSHED] = pushed + 1
            if spaced:
                words_at(me[A.RECENT], UNKNOWN)[now[S.TIMED] & me[A.RECENT_MASK]] = t
            now[S.LAST] = t
            now[S.TIMED] += 1
            now[S.PAST] += 1
            most -= 1
        return NEVER

    def time(address: int, limit: int) -> int:
        me = words_at(address, words)
        now = local_words(STATE)
        ins = local_words(in_words)
        outs = local_words(out_words)
        saved = go_back(me, now, ins, outs)
        first_timed = now[S.TIMED]
        me[A.STALE] = UP_TO_DATE
        me[A.NARROW] = UP_TO_DATE
        for i in range(inputs):
            channel = words_at(me[input_at + i], CHANNEL)
            ins[i * IN + X.READY] = channel[C.READY]
            ins[i * IN + X.FREE] = channel[C.FREE]
            ins[i * IN + X.KNOWN] = channel[C.NEW_PUSHED]
            ins[i * IN + X.BEFORE] = channel[C.NEW_POPPED]
            ins[i * IN + X.CHANGED] = NEVER
        for q in range(queues):
            channel = words_at(me[queue_at + q], CHANNEL)
            outs[q * OUT + Y.READY] = channel[C.READY]
            outs[q * OUT + Y.FREE] = channel[C.FREE]
            outs[q * OUT + Y.DEPTH] = channel[C.DEPTH]
            outs[q * OUT + Y.LATENCY] = channel[C.LATENCY]
            outs[q * OUT + Y.KEPT] = channel[C.KEPT]
            outs[q * OUT + Y.POPPED] = channel[C.NEW_POPPED]
            known = channel[C.POPPED] if channel[C.OPEN] else channel[C.NEW_POPPED]
            outs[q * OUT + Y.STOP] = known + channel[C.DEPTH]
            outs[q * OUT + Y.SEEN] = min(channel[C.NEW_POPPED] + 1, channel[C.NEW_PUSHED])
            outs[q * OUT + Y.CHANGED] = NEVER
        trail = words_at(me[A.TRAIL], UNKNOWN)
        word = 0
        ago = 0
        count = 0
        if me[A.WRITTEN] > 0:
            word = trail[ENTRY * now[S.AT]]
            count = trail[ENTRY * now[S.AT] + 1] & COUNT
            ago = trail[ENTRY * now[S.AT] + 1] >> COUNT_BITS
        mark = now[S.TIMED] + SPAN
        if saved > 1:
            before = words_at(me[A.SAVES] + 8 * save_words * (saved - 2), STATE)[S.TIMED]
            if now[S.TIMED] < before + SPAN or saved == STATES:
                # Where timing stopped last time, too close to the state before to be kept.
                saved -= 1
                mark = before + SPAN
        beyond = NEVER
        while True:
            if now[S.TIMED] >= mark and saved < STATES - 1:
                save(me, saved, now, ins, outs)
                saved += 1
                mark = now[S.TIMED] + SPAN
            if now[S.PAST] == count:
                if now[S.AT] + 1 >= me[A.WRITTEN]:
                    break
                now[S.AT] += 1
                now[S.PAST] = 0
                word = trail[ENTRY * now[S.AT]]
                count = trail[ENTRY * now[S.AT] + 1] & COUNT
                ago = trail[ENTRY * now[S.AT] + 1] >> COUNT_BITS
            n = known_firings(word, count - now[S.PAST], ins, outs)
            if n < 1:
                break
            together = 0
            if not gated and ago == 0 and n >= LEAST:
                last = now[S.LAST]
                together = firings_in_a_row(word, last, min(n, limit - last), ins, outs)
            if together >= LEAST:
                all_at_once(word, together, me, now, ins, outs)
            else:
                beyond = one_by_one(word, min(n, max(mark - now[S.TIMED], 1)), ago, limit, me, now, ins, outs)
                if beyond < NEVER:
                    break
            if feeds_itself:
                for i in range(inputs):
                    words_at(me[input_at + i], CHANNEL)[C.NEW_POPPED] = ins[i * IN + X.POPPED]
                for q in range(queues):
                    channel = words_at(me[queue_at + q], CHANNEL)
                    channel[C.NEW_PUSHED] = outs[q * OUT + Y.PUSHED]
                    outs[q * OUT + Y.POPPED] = channel[C.NEW_POPPED]
                for i in range(inputs):
                    ins[i * IN + X.KNOWN] = words_at(me[input_at + i], CHANNEL)[C.NEW_PUSHED]

        save(me, saved, now, ins, outs)
        me[A.SAVED] = saved + 1
        me[A.NEW_TIMED] = now[S.TIMED]
        behind = now[S.SPACED] + now[S.STALLED]
        me[A.CLOSE] = 1 + behind if now[S.BLOCKED] | behind else 0
        me[A.NEXT] = beyond
        for i in range(inputs):
            channel = words_at(me[input_at + i], CHANNEL)
            channel[C.NEW_POPPED] = ins[i * IN + X.POPPED]
            channel[C.NEW_STARVED] = ins[i * IN + X.STARVED]
            tell_producer(channel, ins[i * IN + X.BEFORE], ins[i * IN + X.CHANGED])
        for q in range(queues):
            channel = words_at(me[queue_at + q], CHANNEL)
            before = channel[C.NEW_PUSHED]
            channel[C.NEW_PUSHED] = outs[q * OUT + Y.PUSHED]
            channel[C.NEW_BLOCKED] = outs[q * OUT + Y.BLOCKED]
            tell_consumer(channel, before, outs[q * OUT + Y.CHANGED])
        return now[S.TIMED] - first_timed

    return time


def save_size(inputs: int, queues: int) -> int:
    """Words of a saved state."""
    return STATE + 2 * inputs + 2 * queues
