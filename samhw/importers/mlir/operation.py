"""A text in MLIR as operations, each with its place."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.importers.mlir.scanner import MlirText
from samhw.importers.mlir.types import MlirType, OtherType, TensorType

__all__ = [
    "FULL_NAMES",
    "PREDICATES",
    "Block",
    "Elements",
    "MlirFunction",
    "MlirModule",
    "MlirOperation",
    "Symbol",
    "WrittenParts",
    "bring_to_one_form",
    "types_given",
]


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


# One form of each operation, of those that a text may write it in.
#
# A text has the generic form of an operation, with its operands in a row and numbers in attributes, or a
# custom one, with groups, lists and words between them. Here both become the same operands, attributes and
# regions.


PREDICATES = {
    "arith.cmpf": (
        *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
        *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
    ),
    "arith.cmpi": ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"),
}
"""The comparisons of arith, in the order of their numbers."""

_DYNAMIC = -(1 << 63)
"""What an array of numbers has where an operand gives one."""
FULL_NAMES = {"constant": "arith.constant", "call": "func.call", "return": "func.return"}
_REGIONS = {
    "sparse_tensor.unary": ("present", "absent"),
    "sparse_tensor.binary": ("overlap", "left", "right"),
}
_WITH_NUMBERS = {
    "tensor.extract_slice": (1, ("offsets", "sizes", "strides")),
    "tensor.insert_slice": (2, ("offsets", "sizes", "strides")),
    "tensor.pad": (1, ("low", "high")),
}
"""How many tensors an operation takes, and the rows of numbers after them, some of them by name."""
_INDEX_TYPES = ("tensor.dim", "tensor.rank", "sparse_tensor.lvl")


@dataclass
class WrittenParts:
    """What a custom form has besides operands, attributes and regions.

    Attributes:
        groups: values by the word before their parentheses, as in ``ins(%a : f32)``, and their types.
        lists: what stands in brackets, in order: numbers, values, or lists of them.
        words: the words that stand by themselves, and numbers.
        arguments: what a loop calls the values that it changes.
    """

    groups: dict[str, tuple[list[str], list[MlirType]]] = field(default_factory=dict)
    lists: list[list[Any]] = field(default_factory=list)
    words: list[str | int] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)


def bring_to_one_form(op: MlirOperation, parts: WrittenParts) -> None:
    """Puts what the parts say where it belongs."""
    attributes = op.attributes
    if op.name.startswith(("linalg.", "tm_tensor.")) and not op.name.endswith((".yield", ".index")):
        _give_groups(op, parts)
    if op.name in _WITH_NUMBERS:
        _give_numbers(op, parts)
    names = _REGIONS.get(op.name, ())
    for n, name in enumerate(names):
        if str(n) in op.regions:
            op.regions[name] = op.regions.pop(str(n))
    words = [str(word).strip('"') for word in parts.words]
    match op.name:
        case "tensor.expand_shape" | "tensor.collapse_shape" if parts.lists:
            attributes["reassociation"] = parts.lists.pop(0)
        case "tensor.extract":
            attributes["places"] = parts.lists[0] if parts.lists else op.operands[1:]
        case "tensor.concat":
            attributes.setdefault("dimension", attributes.get("dim"))
        case "linalg.index" if parts.words:
            attributes["dim"] = parts.words[0]
        case "arith.cmpf" | "arith.cmpi":
            known, number = PREDICATES[op.name], attributes.get("predicate")
            by_number = known[number] if isinstance(number, int) and 0 <= number < len(known) else None
            attributes["predicate"] = words[0] if words else by_number
        case "arith.extui" | "arith.uitofp" | "arith.index_castui":
            attributes["nneg"] = "nneg" in words or "nonNeg" in attributes
        case "bufferization.alloc_tensor" if "copy" in parts.groups:
            attributes["copy"] = next(iter(parts.groups["copy"][0]), None)
        case "scf.for" if op.body is not None and parts.arguments:
            kinds = [OtherType("index"), *op.gives]
            op.body.arguments = list(zip(parts.arguments, kinds, strict=False))
    for values, _ in parts.groups.values():
        op.operands += [name for name in values if name not in op.inputs + op.outputs]
    op.operands += _names_in(parts.lists)


def _give_groups(op: MlirOperation, parts: WrittenParts) -> None:
    """Inputs and outputs; all operands but the last one are inputs where nothing else is said."""
    groups = parts.groups
    if groups:
        op.inputs, kinds = groups.get("ins", ([], []))
        op.outputs, others = groups.get("outs", groups.get("init", ([], [])))
        op.operands, op.types = [*op.inputs, *op.outputs], [*kinds, *others]
        return
    sizes = op.attributes.get("operandSegmentSizes")
    has_sizes = isinstance(sizes, list) and len(sizes) == 2 and isinstance(sizes[0], int)
    count = sizes[0] if isinstance(sizes, list) and has_sizes else max(len(op.operands) - 1, 0)
    op.inputs, op.outputs = op.operands[:count], op.operands[count:]


def _give_numbers(op: MlirOperation, parts: WrittenParts) -> None:
    """Rows of numbers, with the names of operands among them."""
    tensors, keys = _WITH_NUMBERS[op.name]
    left = iter(op.operands[tensors:])
    if len(parts.lists) == len(keys):
        op.attributes.update(zip(keys, parts.lists, strict=True))
        return
    for key in keys:
        if key in op.attributes:
            op.operands += _names_in(op.attributes[key])
            continue
        row = op.attributes.get(f"static_{key}", [])
        if isinstance(row, list):
            op.attributes[key] = [next(left, "%") if number == _DYNAMIC else number for number in row]


def _names_in(row: Sequence[Any]) -> Iterator[str]:
    for item in row if isinstance(row, list) else ():
        if isinstance(item, list):
            yield from _names_in(item)
        elif isinstance(item, str) and item.startswith("%"):
            yield item


def types_given(op: MlirOperation) -> list[MlirType]:
    """The types of results that a custom form leaves out, since they follow from what it takes."""
    if not op.types:
        return []
    first = op.types[0]
    if op.name in _INDEX_TYPES:
        return [OtherType("index")]
    if op.name == "tensor.extract" and isinstance(first, TensorType):
        return [OtherType(first.element)]
    if op.name in PREDICATES:
        return [replace(first, element="i1") if isinstance(first, TensorType) else OtherType("i1")]
    return op.types[-1:] if len(op.results) < 2 else list(op.types)
