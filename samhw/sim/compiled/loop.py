"""The loop of one actor, which is compiled with its step function inside.

It computes what `samhw.sim.engine` computes, on records (layout.py) instead of objects: it fires the actor
until it waits for another one. Every loop over ports has constant bounds, so that LLVM unrolls it and keeps
heads, outputs and state in registers.
"""

from collections.abc import Callable
from enum import IntEnum

from samhw.primitives.step import NONE, PUSHES, TAKES, Step, Words, fault_needs
from samhw.sim.compiled.channel import has_token, head, is_full, log_passage, pop, push, slot_cycle
from samhw.sim.compiled.layout import ActorShape, C, L, R
from samhw.sim.compiled.native import local_words, words_at
from samhw.sim.engine import FIRES
from samhw.sim.fault import LATE

__all__ = ["GateKind", "actor_loop"]

CHANNEL = len(C)
LOG = len(L)
KIND_BITS = 2
RING_WORDS = 1 << 60
"""Any ring has fewer; nothing checks bounds."""


class GateKind(IntEnum):
    """What holds an actor back besides its channels."""

    NOTHING = 0
    STALLS = 1
    """Its gate's words are flags, 1 in a cycle (modulo their number) in which it must not fire."""
    EARLIEST = 2
    """Its gate's words are the earliest cycles of its first firings."""


def actor_loop(
    step: Step,
    ports: tuple[int, ...],
    *,
    inputs: int,
    outputs: int,
    states: int,
    stores: int,
    feeds_itself: bool,
    key: int | None,
    gate: GateKind,
    logs: bool,
) -> Callable[[int, int], int]:
    """The function (address of the actor's record, most firings) -> number of firings.

    Args:
        ports: for each channel that the actor pushes to, the output that it belongs to.
        feeds_itself: a channel of the actor is both an output and an input of it.
        key: place in the state of the key of the actor's spacing, if it has one.
        logs: tokens that it takes may go into the log.
    """
    shape = ActorShape(inputs, len(ports), outputs, states, stores)
    words = shape.words
    input_at, queue_at = shape.inputs, shape.queues
    out_kind_at, out_data_at, state_at = shape.out_kind, shape.out_data, shape.state
    stored = _stores(shape.stores, stores)
    queues = len(ports)
    port = ports or (0,)
    spaced = key is not None
    key_at = key or 0
    stalls, waits = gate is GateKind.STALLS, gate is GateKind.EARLIEST

    def loop(address: int, budget: int) -> int:
        me = words_at(address, words)
        kind = local_words(inputs)
        data = local_words(inputs)
        ready = local_words(inputs)
        out_kind = local_words(outputs)
        out_data = local_words(outputs)
        state = local_words(states)
        memory = stored(me)
        for i in range(inputs):
            kind[i] = NONE
            data[i] = 0
            ready[i] = 0
            if has_token(me[input_at + i]):
                token, ready[i] = head(me[input_at + i])
                kind[i] = token & 3
                data[i] = token >> KIND_BITS
        for j in range(outputs):
            out_kind[j] = me[out_kind_at + j]
            out_data[j] = me[out_data_at + j]
        for i in range(states):
            state[i] = me[state_at + i]
        last = me[R.LAST]
        word = me[R.WORD]
        fired = 0
        # Whatever it watches differs from what it has seen: it can go on, if only the budget ends.
        me[R.WATCH] = address + 8 * R.FIRINGS
        me[R.SEEN] = -1

        while fired < budget:
            if logs and words_at(me[R.LOG], LOG)[L.COUNT] + inputs > words_at(me[R.LOG], LOG)[L.CAPACITY]:
                break
            if word == 0:
                word = step(kind, data, state, memory, out_kind, out_data)
                if word < FIRES:
                    # At rest for good, unless it waits for a head: then until a token comes in that channel.
                    me[R.WATCH] = address + 8 * R.SEEN
                    if word < 0:
                        t = last + 1
                        needs = fault_needs(word)
                        for i in range(inputs):
                            if needs >> i & 1:
                                t = max(t, ready[i])
                        me[R.FAULT] = word
                        me[R.FAULT_CYCLE] = t
                    else:
                        for i in range(inputs):
                            if kind[i] == NONE and word >> i & 1:
                                me[R.WATCH] = me[input_at + i] + 8 * C.PUSHED
                                me[R.SEEN] = words_at(me[R.WATCH], 1)[0]
                    word = 0
                    break
            full = False
            for q in range(queues):
                if word >> PUSHES + port[q] & 1 and is_full(me[queue_at + q]):
                    me[R.WATCH] = me[queue_at + q] + 8 * C.POPPED
                    me[R.SEEN] = words_at(me[R.WATCH], 1)[0]
                    full = True
            if full:
                break

            # t(n) = max(t(n-1) + 1, heads that it needs, slots that it takes, the last update of its key)
            first = last + 1
            t = first
            late = 0
            for i in range(inputs):
                if word >> i & 1 and ready[i] > t:
                    t = ready[i]
                    late = i
            if t > first:
                words_at(me[input_at + late], CHANNEL)[C.STARVED] += t - first
                first = t
            narrow = 0
            for q in range(queues):
                if word >> PUSHES + port[q] & 1:
                    free = slot_cycle(me[queue_at + q])
                    if free > t:
                        t = free
                        narrow = q
            if t > first:
                words_at(me[queue_at + narrow], CHANNEL)[C.BLOCKED] += t - first
            if spaced and state[key_at] >= 0:
                first = t
                t = max(t, words_at(me[R.UPDATED], RING_WORDS)[state[key_at]] + me[R.APART])
                me[R.SPACED] += t - first
            if stalls:
                first = t
                while words_at(me[R.GATE], RING_WORDS)[t % me[R.GATE_WORDS]]:
                    t += 1
                me[R.STALLED] += t - first
            if waits and me[R.FIRINGS] + fired < me[R.GATE_WORDS]:
                first = t
                t = max(t, words_at(me[R.GATE], RING_WORDS)[me[R.FIRINGS] + fired])
                me[R.STALLED] += t - first
            if t > me[R.LIMIT]:
                me[R.FAULT] = LATE
                me[R.FAULT_CYCLE] = t
                me[R.WATCH] = address + 8 * R.SEEN
                word = 0
                break
            last = t
            fired += 1
            if spaced and state[key_at] >= 0:
                words_at(me[R.UPDATED], RING_WORDS)[state[key_at]] = t

            for i in range(inputs):
                if word >> TAKES + i & 1:
                    token = data[i] << KIND_BITS | kind[i]
                    if logs:
                        log_passage(me[R.LOG], me[input_at + i], token, ready[i], t)
                    pop(me[input_at + i], token, ready[i], t)
                    kind[i] = NONE
                    if has_token(me[input_at + i]):
                        token, ready[i] = head(me[input_at + i])
                        kind[i] = token & 3
                        data[i] = token >> KIND_BITS
            for q in range(queues):
                if word >> PUSHES + port[q] & 1:
                    push(me[queue_at + q], out_data[port[q]] << KIND_BITS | out_kind[port[q]], t)
            word = 0
            if feeds_itself:
                # What it pushed may be the head of its own input, which is seen by the next call.
                break

        me[R.LAST] = last
        me[R.FIRINGS] += fired
        me[R.WORD] = word
        for j in range(outputs):
            me[out_kind_at + j] = out_kind[j]
            me[out_data_at + j] = out_data[j]
        for i in range(states):
            me[state_at + i] = state[i]
        return fired

    return loop


def _stores(at: int, count: int) -> Callable[[Words], tuple[Words, ...]]:
    """The function that gives the arrays of an actor's stores from its record."""
    if count == 0:

        def nothing(me: Words) -> tuple[Words, ...]:
            return ()

        return nothing
    before = _stores(at, count - 1)
    place = at + 2 * (count - 1)

    def stored(me: Words) -> tuple[Words, ...]:
        return (*before(me), words_at(me[place], me[place + 1]))

    return stored
