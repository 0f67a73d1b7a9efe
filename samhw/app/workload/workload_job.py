"""A workload as a job: compiled with room for its data."""

from collections.abc import Mapping
from dataclasses import replace

from samhw.app.workload.workload import Workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import NO_LIMIT, Job, Room
from samhw.graph import Arch, OffChipMemory
from samhw.graph.numerics import ValueType
from samhw.lang import Capacity

__all__ = ["compile_workload", "job_of"]


def compile_workload(
    workload: Workload,
    schedule: Schedule | None = None,
    *,
    value: ValueType | None = None,
    capacity: Capacity | None = None,
    entries: Mapping[str, int] | None = None,
    arch: Arch | None = None,
    memory: OffChipMemory | None = None,
) -> Compiled:
    """Compiles a workload's program with room for its data.

    Args:
        schedule: by default the program's own. With `fuse="auto"` it is chosen for the data.
        value: the value type; None for what the program and its data need.
        capacity: greatest extents and entries that it is to have room for besides.
        entries: by tensor, the entries of its compressed levels instead of those of data and `capacity`.
        arch: the latencies.
        memory: what holds the tensors that the schedule has off chip; None if all lie on chip.

    Raises:
        InputError: for a program that cannot be lowered, with the reason and the way out. It is a
            `ScheduleError` if another order, other regions or other formats would do.
    """
    job = job_of(workload, schedule, value=value, capacity=capacity, entries=entries, arch=arch)
    return compile_job(replace(job, memory=memory))


def job_of(
    workload: Workload,
    schedule: Schedule | None = None,
    *,
    value: ValueType | None = None,
    capacity: Capacity | None = None,
    entries: Mapping[str, int] | None = None,
    arch: Arch | None = None,
    room: Room = NO_LIMIT,
    is_open: bool = False,
) -> Job:
    """The job that a workload is; `room` and `is_open` as for `Job`, the rest as for `compile_workload`."""
    schedule = schedule or Schedule()
    kind = workload.value(value)
    workload = workload.in_types(kind)
    program = workload.program
    if schedule.is_open:  # What a candidate costs depends on extents.
        program = program.bind({name: tensor.shape for name, tensor in workload.tensors.items()})
    return Job(
        program,
        schedule,
        workload,
        value=kind,
        capacity=capacity or Capacity(),
        entries=entries or {},
        arch=arch or Arch(),
        scopes=workload.scopes,
        room=room,
        is_open=is_open,
    )
