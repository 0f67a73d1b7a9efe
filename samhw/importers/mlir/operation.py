"""A text in MLIR as operations, each with its place."""

from collections.abc import Collection, Iterator, Mapping, Sequence
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
    def inner(self) -> "Iterator[MlirOperation]":
        """Its operations, and those in their regions."""
        for operation in self.operations:
            yield operation
            yield from operation.inner

    @property
    def yields(self) -> list[str]:
        """The values that the operation at its end gives on."""
        return self.operations[-1].operands if self.operations else []

    def needed(self, names: Collection[str]) -> "list[MlirOperation]":
        """The operations that some of its values depend on, in their order."""
        wanted = set(names)
        found = []
        for op in reversed(self.operations):
            if wanted.intersection(op.results):
                found.append(op)
                wanted.update(op.values)
        return found[::-1]

    @property
    def last(self) -> "MlirOperation | None":
        """The operation that ends it."""
        return self.operations[-1] if self.operations else None


@dataclass(eq=False)
class MlirOperation:
    """An operation, in one form however the text writes it.

    Attributes:
        at: the offset of its place in the text.
        results: the names of what it gives.
        operands: all values that it takes, but those of its regions.
        inputs, outputs: those in `ins` and `outs`, of an operation that has such.
        types: of the operands, as far as the text says them.
        gives: the types of its results.
        regions: by the word before them; the plain ones have their number.
        problem: why it cannot be read, and where; None for one that can.
    """

    name: str
    at: int
    results: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    types: list[MlirType] = field(default_factory=list)
    gives: list[MlirType] = field(default_factory=list)
    regions: dict[str, list[Block]] = field(default_factory=dict)
    problem: tuple[int, str] | None = None

    @property
    def body(self) -> Block | None:
        """Its first plain region's first block."""
        return self.region("0")

    def region(self, name: str) -> Block | None:
        """One of its regions' first block; None where that is empty."""
        blocks = self.regions.get(name)
        return blocks[0] if blocks and blocks[0].operations else None

    @property
    def inner(self) -> "Iterator[MlirOperation]":
        """The operations in its regions, and in theirs."""
        for blocks in self.regions.values():
            for block in blocks:
                yield from block.inner

    @property
    def values(self) -> Iterator[str]:
        """All values that it takes, those of its regions too."""
        yield from self.operands
        for operation in self.inner:
            yield from operation.operands

    @property
    def callee(self) -> str | None:
        """The function that it names."""
        return next((value.name for value in self.attributes.values() if isinstance(value, Symbol)), None)


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
