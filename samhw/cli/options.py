"""What several commands take."""

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from samhw.compiler import AUTO, ITERATIONS, Compiled, compile_program
from samhw.errors import InputError
from samhw.files import check_readable
from samhw.frontend import FUSION_LEVELS, FusionLevel, load_program
from samhw.graph import Arch, Dram, OffChip

if TYPE_CHECKING:
    from samhw.workload import Workload

__all__ = [
    "ARCH",
    "REGIONS",
    "REGIONS_HELP",
    "Schedule",
    "load_arch",
    "memory_options",
    "off_chip_tensors",
    "parse_order",
    "schedule_options",
]

REGIONS = ("kernels", "top")
REGIONS_HELP = "HLS: a kernel for each region (the default), or one top function that runs all."

ARCH = click.option(
    "--arch",
    metavar="samhw|vitis|FILE",
    help="Latencies: those of our RTL, those predicted for HLS (what HLS has by default), or an arch.json.",
)

_SCHEDULE = (
    click.option("--order", metavar="i,k,j", help="Order of the indices, outermost first."),
    click.option(
        "--fuse",
        type=click.Choice(FUSION_LEVELS),
        default="partial",
        show_default=True,
        help="Regions: one for each statement, as the program says, or all in one.",
    ),
    click.option(
        "--value",
        default=AUTO,
        show_default=True,
        metavar="TYPE",
        help="Value type: i8, i16, i32, fixed<W,F>, bf16 or f32; auto: the program's own, or what it needs.",
    ),
    click.option(
        "--iteration",
        type=click.Choice(ITERATIONS),
        default="factored",
        show_default=True,
        help="Iteration spaces.",
    ),
    click.option(
        "--permute",
        is_flag=True,
        help="Where storage orders conflict, copy a tensor into another mode order first.",
    ),
    click.option(
        "--capacity",
        metavar="T=N,..",
        help="Entries of the compressed levels of T, in place of as many as the data may need.",
    ),
    ARCH,
)


@dataclass(frozen=True)
class Schedule:
    """How a program is to be compiled, in the words of the command line."""

    order: str | None
    fuse: FusionLevel
    value: str
    iteration: str
    permute: bool
    capacity: str | None
    arch: str | None

    def workload(self, program: str, data: Sequence[str]) -> "Workload":
        """PROGRAM bound to data, with the regions asked for."""
        from samhw.workload import bind_program

        workload = bind_program(program, data, value=self.value)
        return replace(workload, program=workload.program.with_fusion(self.fuse))

    def options(self, arch: str = "samhw") -> dict[str, Any]:
        """The options of the compiler; `arch` is what --arch is by default."""
        return {
            "order": parse_order(self.order) if self.order else None,
            "value": self.value,
            "factored": self.iteration == "factored",
            "permute": self.permute,
            "entries": parse_capacity(self.capacity) if self.capacity else None,
            "arch": load_arch(self.arch or arch),
        }

    def build_workload(self, program: str, data: Sequence[str]) -> "Workload | None":
        """What to build PROGRAM for: the data; without any, None if the program's text says how large
        everything is, and the default data if it does not."""
        from samhw.workload import DEFAULT

        if not data and load_program(program).has_extents:
            return None
        return self.workload(program, data or DEFAULT)

    def compile(self, program: str, workload: "Workload | None", arch: str = "samhw") -> Compiled:
        """Compiles for the capacities of a workload, or for what the program's text says."""
        from samhw.workload import compile_workload

        if workload:
            return compile_workload(workload, **self.options(arch))
        return compile_program(load_program(program).with_fusion(self.fuse), **self.options(arch))


def schedule_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of a `Schedule`, which it takes as `schedule`."""

    @functools.wraps(command)
    def scheduled(
        *,
        order: str | None,
        fuse: FusionLevel,
        value: str,
        iteration: str,
        permute: bool,
        capacity: str | None,
        arch: str | None,
        **others: Any,
    ) -> None:
        command(schedule=Schedule(order, fuse, value, iteration, permute, capacity, arch), **others)

    for option in reversed(_SCHEDULE):
        scheduled = option(scheduled)
    return scheduled


def memory_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command `memory` and `off_chip`, for `off_chip_tensors`."""
    command = click.option(
        "--off-chip", metavar="A,B", help="The tensors that lie there, by default all; needs --memory."
    )(command)
    return click.option(
        "--memory", metavar="hbm2|ddr4|FILE.json", help="Simulate with tensors in off-chip memory."
    )(command)


def off_chip_tensors(memory: str | None, tensors: str | None) -> OffChip | None:
    """What --memory and --off-chip ask for."""
    if memory is None:
        if tensors is not None:
            raise InputError("--off-chip says what lies in a memory; add '--memory ddr4'.")
        return None
    names = None if tensors is None else tuple(name.strip() for name in tensors.split(","))
    return OffChip(Dram.load(memory), names)


def parse_order(text: str) -> tuple[str, ...]:
    """--order: the indices between its commas."""
    return tuple(index.strip() for index in text.split(","))


def parse_capacity(text: str) -> dict[str, int]:
    """--capacity: the number of entries of each tensor between its commas."""
    entries = {}
    for item in text.split(","):
        tensor, _, count = item.partition("=")
        if not (tensor.strip() and count.strip().isdecimal()):
            raise InputError(f"--capacity {text}: give a tensor and a number of entries, such as T=4096.")
        entries[tensor.strip()] = int(count)
    return entries


def load_arch(name: str) -> Arch:
    """--arch: a profile by its name, or what a build has written."""
    profiles = {"samhw": Arch, "vitis": Arch.vitis}
    if name in profiles:
        return profiles[name]()
    try:
        data = json.loads(check_readable(Path(name)).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise InputError(f"--arch {name}: give samhw, vitis, or a file like the arch.json of a build.")
    return Arch.from_json(data)
