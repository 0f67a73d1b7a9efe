"""A figure as data: its points in rows, what is shown of each, and the paper's own numbers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from samhw.app.papers.points import Figures, PaperPoint

__all__ = ["Cell", "Paper", "PaperColumn", "PaperFigure", "PaperRow", "Setting", "fewer", "plain", "share"]

Cell: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class Setting:
    """How large, and on which data.

    Attributes:
        quick: small sizes, for minutes.
        folder: where a user's data lie.
    """

    quick: bool = False
    folder: Path | None = None

    def data(self, name: str, small: str = "") -> str:
        """What `--data` takes for a data set: the user's file, or else its stand-in.

        Args:
            small: sizes of the stand-in if it is to be quick, as `nodes=300,edges=1200`.
        """
        if self.quick and small:
            return f"synthetic:{name},{small}"
        for file in (f"{name}.npz", f"{name}.mtx", name.replace("-", "_")):
            if self.folder is not None and (self.folder / file).exists():
                return str(self.folder / file)
        return f"synthetic:{name}"

    def of(self, quick: Sequence[Any], full: Sequence[Any]) -> Sequence[Any]:
        """One of two lists."""
        return quick if self.quick else full


@dataclass(frozen=True)
class PaperRow:
    """Points that are held against each other.

    Attributes:
        ways: the points by name; the first one is what others are held against.
        paper: by way, what the paper has in the figure's first column that is a ratio.
    """

    name: str
    ways: Mapping[str, PaperPoint]
    paper: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PaperColumn:
    """What is shown of a point.

    Attributes:
        of: gives it, of the point's figures and of those of its row's first point.
        is_ratio: the numbers are ratios, or whatever the paper has.
    """

    name: str
    of: Callable[[Figures, Figures], Cell]
    is_ratio: bool = False


def plain(name: str, key: str | None = None) -> PaperColumn:
    """A figure as it is."""
    return PaperColumn(name, lambda own, first: own.get(key or name))


def stated(name: str, key: str | None = None) -> PaperColumn:
    """A figure as it is, which the paper has too."""
    return PaperColumn(name, lambda own, first: own.get(key or name), is_ratio=True)


def fewer(name: str, key: str = "cycles") -> PaperColumn:
    """How many times less it is than for the row's first way: a speed-up, where it is cycles."""
    return PaperColumn(name, lambda own, first: _divided(first.get(key), own.get(key)), is_ratio=True)


def share(name: str, key: str) -> PaperColumn:
    """How much it is, over the row's first way."""
    return PaperColumn(name, lambda own, first: _divided(own.get(key), first.get(key)), is_ratio=True)


def _divided(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


@dataclass(frozen=True)
class PaperFigure:
    """A figure or a table of a paper.

    Attributes:
        number: such as `12`, or `table 4`.
        rows: the rows at a size.
        columns: of them, the first ratio is drawn.
        differs: what differs from the paper, and why, in a sentence or two.
        expands: a point is as many rows as it has `kernels`.
    """

    number: str
    title: str
    rows: Callable[[Setting], Iterable[PaperRow]]
    columns: tuple[PaperColumn, ...]
    differs: str
    expands: bool = False

    @property
    def ratio(self) -> PaperColumn | None:
        """The column that the paper has too."""
        return next((column for column in self.columns if column.is_ratio), None)


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
        name: as commands have it.
        differs: what explains most differences, in a sentence or two.
    """

    name: str
    title: str
    differs: str
    figures: tuple[PaperFigure, ...]
