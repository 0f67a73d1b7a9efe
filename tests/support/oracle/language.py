"""Programs as plain data, and their text in the `.ein` language."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = [
    "Apply",
    "Concat",
    "Expr",
    "Number",
    "Program",
    "Recurrence",
    "Reshape",
    "RunningReduction",
    "Statement",
    "Tensor",
    "Use",
    "indices_of",
    "uses",
]


@dataclass(frozen=True)
class Use:
    """A tensor under index names."""

    tensor: str
    indices: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.tensor}[{', '.join(self.indices)}]" if self.indices else self.tensor


@dataclass(frozen=True)
class Number:
    """A number of the text."""

    value: int | float

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Apply:
    """An operator (`+ - * /`, or `neg`) or a function, of expressions."""

    op: str
    operands: "tuple[Expr, ...]"

    def __str__(self) -> str:
        if self.op == "neg":
            return f"-({self.operands[0]})"
        if self.op in "+-*/":
            return f"({self.operands[0]} {self.op} {self.operands[1]})"
        return f"{self.op}({', '.join(map(str, self.operands))})"


Expr = Use | Number | Apply


@dataclass(frozen=True)
class Concat:
    """Tensors one after the other along an index, in which each has an extent of its own."""

    index: str
    parts: tuple[Use, ...]

    def __str__(self) -> str:
        return f"concat({', '.join([self.index, *map(str, self.parts)])})"


@dataclass(frozen=True)
class Reshape:
    """The elements of a tensor in row-major order."""

    operand: Use

    def __str__(self) -> str:
        return f"reshape({self.operand})"


@dataclass(frozen=True)
class RunningReduction:
    """The reduction of an expression up to each coordinate of an index, or before it."""

    reduction: str
    index: str
    operand: Expr
    exclusive: bool

    def __str__(self) -> str:
        return f"cum{self.reduction}({self.index}, {self.operand}{', exclusive' if self.exclusive else ''})"


@dataclass(frozen=True)
class Recurrence:
    """``h = h * factor + operand`` along an index, up to each coordinate of it, or up to the last one."""

    index: str
    factor: Expr
    operand: Expr

    def __str__(self) -> str:
        return f"recur({self.index}, {self.factor}, {self.operand})"


@dataclass(frozen=True)
class Tensor:
    """A declaration. `format` as the language writes it."""

    name: str
    indices: tuple[str, ...]
    shape: tuple[int, ...]
    format: str

    def __str__(self) -> str:
        if not self.indices:
            return f"tensor {self.name}"
        modes = ", ".join(f"{i}={n}" for i, n in zip(self.indices, self.shape, strict=True))
        return f"tensor {self.name}[{modes}] : {self.format}"


@dataclass(frozen=True)
class Statement:
    """`target = expr`, reduced over what the target lacks, where the mask is not zero. What moves whole
    tensors stands alone, without either; what runs along an index may have a mask."""

    target: Use
    expr: Expr | Concat | Reshape | RunningReduction | Recurrence
    reduction: str = "sum"
    mask: Use | None = None

    @property
    def reduced(self) -> tuple[str, ...]:
        """The indices that the target lacks."""
        if isinstance(self.expr, Concat | Reshape | RunningReduction | Recurrence):
            return ()
        return tuple(i for i in dict.fromkeys(indices_of(self.expr)) if i not in self.target.indices)

    @property
    def uses(self) -> tuple[Use, ...]:
        """Every use of a tensor, the target and the mask too."""
        match self.expr:
            case Concat(_, parts):
                operands = list(parts)
            case Reshape(operand):
                operands = [operand]
            case RunningReduction():
                operands = uses(self.expr.operand)
            case Recurrence(_, factor, operand):
                operands = [*uses(factor), *uses(operand)]
            case expr:
                operands = uses(expr)
        return (self.target, *operands, *([self.mask] if self.mask else ()))

    def __str__(self) -> str:
        assign = "=" if self.reduction == "sum" else f"{self.reduction}="
        where = f" where {self.mask}" if self.mask else ""
        return f"{self.target} {assign} {self.expr}{where}"


@dataclass(frozen=True)
class Program:
    """Declarations and statements, in regions of this many statements each, and the extent of each index."""

    extents: Mapping[str, int]
    tensors: tuple[Tensor, ...]
    statements: tuple[Statement, ...]
    regions: tuple[int, ...]

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors that no statement writes."""
        written = {statement.target.tensor for statement in self.statements}
        return tuple(tensor for tensor in self.tensors if tensor.name not in written)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.tensors), *_blocks(self.statements, self.regions)]) + "\n"


def _blocks(statements: Sequence[Statement], regions: Sequence[int]) -> Iterator[str]:
    left = list(map(str, statements))
    for count in regions:
        block, left = left[:count], left[count:]
        yield from block if count == 1 else ["fuse {", *(f"  {line}" for line in block), "}"]


def uses(expr: Expr) -> list[Use]:
    """Every use, in order of appearance."""
    match expr:
        case Use():
            return [expr]
        case Apply():
            return [use for operand in expr.operands for use in uses(operand)]
    return []


def indices_of(expr: Expr) -> Iterator[str]:
    """Every index of every use, in order of appearance, with repetitions."""
    return (index for use in uses(expr) for index in use.indices)
