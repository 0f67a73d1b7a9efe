"""Choices against the best of all: small random programs whose decisions are enumerated in full.

Half of the programs follow one order of their indices, and the storage and the orders of the others are
random. The decisions are every way to group statements into regions, each bracket that there is or none,
every order of each region, and what uses share; each different design is simulated. `auto` is what
`--schedule auto` chooses, `tuned` what `samhw tune` finds in `--budget` seconds, and `worst` the slowest.

Usage, from the repository's root: python -m benchmarks.enumerated [--programs N] [--budget SECONDS]
[--designs N] [--seed N] [--json FILE|-]
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.common import VALUE, follow, parser, report, show
from samhw.app.checking.measure import measure_compiled
from samhw.app.sweep.tuning import search
from samhw.app.workload import Workload, compile_workload, job_of
from samhw.choices.schedule import Schedule
from samhw.compiler.search import bracket_choices, free_spaces
from samhw.errors import InputError, RunError, ScheduleError
from samhw.lang import Program
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.drawn import drawn

AUTO = Schedule(fuse="auto")


MOST_EXTENT = 24
"""Of an index."""

LEAST = 12
"""How many schedules a program has at least: fewer leave nothing to choose."""


def programs(count: int, most: int, seed: int) -> list[tuple[Workload, list[Schedule]]]:
    """Random programs of two to four statements, with data and with their schedules, of which they have no
    more than `most`; others for another seed."""
    found: list[tuple[Workload, list[Schedule]]] = []

    @drawn(50 * count, seed)
    @given(st.booleans().flatmap(_drawn_programs), st.integers(0, 2**32 - 1))
    def draw(program: Program, number: int) -> None:
        known = (workload.program.text for workload, _ in found)
        if len(found) == count or not 2 <= len(program.statements) <= 4 or program.text in known:
            return
        tensors = random_tensors(program, np.random.default_rng(number))
        workload = Workload(f"program {len(found)}", program, tensors)
        schedules = list(islice(dict.fromkeys(decisions(workload)), most + 1))
        if LEAST <= len(schedules) <= most:
            found.append((workload, schedules))

    draw()
    return found


def _drawn_programs(concordant: bool) -> st.SearchStrategy[Program]:
    """Programs that follow one order of the indices, or whose storage and orders are random."""
    return chained_programs(integers=False, max_extent=MOST_EXTENT, max_statements=4, concordant=concordant)


def groupings(program: Program) -> Iterator[tuple[tuple[str, ...], ...]]:
    """All ways to put statements into regions that can run one after the other, neighbours or not."""
    place = {statement.lhs.tensor: n for n, statement in enumerate(program.statements)}
    for parts in _partitions(list(place)):
        home = {name: n for n, part in enumerate(parts) for name in part}
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(len(parts)))
        for statement in program.statements:
            reader = home[statement.lhs.tensor]
            written = {home[access.tensor] for access in statement.reads if access.tensor in home}
            graph.add_edges_from((writer, reader) for writer in written - {reader})
        if nx.is_directed_acyclic_graph(graph):
            sequence = nx.lexicographical_topological_sort(graph, key=lambda n: place[parts[n][0]])
            yield tuple(parts[n] for n in sequence)


def _partitions(names: Sequence[str]) -> Iterator[list[tuple[str, ...]]]:
    """All ways to part some names, which keep their order."""
    if not names:
        yield []
        return
    for parts in _partitions(names[:-1]):
        for n, part in enumerate(parts):
            yield [*parts[:n], (*part, names[-1]), *parts[n + 1 :]]
        yield [*parts, (names[-1],)]


def decisions(workload: Workload) -> Iterator[Schedule]:
    """The schedules of a program; many of them give the same design."""
    program = workload.program
    sizes = job_of(workload, AUTO).sizes()
    choices = bracket_choices(program, sizes, worth=1e9)
    for chosen in product((False, True), repeat=len(choices)):
        brackets = {one.result: one.text for one, is_in in zip(choices, chosen, strict=True) if is_in}
        try:
            bracketed = Schedule(brackets=brackets).apply(program)
        except InputError:
            continue
        for fuse in groupings(bracketed):
            grouped = Schedule(fuse=fuse, brackets=brackets, permute=True)
            yield from (replace(grouped, share=share) for share in ("auto", "all", "none"))
            yield from ordered(workload, grouped)


def ordered(workload: Workload, grouped: Schedule) -> Iterator[Schedule]:
    """A schedule with every order of its regions."""
    try:
        program = grouped.apply(workload.program).bind({})
    except InputError:
        return
    orders: dict[str, list[tuple[str, ...]]] = {}
    for region in program.regions:
        if region.reshapes or region.label is None:
            continue
        for space in free_spaces(program, region):
            try:
                orders.setdefault(region.label, []).extend(space.orders())
            except ScheduleError:
                continue
    for some in product(*orders.values()):
        yield replace(grouped, order=dict(zip(orders, some, strict=True)))


def cycles(workload: Workload, schedule: Schedule, known: dict[Any, int | None]) -> int | None:
    """The cycles of a run; None for a schedule that is refused."""
    try:
        compiled = compile_workload(workload, schedule, value=VALUE)
    except InputError:
        return None
    key = str(compiled.design.regions)
    if key not in known:
        try:
            known[key] = measure_compiled(workload, compiled).cycles
        except RunError:
            known[key] = None
    return known[key]


def tuned(workload: Workload, seconds: float, known: dict[Any, int | None]) -> int | None:
    """What a search finds."""
    found, _ = search(workload, AUTO, seconds, "cycles", value=VALUE)
    runs = (cycles(workload, one.schedule, known) for one in found)
    return min((run for run in runs if run is not None), default=None)


def rows(count: int, budget: float, most: int, seed: int) -> Iterator[dict[str, Any]]:
    """A row for each program that has anything to choose."""
    for workload, listed in programs(count, most, seed):
        known: dict[Any, int | None] = {}
        runs = [run for run in (cycles(workload, one, known) for one in listed) if run is not None]
        auto = cycles(workload, AUTO, known)
        if not runs or auto is None:
            continue
        searched = tuned(workload, budget, known) if budget else None
        best = min([*runs, auto, *([searched] if searched else [])])
        yield {
            "program": workload.name,
            "schedules": len(listed),
            "designs": len(known),
            "best": best,
            "worst": max(runs),
            "auto": auto,
            "auto to the best": auto / best,
            "tuned to the best": searched / best if searched else None,
        }


def summary(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How many programs are within 1.10 of the best."""
    result: dict[str, Any] = {"programs": len(found)}
    for name in ("auto to the best", "tuned to the best"):
        ratios = [row[name] for row in found if row[name] is not None]
        result |= {
            f"{name}, within 1.10": sum(ratio <= 1.10 for ratio in ratios),
            f"{name}, worst": max(ratios, default=None),
        }
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("--programs", type=int, default=100)
    options.add_argument("--budget", type=float, default=0.0, help="seconds for each search; 0 for none")
    options.add_argument("--designs", type=int, default=600, help="the most schedules of a program")
    options.add_argument("--seed", type=int, default=1, help="of the programs")
    given = options.parse_args(arguments)
    found = list(follow(rows(given.programs, given.budget, given.designs, given.seed), given.programs))
    if given.json is None:
        show("against all decisions", found)
    report("in all", [summary(found)], given.json)


if __name__ == "__main__":
    main()
