"""The max-plus recurrence of docs/timing.md: firing times in token order, without a clock."""

from collections import deque
from collections.abc import Callable, Iterable

from samhw.sim.ports import Arbiter
from samhw.sim.result import LATE
from samhw.sim.step import NONE, TAKES, fault_needs
from samhw.sim.worker import Plan, Queue, Worker

__all__ = ["UNLIMITED", "Between", "nothing", "run"]

Between = Callable[[int, int], None]
"""Is called now and then in a run, with the firings so far and the latest cycle of one. It may raise."""

Ends = tuple[tuple[int, Queue], ...]
"""Ports of a firing, each with its channel."""

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
    workers: Iterable[Worker],
    limit: int = UNLIMITED,
    most: int = UNLIMITED,
    between: Between = nothing,
    arbiter: Arbiter | None = None,
) -> bool:
    """Runs the workers until none can fire, or for about `most` firings; gives whether none can.

    An actor whose rule is broken, or that would fire later than cycle `limit`, stops there with its `fault`
    set, and the others run on: so the caller can tell which error came first.

    Lines of off-chip memory are asked of `arbiter`, which answers when nothing else can go on.
    """
    work = deque(workers)
    fired, latest, pause = 0, 0, min(SLICE, most)
    while work or (arbiter is not None and arbiter.serve(work)):
        worker = work.popleft()
        before = worker.firings
        _advance(worker, work, limit, arbiter)
        fired += worker.firings - before
        latest = max(latest, worker.last)
        if fired >= pause:
            pause = fired + min(SLICE, most)
            between(fired, latest)
            if fired >= most:
                return False
    return True


def _advance(worker: Worker, work: deque[Worker], limit: int, arbiter: Arbiter | None) -> None:
    """Fires a worker as often as the known tokens and slots allow, and wakes those whom that lets go on."""
    step = worker.actor.step
    kind, data = worker.kind, worker.data
    state, memory = worker.state, worker.memory
    out_kind, out_data = worker.out_kind, worker.out_data
    plans = worker.plans
    plan, worker.pending = worker.pending, None
    access, spacing = worker.access, worker.actor.spacing
    restrained = worker.gate is not None or spacing is not None or worker.actor.turn is not None

    for _ in range(TURN):
        if plan is None:
            word = step(kind, data, state, memory, out_kind, out_data)
            if word < FIRES:
                _rest(worker, word)
                return
            plan = plans.get(word) or worker.plan(word)
        _, takes, pushes = plan
        for _, queue in pushes:
            if not queue.spare and not queue.free:
                queue.full = True
                worker.pending = plan
                return
        t = _time(worker, plan)
        if restrained:
            t = _restrain(worker, t)
        if t > limit:
            worker.fault = t, LATE
            return
        worker.last = t
        worker.firings += 1
        if spacing is not None and (key := state[spacing.key]) >= 0:
            worker.updated[key] = t
        _take(worker, takes, t, work)
        _push(worker, pushes, t, work)
        if access is not None:
            assert arbiter is not None
            arbiter.note(access, t)
        plan = None
    work.append(worker)


def _time(worker: Worker, plan: Plan) -> int:
    """t(n) = max(t(n-1) + 1, the heads that a firing needs, the slots that it takes), counted as what it
    waited for last."""
    needs, _, pushes = plan
    ready = worker.ready
    first = t = worker.last + 1
    for i in needs:
        if ready[i] > t:
            t = ready[i]
            late = i
    if t > first:
        queue = worker.inputs[late]
        queue.starved += t - first
        if queue.off_chip:
            # Of that wait, what the memory takes beyond the latency of the channel.
            waited = max(0, t - max(first, queue.tokens[0][3] + queue.latency))
            queue.late += waited
            queue.starved -= waited
        first = t
    for _, queue in pushes:
        if not queue.spare and queue.free[0] > t:
            t = queue.free[0]
            narrow = queue
    if t > first:
        narrow.blocked += t - first
    return t


def _restrain(worker: Worker, t: int) -> int:
    """t(n) put off by the last update of its key, or until its turn, and by a gate."""
    spacing, turn, gate = worker.actor.spacing, worker.actor.turn, worker.gate
    if spacing is not None and (key := worker.state[spacing.key]) in worker.updated:
        first, t = t, max(t, worker.updated[key] + spacing.latency)
        worker.spaced += t - first
    if turn is not None and (own := worker.state[turn.key]) >= 0:
        left = (own - t) % turn.banks
        t += left
        worker.spaced += left
    if gate is not None:
        first, t = t, gate.allowed(t, worker.firings)
        worker.stalled += t - first
    return t


def _take(worker: Worker, takes: Ends, t: int, work: deque[Worker]) -> None:
    """Pops the heads that a firing in cycle t takes."""
    kind, data, ready = worker.kind, worker.data, worker.ready
    for i, queue in takes:
        tokens = queue.tokens
        while len(tokens) > queue.high and tokens[queue.high][3] <= t:
            queue.high += 1
        pushed = tokens.popleft()[3]
        if queue.tap is not None:
            queue.tap(pushed, t, kind[i], queue.number(kind[i], data[i], data[queue.more]))
        queue.popped += 1
        queue.kinds[kind[i]] += 1
        queue.dwell += t - pushed
        queue.free.append(t + 1)
        if not tokens:
            kind[i] = NONE
        elif queue.wide:
            queue.show()
        else:
            kind[i], data[i], ready[i], _ = tokens[0]  # type: ignore[assignment]
        if queue.full:
            queue.full = False
            work.append(queue.producer)


def _push(worker: Worker, pushes: Ends, t: int, work: deque[Worker]) -> None:
    """Pushes what a firing in cycle t gives."""
    out_kind, out_data = worker.out_kind, worker.out_data
    for j, queue in pushes:
        free = queue.free
        while free and free[0] <= t:
            free.popleft()
            queue.spare += 1
        queue.spare -= 1
        if free and queue.depth - queue.spare > queue.high:
            queue.high = queue.depth - queue.spare
        payload = [out_data[j], *out_data[queue.source]] if queue.wide else out_data[j]
        if queue.off_chip:
            assert worker.access is not None
            queue.carried.append((out_kind[j], payload, t))
            worker.access.resolve(work)
            continue
        queue.append(out_kind[j], payload, t + queue.latency, t)
        if queue.wanted:
            queue.wanted = False
            work.append(queue.consumer)


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
