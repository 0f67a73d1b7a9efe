"""Marks on actors that have to be timed again, or may go on, since a channel of theirs has changed."""

from samhw.machine_code import words_at
from samhw.primitives.step import Words
from samhw.sim.compiled.on_chip.layout import NEVER, A, C

__all__ = ["retake", "tell_consumer", "tell_producer"]

ACTOR = len(A)


def tell_producer(channel: Words, before: int, changed: int) -> None:
    """Marks the producer, if slots were popped otherwise than it has assumed.

    `before` are the tokens that were popped as far as was known, `changed` is the first one of them that is
    now popped in another cycle.
    """
    producer = words_at(channel[C.PRODUCER], ACTOR)
    popped = channel[C.NEW_POPPED]
    # The first so many pops were for slots that the producer has taken since.
    used = channel[C.NEW_PUSHED] - channel[C.DEPTH]
    if channel[C.OPEN] == 0:
        if used > popped:
            retake(channel, popped)
        elif popped > before and used >= before:
            producer[A.NARROW] = min(producer[A.NARROW], NEVER)
    first = min(before, changed)
    count = min(popped, used) - first
    if count > 0:
        free = words_at(channel[C.FREE] + 8 * first, count)
        ready = words_at(channel[C.READY] + 8 * (first + channel[C.DEPTH]), count)
        # What became free long enough before the push has made no difference.
        enough = channel[C.LATENCY] + producer[A.CLOSE]
        late = 0
        for k in range(count):
            late |= ready[k] - enough - free[k]
        if late < 0:
            k = 0
            while ready[k] - enough >= free[k]:
                k += 1
            retake(channel, first + k)


def retake(channel: Words, slot: int) -> None:
    """Marks the producer, which has to look again when a slot was free that it has taken since."""
    producer = words_at(channel[C.PRODUCER], ACTOR)
    ready = words_at(channel[C.READY] + 8 * (slot + channel[C.DEPTH]), 1)[0]
    producer[A.NARROW] = min(producer[A.NARROW], ready - channel[C.LATENCY])


def tell_consumer(channel: Words, before: int, changed: int) -> None:
    """Marks the consumer, if tokens come otherwise than it has seen.

    `before` are the tokens that were pushed as far as was known, `changed` is a cycle before which the
    consumer has seen nothing that is different now, or NEVER.
    """
    consumer = words_at(channel[C.CONSUMER], ACTOR)
    pushed = channel[C.NEW_PUSHED]
    if changed < NEVER:
        consumer[A.STALE] = min(consumer[A.STALE], changed)
    if pushed < before and pushed <= channel[C.NEW_POPPED]:
        # They are not there after all.
        since = words_at(channel[C.READY] + 8 * pushed, 1)[0]
        if pushed > channel[C.KEPT]:
            since = max(since, words_at(channel[C.FREE] + 8 * (pushed - 1), 1)[0])
        consumer[A.STALE] = min(consumer[A.STALE], since)
    elif pushed > before and consumer[A.NEXT] == NEVER:
        consumer[A.STALE] = min(consumer[A.STALE], NEVER)
