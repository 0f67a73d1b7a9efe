"""The choices of a schedule as options: one word for each, or several that are compared; and what is
said of a schedule that was chosen, or that could be.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from samhw.app.checking.advice import FAR, sampled_note, zeros_note
from samhw.choices.choice import AUTO, Choice
from samhw.choices.schedule import CHOICES, Schedule, with_words
from samhw.compiler import Compiled
from samhw.compiler.idle import idle_choices
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job, Room, bracket_choices, work_of
from samhw.compiler.search.tried import CLEARLY, expected_cycles
from samhw.errors import InputError
from samhw.words import did_you_mean, split_words

__all__ = [
    "choice_options",
    "compared",
    "comparing_options",
    "growing_options",
    "note_better",
    "note_idle",
    "print_choice",
    "read_choices",
]

Command = Callable[..., Any]

_GROWING = tuple(one for one in CHOICES if one.may_grow)
"""Those by which a search may enlarge a design."""


def choice_options(command: Command) -> Command:
    """Gives a command an option for each choice, all of which `read_choices` reads."""
    for one in reversed(CHOICES):
        auto = " auto: as large as helps, where the schedule is chosen." if one.may_grow else ""
        kind = click.Choice(one.names) if one.names else str
        metavar = None if one.names else one.metavar
        more: dict[str, Any] = {"multiple": True, "callback": _joined(one.between)} if one.between else {}
        option = click.option(one.option, one.name, type=kind, metavar=metavar, help=one.help + auto, **more)
        command = (_flag(one) if one.kind is bool else option)(command)
    return command


def read_choices(schedule: Schedule, given: dict[str, Any], area: str | None) -> tuple[Schedule, Room]:
    """The schedule with what the options of `choice_options` say, and how large a design may be.

    Args:
        given: all options of a command, out of which this takes those of choices.
        area: what --area says, if it is given: then lanes may be chosen too.

    Raises:
        InputError: for words that a choice does not take, and what is left to a search that there is none of.
    """
    words = {one.name: given.pop(one.name) for one in CHOICES}
    grown = [one for one in _GROWING if words[one.name] == AUTO]
    taken = {name: None if word == "" else word for name, word in words.items()}
    schedule = with_words(schedule, taken | dict.fromkeys(one.name for one in grown))
    room = Room.of((one.name for one in grown), area)
    if room.grows and not schedule.is_open:
        option = "--area" if area is not None else f"{grown[0].option} auto"
        own = "" if words["fuse"] is None else ", and no --fuse"
        raise InputError(f"{option} is for a schedule that is chosen; give --schedule auto too{own}.")
    return schedule, room


def growing_options(command: Command) -> Command:
    """Gives a command an option for each choice by which a search may enlarge a design."""
    for one in reversed(_GROWING):
        command = click.option(
            one.option, one.name, type=click.Choice([AUTO]), help=f"auto: try {one.name} too."
        )(command)
    return command


def comparing_options(command: Command) -> Command:
    """Gives a command an option for each choice that takes several words; `compared` reads them."""
    for one in reversed(CHOICES):
        each = "once for each of them" if one.has_commas else f"with commas, once for each {one.of}"
        more = f" Several: {each if one.has_entries else 'with commas'}."
        about = one.help.partition(";")[0].rstrip(".")
        option = click.option(
            one.option, one.name, multiple=True, metavar=one.several, help=f"{about}.{more}"
        )
        command = (_flag(one) if one.kind is bool else option)(command)
    return command


def compared(given: dict[str, Any]) -> dict[str, list[Any]]:
    """By choice, or by entry of one as in `split.A`, the words that the options of `comparing_options` give.

    Args:
        given: all options of a command, out of which this takes those of choices.

    Raises:
        InputError: for words that there are not.
    """
    found: dict[str, list[Any]] = {}
    for one in CHOICES:
        words = given.pop(one.name)
        if one.kind is bool:
            found |= {} if words is None else {one.name: [words]}
        elif one.has_commas:
            found |= {one.name: list(words)} if words else {}
        elif one.has_entries:
            found |= _by_entry(one, words)
        elif listed := [word for text in words for word in split_words(text)]:
            found[one.name] = [_known(one, word) for word in listed]
    return found


def _joined(between: str) -> Callable[[click.Context, click.Parameter, Sequence[str]], str | None]:
    """What makes one word of an option that is given several times."""
    return lambda context, option, words: between.join(words) if words else None


def _flag(one: Choice[Any]) -> Callable[[Command], Command]:
    return click.option(f"{one.option}/--no-{one.option[2:]}", one.name, default=None, help=one.help)


def _by_entry(one: Choice[Any], options: Sequence[str]) -> Mapping[str, list[str]]:
    """The words that options give for each entry, such as A=none,rows(4)."""
    found: dict[str, list[str]] = {}
    for option in options:
        entry, equals, words = (part.strip() for part in option.partition("="))
        if not equals:
            raise InputError(
                f"{one.option} '{option}': give each {one.of} its choices once, as in "
                f"{one.several} with commas between."
            )
        if before := found.get(f"{one.name}.{entry}"):
            raise InputError(
                f"{one.option} names '{entry}' twice; give it all choices at once, as in "
                f"'{one.option} {entry}={','.join((*before, words))}'."
            )
        found[f"{one.name}.{entry}"] = split_words(words)
    return found


def _known(one: Choice[Any], word: str) -> Any:
    if one.names and word not in one.names:
        raise InputError(
            f"{one.option} {word}{did_you_mean(word, one.names)}: there is no such choice; name some of "
            f"{', '.join(one.names)}."
        )
    return one.read(word) if one.kind is int else word


def print_choice(compiled: Compiled) -> None:
    """What `--schedule auto` has chosen, a line each."""
    for line in compiled.why:
        click.echo(f"  chosen     {line}")


def note_idle(compiled: Compiled) -> None:
    """Lines on stderr of choices that were typed and count for nothing."""
    typed = click.get_current_context()
    for name, sentence in idle_choices(compiled):
        if typed.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            click.echo(f"samhw: note: {sentence}", err=True)


def note_better(job: Job, compiled: Compiled) -> None:
    """Lines on stderr of what counts for nothing, and where other brackets, or other formats of inputs of
    many zeros or of results, are expected to take fewer cycles."""
    note_idle(compiled)
    _note_brackets(job, compiled)
    for noted in (zeros_note, sampled_note):
        if job.data is not None and (note := noted(job, compiled, as_option=True)):
            click.echo(f"samhw: note: {note}.", err=True)


def _note_brackets(job: Job, compiled: Compiled) -> None:
    """A line on stderr where other brackets would take far less work and are expected to take fewer cycles,
    unless some were given or chosen."""
    schedule, program = job.schedule, job.program
    if schedule.brackets or schedule.is_open or job.data is None:
        return
    sizes = job.sizes()
    choices = bracket_choices(program, sizes)
    before = sum(work_of(program, sizes).points.values())
    after = before - sum(choice.before - choice.after for choice in choices)
    if not choices or before <= FAR * after:
        return
    brackets = {choice.result: choice.text for choice in choices}
    found = replace(schedule, brackets=brackets)
    try:
        cycles = expected_cycles(compile_job(job.under(found)), job.statistics(found))
    except InputError:
        return
    now = expected_cycles(compiled, job.statistics(schedule))
    if cycles < CLEARLY * now:
        click.echo(
            f"samhw: note: --brackets '{found.word('brackets')}' is expected to take {before / after:.1f} "
            f"times less work, and about {cycles:,.0f} cycles instead of {now:,.0f}.",
            err=True,
        )
