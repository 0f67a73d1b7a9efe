"""What `samhw compile --estimate` prints: the operations, bytes, cycles and area that are expected."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click
from rich.console import Console

from samhw.app.cli.printed import print_json, print_table
from samhw.app.report.estimate import EstimateReport
from samhw.compiler import Compiled, area_of, estimate_compiled
from samhw.cost import FITS, Budget, Device
from samhw.cost.statistics import TensorStatistics
from samhw.errors import InputError

__all__ = ["Verdicts", "print_estimate"]


@dataclass(frozen=True)
class Verdicts:
    """What --fits asks for.

    Attributes:
        said: whether a design fits, by the words of each budget.
        shares: the same, with what it takes where it fits.
    """

    said: Mapping[str, str]
    shares: Mapping[str, str]

    @classmethod
    def of(cls, compiled: Compiled, budgets: Mapping[str, Budget]) -> "Verdicts":
        """Those of a design."""
        uses = {
            family: area_of(compiled, family).use
            for family in dict.fromkeys(budget.family for budget in budgets.values())
        }
        return cls(
            {words: budget.verdict(uses[budget.family]) for words, budget in budgets.items()},
            {words: budget.verdict_with_shares(uses[budget.family]) for words, budget in budgets.items()},
        )

    def to_json(self) -> dict[str, object]:
        """Them as a field of JSON, if there are any."""
        return {"fits": dict(self.said)} if self.said else {}

    def print(self) -> None:
        """A line each."""
        for words, said in self.shares.items():
            click.echo(f"{words}: {said}, as expected before placing and routing")

    def exit(self) -> None:
        """Ends the command with exit code 1 if something does not fit."""
        if any(said != FITS for said in self.said.values()):
            sys.exit(1)


def print_estimate(
    compiled: Compiled,
    statistics: TensorStatistics | None,
    devices: Sequence[Device],
    json_target: str | None,
    verdicts: Verdicts,
) -> None:
    """Prints a line for each region and a row for each of its nodes, and what the design takes of FPGAs; or
    writes all of that as JSON.

    Args:
        devices: the FPGAs; nodes and regions have what they take of the first one.
        verdicts: what is said of others.

    Raises:
        InputError: where nothing is known of the inputs.
    """
    if statistics is None:
        raise InputError("--estimate counts what inputs store; give --data, or --density.")
    found = EstimateReport.of(compiled, estimate_compiled(compiled, statistics), devices)
    if json_target:
        print_json(json_target, found.to_json() | verdicts.to_json())
    if json_target == "-":
        return
    console = Console()
    for title, rows in found.tables:
        print_table(console, rows, title=title)
    for note in found.notes:
        console.print(note, soft_wrap=True, highlight=False, markup=False)
    verdicts.print()
