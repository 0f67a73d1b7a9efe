"""What runs or builds a design, and the options that belong to some of them alone; off-chip memory as an
option."""

import functools
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import click

from samhw.app.cli.completion import complete_files
from samhw.app.report.time import period_of
from samhw.choices.choice import AUTO
from samhw.choices.on_chip import ALL
from samhw.choices.place import CHIP
from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.graph import DRAM_PRESETS, HostOptions, OffChipMemory, load_memory, other_ports, with_ports
from samhw.graph.off_chip_memory import SDRAM
from samhw.targets.backends import BACKENDS, Backend, Target, find_backend, is_board, targets

__all__ = [
    "BACKEND",
    "CLOCK",
    "HOST",
    "MEMORIES",
    "MEMORY_WORDS",
    "REGIONS",
    "REGIONS_HELP",
    "board_options",
    "check_on_chip",
    "check_settings",
    "memory_of",
    "memory_option",
    "say_backends",
]

OPTION_NAMES = {"one_top": "--regions"}
"""The options that are not called as the settings that they make."""

REGIONS = ("kernels", "top")
REGIONS_HELP = "HLS: a kernel for each region (the default), or one top function that runs all."


class _Clock(click.types.FloatParamType):
    """A clock: its frequency, as 80MHz, or its period, as 12.5ns. Gives the period in ns."""

    name = "NMHz|Nns"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return period_of(str(value))
        except InputError as error:
            self.fail(str(error))


CLOCK = _Clock()
"""The type of --clock."""


class _BackendName(click.Choice[str]):
    """The name of a backend, or of a board's file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if is_board(value):
            return str(value)
        if value not in self.choices:
            find_backend(str(value))  # Which says what was meant.
        return super().convert(value, param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{'|'.join([*self.choices, 'board:FILE.py'])}]"


BACKEND = _BackendName([backend.name for backend in BACKENDS])
"""The type of --backend."""


class _Host(click.ParamType[str]):
    """The choices of a host port (`HostOptions`), as they are written."""

    name = "WORDS"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        try:
            HostOptions.parse(text)
        except InputError as error:
            self.fail(str(error))
        return text


HOST = click.option(
    "--host",
    type=_Host(),
    metavar="WORDS",
    help="What the RTL's port has beyond the least: axi4 or axi4:BITS, clock, interrupt, pingpong, recovery, "
    "counters.",
)

_BOARD = (
    click.option("--port", help="The serial port with the board, such as /dev/ttyUSB0."),
    click.option("--emulate", is_flag=True, help="In its place the board under Verilator, pins to pins."),
    click.option("--baud", type=int, help="Speed of its link; by default the board's own."),
)


def board_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of a run on a board, which it takes as `board`: those that were given."""

    @functools.wraps(command)
    def on_board(*, port: str | None, emulate: bool, baud: int | None, **others: Any) -> None:
        chosen = {"port": port, "emulate": emulate or None, "baud": baud}
        given = {name: value for name, value in chosen.items() if value is not None}
        command(board=given, **others)

    for option in reversed(_BOARD):
        on_board = option(on_board)
    return on_board


def check_settings(chosen: Collection[str], target: Target, said: str) -> None:
    """Raises `InputError` for an option that a target has no use for.

    Args:
        chosen: the settings of targets that were given, by name.
        said: how a user chooses one: `--target`, or `--backend`.
    """
    for setting in sorted(set(chosen) - target.settings):
        option = OPTION_NAMES.get(setting, f"--{setting}")
        able = say_backends if said == "--backend" else say_targets
        owners = able(partial(_takes, setting))
        raise InputError(f"{option} belongs to {owners}; leave it out.")


def _takes(setting: str, target: Target) -> bool:
    return setting in target.settings


def say_backends(can: Callable[[Backend], bool]) -> str:
    """What to add for a backend that can do something."""
    return " or ".join(f"'--backend {backend.name}'" for backend in BACKENDS if can(backend))


def say_targets(can: Callable[[Target], bool]) -> str:
    """What to add for a build of such a backend."""
    return " or ".join(f"'--target {target.target}'" for target in targets() if can(target))


MEMORIES = "ddr4|hbm2|sdram|constant:T|random:SEED|log:FILE|FILE.json"
"""What --memory takes."""
MEMORY_WORDS = (*DRAM_PRESETS, SDRAM, "constant:", "random:", "log:")
"""Of that, what is no file, and how what has a number or a file begins."""


def memory_option(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command `memory`, and `ports`: the numbers of the ports to it."""
    command = click.option(
        "--ports", metavar="lines=8,..", help="Numbers of the ports to that memory (docs/memory.md)."
    )(command)
    return click.option(
        "--memory",
        metavar=MEMORIES,
        shell_complete=complete_files(*MEMORY_WORDS),
        help="Run with tensors in off-chip memory.",
    )(command)


def memory_of(memory: str | None, ports: str | None) -> OffChipMemory | None:
    """The memory that --memory names, if it does, with the ports of --ports."""
    if memory is not None:
        found = load_memory(memory)
        return with_ports(found, other_ports(found.ports, _numbers(ports)))
    return None


def _numbers(word: str | None) -> dict[str, int]:
    """The numbers of --ports, by name."""
    numbers = {}
    for item in (word or "").split(","):
        name, _, number = item.partition("=")
        if word and not (number.isascii() and number.isdigit()):
            raise InputError(f"--ports has no number in {item!r}; write it as lines=8,ahead=2.")
        if word:
            numbers[name.strip()] = int(number)
    return numbers


def check_on_chip(schedule: Schedule, what: str) -> None:
    """Raises `InputError` for a schedule that says what lies off chip, where all has to lie on chip."""
    off = [name for name, word in schedule.place.items() if word != CHIP]
    if off or schedule.on_chip not in (AUTO, ALL):
        said = (
            f"'{off[0]}' off chip ('place')" if off else f"{schedule.on_chip} of room on the chip ('on_chip')"
        )
        raise InputError(
            f"The schedule has {said}, which 'samhw run --memory ..' runs, but {what} has all tensors on "
            "chip; leave that out."
        )
