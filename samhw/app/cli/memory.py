"""Off-chip memory as an option."""

from collections.abc import Callable, Iterable

import click

from samhw.choices.schedule import CHOICES, Schedule, with_words
from samhw.errors import InputError
from samhw.graph import Dram

__all__ = ["check_on_chip", "dram_of", "memory_option", "memory_options", "off_chip_memory"]

_PLACING = tuple(one for one in CHOICES if one.needs_memory)

memory_option = click.option(
    "--memory", metavar="hbm2|ddr4|FILE.json", help="Simulate with tensors in off-chip memory."
)


def memory_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command `memory`, and the choices that say what lies there, for `off_chip_memory`."""
    for one in reversed(_PLACING):
        command = click.option(one.option, one.name, metavar=one.metavar, help=one.help)(command)
    return memory_option(command)


def off_chip_memory(
    memory: str | None, schedule: Schedule, **placing: str | None
) -> tuple[Dram | None, Schedule]:
    """What the options of `memory_options` ask for: the memory, and the schedule with the tensors that lie
    there."""
    schedule = with_words(schedule, placing)
    return dram_of(memory, [schedule], (name for name, word in placing.items() if word is not None)), schedule


def dram_of(memory: str | None, schedules: Iterable[Schedule], given: Iterable[str]) -> Dram | None:
    """The memory that --memory names, if it does.

    Args:
        given: the choices that options say something about.

    Raises:
        InputError: for choices of what lies there, and no memory.
    """
    if memory is not None:
        return Dram.load(memory)
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


def check_on_chip(schedule: Schedule, what: str) -> None:
    """Raises `InputError` for a schedule with tensors off chip, in hardware that has none there."""
    if schedule.off_chip:
        raise InputError(
            f"The schedule has tensors off chip ('off_chip'), which the simulator predicts, but {what} has "
            "them on chip; leave that line out."
        )
