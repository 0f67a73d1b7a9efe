"""A workload compiled with room for its data."""

from collections.abc import Mapping
from typing import Any

from samhw.compiler import Compiled
from samhw.frontend import Capacity
from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.schedule import AUTO, Schedule
from samhw.search import NO_LIMIT, Request, Room, compile_chosen, compile_program, in_modules
from samhw.statistics import TensorStatistics
from samhw.workload.workload import Workload

__all__ = ["compile_workload", "request_for", "scheduled"]


def compile_workload(
    workload: Workload, schedule: Schedule | None = None, *, arch: Arch | None = None, **options: Any
) -> Compiled:
    """Compiles a workload's program with room for its data, and for a `capacity` besides, if that is among
    the options; these are as for `compile_program`."""
    schedule = scheduled(workload, schedule)
    if schedule.fuse == AUTO:
        return compile_chosen(request_for(workload, schedule, arch=arch, **options))
    options["capacity"] = workload.capacity(schedule) | options.get("capacity", Capacity())
    options["value"] = workload.value(options.get("value"))
    return compile_program(workload.program, schedule, arch=arch, **options)


def request_for(
    workload: Workload,
    schedule: Schedule,
    *,
    value: ValueType | None = None,
    capacity: Capacity | None = None,
    entries: Mapping[str, int] | None = None,
    arch: Arch | None = None,
    room: Room = NO_LIMIT,
    is_open: bool = False,
) -> Request:
    """What a schedule is chosen for, with the data's capacities and counts; `is_open` as for `Request`, the
    rest as for `compile_workload`."""
    known: dict[object, TensorStatistics] = {}

    def statistics(candidate: Schedule) -> TensorStatistics:
        # What the host makes of data depends on what lies in blocks, such as those at the edge.
        stored = (candidate.split, candidate.permute_rows, candidate.blocks, candidate.formats)
        key = tuple(tuple(rules.items()) for rules in stored)
        if key not in known:
            known[key] = workload.statistics(schedule=candidate, is_open=is_open)
        return known[key]

    return Request(
        workload.program.bind({name: tensor.shape for name, tensor in workload.tensors.items()}),
        schedule,
        lambda candidate: workload.capacity(candidate) | (capacity or Capacity()),
        workload.value(value),
        arch or Arch(),
        statistics,
        entries,
        workload.scopes,
        room,
        workload.with_lanes_by_part,
        is_open,
    )


def scheduled(workload: Workload, schedule: Schedule | None) -> Schedule:
    """The schedule with the regions that `module` stands for, if it has that, and with lanes by part. In a
    program that was not made of a module, `module` is refused where it is applied."""
    schedule = in_modules(schedule or Schedule(), workload.program, workload.scopes)
    return workload.with_lanes_by_part(schedule)
