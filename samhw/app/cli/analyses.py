"""What `samhw compile` says of a program without compiling it: `--orders`, `--patterns`, `--cascades`."""

from dataclasses import replace
from typing import Any

import click
from rich.console import Console

from samhw.app.cli.printed import print_json, print_table
from samhw.choices.schedule import Schedule
from samhw.compiler.passes import Lowerable, apply_program_passes
from samhw.compiler.search import OrderSpace, order_spaces
from samhw.compiler.search.patterns import Match, PatternMatches, find_patterns, with_own_patterns
from samhw.errors import ScheduleError
from samhw.lang import Program

__all__ = ["print_cascades", "print_orders", "print_patterns"]


def print_cascades(lowerable: Lowerable) -> None:
    """What the test says of each reduction that depends on an earlier one, and why."""
    # SymPy takes a while to import.
    from samhw.lang.cascade import cascaded

    # As in the pass, after those that come before it.
    asked = lowerable.schedule
    given = apply_program_passes(replace(lowerable, schedule=replace(asked, cascade="off")), "cascade")
    findings = cascaded(given.program, asked.cascade_form, asked.lanes, asked.tile).findings
    for finding in findings:
        click.echo(str(finding))
    if not findings:
        click.echo("No reduction depends on another one over the same index in its region.")


def print_patterns(program: Program, spec: str, json_target: str | None) -> None:
    """What patterns match, what is refused, and the schedule that the matches give.

    Args:
        spec: a user's own patterns, as `file.py:NAME`; none where it is empty.
    """
    with with_own_patterns(spec) as patterns:
        partition = find_patterns(program, patterns)
    schedule = Schedule.from_fields(partition.schedule)
    if json_target:
        print_json(
            json_target, {"program": program.name, **_report(partition), "schedule": schedule.to_json()}
        )
    if json_target == "-":
        return
    for match in partition.matches:
        equal = partition.equal_to(match)
        click.echo(_line(match) + (f", equal to {equal.results[-1]}" if equal else ""))
        for name, part in match.parts.items():
            click.echo(f"  {name}: {part}")
    for refused in partition.refused:
        click.echo(f"refused: {_line(refused.match)}: {refused.why}")
    if not partition.matches:
        click.echo("no pattern matches")
        return
    click.echo("\n" + schedule.dumps().rstrip())


def _line(match: Match) -> str:
    return f"{match.pattern}: {', '.join(match.results)}"


def _report(partition: PatternMatches) -> dict[str, Any]:
    matches = []
    for match in partition.matches:
        equal = partition.equal_to(match)
        parts = {name: str(part) for name, part in match.parts.items()}
        matches.append({**_named(match), "parts": parts, "equal_to": equal.results[-1] if equal else None})
    refused = [{**_named(r.match), "why": r.why} for r in partition.refused]
    return {"matches": matches, "refused": refused}


def _named(match: Match) -> dict[str, Any]:
    return {"pattern": match.pattern, "results": list(match.results)}


_SHARING = {"REDUCED": "indices, where they can", "EQUAL": "equal uses", "NOTHING": "nothing"}
"""What uses of an intermediate share, by the name of the compiler's choice."""


def print_orders(program: Program, most: int) -> None:
    """The number of orders of each region's indices, and the first ones; a reshape goes through memory."""
    console = Console()
    for region in program.regions:
        if region.reshapes or not region.is_plain:
            continue
        spaces = order_spaces(program, region)
        rows = [["intermediates share", "indices", "permutations", "storage kept", "and statements' orders"]]
        rows += [
            [
                _SHARING[space.region.sharing.name],
                str(len(space.indices)),
                *(_count(space, part) for part in ("any_order", "kept_storage", "kept_all")),
            ]
            for space in spaces
        ]
        print_table(console, rows, title=", ".join(region.written))
        try:
            for _, order in zip(range(most), spaces[0].orders(), strict=False):
                click.echo(f"  {','.join(order) or '(no indices)'}")
        except ScheduleError as error:
            click.echo(f"  none: {error}")


def _count(space: OrderSpace, part: str) -> str:
    try:
        number: int = getattr(space, part)
    except ScheduleError:
        return "too many to count"
    return f"{number:,}" if number < 10**12 else f"{number:.2e}"
