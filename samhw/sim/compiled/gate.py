"""What holds an actor back besides its channels."""

from collections.abc import Callable
from enum import IntEnum

from samhw.machine_code import UNKNOWN, words_at
from samhw.sim.worker import Earliest, Stalls, Worker

__all__ = ["GateKind", "gate_rule", "gate_words"]


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


def gate_rule(kind: GateKind) -> Callable[[int, int, int, int], int]:
    """The function (address of the gate's words, how many they are, t, number of a firing) -> the first cycle
    from t on in which the gate lets the firing pass."""
    stalls, waits = kind is GateKind.STALLS, kind is GateKind.EARLIEST

    def allowed(address: int, count: int, t: int, number: int) -> int:
        gate = words_at(address, UNKNOWN)
        if stalls:
            while gate[t % count]:
                t += 1
        if waits and number < count:
            t = max(t, gate[number])
        return t

    return allowed
