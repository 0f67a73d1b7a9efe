"""How a program is to be compiled, in the options that several commands take."""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log2, nan
from pathlib import Path
from typing import Any

import click

from samhw.cli.progress import phase
from samhw.compiler import AUTO, Compiled, asked_type
from samhw.errors import InputError
from samhw.frontend import Capacity, Example, MlirFile, Program, cautions, greatest_extents, load_named
from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.passes import Lowerable
from samhw.schedule import AUTO as AUTO_FUSION
from samhw.schedule import (
    FUSION_LEVELS,
    FUSION_RULES,
    ITERATIONS,
    FusionLevel,
    FusionRule,
    Iteration,
    Schedule,
    with_words,
)
from samhw.search import (
    NO_LIMIT,
    Request,
    Room,
    choose_schedule,
    compile_chosen,
    compile_program,
    make_lowerable,
)
from samhw.statistics import TensorStatistics, from_densities
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
    "AREA",
    "BUILD_DATA",
    "CompileOptions",
    "compile_options",
    "data_option",
    "densities_of",
    "load_arch",
    "load_schedule",
    "most_luts",
    "split_words",
]

ARCH = click.option(
    "--arch",
    metavar="NAME|FILE",
    help=f"Latencies: a profile ({', '.join(Arch.profiles())}; HLS has vitis by default), or an arch.json.",
)

AREA = click.option(
    "--area",
    metavar="luts=N",
    help="Where a schedule is chosen: at most N LUTs of an ECP5, by estimate.",
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
        help="Value type: i8, i16, i32, fixed<W,F>, f8e4m3, f8e5m2, bf16 or f32; "
        "auto: the program's own, or what it needs.",
    ),
    click.option(
        "--brackets",
        metavar="T=A*(X*W)",
        help="What is summed first: the right side of T without indices; several with semicolons.",
    ),
    click.option("--iteration", type=click.Choice(ITERATIONS), help="Iteration spaces, factored by default."),
    click.option(
        "--cascade",
        metavar="FORM",
        help="Reductions over one index that depend on each other: as they are written (off, the default), "
        "or in one pass: rescaled, by tiles of 16 as tile=16, and others; docs/cascades.md has the choices.",
    ),
    click.option(
        "--split",
        metavar="A=RULE",
        help="Store A in several formats at once, such as A=rows(4) or A=hyb(1,2); docs/formats.md has the "
        "rules; several with semicolons.",
    ),
    click.option(
        "--partial-sums",
        metavar="T+U|none|auto",
        help="The results whose terms over parts of what is split are stored before they are added; auto, "
        "the default: where that is needed, or clearly faster.",
    ),
    click.option(
        "--permute-rows",
        metavar="A=ORDER",
        help="Store A with its rows in another order, such as A=by length, and put results back; "
        "docs/formats.md has the orders; several with semicolons.",
    ),
    click.option(
        "--lanes",
        metavar="i=4+j=2|auto",
        help="Copies of what lies inside of an index, which share its coordinates; auto: as many as help, "
        "where the schedule is chosen.",
    ),
    click.option(
        "--blocks",
        metavar="i=16+j=16|auto",
        help="Store all tensors that have an index in dense blocks of so many coordinates along it; auto: as "
        "large as helps, where the schedule is chosen.",
    ),
    click.option(
        "--queues",
        metavar="T=64+U=8",
        help="Rows of an intermediate that may wait between what computes it and what reads it in the same "
        "region, where rows take unequal times.",
    ),
    AREA,
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
        "--density",
        metavar="T=D,..",
        help="Without data: the share of the places of T that is stored, 0 to 1, for estimates and for the "
        "room of its compressed levels.",
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

    def _bound(self, program: str, data: Sequence[str], loaded: Program | Example | MlirFile) -> Workload:
        if self.density is not None:
            raise InputError(
                "--density is for a program without data, which say how dense they are; leave one of the two "
                "out."
            )
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

    def compile(self, given: Workload | Program, arch: str = "samhw") -> Compiled:
        """Compiles for the capacities of a workload, or for what a program's text says."""
        chosen = self.schedule.fuse == AUTO_FUSION
        if isinstance(given, Workload):
            with phase("compiling"):
                if chosen:
                    return compile_chosen(self.request(given, self.schedule, arch))
                return compile_workload(given, self.schedule, **self.compiler(arch))
        if chosen:
            return compile_chosen(self.request(given, self.schedule, arch))
        return compile_program(given, self.schedule, **self._unbound(given, arch))

    def statistics(
        self, given: Workload | Program, schedule: Schedule | None = None
    ) -> TensorStatistics | None:
        """What is known of the inputs: of data, or of the densities that are given; None without either.

        Args:
            schedule: under which data are split.

        Raises:
            InputError: for a density of what is no sparse input, or extents that nothing gives.
        """
        if isinstance(given, Workload):
            return given.statistics(schedule=schedule)
        if self.density is None:
            return None
        extents = greatest_extents(given, self.room)
        shapes = {decl.name: given.dimensions.shape(decl.name, extents) for decl in given.inputs}
        return from_densities(shapes, densities_of(given, self.density))

    def request(self, given: Workload | Program, schedule: Schedule, arch: str = "samhw") -> Request:
        """What a schedule is chosen for."""
        if isinstance(given, Workload):
            return request_for(given, schedule, room=self.room_for, **self.compiler(arch))
        beside = self._unbound(given, arch)
        room = beside.pop("capacity")
        known = self.statistics(given)
        return Request(
            given, schedule, lambda _: room, statistics=lambda _: known, room=self.room_for, **beside
        )

    def _unbound(self, given: Program, arch: str = "samhw") -> dict[str, Any]:
        """The options of the compiler for a program without data."""
        statistics = self.statistics(given)
        if statistics is None:
            return self.compiler(arch)
        entries = {
            name: 1 << ceil(log2(max(1.0, stock.entries)))
            for name, stock in statistics.stocks.items()
            if not given.tensors[name].format.is_all_dense
        }
        beside = self.compiler(arch)
        return beside | {"entries": {**entries, **(beside["entries"] or {})}}

    def lowerable(self, given: Workload | Program) -> Lowerable:
        """What the first pass takes, with the capacities that `compile` has."""
        schedule = self.scheduled(given)
        if isinstance(given, Workload):
            program, capacity, entries = given.program, given.capacity(schedule) | self.room, self.entries
        else:
            program, capacity, entries = given, self.room, self._unbound(given)["entries"]
        return make_lowerable(program, schedule, capacity=capacity, entries=entries)

    def scheduled(self, given: Workload | Program) -> Schedule:
        """The schedule, with the regions of a module where it asks for them, and chosen where it asks for
        that."""
        schedule = scheduled(given, self.schedule) if isinstance(given, Workload) else self.schedule
        if schedule.fuse != AUTO_FUSION:
            return schedule
        return choose_schedule(self.request(given, schedule)).schedule


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
        partial_sums: str | None,
        permute_rows: str | None,
        lanes: str | None,
        blocks: str | None,
        queues: str | None,
        area: str | None,
        share: str | None,
        permute: bool | None,
        capacity: str | None,
        density: str | None,
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
            "lanes": None if lanes == AUTO_FUSION else lanes,
            "permute": permute,
        }
        schedule = with_words(
            saved.schedule if design else load_schedule(schedule_file),
            {
                **words,
                "blocks": None if blocks == AUTO_FUSION else blocks or None,
                "queues": queues or None,
                "share": share or None,
                "order": order or None,
                "brackets": brackets or None,
                "split": split or None,
                "partial_sums": partial_sums or None,
                "permute_rows": permute_rows or None,
            },
        )
        asked = asked_type(value) or saved.compiled or saved.value
        more_lanes = lanes == AUTO_FUSION or area is not None
        size = Room(more_lanes, most_luts(area), blocks == AUTO_FUSION)
        if (size.lanes or size.blocks) and schedule.fuse != AUTO_FUSION:
            option = "--area" if area is not None else "--lanes auto" if size.lanes else "--blocks auto"
            raise InputError(f"{option} is for a schedule that is chosen; give --schedule auto too.")
        command(
            options=CompileOptions(schedule, asked, capacity, density, extents, arch, saved, size), **others
        )

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


def split_words(text: str) -> list[str]:
    """The parts between commas, but for those of `fixed<16,8>` and `(dense, compressed)`."""
    return [part.strip() for part in re.split(r",(?![^<]*>|[^(]*\))", text)]


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


def most_luts(area: str | None) -> int | None:
    """What --area limits; None where it was not given.

    Raises:
        InputError: for what is no number of LUTs.
    """
    if area is None:
        return None
    name, _, count = area.partition("=")
    if name != "luts" or not count.isdecimal() or not int(count[:18]) > 0:
        raise InputError(f"--area {area}: give the most LUTs of a design, as in luts=20000.")
    return int(count[:18])


def densities_of(program: Program, text: str) -> dict[str, float]:
    """The densities that --density gives, by input.

    Raises:
        InputError: for what is no number from 0 to 1, or no input with compressed levels.
    """
    found = {}
    for item in text.split(","):
        name, _, number = (part.strip() for part in item.partition("="))
        try:
            density = float(number)
        except ValueError:
            density = nan
        if not name or not 0 <= density <= 1:
            raise InputError(f"--density {text}: give a tensor and a number from 0 to 1, such as A=0.01.")
        sparse = [decl.name for decl in program.inputs if not decl.format.is_all_dense]
        if name not in sparse:
            others = f"; such are {', '.join(sparse)}" if sparse else ""
            raise InputError(f"--density {text}: {name!r} is no input with compressed levels{others}.")
        found[name] = density
    return found


def load_arch(name: str) -> Arch:
    """--arch: a profile by its name, or what a build has written."""
    try:
        return Arch.load(name)
    except InputError as error:
        raise error.within(f"--arch {name}") from None
