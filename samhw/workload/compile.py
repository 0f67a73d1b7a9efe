"""A workload compiled with room for its data."""

from dataclasses import replace
from typing import Any

from samhw.brackets import apply_brackets
from samhw.compiler import Compiled
from samhw.frontend import Capacity
from samhw.graph import Arch
from samhw.schedule import MODULE, Schedule
from samhw.search import compile_program, module_regions
from samhw.workload.workload import Workload

__all__ = ["compile_workload", "scheduled"]


def compile_workload(
    workload: Workload, schedule: Schedule | None = None, *, arch: Arch | None = None, **options: Any
) -> Compiled:
    """Compiles a workload's program with room for its data, and for a `capacity` besides, if that is among
    the options; these are as for `compile_program`."""
    schedule = scheduled(workload, schedule)
    options["capacity"] = workload.capacity(schedule) | options.get("capacity", Capacity())
    options["value"] = workload.value(options.get("value"))
    return compile_program(workload.program, schedule, arch=arch, **options)


def scheduled(workload: Workload, schedule: Schedule | None) -> Schedule:
    """The schedule with the regions that `module` stands for, if it has that. In a program that was not made
    of a module it is refused where it is applied."""
    chosen = schedule or Schedule()
    if chosen.fuse != MODULE or workload.scopes is None:
        return chosen
    program = apply_brackets(workload.program, chosen.brackets)
    return replace(chosen, fuse=module_regions(program, workload.scopes))
