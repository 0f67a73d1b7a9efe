"""How a run fails: the first error of its nodes, or a deadlock, as an exception."""

from samhw.errors import RunError
from samhw.graph import Graph
from samhw.graph.liveness import DeadlockError, deadlock
from samhw.sim.machine import Machine
from samhw.sim.step import CAPACITY, COMMITTED, NONE, OVERFLOW, RANGE, fault, fault_cause
from samhw.sim.worker import Queue, Worker

__all__ = ["DISORDERED", "LATE", "raise_failure", "raise_fault"]

DISORDERED = (
    "its fibers or their coordinates are not stored in ascending order; check the tensors of this run."
)
"""What is wrong with a protocol error of a scanner."""

BEYOND_LIMIT = 15
LATE = fault(BEYOND_LIMIT, 0)
"""What takes the place of a firing that would come after the run's last cycle."""


def raise_failure(graph: Graph, machine: Machine) -> None:
    """Raises what kept a run, in which nothing can fire any more, from its end; returns if all is well."""
    raise_fault(graph, machine.workers)
    writers = {node.name for node in graph.writers()}
    if not all(worker.state[COMMITTED] for worker in machine.workers if worker.node in writers):
        raise _deadlock(graph, machine)


def raise_fault(graph: Graph, workers: list[Worker]) -> None:
    """Raises `RunError` for the first error in time; returns if there is none."""
    faults = [(worker.fault[0], i) for i, worker in enumerate(workers) if worker.fault is not None]
    if faults:
        raise _fault(graph, workers[min(faults)[1]])


def _fault(graph: Graph, worker: Worker) -> RunError:
    assert worker.fault is not None
    cycle, word = worker.fault
    where = f"node {worker.node!r} in cycle {cycle}"
    cause = fault_cause(word)
    if cause == BEYOND_LIMIT:
        return RunError(
            f"Node {worker.node!r} would fire in cycle {cycle}, after the run's limit; give a higher one."
        )
    if cause == OVERFLOW:
        value = graph.result_type(graph.node[worker.node])
        return RunError(
            f"overflow at {where}: a result leaves the range of {value}; "
            "scale the data or choose a wider --value."
        )
    if cause == CAPACITY:
        return RunError(
            f"capacity at {where}: its memory is full; build with a greater capacity (--capacity)."
        )
    heads = ", ".join(f"{name} = {token}" for name, token in worker.heads())
    if cause == RANGE:
        return RunError(
            f"range at {where}: a coordinate or reference lies beyond its extent or memory ({heads}); "
            "check the tensors and extents of this run."
        )
    if graph.node[worker.node].spec.finds_disorder:
        return RunError(f"protocol at {where}: {DISORDERED}")
    return RunError(
        f"protocol at {where}: its input streams do not agree in structure ({heads}); "
        "feed it streams of one iteration space."
    )


def _deadlock(graph: Graph, machine: Machine) -> DeadlockError:
    empty: set[str] = set()
    full: set[str] = set()
    for worker in machine.workers:
        if worker.pending is None:
            empty.update(queue.name for queue in _lacking(worker))
        else:
            full.update(queue.name for _, queue in worker.pending[2] if not queue.spare and not queue.free)
    return deadlock(graph, empty, full)


def _lacking(worker: Worker) -> list[Queue]:
    """The inputs whose missing heads a worker at rest needs."""
    needs = worker.actor.step(
        worker.kind, worker.data, worker.state, worker.memory, worker.out_kind, worker.out_data
    )
    return [worker.inputs[i] for i, kind in enumerate(worker.kind) if kind == NONE and needs >> i & 1]
