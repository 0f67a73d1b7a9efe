"""Shapes: what the code of an actor depends on besides its step function, with what holds it back besides its
channels.

All of it is known when the code is made, so that code has no branches that depend on it.
"""

from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from samhw.sim.machine_code import UNKNOWN, words_at
from samhw.sim.worker import Earliest, Queue, Stalls, Worker

__all__ = [
    "NO_KEY",
    "CarefulShape",
    "FinderShape",
    "TimerShape",
    "asked_by",
    "careful_shape",
    "finder_shape",
    "gate_words",
    "key_of",
    "passes_gate",
    "ports_of",
    "timer_shape",
    "wiring_of",
]


class GateKind(IntEnum):
    """The kind of an actor's gate."""

    NOTHING = 0
    STALLS = 1
    """Its gate's words are flags, 1 in a cycle (modulo their number) in which it must not fire."""
    EARLIEST = 2
    """Its gate's words are the earliest cycles of its first firings."""

    @classmethod
    def of(cls, worker: Worker) -> "GateKind":
        """That of a worker."""
        if isinstance(worker.gate, Stalls):
            return cls.STALLS
        return cls.EARLIEST if isinstance(worker.gate, Earliest) else cls.NOTHING


def gate_words(worker: Worker) -> list[int]:
    """The words of a worker's gate."""
    match worker.gate:
        case Stalls(pattern=pattern):
            return [int(stalled) for stalled in pattern]
        case Earliest(cycles=cycles):
            return list(cycles)
    return []


def passes_gate(kind: GateKind, address: int, count: int, t: int, number: int) -> int:
    """The first cycle from t on in which a gate lets a firing pass.

    Args:
        kind: stalls or earliest cycles.
        address: that of the gate's words.
        count: how many they are.
        number: that of the firing.
    """
    gate = words_at(address, UNKNOWN)
    if kind == GateKind.STALLS:
        while gate[t % count]:
            t += 1
    elif number < count:
        t = max(t, gate[number])
    return t


LEAST_JOINED, MOST_JOINED = 4, 8
"""Where pairs of streams meet, one firing tells little about the next, and a branch would be a guess. So
actors with this many inputs at least, and this many channels at most, look at all heads again for each
firing, and put tokens down whether they are pushed or not."""

LONG = 512
"""Operations of a firing from which on LLVM is to make vector instructions of the loops over them, which
takes it three times as long."""

NO_KEY = -1
"""Instead of the key of a spacing, or of turns: the actor keeps none."""


class FinderShape(NamedTuple):
    """That of the code that finds firings (finding.py)."""

    inputs: int
    ports: tuple[int, ...]
    """For each channel that the actor pushes to, the output that it belongs to."""
    outputs: int
    states: int
    stores: int
    circles: tuple[tuple[int, int], ...]
    """The channels that lead from the actor to itself: input, and number among those that it pushes to."""
    fed_by_itself: tuple[int, ...]
    """The inputs of these."""
    joins: bool
    """Heads are looked at again for each firing (`LEAST_JOINED`)."""
    key: int
    """Place in the state of the key of the actor's spacing, or of its turns, or `NO_KEY`."""
    turns: bool
    """It has turns."""
    accesses: bool
    """It asks for lines of off-chip memory."""
    beat: int
    """Then, where among the words that it pushes the beat is that its token comes with."""
    taken: tuple[tuple[int, int], ...]
    """For each input where the further words of a block lie in what the step function sees, and how many they
    are; 0 for a payload of one word."""
    given: tuple[tuple[int, int], ...]
    """The same for each output."""
    data: int
    """The words of all heads,"""
    out_data: int
    """and of all tokens that it pushes, those further ones included."""
    long: bool
    """A firing goes through so many operations that vector instructions pay."""
    simple: bool
    """Most firings can be found without a look at the ends of channels: the actor has neither circles nor
    access."""


class TimerShape(NamedTuple):
    """That of the code that times firings (timing.py)."""

    inputs: int
    ports: tuple[int, ...]
    """As in `FinderShape`."""
    spaced: bool
    """The actor keeps a spacing, or has turns."""
    turns: bool
    """It has turns."""
    gate: GateKind
    """What else holds it back."""
    single: bool
    """Firings are never timed at once."""
    together: bool
    """Many that differ may be timed together."""


class CarefulShape(NamedTuple):
    """That of the code that times firings without assumptions (careful.py)."""

    inputs: int
    ports: tuple[int, ...]
    """As in `FinderShape`, and the others as in `TimerShape`."""
    spaced: bool
    turns: bool
    gate: GateKind
    late: int
    """The set of its inputs whose tokens may come with data from off-chip memory."""
    accesses: bool
    """It asks for lines of that memory itself."""
    asks: tuple[tuple[int, "CarefulShape"], ...]
    """For each channel on which it tells a port what it reads or writes: the number of that among those that
    it pushes to, and the shape of the actor there, which is timed with it."""


class Wiring(NamedTuple):
    """What the code of a worker depends on besides its actor."""

    ports: tuple[int, ...]
    """As in `FinderShape`, as are the others."""
    circles: tuple[tuple[int, int], ...]
    careful: CarefulShape


def wiring_of(worker: Worker) -> Wiring:
    """The wiring of a worker."""
    return Wiring(ports_of(worker), _circles_of(worker), careful_shape(worker))


def finder_shape(worker: Worker) -> FinderShape:
    """The shape of the code that finds a worker's firings."""
    wiring, inputs, key = wiring_of(worker), len(worker.inputs), key_of(worker)
    return FinderShape(
        inputs=inputs,
        ports=wiring.ports,
        outputs=len(worker.outputs),
        states=len(worker.state),
        stores=len(worker.memory),
        circles=wiring.circles,
        fed_by_itself=tuple(i for i, _ in wiring.circles),
        joins=inputs >= LEAST_JOINED
        and inputs + len(wiring.ports) <= MOST_JOINED
        and not worker.actor.widths,
        key=NO_KEY if key is None else key,
        turns=worker.actor.turn is not None,
        accesses=worker.access is not None,
        beat=_last_word(worker) if worker.access is not None else 0,
        taken=_further(worker.more),
        given=_further(worker.out_more),
        data=worker.more[-1],
        out_data=worker.out_more[-1],
        long=worker.actor.operations >= LONG,
        simple=worker.access is None and not wiring.circles,
    )


def timer_shape(worker: Worker) -> TimerShape:
    """The shape of the code that finds the cycles of a worker's firings."""
    wiring, gate = wiring_of(worker), GateKind.of(worker)
    turns = worker.actor.turn is not None
    single = bool(wiring.circles) or gate is not GateKind.NOTHING or turns
    return TimerShape(
        inputs=len(worker.inputs),
        ports=wiring.ports,
        spaced=key_of(worker) is not None,
        turns=turns,
        gate=gate,
        single=single,
        together=not single,
    )


def careful_shape(worker: Worker) -> CarefulShape:
    """The shape of the code that finds them without assumptions."""
    asks = enumerate(asked_by(queue) for queues in worker.outputs for queue in queues)
    return CarefulShape(
        inputs=len(worker.inputs),
        ports=ports_of(worker),
        spaced=key_of(worker) is not None,
        turns=worker.actor.turn is not None,
        gate=GateKind.of(worker),
        late=sum(queue.off_chip << i for i, queue in worker.inputs.items()),
        accesses=worker.access is not None,
        asks=tuple((q, careful_shape(asked)) for q, asked in asks if asked),
    )


def asked_by(queue: Queue) -> Worker | None:
    """The actor of a port that its own actor asks on a channel, if this is such a channel."""
    consumer = queue.consumer
    return consumer if consumer.access is not None and queue.port == 0 else None


def ports_of(worker: Worker) -> tuple[int, ...]:
    """For each channel that a worker pushes to, the output that it belongs to."""
    return tuple(j for j, queues in enumerate(worker.outputs) for _ in queues)


def key_of(worker: Worker) -> int | None:
    """Place in the state of the key of a worker's turns, or of its spacing, if it has one that matters."""
    spacing, turn = worker.actor.spacing, worker.actor.turn
    if turn is not None:
        return turn.key
    # Firings are a cycle apart anyway.
    return spacing.key if spacing and spacing.latency > 1 else None


def _further(offsets: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Where further words begin, and how many they are, from the offsets of an actor's ports."""
    return tuple((begin, end - begin) for begin, end in pairwise(offsets))


def _circles_of(worker: Worker) -> tuple[tuple[int, int], ...]:
    """`FinderShape.circles` of a worker."""
    pushed_to = [queue for queues in worker.outputs for queue in queues]
    return tuple((i, pushed_to.index(q)) for i, q in worker.inputs.items() if q.producer is worker)


def _last_word(worker: Worker) -> int:
    """Where the last word of the first output of a worker lies in what it pushes."""
    first, end = worker.out_more[:2]
    return end - 1 if end > first else 0
