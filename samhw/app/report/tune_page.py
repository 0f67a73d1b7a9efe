"""The page of a search: cycles against LUTs or energy, and what was expected of each schedule."""

from collections.abc import Sequence
from math import inf

from samhw.app.checking.types_search import TunedTypes, TypedPoint
from samhw.app.report.page import Point, Results, ResultTable, ScatterChart, Stat, axis
from samhw.app.sweep.tuning import Trial, Tuned
from samhw.words import counted

__all__ = ["tune_results", "types_results"]


def tune_results(program: str, tuned: Tuned) -> Results:
    """What the page shows; `program` is its name."""
    best, written = tuned.best, tuned.written
    on_front = f"{len(tuned.front)} on the Pareto front of {tuned.bought}"
    return Results(
        title=program,
        about=f"on {tuned.on}, a schedule by search",
        verdict="",
        good=True,
        stats=(
            Stat("best", f"{best.cycles:,}", f"cycles, with about {tuned.cost_in_words(best)}"),
            Stat("as written", f"{written.cycles:,}", f"cycles, with about {tuned.cost_in_words(written)}"),
            Stat("speedup", f"{written.cycles / best.cycles:.2f}×", f"objective: {tuned.objective}"),
            Stat("designs estimated", f"{tuned.looked:,}", "by exact statistics of the data"),
            Stat("simulated", str(len(tuned.trials)), on_front),
        ),
        charts=(_front(tuned), _expected(tuned)),
        tables=(ResultTable("Schedules that were simulated", tuned.grid()),),
        details=tuple(_details(trial) for trial in tuned.by_cycles),
        notes=(
            "The search chose by estimates what to simulate. A schedule below the line of the second chart "
            "takes fewer cycles than was expected of it.",
        ),
    )


def types_results(program: str, tuned: TunedTypes) -> Results:
    """What the page of a search for types shows; `program` is its name."""
    best, first = tuned.best, tuned.first
    points = sorted(tuned.points, key=lambda one: (one.error, one.price(tuned.objective)))
    return Results(
        title=program,
        about=f"on {tuned.data}, {tuned.about}",
        verdict="",
        good=True,
        stats=(
            Stat("best", f"{best.price(tuned.objective)[0]:,.0f}", best.words),
            Stat("in its own types", f"{first.price(tuned.objective)[0]:,.0f}", first.words),
            Stat("judged", str(len(points)), tuned.counts),
        ),
        charts=(_types_front(tuned, points),),
        tables=(ResultTable("Types", tuned.grid()),),
        details=tuple((("types", point.text or point.said), ("expected", point.words)) for point in points),
        notes=("Errors are relative to float64, by norm, of the worst result.",),
    )


def _types_front(tuned: TunedTypes, points: Sequence[TypedPoint]) -> ScatterChart:
    known = [(n, point) for n, point in enumerate(points) if point.error < inf]

    def group(point: TypedPoint) -> str:
        if point in (tuned.first, tuned.best):
            return "best" if point == tuned.best else "its own"
        return "Pareto front" if point in tuned.front else "others"

    return ScatterChart(
        f"{tuned.currency} against errors",
        axis("relative error", [tuned.place(point)[0] for _, point in known]),
        axis(tuned.currency, [tuned.place(point)[1] for _, point in known]),
        tuple(Point(n, *tuned.place(point), group(point)) for n, point in known),
        tuple(sorted(map(tuned.place, tuned.front))),
        "nothing beats these in both",
        stepped=True,
    )


def _group(tuned: Tuned, trial: Trial) -> str:
    if trial is tuned.written:
        return "as written"
    if trial is tuned.best:
        return "best"
    return "Pareto front" if trial in tuned.front else "others"


def _front(tuned: Tuned) -> ScatterChart:
    trials = tuned.by_cycles
    front = sorted((tuned.price(trial), float(trial.cycles)) for trial in tuned.front)
    return ScatterChart(
        f"Cycles against {tuned.currency}",
        axis("pJ" if tuned.by_energy else "LUTs", [tuned.price(trial) for trial in trials]),
        axis("cycles", [trial.cycles for trial in trials]),
        tuple(
            Point(n, tuned.price(trial), trial.cycles, _group(tuned, trial)) for n, trial in enumerate(trials)
        ),
        tuple(front),
        "nothing beats these in both",
        stepped=True,
    )


def _expected(tuned: Tuned) -> ScatterChart:
    trials = tuned.by_cycles
    numbers = [number for trial in trials for number in (trial.found.cycles, float(trial.cycles))]
    ends = ((min(numbers), min(numbers)), (max(numbers), max(numbers)))
    return ScatterChart(
        "Cycles against those that were expected",
        axis("cycles by estimate", numbers),
        axis("cycles", numbers),
        tuple(
            Point(n, trial.found.cycles, trial.cycles, _group(tuned, trial)) for n, trial in enumerate(trials)
        ),
        ends,
        "equal",
    )


def _details(trial: Trial) -> tuple[tuple[str, str], ...]:
    return (
        ("cycles", f"{trial.cycles:,}, by estimate {trial.found.cycles:,.0f}"),
        ("LUTs", f"{trial.found.luts:,.0f} in {counted(trial.found.regions, 'region')}"),
        ("status", trial.status),
        ("schedule", trial.found.schedule.dumps().strip()),
    )
