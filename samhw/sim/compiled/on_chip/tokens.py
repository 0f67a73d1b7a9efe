"""The firings of one actor and the tokens that they push, without regard to cycles.

Which firings an actor does, and with what tokens, depends on the tokens that it takes and on nothing else.
"""

from collections.abc import Callable

from samhw.machine_code import UNKNOWN, local_words, words_at
from samhw.primitives.step import NONE, PUSHES, TAKES, Step
from samhw.sim.compiled.actor import KIND_BITS, ActorShape
from samhw.sim.compiled.on_chip.layout import COUNT_BITS, ENTRY, A, C, I, O
from samhw.sim.compiled.stores import stores_of
from samhw.sim.engine import FIRES

__all__ = ["actor_tokens"]

CHANNEL = len(C)
IN, OUT = len(I), len(O)


def actor_tokens(
    step: Step,
    ports: tuple[int, ...],
    *,
    inputs: int,
    outputs: int,
    states: int,
    stores: int,
    feeds_itself: bool,
    key: int | None,
) -> Callable[[int, int], int]:
    """The function (address of the actor's record, unused) -> number of firings that it found.

    It goes on until a token or room in a channel is lacking, or nothing is left to do in this phase.

    Args:
        ports: for each channel that the actor pushes to, the output that it belongs to.
        feeds_itself: a channel of the actor is both an output and an input of it.
        key: place in the state of the key of the actor's spacing, if it has one.
    """
    shape = ActorShape(len(A), inputs, len(ports), outputs, states, stores)
    words = shape.words
    input_at, queue_at = shape.inputs, shape.queues
    out_kind_at, out_data_at, state_at = shape.out_kind, shape.out_data, shape.state
    stored = stores_of(shape.stores, stores)
    queues = len(ports)
    port = ports or (0,)
    in_words, out_words = inputs * IN, queues * OUT
    spaced = key is not None
    key_at = key or 0

    def find(address: int, unused: int) -> int:
        me = words_at(address, words)
        memory = stored(me)
        kind = local_words(inputs)
        data = local_words(inputs)
        ins = local_words(in_words)
        for i in range(inputs):
            channel = words_at(me[input_at + i], CHANNEL)
            ins[i * IN + I.HEAD] = channel[C.TOKENS] + 8 * channel[C.POPPED]
            ins[i * IN + I.END] = channel[C.TOKENS] + 8 * channel[C.PUSHED]
            kind[i] = NONE
            data[i] = 0
            if channel[C.POPPED] < channel[C.PUSHED]:
                token = words_at(ins[i * IN + I.HEAD], 1)[0]
                kind[i] = token & 3
                data[i] = token >> KIND_BITS
        outs = local_words(out_words)
        for q in range(queues):
            channel = words_at(me[queue_at + q], CHANNEL)
            outs[q * OUT + O.NEXT] = channel[C.TOKENS] + 8 * channel[C.PUSHED]
            outs[q * OUT + O.LIMIT] = channel[C.TOKENS] + 8 * (channel[C.POPPED] + channel[C.ROOM])
        out_kind = local_words(outputs)
        out_data = local_words(outputs)
        for j in range(outputs):
            out_kind[j] = me[out_kind_at + j]
            out_data[j] = me[out_data_at + j]
        state = local_words(states)
        for i in range(states):
            state[i] = me[state_at + i]

        entry = me[A.TRAIL] + 8 * ENTRY * (me[A.WRITTEN] - 1)
        count = words_at(entry, ENTRY)[1]
        word = me[A.WORD]
        left = me[A.LEFT]
        number = me[A.FOUND]
        # Whatever it watches differs from what it has seen: it can go on.
        me[A.WATCH] = address + 8 * A.FOUND
        me[A.SEEN] = -1
        me[A.PATIENCE] = 1
        while left > 0:
            if word == 0:
                word = step(kind, data, state, memory, out_kind, out_data)
            if word < FIRES:
                # At rest for good, unless it waits for a head: then until a token comes in that channel.
                me[A.WATCH] = address + 8 * A.SEEN
                if word < 0:
                    me[A.FAULT] = word
                else:
                    for i in range(inputs):
                        if kind[i] == NONE and word >> i & 1:
                            me[A.WATCH] = me[input_at + i] + 8 * C.PUSHED
                            me[A.SEEN] = words_at(me[input_at + i], CHANNEL)[C.PUSHED]
                word = 0
                break
            full = False
            for q in range(queues):
                if word >> PUSHES + port[q] & 1 and outs[q * OUT + O.NEXT] >= outs[q * OUT + O.LIMIT]:
                    channel = words_at(me[queue_at + q], CHANNEL)
                    me[A.WATCH] = me[queue_at + q] + 8 * C.POPPED
                    me[A.SEEN] = channel[C.POPPED]
                    me[A.PATIENCE] = max(1, channel[C.ROOM] >> 1)
                    full = True
            if full:
                break
            ago = 0
            if spaced:
                if state[key_at] >= 0:
                    keys = words_at(me[A.KEYS], UNKNOWN)
                    ago = number - keys[state[key_at]]
                    keys[state[key_at]] = number
                    if ago >= me[A.APART]:
                        ago = 0
                number += 1
            if word == words_at(entry, ENTRY)[0] and ago == 0 and count >> COUNT_BITS == 0:
                count += 1
            else:
                words_at(entry, ENTRY)[1] = count
                entry += 8 * ENTRY
                words_at(entry, ENTRY)[0] = word
                count = 1 | ago << COUNT_BITS
            for i in range(inputs):
                if word >> TAKES + i & 1:
                    head = ins[i * IN + I.HEAD] + 8
                    ins[i * IN + I.HEAD] = head
                    kind[i] = NONE
                    if head < ins[i * IN + I.END]:
                        token = words_at(head, 1)[0]
                        kind[i] = token & 3
                        data[i] = token >> KIND_BITS
            for q in range(queues):
                if word >> PUSHES + port[q] & 1:
                    token = out_data[port[q]] << KIND_BITS | out_kind[port[q]]
                    words_at(outs[q * OUT + O.NEXT], 1)[0] = token
                    outs[q * OUT + O.NEXT] += 8
            word = 0
            left -= 1
            if feeds_itself:
                # What it pushed may be the head of its own input, which is seen by the next call.
                break

        words_at(entry, ENTRY)[1] = count
        me[A.WRITTEN] = (entry - me[A.TRAIL]) // (8 * ENTRY) + 1
        fired = me[A.LEFT] - left
        me[A.LEFT] = left
        me[A.FOUND] += fired
        me[A.WORD] = word
        if word:
            for j in range(outputs):
                me[out_kind_at + j] = out_kind[j]
                me[out_data_at + j] = out_data[j]
        for i in range(states):
            me[state_at + i] = state[i]
        for i in range(inputs):
            channel = words_at(me[input_at + i], CHANNEL)
            channel[C.POPPED] = (ins[i * IN + I.HEAD] - channel[C.TOKENS]) >> 3
        for q in range(queues):
            channel = words_at(me[queue_at + q], CHANNEL)
            channel[C.PUSHED] = (outs[q * OUT + O.NEXT] - channel[C.TOKENS]) >> 3
        return fired

    return find
