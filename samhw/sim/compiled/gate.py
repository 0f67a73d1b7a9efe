"""What holds an actor back besides its channels."""

from enum import IntEnum

from samhw.sim.machine import Earliest, Stalls, Worker

__all__ = ["GateKind"]


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
