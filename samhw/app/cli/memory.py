"""Off-chip memory as an option."""

from collections.abc import Callable
from dataclasses import replace

import click

from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.graph import Dram

__all__ = ["check_on_chip", "memory_options", "off_chip_memory"]


def memory_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command `memory` and `off_chip`, for `off_chip_memory`."""
    command = click.option(
        "--off-chip", metavar="A,B", help="The tensors that lie there, by default all; needs --memory."
    )(command)
    return click.option(
        "--memory", metavar="hbm2|ddr4|FILE.json", help="Simulate with tensors in off-chip memory."
    )(command)


def off_chip_memory(
    memory: str | None, tensors: str | None, schedule: Schedule
) -> tuple[Dram | None, Schedule]:
    """What --memory and --off-chip ask for: the memory, and the schedule with the tensors that lie there."""
    if tensors is not None:
        schedule = replace(schedule, off_chip=tuple(name.strip() for name in tensors.split(",")))
    if memory is None:
        if tensors is not None:
            raise InputError("--off-chip says what lies in a memory; add '--memory ddr4'.")
        if schedule.off_chip:
            raise InputError(
                "The schedule has tensors off chip ('off_chip'), but there is no memory; add '--memory ddr4'."
            )
        return None, schedule
    return Dram.load(memory), schedule


def check_on_chip(schedule: Schedule, what: str) -> None:
    """Raises `InputError` for a schedule with tensors off chip, in hardware that has none there."""
    if schedule.off_chip:
        raise InputError(
            f"The schedule has tensors off chip ('off_chip'), which the simulator predicts, but {what} has "
            "them on chip; leave that line out."
        )
