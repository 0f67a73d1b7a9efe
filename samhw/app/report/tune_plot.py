"""What `samhw tune --plot` draws: the cycles of schedules against how large their designs are."""

from matplotlib.figure import Figure

from samhw.app.report.figure import count_axis, new_figure, style
from samhw.app.sweep.tune import Tuned

__all__ = ["plot_tuned"]


def plot_tuned(tuned: Tuned) -> Figure:
    """A point for each schedule that was simulated, and the line of those that no other one beats."""
    figure = new_figure(6.4, 4.4)
    plot = figure.subplots()
    front = tuned.front
    others = [trial for trial in tuned.trials if trial not in front]
    for number, (name, trials) in enumerate(
        (("others", others), ("Pareto front", front), ("as written", [tuned.written]))
    ):
        line = "-" if name == "Pareto front" else ""
        xs = [trial.found.luts for trial in trials]
        plot.plot(xs, [trial.cycles for trial in trials], **{**style(number), "linestyle": line}, label=name)
    count_axis(plot, "x")
    count_axis(plot, "y")
    plot.set_xlabel("LUTs of an ECP5, estimated")
    plot.set_ylabel("cycles")
    plot.set_title(f"{len(tuned.trials)} schedules on {tuned.data}")
    plot.legend()
    return figure
