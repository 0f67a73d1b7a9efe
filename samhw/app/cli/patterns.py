"""`samhw compile --patterns`."""

from typing import Any

import click

from samhw.app.cli.output import print_json
from samhw.choices.schedule import Schedule
from samhw.compiler.search.patterns import Match, PatternMatches, find_patterns, with_own_patterns
from samhw.lang import Program

__all__ = ["print_patterns"]


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
