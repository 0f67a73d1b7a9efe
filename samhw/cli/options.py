"""How a program is to be compiled, in the options that several commands take."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from samhw.cli.progress import phase
from samhw.compiler import AUTO, Compiled, asked_type
from samhw.errors import InputError
from samhw.frontend import Capacity, Example, MlirFile, Program, cautions, load_named
from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.passes import Lowerable
from samhw.schedule import AUTO as AUTO_FUSION
from samhw.schedule import (
    CASCADES,
    FUSION_LEVELS,
    FUSION_RULES,
    ITERATIONS,
    FusionLevel,
    FusionRule,
    Iteration,
    Schedule,
    with_words,
)
from samhw.search import Request, choose_schedule, compile_program, make_lowerable
from samhw.workload import (
    DEFAULT,
    SavedDesign,
    Workload,
    bind_program,
    compile_workload,
    request_for,
    scheduled,
)

__all__ = [
    "ARCH",
    "BUILD_DATA",
    "CompileOptions",
    "compile_options",
    "data_option",
    "load_arch",
    "load_schedule",
]

ARCH = click.option(
    "--arch",
    metavar="samhw|vitis|FILE",
    help="Latencies: those of our RTL, those predicted for HLS (what HLS has by default), or an arch.json.",
)

BUILD_DATA = click.option(
    "--data",
    multiple=True,
    metavar="DATA",
    help="Data that fixes extents and capacities, as for run; by default the program's own extents.",
)


_COMPILE = (
    click.option(
        "--schedule",
        "schedule_file",
        metavar="FILE|auto",
        help="A schedule, as docs/schedule.md describes it, or auto, which chooses one by estimate; the "
        "following options override it.",
    ),
    click.option(
        "--design",
        metavar="FILE",
        help="A design that Python has saved (.design.json): its schedule, value type, latencies and room; "
        "the following options override it.",
    ),
    click.option("--order", metavar="i,k,j", help="Order of the indices, outermost first."),
    click.option(
        "--fuse",
        type=click.Choice((*FUSION_LEVELS, *FUSION_RULES)),
        help="Regions: one for each statement, as the program says (the default), all in one, or by the "
        "kinds of statements; of a module of PyTorch by the tree of its modules; auto: chosen by estimate.",
    ),
    click.option(
        "--value",
        default=AUTO,
        show_default=True,
        metavar="TYPE",
        help="Value type: i8, i16, i32, fixed<W,F>, bf16 or f32; auto: the program's own, or what it needs.",
    ),
    click.option(
        "--brackets",
        metavar="T=A*(X*W)",
        help="What is summed first: the right side of T without indices; several with semicolons.",
    ),
    click.option("--iteration", type=click.Choice(ITERATIONS), help="Iteration spaces, factored by default."),
    click.option(
        "--cascade",
        type=click.Choice(CASCADES),
        help="Reductions over one index that depend on each other: as they are written (off, the default), "
        "or in one pass; docs/cascades.md has the choices.",
    ),
    click.option(
        "--split",
        metavar="A=RULE",
        help="Store A in several formats at once, such as A=rows(4) or A=hyb(1,2); docs/formats.md has the "
        "rules; several with semicolons.",
    ),
    click.option(
        "--lanes",
        metavar="i=4+j=2",
        help="Copies of what lies inside of an index, which share its coordinates.",
    ),
    click.option(
        "--share",
        metavar="WHAT",
        help="What uses of an intermediate share: auto (the default), all or none; or T=buffer, T=store, "
        "T=recompute, several with commas.",
    ),
    click.option(
        "--permute/--no-permute",
        default=None,
        help="Where storage orders conflict, copy a tensor into another mode order first.",
    ),
    click.option(
        "--capacity",
        metavar="T=N,..",
        help="Entries of the compressed levels of T, in place of as many as the data may need.",
    ),
    click.option(
        "--extents",
        metavar="i=N,..",
        help="Greatest extents of indices, where neither the program nor data gives them or more is wanted.",
    ),
    ARCH,
)


@dataclass(frozen=True)
class CompileOptions:
    """How a program is to be compiled, in the words of the command line: the schedule, and what stands beside
    it."""

    schedule: Schedule
    value: ValueType | None
    capacity: str | None
    extents: str | None
    arch: str | None
    design: SavedDesign
    """What was saved of a design."""

    def workload(self, program: str, data: Sequence[str]) -> Workload:
        """PROGRAM bound to data."""
        return self._bound(program, data, _load(program))

    def _bound(self, program: str, data: Sequence[str], loaded: Program | Example | MlirFile) -> Workload:
        with phase("reading data"):
            workload = bind_program(program, data, value=self.value, loaded=loaded)
        say_notes(workload)
        extents = self._greatest
        return workload.with_extents(extents) if extents else workload

    def compiler(self, arch: str = "samhw") -> dict[str, Any]:
        """The options of the compiler, beside the schedule; `arch` is what --arch is by default."""
        return {
            "value": self.value,
            "entries": self.entries,
            "arch": self.design.arch if self.design.arch and not self.arch else load_arch(self.arch or arch),
            "capacity": self.room,
        }

    @property
    def entries(self) -> dict[str, int] | None:
        """What --capacity gives, by tensor."""
        return parse_numbers("--capacity", self.capacity, "a tensor and a number of entries, such as T=4096")

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
        loaded = loaded.with_extents(self._greatest or {})
        known = self.room.extents
        open_ones = [
            n for n, extent in loaded.dimensions.extents.items() if extent is None and n not in known
        ]
        if not open_ones:
            return loaded
        wanted = f"'--extents {','.join(f'{name}=N' for name in open_ones)}'"
        if not assume or self.extents:
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

    def compile(self, given: Workload | Program, arch: str = "samhw") -> Compiled:
        """Compiles for the capacities of a workload, or for what a program's text says."""
        if isinstance(given, Workload):
            with phase("compiling"):
                return compile_workload(given, self.schedule, **self.compiler(arch))
        return compile_program(given, self.schedule, **self.compiler(arch))

    def lowerable(self, given: Workload | Program) -> Lowerable:
        """What the first pass takes, with the capacities that `compile` has."""
        schedule = self.scheduled(given)
        if isinstance(given, Workload):
            program, capacity = given.program, given.capacity(schedule) | self.room
        else:
            program, capacity = given, self.room
        return make_lowerable(program, schedule, capacity=capacity, entries=self.entries)

    def scheduled(self, given: Workload | Program) -> Schedule:
        """The schedule, with the regions of a module where it asks for them, and chosen where it asks for
        that."""
        schedule = scheduled(given, self.schedule) if isinstance(given, Workload) else self.schedule
        if schedule.fuse != AUTO_FUSION:
            return schedule
        beside = self.compiler()
        if isinstance(given, Workload):
            request = request_for(given, schedule, **beside)
        else:
            room = beside.pop("capacity")
            request = Request(given, schedule, lambda _: room, **beside)
        return choose_schedule(request).schedule


def compile_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of `CompileOptions`, which it takes as `options`."""

    @functools.wraps(command)
    def compiling(
        *,
        schedule_file: str | None,
        design: str | None,
        order: str | None,
        fuse: FusionLevel | FusionRule | None,
        value: str,
        brackets: str | None,
        iteration: Iteration | None,
        cascade: str | None,
        split: str | None,
        lanes: str | None,
        share: str | None,
        permute: bool | None,
        capacity: str | None,
        extents: str | None,
        arch: str | None,
        **others: Any,
    ) -> None:
        if design and schedule_file:
            raise InputError("--design has a schedule of its own; leave out --schedule, or the design.")
        saved = SavedDesign.read(Path(design)) if design else SavedDesign()
        words = {
            "fuse": fuse,
            "iteration": iteration,
            "cascade": cascade,
            "lanes": lanes,
            "permute": permute,
        }
        schedule = with_words(
            saved.schedule if design else load_schedule(schedule_file),
            {
                **words,
                "share": share or None,
                "order": order or None,
                "brackets": brackets or None,
                "split": split or None,
            },
        )
        asked = asked_type(value) or saved.compiled or saved.value
        command(options=CompileOptions(schedule, asked, capacity, extents, arch, saved), **others)

    for option in reversed(_COMPILE):
        compiling = option(compiling)
    return compiling


def say_notes(workload: Workload) -> None:
    """What an importer does in another way than its source says, on stderr."""
    for note in workload.notes:
        click.echo(f"samhw: {note}", err=True)


def _load(program: str) -> Program | Example | MlirFile:
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
        "--data", multiple=True, default=(AUTO,), show_default=True, metavar="DATA", help=help
    )


def parse_numbers(option: str, text: str | None, form: str) -> dict[str, int] | None:
    """The number for each name between the commas of an option; None where it was not given."""
    if text is None:
        return None
    numbers = {}
    for item in text.split(","):
        name, _, count = item.partition("=")
        if not (name.strip() and count.strip().isdecimal() and len(count) < 20):
            raise InputError(f"{option} {text}: give {form}.")
        numbers[name.strip()] = int(count)
    return numbers


def load_arch(name: str) -> Arch:
    """--arch: a profile by its name, or what a build has written."""
    try:
        return Arch.load(name)
    except InputError as error:
        raise error.within(f"--arch {name}") from None
