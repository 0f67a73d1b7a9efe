"""A workload compiled with room for its data."""

from typing import Any

from samhw.compiler import AUTO, Compiled
from samhw.graph import Arch
from samhw.schedule import Schedule
from samhw.search import compile_program
from samhw.workload.regions import scheduled
from samhw.workload.workload import Workload

__all__ = ["compile_workload"]


def compile_workload(
    workload: Workload, schedule: Schedule | None = None, *, arch: Arch | None = None, **options: Any
) -> Compiled:
    """Compiles a workload's program with room for its data; `options` as for `compile_program`."""
    schedule = scheduled(workload, schedule)
    options.setdefault("capacity", workload.capacity(schedule))
    options["value"] = workload.value(options.get("value", AUTO))
    return compile_program(workload.program, schedule, arch=arch, **options)
