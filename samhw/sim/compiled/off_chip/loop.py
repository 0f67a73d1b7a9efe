"""The loop of one actor, which is compiled with its step function inside.

It computes what `samhw.sim.engine` computes, on records (layout.py) instead of objects: it fires the actor
until it waits for another one. What it needs of the channels' records it keeps at hand and writes back at the
end, since nobody else runs meanwhile.
"""

from collections.abc import Callable

from samhw.machine_code import local_words, words_at
from samhw.primitives.step import NONE, Step, fault_needs
from samhw.sim.compiled.gate import GateKind
from samhw.sim.compiled.off_chip.actor import ActorShape
from samhw.sim.compiled.off_chip.channel import words_of
from samhw.sim.compiled.off_chip.firing import ASKS, FIRED, FULL, LATER, OffChipUse, actor_firing
from samhw.sim.compiled.off_chip.layout import C, I, O, R
from samhw.sim.compiled.records import KIND_BITS
from samhw.sim.compiled.stores import stores_of
from samhw.sim.engine import FIRES

__all__ = ["actor_loop"]

CHANNEL = len(C)
IN, OUT = len(I), len(O)


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
    off_chip: OffChipUse,
) -> Callable[[int, int], int]:
    """The function (address of the actor's record, most firings) -> number of firings.

    Args:
        ports: for each channel that the actor pushes to, the output that it belongs to.
        feeds_itself: a channel of the actor is both an output and an input of it.
        key: place in the state of the key of the actor's spacing, if it has one.
        logs: tokens that it takes may go into the log.
        off_chip: what it has to do with off-chip memory.
    """
    shape = ActorShape(len(R), inputs, len(ports), outputs, states, stores)
    words = shape.words
    input_at, queue_at = shape.inputs, shape.queues
    out_kind_at, out_data_at, state_at = shape.out_kind, shape.out_data, shape.state
    stores_at = shape.stores
    stored = stores_of(stores)
    queues = len(ports)
    in_words, out_words = inputs * IN, queues * OUT
    fire = actor_firing(shape, ports, inputs=inputs, key=key, gate=gate, logs=logs, off_chip=off_chip)
    late_inputs = off_chip.late

    def loop(address: int, budget: int) -> int:
        me = words_at(address, words)
        memory = stored(address + 8 * stores_at)
        kind = local_words(inputs)
        data = local_words(inputs)
        ins = local_words(in_words)
        for i in range(inputs):
            channel = words_at(me[input_at + i], CHANNEL)
            ins[i * IN + I.TOKENS] = channel[C.TOKENS]
            ins[i * IN + I.CYCLES] = channel[C.CYCLES]
            ins[i * IN + I.MASK] = channel[C.MASK]
            ins[i * IN + I.POPPED] = channel[C.POPPED]
            ins[i * IN + I.PUSHED] = channel[C.PUSHED]
            ins[i * IN + I.FLIGHT] = channel[C.LATENCY] + 1
            ins[i * IN + I.HIGH] = max(channel[C.HIGH], channel[C.HIGH_PUSHED])
            ins[i * IN + I.SLOTS] = channel[C.SLOTS]
            ins[i * IN + I.DWELL] = 0
            ins[i * IN + I.READY] = 0
            kind[i] = NONE
            data[i] = 0
            if channel[C.POPPED] < channel[C.PUSHED]:
                token = words_of(channel[C.TOKENS], channel[C.MASK], channel[C.POPPED])[0]
                kind[i] = token & 3
                data[i] = token >> KIND_BITS
                ins[i * IN + I.READY] = words_of(channel[C.CYCLES], channel[C.MASK], channel[C.POPPED])[0]
                if late_inputs >> i & 1:
                    there = words_of(channel[C.THERE], channel[C.MASK], channel[C.POPPED])[0]
                    ins[i * IN + I.THERE] = there
        out_kind = local_words(outputs)
        out_data = local_words(outputs)
        for j in range(outputs):
            out_kind[j] = me[out_kind_at + j]
            out_data[j] = me[out_data_at + j]
        outs = local_words(out_words)
        for q in range(queues):
            channel = words_at(me[queue_at + q], CHANNEL)
            outs[q * OUT + O.TOKENS] = channel[C.TOKENS]
            outs[q * OUT + O.CYCLES] = channel[C.CYCLES]
            outs[q * OUT + O.MASK] = channel[C.MASK]
            outs[q * OUT + O.POPPED] = channel[C.POPPED]
            outs[q * OUT + O.PUSHED] = channel[C.PUSHED]
            outs[q * OUT + O.LIMIT] = channel[C.POPPED] + channel[C.SLOTS]
            outs[q * OUT + O.LATENCY] = channel[C.LATENCY]
            outs[q * OUT + O.HIGH] = max(channel[C.HIGH], channel[C.HIGH_PUSHED])
        state = local_words(states)
        for i in range(states):
            state[i] = me[state_at + i]
        now = local_words(1)
        now[0] = me[R.LAST]

        word = me[R.WORD]
        end = FIRED
        fired = 0
        # Whatever it watches differs from what it has seen: it can go on, if only the budget ends.
        me[R.WATCH] = address + 8 * R.FIRINGS
        me[R.SEEN] = -1
        while end == FIRED and fired < budget:
            if word == 0:
                word = step(kind, data, state, memory, out_kind, out_data)
            if word < FIRES:
                # At rest for good, unless it waits for a head: then until a token comes in that channel.
                me[R.WATCH] = address + 8 * R.SEEN
                if word < 0:
                    t = now[0] + 1
                    needs = fault_needs(word)
                    for i in range(inputs):
                        if needs >> i & 1:
                            t = max(t, ins[i * IN + I.READY])
                            if late_inputs >> i & 1:
                                t = max(t, ins[i * IN + I.THERE])
                    me[R.FAULT] = word
                    me[R.FAULT_CYCLE] = t
                else:
                    for i in range(inputs):
                        if kind[i] == NONE and word >> i & 1:
                            me[R.WATCH] = me[input_at + i] + 8 * C.PUSHED
                            me[R.SEEN] = ins[i * IN + I.PUSHED]
                word = 0
                break
            end = fire(
                address,
                word,
                now,
                fired,
                kind,
                data,
                ins,
                outs,
                state,
                out_kind,
                out_data,
            )
            if end in (FULL, ASKS):
                break
            word = 0
            if end == LATER:
                break
            fired += 1
            if feeds_itself:
                # What it pushed may be the head of its own input, which is seen by the next call.
                break

        me[R.LAST] = now[0]
        me[R.FIRINGS] += fired
        me[R.WORD] = word
        if word:
            for j in range(outputs):
                me[out_kind_at + j] = out_kind[j]
                me[out_data_at + j] = out_data[j]
        for i in range(states):
            me[state_at + i] = state[i]
        for i in range(inputs):
            channel = words_at(me[input_at + i], CHANNEL)
            channel[C.POPPED] = ins[i * IN + I.POPPED]
            channel[C.HIGH] = ins[i * IN + I.HIGH]
            channel[C.DWELL] += ins[i * IN + I.DWELL]
        for q in range(queues):
            channel = words_at(me[queue_at + q], CHANNEL)
            channel[C.PUSHED] = outs[q * OUT + O.PUSHED]
            channel[C.HIGH_PUSHED] = outs[q * OUT + O.HIGH]
        return fired

    return loop
