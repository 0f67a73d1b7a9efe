"""Firings in a row, a cycle apart, whose cycles are settled by a few looks at channels.

Tokens of a channel become available in different cycles, and so do its slots. If the last token of a batch is
there by the time that an actor comes to it which fires in every cycle, so are all before it; the same goes
for slots. What is left to do for each firing is its step.
"""

from collections.abc import Callable

from samhw.primitives.step import NONE, PUSHES, TAKES, Step, Words
from samhw.sim.compiled.channel import words_of
from samhw.sim.compiled.layout import KIND_BITS, ActorShape, C, I, O, R
from samhw.sim.compiled.native import words_at

__all__ = ["actor_burst"]

CHANNEL = len(C)
IN, OUT = len(I), len(O)
UNKNOWN = 1 << 60
"""Words of memory whose size nobody checks."""

LEAST, MOST = 4, 1 << 15
"""Fewer firings are not worth the looks; more cannot be counted."""

COUNT_BITS = 4
"""Tokens are counted by kind in the four parts of one word, of 1 << COUNT_BITS bits each."""
COUNT = (1 << (1 << COUNT_BITS)) - 1


def actor_burst(
    shape: ActorShape, ports: tuple[int, ...], step: Step, *, inputs: int, key: int | None
) -> Callable[..., int]:
    """The function that repeats a firing, as long as it has the same word, in the cycles that follow it.

    Its arguments are those of `actor_firing`, but `most` in place of `fired`: the most firings. It gives the
    number of firings and in `undone` two words: the next firing, if it is decided, or else 0; and whether the
    actor had better pause, since the last token, the last slot or the last of `most` firings is used up.
    """
    words = shape.words
    input_at = shape.inputs
    queues = len(ports)
    port = ports or (0,)
    spaced = key is not None
    key_at = key or 0

    def settled(word: int, t: int, most: int, ins: Words, outs: Words) -> int:
        """How many firings of a word come in the cycles behind t, one in each."""
        n = most
        for i in range(inputs):
            if word >> TAKES + i & 1:
                slot = ins[i * IN + I.POPPED] & ins[i * IN + I.MASK]
                n = min(n, ins[i * IN + I.PUSHED] - ins[i * IN + I.POPPED], ins[i * IN + I.MASK] + 1 - slot)
        for q in range(queues):
            if word >> PUSHES + port[q] & 1:
                slot = outs[q * OUT + O.PUSHED] & outs[q * OUT + O.MASK]
                n = min(
                    n,
                    outs[q * OUT + O.LIMIT] - outs[q * OUT + O.PUSHED],
                    outs[q * OUT + O.MASK] + 1 - slot,
                )
        if n < LEAST:
            return 0
        for i in range(inputs):
            if word >> TAKES + i & 1:
                # The channel is no fuller than ever, and nothing came too early: see `fire`.
                beyond = ins[i * IN + I.POPPED] + ins[i * IN + I.HIGH]
                if (
                    beyond < ins[i * IN + I.PUSHED]
                    and words_of(ins[i * IN + I.CYCLES], ins[i * IN + I.MASK], beyond)[0]
                    < t + 1 + ins[i * IN + I.FLIGHT]
                ):
                    return 0
                heads = words_of(ins[i * IN + I.CYCLES], ins[i * IN + I.MASK], ins[i * IN + I.POPPED])
                while n >= LEAST and heads[n - 1] > t + n:
                    n >>= 1
        for q in range(queues):
            if word >> PUSHES + port[q] & 1:
                # As `is_crowded`, for the last firing whose slot is one of those that are known to be free.
                before = outs[q * OUT + O.PUSHED] - outs[q * OUT + O.HIGH]
                last = outs[q * OUT + O.POPPED] - 1
                while n >= LEAST:
                    k = max(0, min(n - 1, last - before))
                    slot = min(before + k, last)
                    if words_of(outs[q * OUT + O.CYCLES], outs[q * OUT + O.MASK], slot)[0] <= t + 1 + k:
                        break
                    n >>= 1
        return n if n >= LEAST else 0

    def burst(
        address: int,
        word: int,
        now: Words,
        most: int,
        kind: Words,
        data: Words,
        ins: Words,
        outs: Words,
        state: Words,
        memory: tuple[Words, ...],
        out_kind: Words,
        out_data: Words,
        undone: Words,
    ) -> int:
        me = words_at(address, words)
        t = now[0]
        n = settled(word, t, min(most, me[R.LIMIT] - t, MOST), ins, outs)
        done = 0
        undone[0] = 0
        undone[1] = 0
        while done < n:
            again = step(kind, data, state, memory, out_kind, out_data)
            if again != word:
                undone[0] = again
                break
            if spaced and state[key_at] >= 0:
                updated = words_at(me[R.UPDATED], UNKNOWN)
                if updated[state[key_at]] + me[R.APART] > t + 1 + done:
                    undone[0] = again
                    break
                updated[state[key_at]] = t + 1 + done
            for q in range(queues):
                if word >> PUSHES + port[q] & 1:
                    new = outs[q * OUT + O.PUSHED]
                    token = out_data[port[q]] << KIND_BITS | out_kind[port[q]]
                    words_of(outs[q * OUT + O.TOKENS], outs[q * OUT + O.MASK], new)[done] = token
            done += 1
            for i in range(inputs):
                if word >> TAKES + i & 1:
                    head = ins[i * IN + I.POPPED]
                    # Behind the last token and the last slot this is anything, and not looked at.
                    slot = head & ins[i * IN + I.MASK]
                    token = words_at(ins[i * IN + I.TOKENS] + 8 * slot, MOST + 1)[done]
                    kind[i] = token & 3
                    data[i] = token >> KIND_BITS
        if done == 0:
            return 0

        now[0] = t + done
        undone[1] = done == most
        for i in range(inputs):
            if word >> TAKES + i & 1:
                head = ins[i * IN + I.POPPED]
                tokens = words_of(ins[i * IN + I.TOKENS], ins[i * IN + I.MASK], head)
                cycles = words_of(ins[i * IN + I.CYCLES], ins[i * IN + I.MASK], head)
                kinds = 0
                dwell = 0
                for k in range(done):
                    kinds += 1 << ((tokens[k] & 3) << COUNT_BITS)
                    dwell += t + 1 + k - cycles[k]
                    cycles[k] = t + 2 + k
                channel = words_at(me[input_at + i], CHANNEL)
                for j in range(4):
                    channel[C.VALS + j] += kinds >> (j << COUNT_BITS) & COUNT
                ins[i * IN + I.DWELL] += dwell
                ins[i * IN + I.POPPED] = head + done
                if head + done == ins[i * IN + I.PUSHED]:
                    kind[i] = NONE
                    undone[1] = 1
                else:
                    head += done
                    ins[i * IN + I.READY] = words_of(ins[i * IN + I.CYCLES], ins[i * IN + I.MASK], head)[0]
                    token = words_of(ins[i * IN + I.TOKENS], ins[i * IN + I.MASK], head)[0]
                    kind[i] = token & 3
                    data[i] = token >> KIND_BITS
        for q in range(queues):
            if word >> PUSHES + port[q] & 1:
                new = outs[q * OUT + O.PUSHED]
                cycles = words_of(outs[q * OUT + O.CYCLES], outs[q * OUT + O.MASK], new)
                ready = t + 1 + outs[q * OUT + O.LATENCY]
                for k in range(done):
                    cycles[k] = ready + k
                outs[q * OUT + O.PUSHED] = new + done
                if new + done == outs[q * OUT + O.LIMIT]:
                    undone[1] = 1
        return done

    return burst
