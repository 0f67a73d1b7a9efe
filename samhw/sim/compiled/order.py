"""The order in which compiled code comes to actors, and the partitions that go on alone for a while."""

from collections.abc import Sequence
from itertools import groupby

from samhw.sim.worker import Worker

__all__ = ["partitions_of"]


def partitions_of(workers: Sequence[Worker]) -> list[list[Worker]]:
    """The workers, so ordered that channels lead forward, but for one in each circle; in partitions.

    What lies in a lane of the outermost index with lanes is a partition, and so is what lies outside of
    lanes. If streams come back from outside into lanes, what they come to are partitions of their own.
    Without lanes there is one partition.
    """
    order = _forward(workers)
    lane = _lanes_of(order)
    position = {worker: n for n, worker in enumerate(order)}
    # How often streams have come into a lane or out of one before they come to a worker.
    stage = dict.fromkeys(order, 0)
    for n, worker in enumerate(order):
        for consumer in _consumers(worker):
            if position[consumer] > n:
                changes = lane[consumer] != lane[worker]
                stage[consumer] = max(stage[consumer], stage[worker] + changes)

    def partition(worker: Worker) -> tuple[int, tuple[int, ...]]:
        return stage[worker], lane[worker]

    return [list(those) for _, those in groupby(sorted(order, key=partition), partition)]


def _lanes_of(workers: Sequence[Worker]) -> dict[Worker, tuple[int, ...]]:
    """For each worker the numbers of the lane that it is in, of the outermost index; none for those outside,
    and for scatters and gathers between many lanes."""
    numbers = {
        worker: tuple(number for index, number in worker.lane if index == worker.lane[0][0])
        for worker in workers
    }
    whole = max(map(len, numbers.values()), default=0)
    return {worker: lane if len(lane) == whole else () for worker, lane in numbers.items()}


def _forward(workers: Sequence[Worker]) -> list[Worker]:
    """The workers so ordered that channels lead forward, but for one in each circle."""
    seen: set[Worker] = set()
    finished: list[Worker] = []
    for start in sorted(workers, key=lambda worker: len(worker.inputs) > 0):
        if start in seen:
            continue
        seen.add(start)
        path = [(start, _consumers(start))]
        while path:
            worker, rest = path[-1]
            if rest:
                consumer = rest.pop()
                if consumer not in seen:
                    seen.add(consumer)
                    path.append((consumer, _consumers(consumer)))
            else:
                finished.append(worker)
                path.pop()
    return finished[::-1]


def _consumers(worker: Worker) -> list[Worker]:
    return [queue.consumer for queues in worker.outputs for queue in queues]
