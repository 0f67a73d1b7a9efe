"""The max-plus recurrence of docs/timing.md: firing times in token order, without a clock."""

from collections import deque
from collections.abc import Callable, Iterable

from samhw.primitives.step import NONE, TAKES, fault_needs
from samhw.sim.fault import LATE
from samhw.sim.machine import Worker

__all__ = ["UNLIMITED", "Between", "nothing", "run"]

Between = Callable[[int, int], None]
"""Is called now and then in a run, with the firings so far and the latest cycle of one. It may raise."""

UNLIMITED = 1 << 62
FIRES = 1 << TAKES
"""A step's word below this neither takes nor pushes: an actor that waits or rests, or (negative) an error."""

TURN = 1024
"""Most firings of a worker before others have their turn, so that none fills a deep channel far ahead."""

SLICE = 1 << 15
"""Firings between two calls of `between`: some 50 ms."""


def nothing(firings: int, cycle: int) -> None:
    """Does nothing between."""


def run(
    workers: Iterable[Worker], limit: int = UNLIMITED, most: int = UNLIMITED, between: Between = nothing
) -> bool:
    """Runs the workers until none can fire, or for about `most` firings; gives whether none can.

    An actor whose rule is broken, or that would fire later than cycle `limit`, stops there with its `fault`
    set, and the others run on: so the caller can tell which error came first.
    """
    work = deque(workers)
    fired, latest, pause = 0, 0, SLICE
    while work:
        worker = work.popleft()
        before = worker.firings
        _advance(worker, work, limit)
        fired += worker.firings - before
        latest = max(latest, worker.last)
        if fired >= pause:
            pause = fired + SLICE
            between(fired, latest)
            if fired >= most:
                return False
    return True


def _advance(worker: Worker, work: deque[Worker], limit: int) -> None:
    """Fires a worker as often as the known tokens and slots allow, and wakes those whom that lets go on."""
    step = worker.actor.step
    kind, data, ready = worker.kind, worker.data, worker.ready
    state, memory = worker.state, worker.memory
    out_kind, out_data = worker.out_kind, worker.out_data
    plans = worker.plans
    plan, worker.pending = worker.pending, None
    gate, spacing, updated = worker.gate, worker.actor.spacing, worker.updated

    for _ in range(TURN):
        if plan is None:
            word = step(kind, data, state, memory, out_kind, out_data)
            if word < FIRES:
                _rest(worker, word)
                return
            plan = plans.get(word) or worker.plan(word)
        needs, takes, pushes = plan
        for _, queue in pushes:
            if not queue.spare and not queue.free:
                queue.full = True
                worker.pending = plan
                return
        plan = None

        # t(n) = max(t(n-1) + 1, the heads that it needs, the slots that it takes, the last update of its key)
        first = t = worker.last + 1
        for i in needs:
            if ready[i] > t:
                t = ready[i]
                late = i
        if t > first:
            worker.inputs[late].starved += t - first
            first = t
        for _, queue in pushes:
            if not queue.spare and queue.free[0] > t:
                t = queue.free[0]
                narrow = queue
        if t > first:
            narrow.blocked += t - first
        if spacing is not None and (key := state[spacing.key]) in updated:
            first, t = t, max(t, updated[key] + spacing.latency)
            worker.spaced += t - first
        if gate is not None:
            first, t = t, gate.allowed(t, worker.firings)
            worker.stalled += t - first
        if t > limit:
            worker.fault = t, LATE
            return
        worker.last = t
        worker.firings += 1
        if spacing is not None and key >= 0:
            updated[key] = t

        for i, queue in takes:
            tokens = queue.tokens
            while len(tokens) > queue.high and tokens[queue.high][2] - queue.latency <= t:
                queue.high += 1
            if queue.tap is not None:
                queue.tap(ready[i] - queue.latency, t, kind[i], data[i])
            queue.popped += 1
            queue.kinds[kind[i]] += 1
            queue.dwell += t - ready[i]
            queue.free.append(t + 1)
            tokens.popleft()
            if tokens:
                kind[i], data[i], ready[i] = tokens[0]
            else:
                kind[i] = NONE
            if queue.full:
                queue.full = False
                work.append(queue.producer)

        for j, queue in pushes:
            free = queue.free
            while free and free[0] <= t:
                free.popleft()
                queue.spare += 1
            queue.spare -= 1
            if free and queue.depth - queue.spare > queue.high:
                queue.high = queue.depth - queue.spare
            queue.append(out_kind[j], out_data[j], t + queue.latency)
            if queue.wanted:
                queue.wanted = False
                work.append(queue.consumer)
    work.append(worker)


def _rest(worker: Worker, word: int) -> None:
    """A worker whose step gave no firing: it has met an error, waits for a head, or rests for good."""
    if word < 0:
        needs = fault_needs(word)
        heads = [ready for i, ready in enumerate(worker.ready) if needs >> i & 1]
        worker.fault = max(worker.last + 1, *heads), word
        return
    for i, head in enumerate(worker.kind):
        if head == NONE and word >> i & 1:
            worker.inputs[i].wanted = True
            return
