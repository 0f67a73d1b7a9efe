"""What records have in common, with tensors on chip and off: their form, and what an actor brings along."""

from collections.abc import MutableSequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.sim.compiled.functions import circles_of, key_of, ports_of
from samhw.sim.worker import Worker

__all__ = [
    "ActorShape",
    "RecordPlace",
    "traits_of",
]

Words = NDArray[np.int64]


class RecordPlace(IntEnum):
    """The places of a record, in order."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[int]) -> int:
        return count


class ActorShape:
    """Where the parts of an actor's record begin whose sizes depend on the actor."""

    def __init__(self, head: int, inputs: int, queues: int, outputs: int, states: int, stores: int):
        """
        Args:
            head: words of the record before them.
            queues: the channels that the actor pushes to.
        """
        self.inputs = head
        """For each input the address of its channel."""
        self.queues = self.inputs + inputs
        """The address of each channel that it pushes to."""
        self.out_kind = self.queues + queues
        self.out_data = self.out_kind + outputs
        self.state = self.out_data + outputs
        self.stores = self.state + states
        """For each store its address and its number of words."""
        self.words = self.stores + 2 * stores

    @classmethod
    def of(cls, worker: Worker, head: int) -> "ActorShape":
        """That of a worker's record."""
        return cls(
            head,
            len(worker.inputs),
            len(ports_of(worker)),
            len(worker.outputs),
            len(worker.state),
            len(worker.memory),
        )

    def load(self, worker: Worker, record: MutableSequence[int] | Words) -> None:
        """Puts the tokens that a worker is about to push and its state into its record."""
        record[self.out_kind : self.out_data] = worker.out_kind
        record[self.out_data : self.state] = worker.out_data
        record[self.state : self.stores] = worker.state

    def store(self, worker: Worker, record: memoryview | Words) -> None:
        """Puts them back."""
        worker.out_kind[:] = record[self.out_kind : self.out_data].tolist()
        worker.out_data[:] = record[self.out_data : self.state].tolist()
        worker.state[:] = record[self.state : self.stores].tolist()


def traits_of(worker: Worker) -> dict[str, Any]:
    """What the compiled functions of a worker depend on besides its step function and its ports."""
    return {
        "inputs": len(worker.inputs),
        "outputs": len(worker.outputs),
        "states": len(worker.state),
        "stores": len(worker.memory),
        "feeds_itself": bool(circles_of(worker)),
        "key": key_of(worker),
    }
