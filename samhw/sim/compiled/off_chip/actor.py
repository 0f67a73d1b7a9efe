"""What records have in common, with tensors on chip and off: their form, and what an actor brings along."""

from collections.abc import Callable, MutableSequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samhw.machine_code import words_at
from samhw.primitives.step import Memory
from samhw.primitives.step import Words as Row
from samhw.sim.compiled.functions import key_of, ports_of
from samhw.sim.worker import Worker

__all__ = [
    "KIND_BITS",
    "ActorShape",
    "RecordPlace",
    "feeds_itself",
    "pending_word",
    "stores_of",
    "traits_of",
]

Words = NDArray[np.int64]

KIND_BITS = 2
"""Of a token, below its payload."""


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


def stores_of(at: int, count: int) -> Callable[[Row], Memory]:
    """The function that gives the arrays of an actor's stores, which begin at a place of its record."""
    if count == 0:

        def nothing(me: Row) -> Memory:
            return ()

        return nothing
    before = stores_of(at, count - 1)
    place = at + 2 * (count - 1)

    def stored(me: Row) -> Memory:
        return (*before(me), words_at(me[place], me[place + 1]))

    return stored


def feeds_itself(worker: Worker) -> bool:
    """Whether a channel of a worker is both an output and an input of it."""
    return any(queue.producer is worker for queue in worker.inputs.values())


def traits_of(worker: Worker) -> dict[str, Any]:
    """What the compiled functions of a worker depend on besides its step function and its ports."""
    return {
        "inputs": len(worker.inputs),
        "outputs": len(worker.outputs),
        "states": len(worker.state),
        "stores": len(worker.memory),
        "feeds_itself": feeds_itself(worker),
        "key": key_of(worker),
    }


def pending_word(worker: Worker) -> int:
    """The word of the firing that is decided but lacks a slot, or 0."""
    if worker.pending is None:
        return 0
    return next(word for word, plan in worker.plans.items() if plan is worker.pending)
