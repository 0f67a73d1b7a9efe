"""What a search has tried, as texts by rows: the command line prints it, and its page shows it."""

from samhw.app.sweep.tune import Trial, Tuned

__all__ = ["by_cycles", "tuned_grid"]


def by_cycles(tuned: Tuned) -> list[Trial]:
    """The trials, the fastest first; of equal ones the smallest."""
    return sorted(tuned.trials, key=lambda trial: (trial.cycles, trial.found.luts))


def tuned_grid(tuned: Tuned) -> list[list[str]]:
    """Headings, and a row for each trial of `by_cycles`."""
    rows = [["cycles", "expected", "LUTs", "regions", "front", "result", "schedule"]]
    front = tuned.front
    for trial in by_cycles(tuned):
        found = trial.found
        marks = [
            "written" if trial is tuned.written else "",
            "best" if trial is tuned.best else "",
            *(f"{result} = {text}" for result, text in found.schedule.brackets.items()),
            found.schedule.word("fuse"),
        ]
        rows.append(
            [
                f"{trial.cycles:,}",
                f"{found.cycles:,.0f}",
                f"{found.luts:,.0f}",
                str(found.regions),
                "yes" if trial in front else "",
                "right" if trial.checked else "unproved",
                ", ".join(filter(None, marks)),
            ]
        )
    return rows
