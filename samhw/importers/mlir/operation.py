"""A text in MLIR as operations, each with its place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.importers.mlir.scanner import MlirText
from samhw.importers.mlir.types import MlirType, TensorType

__all__ = ["Block", "Elements", "MlirFunction", "MlirModule", "MlirOperation", "Symbol"]


@dataclass(frozen=True)
class Symbol:
    """The name of a function."""

    name: str


@dataclass(frozen=True, eq=False)
class Elements:
    """The data of a tensor.

    Attributes:
        values: in the shape of the type; None where the text leaves them out.
        name: of the resource that holds them.
    """

    type: TensorType
    values: npt.NDArray[np.float64] | None
    name: str = ""


@dataclass(eq=False)
class Block:
    """The arguments of a region's block, and its operations."""

    arguments: list[tuple[str, MlirType]] = field(default_factory=list)
    operations: "list[MlirOperation]" = field(default_factory=list)

    @property
    def last(self) -> "MlirOperation | None":
        """The operation that ends it."""
        return self.operations[-1] if self.operations else None


@dataclass(eq=False)
class MlirOperation:
    """An operation.

    Attributes:
        at: the offset of its place in the text.
        results: the names of what it gives.
        operands: the values that it takes, but for those in groups and lists.
        groups: values by the word before their parentheses, as in ``ins(%a : f32)``.
        lists: what stands in brackets, in order: numbers, values, or lists of them.
        words: the words that stand by themselves, and numbers.
        types: of the values that it takes and gives, as far as the text says them.
        gives: the types of its results.
        regions: by the word before them; the plain ones have their number.
        problem: why it cannot be read, and where; None for one that can.
    """

    name: str
    at: int
    results: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    groups: dict[str, list[str]] = field(default_factory=dict)
    group_types: dict[str, list[MlirType]] = field(default_factory=dict)
    lists: list[list[Any]] = field(default_factory=list)
    words: list[str | int] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    types: list[MlirType] = field(default_factory=list)
    gives: list[MlirType] = field(default_factory=list)
    regions: dict[str, list[Block]] = field(default_factory=dict)
    problem: tuple[int, str] | None = None

    @property
    def inputs(self) -> list[str]:
        """What is in `ins`, or all operands where nothing is."""
        return self.groups.get("ins", [])

    @property
    def outputs(self) -> list[str]:
        """What is in `outs` or `init`."""
        return self.groups.get("outs", self.groups.get("init", []))

    @property
    def body(self) -> Block | None:
        """Its first plain region's first block."""
        blocks = self.regions.get("0")
        return blocks[0] if blocks else None

    @property
    def values(self) -> Iterator[str]:
        """All values that it takes, those of its regions too."""
        yield from self.operands
        for group in self.groups.values():
            yield from group
        for row in self.lists:
            yield from (item for item in _flat(row) if isinstance(item, str) and item.startswith("%"))
        for blocks in self.regions.values():
            for block in blocks:
                for operation in block.operations:
                    yield from operation.values


@dataclass(eq=False)
class MlirFunction:
    """A function with a body.

    Attributes:
        private: it is for other functions of the file.
    """

    name: str
    at: int
    arguments: Sequence[tuple[str, MlirType]]
    results: Sequence[MlirType]
    body: Block
    private: bool = False
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class MlirModule:
    """The functions of a file, and the data that its resources hold."""

    file: MlirText
    functions: dict[str, MlirFunction] = field(default_factory=dict)
    resources: dict[str, str] = field(default_factory=dict)


def _flat(row: Sequence[Any]) -> Iterator[Any]:
    for item in row:
        if isinstance(item, list):
            yield from _flat(item)
        else:
            yield item
