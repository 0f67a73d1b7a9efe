"""What an importer knows of a tensor that the hardware reads or computes: how it is indexed, by which
expression it is made, and how it would be stored; or that the importer cannot take it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from samhw.errors import InputError
from samhw.graph.numerics import ValueType
from samhw.importers.core.host_array import HostArray
from samhw.lang.expr import Access, Expr

__all__ = [
    "NO_HINTS",
    "Arguments",
    "Fetch",
    "Hints",
    "ScanBlock",
    "Stored",
    "TensorStep",
    "UnsupportedError",
    "Value",
    "check_unmasked",
    "rows_of",
]


@dataclass(frozen=True)
class Hints:
    """How a tensor would best be stored, by what its importer knows of its data and its readers.

    The program that is emitted follows hints as far as its statements can. They are no part of what it
    computes: whoever decides how it runs may choose otherwise.

    Attributes:
        format: in the words of a declaration, by the tensor's modes; none for any.
        order: the tensor's indices, outermost first; none for any.
    """

    format: str | None = None
    order: tuple[str, ...] = ()


NO_HINTS = Hints()
"""Dense, in any order."""


class UnsupportedError(InputError):
    """An operator that cannot be imported as it stands. The caller adds its name and the user's line.

    Args:
        what: what it does, as goes on after its name: "draws random numbers".
        way_out: what to do instead.
    """

    def __init__(self, what: str, way_out: str) -> None:
        super().__init__(f"{what}; {way_out}")


Indices = tuple[str, ...]

Arguments = Mapping[str, object]
"""Those of a run, by the names of their placeholders."""

Fetch = Callable[[Arguments], HostArray]
"""Gives an input's data."""


@dataclass(frozen=True)
class Value:
    """A tensor that the hardware computes or reads.

    Attributes:
        modes: the indices of each mode, outermost first; none for a mode of extent 1. An index that the
            expression lacks has one value all along it.
        mask: where it is zero the value counts as -inf, whatever the expression gives.
        condition: it has the values 0 and 1 only.
    """

    modes: tuple[Indices, ...]
    expr: Expr
    mask: Access | None = None
    condition: bool = False

    @property
    def indices(self) -> Indices:
        """Of all modes."""
        return tuple(index for mode in self.modes for index in mode)


@dataclass(eq=False)
class ScanBlock:
    """A scan of the program in the making: statements that are computed once for each step.

    Attributes:
        index: on whose axis the steps are.
        down: they go from the last one to the first.
        starts: by a tensor that keeps all steps, what it has before the first one; elsewhere that is zero.
        slices: by a tensor and its own index of the steps, the name of its present step.
    """

    index: str
    down: bool = False
    starts: dict[str, Access] = field(default_factory=dict)
    slices: dict[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class TensorStep:
    """Which step of which tensor a tensor is, in a scan.

    Attributes:
        of: the tensor that has all steps.
        index: that tensor's own index of the steps.
        offset: 0 for the present step, in coordinates of the index.
    """

    of: str
    index: str
    block: ScanBlock
    offset: int = 0


@dataclass(eq=False)
class Stored:
    """A tensor of the program in the making.

    Attributes:
        modes: its own indices, as it was made; other indices on the same axes may stand for them.
        fetch: where an input's data come from; None for a result.
        example: those data for the example arguments.
        hints: how its importer would store it.
        scope: the path of the module that computes it.
        step: of which other tensor it is one step, in a scan; no statement computes one that is read.
        kind: the type that it is declared with; None for that of what is computed, or of the program.
        is_free: an input whose numbers, if they are integers, may have the type of what they meet.
        picks: an input that has at most one element in a row, a one: a product with it picks elements.
        is_constant: an input that has the same data in every run.
        most: of integers, a bound of their magnitude where it is less than that of the type.
    """

    name: str
    modes: Indices
    fetch: Fetch | None = None
    example: HostArray | None = None
    hints: Hints = NO_HINTS
    scope: str = ""
    step: TensorStep | None = None
    kind: ValueType | None = None
    is_free: bool = False
    picks: bool = False
    is_constant: bool = False
    most: int | None = None

    @property
    def has_free_order(self) -> bool:
        """Whether it may be stored in any order of its modes."""
        return self.fetch is None or self.hints.format is None


def check_unmasked(*operands: object) -> None:
    """Raises `UnsupportedError` for a value under a mask."""
    if any(isinstance(x, Value) and x.mask is not None for x in operands):
        raise UnsupportedError(
            "takes a value that is -inf at places",
            "only softmax and max do; mask right before it",
        )


def rows_of(shape: Sequence[int], compressed: int = 1) -> str:
    """The format with its last levels compressed, but for those of extent 1."""
    kinds = []
    for size in reversed(shape):
        kinds.append("compressed" if compressed and size > 1 else "dense")
        compressed -= size > 1 and compressed > 0
    return f"({', '.join(kinds[::-1])})"
