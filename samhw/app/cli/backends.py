"""What runs or builds a design, and the options that belong to some of them alone; off-chip memory as an
option."""

import functools
import re
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Any

import click

from samhw.app.report.time import period_of
from samhw.choices.schedule import CHOICES, Schedule, with_words
from samhw.errors import InputError
from samhw.graph import HostOptions, OffChipMemory, load_memory, other_ports, with_ports
from samhw.targets.backends import BACKENDS, Backend, Target, is_board, targets

__all__ = [
    "BACKEND",
    "CLOCK",
    "HOST",
    "MEMORIES",
    "REGIONS",
    "REGIONS_HELP",
    "ROOM",
    "board_options",
    "check_on_chip",
    "check_settings",
    "memory_of",
    "memory_option",
    "memory_options",
    "off_chip_memory",
    "say_backends",
]

OPTION_NAMES = {"on_chip_bytes": "--memories", "one_top": "--regions"}
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


class _Room(click.ParamType[int]):
    """How much may lie on the chip: all (`on-chip`), nothing (`m_axi`), or so much, as 512KB. Gives bytes."""

    name = "on-chip|m_axi|SIZE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        if found := re.fullmatch(r"(\d{1,9})(KB|MB)", text):
            return int(found[1]) << (10 if found[2] == "KB" else 20)
        if text not in _ROOMS:
            self.fail(f"{text!r} is neither 'on-chip' nor 'm_axi' nor a size, such as 512KB or 8MB.")
        return _ROOMS[text]


_ROOMS = {"on-chip": 1 << 62, "m_axi": 0}

ROOM = _Room()
"""The type of --memories."""


class _BackendName(click.Choice[str]):
    """The name of a backend, or of a board's file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if is_board(value) else super().convert(value, param, ctx)

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
    help="What the RTL's port has beyond the least: axi4 or axi4:BITS, interrupt, recovery, counters.",
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


_PLACING = tuple(one for one in CHOICES if one.needs_memory)

MEMORIES = "ddr4|hbm2|constant:T|random:SEED|log:FILE|FILE.json"
"""What --memory takes."""


def memory_option(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command `memory`, and `ports`: the numbers of the ports to it."""
    command = click.option(
        "--ports", metavar="lines=8,..", help="Numbers of the ports to that memory (docs/memory.md)."
    )(command)
    return click.option("--memory", metavar=MEMORIES, help="Run with tensors in off-chip memory.")(command)


def memory_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command `memory`, and the choices that say what lies there, for `off_chip_memory`."""
    for one in reversed(_PLACING):
        command = click.option(one.option, one.name, metavar=one.metavar, help=one.help)(command)
    return memory_option(command)


def off_chip_memory(
    memory: str | None, ports: str | None, schedule: Schedule, **placing: str | None
) -> tuple[OffChipMemory | None, Schedule]:
    """What the options of `memory_options` ask for: the memory, and the schedule with the tensors that lie
    there."""
    schedule = with_words(schedule, placing)
    given = (name for name, word in placing.items() if word is not None)
    return memory_of(memory, ports, [schedule], given), schedule


def memory_of(
    memory: str | None, ports: str | None, schedules: Iterable[Schedule], given: Iterable[str]
) -> OffChipMemory | None:
    """The memory that --memory names, if it does, with the ports of --ports.

    Args:
        given: the choices that options say something about.

    Raises:
        InputError: for choices of what lies there, and no memory.
    """
    if memory is not None:
        found = load_memory(memory)
        return with_ports(found, other_ports(found.ports, _numbers(ports)))
    if ports is not None:
        raise InputError("--ports has the numbers of ports to a memory; add '--memory ddr4'.")
    said = {*given}
    for one in _PLACING:
        if one.name in said:
            raise InputError(f"{one.option} says what lies in a memory; add '--memory ddr4'.")
        if any(getattr(schedule, one.name) for schedule in schedules):
            raise InputError(
                f"The schedule has tensors off chip ('{one.name}'), but there is no memory; add '--memory "
                "ddr4'."
            )
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
    """Raises `InputError` for a schedule with tensors off chip, where they have to lie on chip."""
    if schedule.off_chip:
        raise InputError(
            f"The schedule has tensors off chip ('off_chip'), which 'samhw run --memory ..' runs, but {what} "
            "has them on chip; leave that line out."
        )
