"""The order in which compiled code comes to actors."""

from collections.abc import Sequence

from samhw.sim.worker import Worker

__all__ = ["forward"]


def forward(workers: Sequence[Worker]) -> list[Worker]:
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
