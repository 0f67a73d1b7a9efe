"""What `samhw accuracy --plot` draws: the relative errors of results by value type."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from samhw.app.report.figure import GREY, new_figure, style

__all__ = ["plot_accuracy"]


def plot_accuracy(title: str, points: Sequence[tuple[str, str, float]]) -> Figure:
    """A point for each input, beside each other for the results of a type; on the line below lie those
    without an error, which a logarithm has no place for.

    Args:
        points: value type, result, and relative error.
    """
    values = list(dict.fromkeys(value for value, _, _ in points))
    results = list(dict.fromkeys(result for _, result, _ in points))
    finite = [error for _, _, error in points if 0 < error < float("inf")]
    floor = min(finite, default=1e-7) / 10
    ceiling = max(finite, default=1e-7) * 10
    figure = new_figure(max(4.8, 1.2 * len(values) + 2), 3.8)
    plot = figure.subplots()
    for number, result in enumerate(results):
        beside = _beside(number, len(results))
        held = [(values.index(value) + beside, error) for value, of, error in points if of == result]
        ys = [min(max(error, floor), ceiling) for _, error in held]
        plot.plot([x for x, _ in held], ys, **style(number), linestyle="", alpha=0.7, label=result)
    plot.set_yscale("log")
    plot.yaxis.set_major_formatter(FuncFormatter(lambda error, _: f"{error:.0e}"))
    plot.set_xticks(range(len(values)), values)
    plot.set_xlim(-0.6, len(values) - 0.4)
    for error, line, word in ((0.0, floor, "exact"), (float("inf"), ceiling, "infinite")):
        if any(found == error for _, _, found in points):
            plot.axhline(line, color=GREY, linewidth=0.8, zorder=0)
            plot.annotate(word, (len(values) - 0.42, line), ha="right", va="bottom", color=GREY)
    plot.grid(axis="y", color="0.9", zorder=0)
    plot.set_axisbelow(True)
    plot.spines[["top", "right"]].set_visible(False)
    plot.set_ylabel("relative error (norm)")
    plot.set_title(title)
    plot.legend()
    return figure


def _beside(number: int, count: int) -> float:
    """Where the points of a result stand, of this many."""
    return (number - (count - 1) / 2) * min(0.2, 0.6 / count)
