"""A workload compiled with room for its data."""

from typing import Any

from samhw.compiler import AUTO, Compiled, compile_program
from samhw.frontend import Capacity
from samhw.graph import Arch
from samhw.schedule import Schedule
from samhw.workload.regions import scheduled
from samhw.workload.workload import Workload

__all__ = ["compile_workload"]


def compile_workload(
    workload: Workload, schedule: Schedule | None = None, *, arch: Arch | None = None, **options: Any
) -> Compiled:
    """Compiles a workload's program with room for its data, and for a `capacity` besides, if that is among
    the options; these are as for `compile_program`."""
    schedule = scheduled(workload, schedule)
    options["capacity"] = workload.capacity(schedule) | options.get("capacity", Capacity())
    options["value"] = workload.value(options.get("value", AUTO))
    return compile_program(workload.program, schedule, arch=arch, **options)
