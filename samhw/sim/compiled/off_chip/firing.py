"""One firing of an actor: in which cycle it happens, and what becomes of its channels.

Every loop over ports has constant bounds, so that LLVM unrolls it and keeps what is at hand in registers.
"""

from collections.abc import Callable
from typing import NamedTuple

from samhw.machine_code import UNKNOWN, call, words_at
from samhw.primitives.step import NONE, PUSHES, TAKES, Words
from samhw.sim.compiled.gate import GateKind, gate_rule
from samhw.sim.compiled.off_chip.actor import ActorShape
from samhw.sim.compiled.off_chip.channel import (
    fullest_at_pop,
    fullest_at_push,
    is_crowded,
    log_passage,
    words_of,
)
from samhw.sim.compiled.off_chip.layout import C, I, L, O, R
from samhw.sim.compiled.records import KIND_BITS
from samhw.sim.fault import LATE
from samhw.sim.port_rule import CYCLE as ASKED_IN
from samhw.sim.port_rule import DATA, PLACE, USE, USE_SIZE, Want

__all__ = ["ASKS", "FIRED", "FULL", "LATER", "OffChipUse", "actor_firing"]

CHANNEL = len(C)
LOG = len(L)
IN, OUT = len(I), len(O)

# How a firing may end, in this order: what has fired is FIRED or less.
PAUSES, FIRED, FULL, LATER, ASKS = range(5)
"""PAUSES: it has fired, and has taken the last token or the last slot that is known, so that the next firing
would hardly come about. FULL: it lacks a slot. LATER: it would come after the run's last cycle. ASKS: it has
to be served by off-chip memory first."""


class OffChipUse(NamedTuple):
    """What an actor has to do with off-chip memory: nothing by default."""

    late: int = 0
    """The set of its inputs whose tokens may come with data from there."""
    want: Want | None = None
    """Notes what its next firing reads and writes, if it has ports."""
    carried: tuple[int, ...] = ()
    """For each channel that it pushes to the read whose data the tokens carry, by number, or -1."""


def actor_firing(
    shape: ActorShape,
    ports: tuple[int, ...],
    *,
    inputs: int,
    key: int | None,
    gate: GateKind,
    logs: bool,
    off_chip: OffChipUse,
) -> Callable[..., int]:
    """The function that does the firing of a word (`samhw.primitives.step`), or says why it cannot.

    Its arguments are the address of the actor's record, the word, the cycle of the last firing, the number of
    firings in this call, kind and data of the heads, the inputs (`I`) and channels (`O`) at hand, the state,
    and kind and data of the tokens to push. Arguments here as in `actor_loop`.
    """
    words = shape.words
    input_at, queue_at = shape.inputs, shape.queues
    queues = len(ports)
    port = ports or (0,)
    spaced = key is not None
    key_at = key or 0
    gated = gate is not GateKind.NOTHING
    allowed = gate_rule(gate)
    late_inputs = off_chip.late
    asks = off_chip.want is not None
    assert not (asks and spaced)
    want = off_chip.want or _nothing
    carried = off_chip.carried or (-1,) * max(1, queues)

    def fire(
        address: int,
        word: int,
        now: Words,
        fired: int,
        kind: Words,
        data: Words,
        ins: Words,
        outs: Words,
        state: Words,
        out_kind: Words,
        out_data: Words,
    ) -> int:
        me = words_at(address, words)
        if logs and words_at(me[R.LOG], LOG)[L.COUNT] + inputs > words_at(me[R.LOG], LOG)[L.CAPACITY]:
            return FULL

        # t(n) = max(t(n-1) + 1, heads that it needs, slots that it takes, the last update of its key)
        first = now[0] + 1
        t = first
        late = 0
        for i in range(inputs):
            if word >> i & 1:
                ready = ins[i * IN + I.THERE] if late_inputs >> i & 1 else ins[i * IN + I.READY]
                if ready > t:
                    t = ready
                    late = i
        starved = t - first
        beyond = 0
        if late_inputs >> late & 1:
            # Of that wait, what the memory takes beyond the latency of the channel.
            beyond = t - max(first, ins[late * IN + I.READY])
        crowded = False
        blocked = 0
        narrow = 0
        for q in range(queues):
            if word >> PUSHES + port[q] & 1:
                crowded |= outs[q * OUT + O.PUSHED] >= outs[q * OUT + O.LIMIT] or is_crowded(
                    outs[q * OUT + O.CYCLES],
                    outs[q * OUT + O.MASK],
                    outs[q * OUT + O.POPPED],
                    outs[q * OUT + O.PUSHED],
                    outs[q * OUT + O.HIGH],
                    t,
                )
        if crowded:
            first = t
            full = False
            for q in range(queues):
                if word >> PUSHES + port[q] & 1:
                    channel = words_at(me[queue_at + q], CHANNEL)
                    free = 0
                    before = outs[q * OUT + O.PUSHED] - channel[C.SLOTS]
                    if before >= 0 and before < outs[q * OUT + O.POPPED]:
                        free = words_of(outs[q * OUT + O.CYCLES], outs[q * OUT + O.MASK], before)[0]
                    if outs[q * OUT + O.PUSHED] >= outs[q * OUT + O.LIMIT] or (
                        channel[C.SHORT] and free > first
                    ):
                        me[R.WATCH] = me[queue_at + q] + 8 * C.POPPED
                        me[R.SEEN] = outs[q * OUT + O.POPPED]
                        full = True
                    if free > t:
                        t = free
                        narrow = q
            if full:
                return FULL
            blocked = t - first
        place = 0
        if asks:
            access = words_at(me[R.ACCESS], UNKNOWN)
            want(word, kind, data, state, out_kind, out_data, access)
            served = call(me[R.LOOK], me[R.ACCESS], 0)
            place = access[PLACE]
            if not served:
                number = me[R.FIRINGS] + fired
                access[ASKED_IN] = allowed(me[R.GATE], me[R.GATE_WORDS], max(t, place), number)
                # At rest until the arbiter wakes it.
                me[R.WATCH] = address + 8 * R.SEEN
                return ASKS
        if blocked:
            words_at(me[queue_at + narrow], CHANNEL)[C.BLOCKED] += blocked
        if starved:
            words_at(me[input_at + late], CHANNEL)[C.STARVED] += starved - beyond
            if beyond:
                words_at(me[input_at + late], CHANNEL)[C.LATE] += beyond
        if spaced and state[key_at] >= 0:
            first = t
            t = max(t, words_at(me[R.UPDATED], UNKNOWN)[state[key_at]] + me[R.APART])
            me[R.SPACED] += t - first
        if asks and place > t:
            me[R.HELD] += place - t
            t = place
        if gated:
            first = t
            t = allowed(me[R.GATE], me[R.GATE_WORDS], t, me[R.FIRINGS] + fired)
            me[R.STALLED] += t - first
        if t > me[R.LIMIT]:
            me[R.FAULT] = LATE
            me[R.FAULT_CYCLE] = t
            me[R.WATCH] = address + 8 * R.SEEN
            return LATER
        now[0] = t
        if spaced and state[key_at] >= 0:
            words_at(me[R.UPDATED], UNKNOWN)[state[key_at]] = t

        end = FIRED
        for i in range(inputs):
            if word >> TAKES + i & 1:
                channel = words_at(me[input_at + i], CHANNEL)
                channel[C.VALS + kind[i]] += 1
                waited = t - ins[i * IN + I.READY]
                ins[i * IN + I.DWELL] += waited
                if logs:
                    log_passage(
                        me[R.LOG], me[input_at + i], data[i] << KIND_BITS | kind[i], ins[i * IN + I.READY], t
                    )
                # Since the head was pushed, at most one more token has come in each cycle: a wait as short as
                # this one tells that there are no more than ever.
                if waited + ins[i * IN + I.FLIGHT] > ins[i * IN + I.HIGH]:
                    ins[i * IN + I.HIGH] = fullest_at_pop(
                        ins[i * IN + I.CYCLES],
                        ins[i * IN + I.MASK],
                        ins[i * IN + I.POPPED],
                        ins[i * IN + I.PUSHED],
                        ins[i * IN + I.HIGH],
                        ins[i * IN + I.FLIGHT] + t,
                    )
                words_of(ins[i * IN + I.CYCLES], ins[i * IN + I.MASK], ins[i * IN + I.POPPED])[0] = t + 1
                ins[i * IN + I.POPPED] += 1
                if ins[i * IN + I.POPPED] < ins[i * IN + I.PUSHED]:
                    head = ins[i * IN + I.POPPED]
                    token = words_of(ins[i * IN + I.TOKENS], ins[i * IN + I.MASK], head)[0]
                    kind[i] = token & 3
                    data[i] = token >> KIND_BITS
                    ins[i * IN + I.READY] = words_of(ins[i * IN + I.CYCLES], ins[i * IN + I.MASK], head)[0]
                    if late_inputs >> i & 1:
                        ins[i * IN + I.THERE] = words_of(channel[C.THERE], ins[i * IN + I.MASK], head)[0]
                else:
                    kind[i] = NONE
                    end = PAUSES
        for q in range(queues):
            if word >> PUSHES + port[q] & 1:
                if crowded:
                    outs[q * OUT + O.HIGH] = fullest_at_push(
                        outs[q * OUT + O.CYCLES],
                        outs[q * OUT + O.MASK],
                        outs[q * OUT + O.POPPED],
                        outs[q * OUT + O.PUSHED],
                        outs[q * OUT + O.HIGH],
                        t,
                    )
                new = outs[q * OUT + O.PUSHED]
                token = out_data[port[q]] << KIND_BITS | out_kind[port[q]]
                words_of(outs[q * OUT + O.TOKENS], outs[q * OUT + O.MASK], new)[0] = token
                ready = t + outs[q * OUT + O.LATENCY]
                words_of(outs[q * OUT + O.CYCLES], outs[q * OUT + O.MASK], new)[0] = ready
                if carried[q] >= 0:
                    there = words_at(me[R.ACCESS], UNKNOWN)[USE + USE_SIZE * carried[q] + DATA]
                    ready = max(t, there) + outs[q * OUT + O.LATENCY]
                    channel = words_at(me[queue_at + q], CHANNEL)
                    words_of(channel[C.THERE], outs[q * OUT + O.MASK], new)[0] = ready
                outs[q * OUT + O.PUSHED] = new + 1
                if outs[q * OUT + O.PUSHED] == outs[q * OUT + O.LIMIT]:
                    end = PAUSES
        return end

    return fire


def _nothing(
    word: int, kind: Words, data: Words, state: Words, out_kind: Words, out_data: Words, access: Words
) -> None:
    pass
