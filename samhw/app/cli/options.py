"""How programs are to be compiled, in the options that several commands take."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from samhw.app.cli.completion import complete_data, complete_files, complete_values
from samhw.app.cli.numbers import load_arch, parse_densities, parse_numbers
from samhw.app.cli.progress import phase
from samhw.app.cli.schedules import choice_options, read_choices
from samhw.app.workload import (
    DEFAULT,
    SavedDesign,
    Workload,
    bind_program,
    job_of,
)
from samhw.choices.schedule import Schedule
from samhw.compiler import AUTO, asked_type, asked_types
from samhw.compiler.search import NO_LIMIT, Job, Room
from samhw.cost.statistics import from_densities
from samhw.errors import InputError
from samhw.graph import Arch, OffChipMemory
from samhw.graph.numerics import FLOATS, INTEGERS, ValueType
from samhw.lang import Capacity, Named, OnnxFile, Program, cautions, greatest_extents, load_named
from samhw.lang.typed import with_types

__all__ = [
    "ARCH",
    "AREA",
    "BUILD_DATA",
    "TYPES",
    "VALUE",
    "CompileOptions",
    "compile_options",
    "data_option",
    "load_schedule",
]


ARCH = click.option(
    "--arch",
    metavar="NAME|FILE",
    shell_complete=complete_files(*Arch.profiles()),
    help=f"Latencies: a profile ({', '.join(Arch.profiles())}; HLS has vitis by default), or an arch.json.",
)

VALUE = click.option(
    "--value",
    default=AUTO,
    show_default=True,
    metavar="TYPE",
    shell_complete=complete_values,
    help="Value type, as for run.",
)

TYPES = click.option(
    "--types",
    metavar="T=TYPE,..",
    help="Types of single tensors, such as W=i8,X=i8: another program, whose other tensors have --value.",
)

AREA = click.option(
    "--area",
    metavar="luts=N,brams=N,dsps=N|PART",
    help="Where a schedule is chosen: at most so much of an ECP5, by estimate, or as an FPGA has.",
)

BUILD_DATA = click.option(
    "--data",
    shell_complete=complete_data,
    multiple=True,
    metavar="DATA",
    help="Data that fixes extents and capacities, as for run; by default the program's own extents.",
)


_SCHEDULE = (
    click.option(
        "--schedule",
        "schedule_file",
        metavar="FILE|auto",
        shell_complete=complete_files(AUTO),
        help="A schedule, as docs/schedule.md describes it, or auto, which chooses one by estimate; the "
        "following options override it.",
    ),
    click.option(
        "--design",
        metavar="FILE",
        shell_complete=complete_files(),
        help="A design that Python has saved (.design.json): its schedule, value type, latencies and room; "
        "the following options override it.",
    ),
)

_BESIDE = (
    click.option(
        "--value",
        default=AUTO,
        show_default=True,
        metavar="TYPE",
        shell_complete=complete_values,
        help=f"Value type: {', '.join((*INTEGERS, *FLOATS))} or fixed<W,F>; "
        "auto: the program's own, or what it needs.",
    ),
    TYPES,
    click.option(
        "--sparsify",
        type=click.FloatRange(0, 1),
        metavar="SHARE",
        help="Store dense inputs by their nonzeros that have at least this share of zeros, such as 0.5.",
    ),
    AREA,
    click.option(
        "--capacity",
        metavar="T=N,..",
        help="Entries of the compressed levels of T, instead of as many as the data may need.",
    ),
    click.option(
        "--density",
        metavar="T=D,..",
        help="Without data: the share of the places of T that is stored, 0 to 1, for estimates and for the "
        "room of its compressed levels.",
    ),
    click.option(
        "--extents",
        metavar="i=N,..",
        help="Greatest extents of indices that the program leaves open, if data gives none or less.",
    ),
    ARCH,
)


@dataclass(frozen=True)
class CompileOptions:
    """How a program is to be compiled, in the words of the command line: the schedule, and what stands beside
    it."""

    schedule: Schedule
    value: ValueType | None
    types: Mapping[str, ValueType]
    sparsify: float | None
    capacity: str | None
    density: str | None
    extents: str | None
    arch: str | None
    design: SavedDesign
    """What was saved of a design."""
    room_for: Room = NO_LIMIT
    """How large what is chosen may be."""

    def workload(self, program: str, data: Sequence[str]) -> Workload:
        """PROGRAM bound to data.

        Raises:
            InputError: for densities beside data.
        """
        return self._bound(program, data, _load(program))

    def _bound(self, program: str, data: Sequence[str], loaded: Named) -> Workload:
        if self.density is not None:
            raise InputError(
                "--density is for a program without data, which say how dense they are; leave one of the two "
                "out."
            )
        extents = self._greatest
        if isinstance(loaded, OnnxFile) and extents:
            # They are the names of the file's own dimensions.
            loaded, extents = replace(loaded, extents={**loaded.extents, **extents}), None
        with phase("reading data"):
            workload = bind_program(program, data, value=self.value, types=self.types, loaded=loaded)
        say_notes(workload)
        if self.sparsify is not None:
            workload = workload.sparsified(self.sparsify)
        return workload.with_extents(extents) if extents else workload

    @property
    def _greatest(self) -> dict[str, int] | None:
        """What --extents gives, by dimension."""
        return parse_numbers("--extents", self.extents, "an index and its greatest extent, such as i=1000")

    @property
    def room(self) -> Capacity:
        """What the design that was saved has room for, beyond what data need."""
        return self.design.capacity | Capacity(entries=self.design.entries)

    def load(self, program: str, data: Sequence[str], *, assume: bool) -> Workload | Program:
        """What to compile PROGRAM for: the data; without any, the program by itself if its text, --extents
        and what was saved of a design say how large everything is.

        Args:
            assume: take the default data if they do not, with a word on stderr.

        Raises:
            InputError: if they do not, and nothing may be assumed.
        """
        if data:
            return self.workload(program, data)
        loaded = _load(program)
        if not isinstance(loaded, Program):  # It has data of its own, or says how large these are.
            return self._bound(program, DEFAULT, loaded)
        loaded = with_types(loaded.with_extents(self._greatest or {}), self.types)
        known = self.room.extents
        open_ones = [
            n for n, extent in loaded.dimensions.extents.items() if extent is None and n not in known
        ]
        if not open_ones:
            return loaded
        wanted = f"'--extents {','.join(f'{name}=N' for name in open_ones)}'"
        if not assume or self.extents or self.density:
            raise InputError(
                f"Nothing says how large a design of '{loaded.name}' is to be; give {wanted} (and "
                "'--capacity' for the entries of what is sparse), or data to be sized for, such as '--data "
                "karate'."
            )
        workload = bind_program(program, value=self.value, loaded=loaded)
        click.echo(
            f"samhw: this is sized for {workload.name}, since nothing says how large it is to be; "
            f"'--data' and {wanted} do.",
            err=True,
        )
        return workload

    def compiler(self, arch: str = "samhw") -> dict[str, Any]:
        """What stands beside a schedule in a `Job`; `arch` is what --arch is by default."""
        entries = parse_numbers(
            "--capacity", self.capacity, "a tensor and a number of entries, such as T=4096"
        )
        return {
            "value": self.value,
            "entries": entries or {},
            "arch": self.design.arch if self.design.arch and not self.arch else load_arch(self.arch or arch),
            "capacity": self.room,
        }

    def job(self, given: Workload | Program, arch: str = "samhw", memory: OffChipMemory | None = None) -> Job:
        """What is to be compiled, with room for a workload, or for what a program's text says; `arch` as for
        `compiler`, and `memory` as for `Job`.

        Raises:
            InputError: for a density of what is not a sparse input, or extents that nothing gives.
        """
        beside = self.compiler(arch)
        if isinstance(given, Workload):
            return replace(job_of(given, self.schedule, room=self.room_for, **beside), memory=memory)
        known = None
        if self.density is not None:
            extents = greatest_extents(given, self.room)
            shapes = {decl.name: given.dimensions.shape(decl.name, extents) for decl in given.inputs}
            known = from_densities(shapes, parse_densities(self.schedule.apply(given), self.density))
        return Job(given, self.schedule, memory=memory, known=known, room=self.room_for, **beside)


def compile_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of `CompileOptions`, which it takes as `options`."""

    @functools.wraps(command)
    def compiling(
        *,
        schedule_file: str | None,
        design: str | None,
        value: str,
        types: str | None,
        sparsify: float | None,
        area: str | None,
        capacity: str | None,
        density: str | None,
        extents: str | None,
        arch: str | None,
        **others: Any,
    ) -> None:
        if design and schedule_file:
            raise InputError("--design has a schedule of its own; leave out --schedule, or the design.")
        saved = SavedDesign.read(Path(design)) if design else SavedDesign()
        given = saved.schedule if design else load_schedule(schedule_file)
        schedule, room = read_choices(given, others, area)
        asked = asked_type(value) or saved.compiled or saved.value
        command(
            options=CompileOptions(
                *(schedule, asked, asked_types(types), sparsify, capacity, density, extents, arch),
                *(saved, room),
            ),
            **others,
        )

    for option in reversed(_BESIDE):
        compiling = option(compiling)
    found = choice_options(compiling)
    for option in reversed(_SCHEDULE):
        found = option(found)
    return found


def say_notes(workload: Workload) -> None:
    """What an importer does in another way than its source says, and what of the data is left out, on
    stderr."""
    for note in workload.notes:
        click.echo(f"samhw: {note}", err=True)


def _load(program: str) -> Named:
    """What PROGRAM names, with a word on stderr where it may mean something else than its author."""
    loaded = load_named(program)
    if isinstance(loaded, Program):
        for sentence in cautions(loaded):
            click.echo(f"samhw: {sentence}", err=True)
    return loaded


def load_schedule(name: str | None) -> Schedule:
    """--schedule: that of a file, or one that is to be chosen; without one, the program's own."""
    return Schedule.of(name)


def data_option(help: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """--data of a command that runs something."""
    return click.option(
        "--data",
        multiple=True,
        default=(AUTO,),
        show_default=True,
        metavar="DATA",
        help=help,
        shell_complete=complete_data,
    )
