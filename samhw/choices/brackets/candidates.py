"""The brackets that a search tries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import inf

from samhw.choices.fuse.candidates import LEVELS, PATIENCE, moved
from samhw.choices.schedule import Schedule
from samhw.compiler.search.brackets import WORTH, BracketChoice, bracket_choices
from samhw.compiler.search.tried import CLEARLY, AutoChoice, Search, Stage, Start, gain_words

__all__ = ["STAGES", "instead", "neighbours"]

UNLIKELY = 1.5
"""How much of a statement's work a bracket may take at the most: more products may still take fewer cycles,
where regions run side by side that waited for each other."""

POSSIBLE = 2.0
"""The same for a search that has more time."""


def _bracketed(
    search: Search,
    best: AutoChoice,
    choices: Sequence[BracketChoice],
    notes: list[str],
    patience: float = inf,
) -> AutoChoice:
    """With those of some brackets that are expected to help, each noted."""
    for bracket in choices:
        texts = {**best.schedule.brackets, bracket.result: bracket.text}
        for fuse in LEVELS:
            if search.has(patience):
                search.tried(replace(best.schedule, brackets=texts, fuse=fuse))
        ways = (search.seen(replace(best.schedule, brackets=texts, fuse=fuse)) for fuse in LEVELS)
        plain = min(filter(None, ways), key=lambda way: way.cycles, default=best)
        further: list[str] = []
        found = moved(search, plain, further, below=best.cycles)
        if found.cycles < CLEARLY * best.cycles:
            notes += [_line(bracket, best.cycles, plain.cycles), *further]
            best = found
    return best


def _considered(search: Search) -> tuple[list[BracketChoice], list[BracketChoice]]:
    """Those that take clearly less work, what is gained most first, and others. Nothing where brackets are
    given."""
    if search.given.brackets:
        return [], []
    if "brackets" not in search.kept:
        found = bracket_choices(search.program, search.job.sizes(), UNLIKELY)
        found.sort(key=lambda choice: choice.after - choice.before)
        likely = [choice for choice in found if choice.after < WORTH * choice.before]
        search.kept["brackets"] = likely, [choice for choice in found if choice not in likely]
    considered: tuple[list[BracketChoice], list[BracketChoice]] = search.kept["brackets"]
    return considered


STAGES: Mapping[str, Stage] = {
    "likely": lambda search, best, notes: _bracketed(search, best, _considered(search)[0], notes),
    "unlikely": lambda search, best, notes: _bracketed(search, best, _considered(search)[1], notes, PATIENCE),
}


def instead(search: Search, before: AutoChoice, found: AutoChoice) -> list[str]:
    """What is said of a candidate that wins only since rows of another one wait."""
    after = search.coupled(found)
    taken = found.schedule.brackets.items()
    lines = [
        _line(choice, before.cycles, after.cycles)
        for choice in chain(*_considered(search))
        if (choice.result, choice.text) in taken
    ]
    gain = gain_words(before.cycles, after.cycles)
    return lines or [f"rows: wait for nobody in {found.schedule} ({gain})"]


def neighbours(at: Start) -> Iterator[Schedule]:
    """With one bracket more, or one less."""
    given = at.job.schedule
    if given.brackets:
        return
    if "brackets" not in at.kept:
        at.kept["brackets"] = bracket_choices(at.job.program, at.job.sizes(), POSSIBLE)
    for bracket in at.kept["brackets"]:
        brackets = {**at.schedule.brackets, bracket.result: bracket.text}
        if bracket.result in at.schedule.brackets:
            del brackets[bracket.result]
        for fuse in LEVELS:
            yield replace(at.schedule, brackets=brackets, fuse=fuse, order=given.order)


def _line(choice: BracketChoice, before: float, after: float) -> str:
    """What a bracket gains."""
    return (
        f"brackets: {choice.result} = {choice.text}, at {choice.after:,.0f} points instead of "
        f"{choice.before:,.0f} ({gain_words(before, after)})"
    )
