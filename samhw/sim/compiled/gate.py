"""What holds an actor back besides its channels."""

from enum import IntEnum

from samhw.sim.machine_code import UNKNOWN, words_at
from samhw.sim.worker import Earliest, Stalls, Worker

__all__ = ["GateKind", "gate_words", "passes_gate"]


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
