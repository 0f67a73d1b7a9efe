"""What would make a run shorter: schedules that differ from it in one choice, simulated before they are
recommended."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import Any

from samhw.app.checking.check_run import check
from samhw.app.workload import Workload
from samhw.choices.choice import choice as choice_of
from samhw.choices.schedule import CHOICES, Schedule, with_words
from samhw.compiler import Compiled, Lowerings, area_of
from samhw.compiler.pipeline import candidates, compile_job
from samhw.compiler.search import Job, Room
from samhw.compiler.search.job import HALF
from samhw.compiler.search.tried import Start, candidates_of, expected_cycles
from samhw.errors import InputError
from samhw.graph import OffChipMemory
from samhw.lang import Program
from samhw.targets.backends import MODEL, run
from samhw.tensors import Format, Zeros

__all__ = ["FAR", "Advice", "Advised", "advise", "sampled_note", "zeros_note"]

_ESTIMATED = 48
"""Schedules that are estimated."""
_SIMULATED = 5
"""Those of them that are simulated: the best of a choice each."""
_WORTH = 0.99
"""What the cycles must come down to."""
FAR = 1.5
"""How many times more cycles, or work, a run takes before a note says so unasked."""
_NAMED = 3
"""Inputs of many zeros that a note names."""
_TRIED = 1000
"""The nodes of a design that a note about zeros compiles in another way, which takes a second or so."""


@dataclass(frozen=True)
class Advice:
    """A schedule that takes fewer cycles."""

    words: Mapping[str, str]
    """The fields that are others, as their options take them."""
    cycles: int
    """That it takes, by the simulator."""
    luts: float
    """That it is expected to take of an ECP5."""

    @property
    def options(self) -> list[str]:
        """The words of a command line."""
        said = ((one, self.words[one.name]) for one in CHOICES if one.name in self.words)
        return [word for one, text in said for word in _option(one.option, one.kind, text)]

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {"options": self.options, "cycles": self.cycles, "luts": round(self.luts)}


def _option(option: str, kind: type, text: str) -> list[str]:
    if kind is not bool:
        return [option, text]
    return [option if text == str(True) else f"--no-{option[2:]}"]


@dataclass(frozen=True)
class Advised:
    """What was tried, and what of it helps."""

    found: tuple[Advice, ...]
    """The best first."""
    luts: float
    """Of the design that is advised about, as expected of an ECP5."""
    estimated: int
    simulated: int

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        own = {"luts": round(self.luts), "estimated": self.estimated, "simulated": self.simulated}
        return {"found": [one.to_json() for one in self.found], **own}


def advise(
    job: Job, workload: Workload, compiled: Compiled, cycles: int, memory: OffChipMemory | None
) -> Advised:
    """Tries what differs from a run in one choice; lanes may double.

    Args:
        job: that was run, with its data.
        compiled: the job, as it ran.
        cycles: that it took.
        memory: what holds the tensors off chip, if something does.
    """
    asked = compiled.schedule if job.schedule.is_open else job.schedule
    job = replace(job, schedule=asked, room=Room(frozenset({"lanes"})))
    lower = candidates(job, Lowerings())
    best: dict[str, tuple[float, dict[str, str]]] = {}
    estimated = 0
    for choice, schedule in islice(_neighbours(Start(job, asked, compiled, {})), _ESTIMATED):
        words = _words(asked, schedule)
        try:
            same = with_words(asked, words)
            expected = expected_cycles(lower(same), job.statistics(same))
        except InputError:
            continue
        estimated += 1
        if expected < best.get(choice, (float("inf"), {}))[0]:
            best[choice] = expected, words
    before = expected_cycles(compiled, job.statistics(asked))
    listed = sorted((one for one in best.values() if one[0] < _WORTH * before), key=lambda one: one[0])
    options = {"memory": memory} if memory else {}
    found = []
    for _, words in listed[:_SIMULATED]:
        tried = compile_job(job.under(with_words(asked, words)))
        result = run(tried, workload.tensors, MODEL, **options)
        if result.cycles < _WORTH * cycles and check(workload, tried, result.outputs).good:
            found.append(Advice(words, result.cycles, area_of(tried).use.luts))
    found.sort(key=lambda one: one.cycles)
    luts = area_of(compiled).use.luts
    return Advised(tuple(found), luts, estimated, min(len(listed), _SIMULATED))


def zeros_note(job: Job, compiled: Compiled, *, as_option: bool) -> str | None:
    """What storing inputs of many zeros by their nonzeros would bring, if it is expected to take fewer cycles
    and the schedule of the job was not chosen. Of large designs it names the zeros and compiles nothing.

    Args:
        job: with its data.
        compiled: the job.
        as_option: say it as an option of commands, instead of an argument of Python.
    """
    if job.schedule.is_open:
        return None
    known = candidates_of("formats")
    assert known is not None
    formats: dict[str, Format] = known.sparse_formats(job, job.schedule, job.schedule)
    if not formats:
        return None
    texts = {name: str(fmt) for name, fmt in formats.items()}
    brings = "stores their nonzeros alone, which may take fewer cycles"
    if sum(len(region.graph.nodes) for region in compiled.regions) <= _TRIED:
        found = replace(job.schedule, formats={**job.schedule.formats, **texts})
        try:
            cycles = expected_cycles(compile_job(job.under(found)), job.statistics(found))
        except InputError:
            return None
        now = expected_cycles(compiled, job.statistics(job.schedule))
        if cycles >= _WORTH * now:
            return None
        brings = f"expects {cycles:,.0f} cycles for {now:,.0f}"
    zeros = "; ".join(_said_zeros(name, job.zeros[name]) for name in list(formats)[:_NAMED])
    more = f"; and so on, {len(formats)} in all" if len(formats) > _NAMED else ""
    how = f"--sparsify {HALF}" if as_option else f"formats={texts}"
    return f"{zeros}{more}: {how} {brings}"


def sampled_note(job: Job, compiled: Compiled, *, as_option: bool) -> str | None:
    """What storing results by their nonzeros would bring, that are dense but for a sparse operand which has
    all of their indices: at other places they compute zeros. None unless it is expected to take far fewer
    cycles, and the schedule of the job was not chosen.

    Args:
        job, compiled, as_option: as for `zeros_note`.
    """
    if job.schedule.is_open or sum(len(region.graph.nodes) for region in compiled.regions) > _TRIED:
        return None
    # Not its regions, which may be those of a tree of modules, that the program does not have.
    stored = Schedule(brackets=job.schedule.brackets, formats=job.schedule.formats)
    sampled = dict(_sampled(stored.apply(job.program)))
    formats = {name: fmt for name, (_, fmt) in sampled.items() if name not in job.schedule.formats}
    if not formats:
        return None
    found = replace(job.schedule, formats={**job.schedule.formats, **formats})
    try:
        cycles = expected_cycles(compile_job(job.under(found)), job.statistics(found))
    except InputError:
        return None
    now = expected_cycles(compiled, job.statistics(job.schedule))
    if now < FAR * cycles:
        return None
    name, (operand, _) = next((name, sampled[name]) for name in formats)
    how = f"schedule={{'formats': {formats}}}"
    if as_option:
        how = f"--formats '{choice_of('formats').word(formats)}'"
    where = f"{name} is stored dense, and takes cycles where {operand} stores nothing too"
    return f"{where}: {how} leaves that out, and expects {cycles:,.0f} cycles for {now:,.0f}"


def _sampled(program: Program) -> Iterator[tuple[str, tuple[str, str]]]:
    """The dense results at whose places a sparse operand is read, with that operand, and a format of
    nonzeros."""
    for statement in program.statements:
        result, indices = program.tensors[statement.lhs.tensor], set(statement.lhs.variables)
        if statement.reduction != "sum" or statement.is_move or statement.scan is not None:
            continue
        if result.rank < 2 or not result.format.is_all_dense or result.format.block:
            continue
        for access in statement.reads:
            if program.tensors[access.tensor].format.is_sparse and indices <= set(access.variables):
                yield result.name, (access.tensor, "csr" if result.rank == 2 else "csf")
                break


def _said_zeros(name: str, zeros: Zeros) -> str:
    """How many zeros an input has, and where its nonzeros are."""
    where = f", the others in {zeros.pattern}" if zeros.pattern else ""
    return f"{100 * zeros.share:.0f} % of {name} are zeros{where}"


def _neighbours(at: Start) -> Iterator[tuple[str, Schedule]]:
    """What differs in one choice, by its name: one of each choice in turn."""
    known = ((one.name, candidates_of(one.name)) for one in CHOICES)
    each = [[(name, s) for s in found.neighbours(at)] for name, found in known if found is not None]
    return (one for round_ in zip_longest(*each) for one in round_ if one is not None)


def _words(before: Schedule, after: Schedule) -> dict[str, str]:
    """The fields in which schedules differ, in words."""
    differ = (one.name for one in CHOICES if getattr(before, one.name) != getattr(after, one.name))
    return {name: after.word(name) for name in differ}
