"""The expression tree: what may stand on the right of an einsum statement.

Every node is a frozen dataclass. Two trees are equal when they are built alike; the ``span`` of a parsed node
only serves error messages. New kinds of node subclass `Expr` and say what their `children` are, and how they
look `with_children`; the functions here then work for them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral, Real
from typing import ClassVar, Self

from samhw.errors import InputError
from samhw.graph.numerics import ValueType
from samhw.lang.index import ComputedIndex, IndexExpr, Indirect, Name, StepIndex
from samhw.lang.source import Span

__all__ = [
    "TYPED",
    "Access",
    "Add",
    "Arithmetic",
    "Binary",
    "Call",
    "Concat",
    "Div",
    "Expr",
    "Literal",
    "Mul",
    "Neg",
    "Operand",
    "Parens",
    "Recurrence",
    "Reshape",
    "RunningReduction",
    "Sub",
    "as_expr",
]


class Arithmetic:
    """Gives Python's ``+ - * /`` and unary ``-`` to whatever can stand for an expression."""

    # Keeps a NumPy array on the left from making an array of expressions, one for each of its elements.
    __array_ufunc__: ClassVar[None] = None

    def as_expr(self) -> "Expr":
        """The expression that this object stands for."""
        raise NotImplementedError

    def __neg__(self) -> "Neg":
        return Neg(self.as_expr())

    def __add__(self, other: "Operand") -> "Add":
        return Add(self.as_expr(), as_expr(other)) if _is_operand(other) else NotImplemented

    def __radd__(self, other: "Operand") -> "Add":
        return Add(as_expr(other), self.as_expr()) if _is_operand(other) else NotImplemented

    def __sub__(self, other: "Operand") -> "Sub":
        return Sub(self.as_expr(), as_expr(other)) if _is_operand(other) else NotImplemented

    def __rsub__(self, other: "Operand") -> "Sub":
        return Sub(as_expr(other), self.as_expr()) if _is_operand(other) else NotImplemented

    def __mul__(self, other: "Operand") -> "Mul":
        return Mul(self.as_expr(), as_expr(other)) if _is_operand(other) else NotImplemented

    def __rmul__(self, other: "Operand") -> "Mul":
        return Mul(as_expr(other), self.as_expr()) if _is_operand(other) else NotImplemented

    def __truediv__(self, other: "Operand") -> "Div":
        return Div(self.as_expr(), as_expr(other)) if _is_operand(other) else NotImplemented

    def __rtruediv__(self, other: "Operand") -> "Div":
        return Div(as_expr(other), self.as_expr()) if _is_operand(other) else NotImplemented


Operand = Arithmetic | int | float


def _is_operand(value: object) -> bool:
    return isinstance(value, Arithmetic | Real)


def as_expr(value: Operand) -> "Expr":
    """`value` as an expression; a number becomes a `Literal`. Raises TypeError for anything else."""
    match value:
        case Arithmetic():
            return value.as_expr()
        case Integral():
            return Literal(int(value))
        case Real():
            return Literal(float(value))
    raise TypeError(f"expected an expression or a number, not {type(value).__name__}")


@dataclass(frozen=True)
class Expr(Arithmetic):
    """Base of all expression nodes. ``str()`` of a node is its text in the ``.ein`` language."""

    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    # How tightly the text binds: an operand that binds more loosely than its operator needs parentheses.
    precedence: ClassVar[int] = 4

    @property
    def children(self) -> tuple["Expr", ...]:
        """The operands, left to right."""
        return ()

    def with_children(self, children: Sequence["Expr"]) -> "Expr":
        """The same node over other operands, as many as there are `children`."""
        () = children
        return self

    def as_expr(self) -> Self:
        return self


@dataclass(frozen=True)
class Access(Expr):
    """A tensor under indices, one for each mode: ``A[i, k]``. A scalar has none: ``alpha``."""

    tensor: str
    indices: tuple[IndexExpr, ...] = ()

    @classmethod
    def of(cls, tensor: str, names: Iterable[str] = (), *, span: Span | None = None) -> "Access":
        """The access whose indices are the variables of these names."""
        return cls(tensor, tuple(map(Name, names)), span=span)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The index variables that it uses, each once, in order of appearance."""
        return tuple(dict.fromkeys(name for index in self.indices for name in index.variables))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The index variable of each mode, for whatever can follow nothing but variables.

        Raises InputError where an index is more than a variable.
        """
        return self.names_for("what reads it")

    def names_for(self, taker: str, way: str = "give that mode an index of its own") -> tuple[str, ...]:
        """As `names`, for whatever a refusal is to name, with the way out that there is then."""
        found = []
        for index in self.indices:
            if not isinstance(index, Name):
                raise InputError(
                    f"'{self}' has the index '{index}', and {taker} takes only names of indices; {way}"
                )
            found.append(index.variable)
        return tuple(found)

    @cached_property
    def own_names(self) -> tuple[str | None, ...]:
        """As `names`, with None for each mode whose coordinates an index tensor names, are computed, or are
        the step of a scan."""
        others = (Indirect, ComputedIndex, StepIndex)
        own = tuple(index for index in self.indices if not isinstance(index, others))
        names = iter(self.names if len(own) == len(self.indices) else replace(self, indices=own).names)
        return tuple(None if isinstance(index, others) else next(names) for index in self.indices)

    @cached_property
    def is_plain(self) -> bool:
        """Whether every index is a variable."""
        return all(isinstance(index, Name) for index in self.indices)

    @cached_property
    def computed(self) -> tuple[ComputedIndex, ...]:
        """The computed indices of its modes, in their order."""
        return tuple(index for index in self.indices if isinstance(index, ComputedIndex))

    @cached_property
    def step(self) -> tuple[int, StepIndex] | None:
        """The mode at which a scan's step stands, and how; None for most accesses."""
        return next(
            ((m, index) for m, index in enumerate(self.indices) if isinstance(index, StepIndex)), None
        )

    @cached_property
    def index_tensors(self) -> tuple["Access", ...]:
        """The accesses of the index tensors that name coordinates of its modes, in order of appearance."""
        return tuple(
            Access.of(index.tensor, index.names, span=self.span)
            for index in self.indices
            if isinstance(index, Indirect)
        )

    def renamed(self, names: Mapping[str, str]) -> "Access":
        """The tensor under other index variables, all at once; one that `names` lacks keeps its name."""
        return replace(self, indices=tuple(index.renamed(names) for index in self.indices))

    def __str__(self) -> str:
        return f"{self.tensor}[{', '.join(map(str, self.indices))}]" if self.indices else self.tensor


@dataclass(frozen=True)
class Literal(Expr):
    """A number. A minus sign right before a number belongs to the literal, as in ``-2 * A[i]``."""

    value: int | float

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Neg(Expr):
    """The operand with its sign changed."""

    operand: Expr
    precedence: ClassVar[int] = 3

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.operand,)

    def with_children(self, children: Sequence[Expr]) -> "Neg":
        (operand,) = children
        return replace(self, operand=operand)

    def __str__(self) -> str:
        # "-2" would read as a literal.
        bare = self.operand.precedence >= self.precedence and not isinstance(self.operand, Literal)
        return f"-{self.operand}" if bare else f"-({self.operand})"


@dataclass(frozen=True)
class Binary(Expr):
    """Base of the operators with two operands."""

    left: Expr
    right: Expr
    symbol: ClassVar[str]

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.left, self.right)

    def with_children(self, children: Sequence[Expr]) -> Self:
        left, right = children
        return replace(self, left=left, right=right)

    def __str__(self) -> str:
        # Operators associate to the left, so an equally loose right operand needs parentheses.
        left = f"({self.left})" if self.left.precedence < self.precedence else f"{self.left}"
        right = f"({self.right})" if self.right.precedence <= self.precedence else f"{self.right}"
        return f"{left} {self.symbol} {right}"


class Add(Binary):
    """The sum of two operands."""

    symbol = "+"
    precedence = 1


class Sub(Binary):
    """The difference of two operands."""

    symbol = "-"
    precedence = 1


class Mul(Binary):
    """The product of two operands."""

    symbol = "*"
    precedence = 2


class Div(Binary):
    """The quotient of two operands; zero divided by anything is zero."""

    symbol = "/"
    precedence = 2


TYPED = ("to", "scale")
"""Functions whose result has another type than their operands."""


@dataclass(frozen=True)
class Call(Expr):
    """A function of its arguments, element by element: ``relu(T[i, j])``. `to` is the type of the result of
    one of `TYPED`; that of a `scale` is not known before types are written out."""

    function: str
    arguments: tuple[Expr, ...]
    to: ValueType | None = None

    @property
    def called(self) -> str:
        """What tells it from all functions that give something else of the same operands."""
        return self.function if self.to is None else f"{self.function} {self.to}"

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.arguments

    def with_children(self, children: Sequence[Expr]) -> "Call":
        return replace(self, arguments=tuple(children))

    def __str__(self) -> str:
        given = map(str, self.arguments)
        if self.function == "to":
            return f"to({self.to}, {', '.join(given)})"
        call = f"{self.function}({', '.join(given)})"
        return call if self.to is None else f"to({self.to}, {call})"


@dataclass(frozen=True)
class Parens(Expr):
    """An expression in parentheses, where these say more than what binds to what: in brackets
    (`samhw.lang.brackets`). Programs have none."""

    operand: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.operand,)

    def with_children(self, children: Sequence[Expr]) -> "Parens":
        (operand,) = children
        return replace(self, operand=operand)

    def __str__(self) -> str:
        return f"({self.operand})"


@dataclass(frozen=True)
class Reshape(Expr):
    """All of a tensor, its elements in row-major order, as a tensor of another shape. It stands alone on the
    right side: ``R[h, d] = reshape(T[m])``."""

    operand: Access

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.operand,)

    def with_children(self, children: Sequence[Expr]) -> "Reshape":
        """Raises TypeError for an operand that is not an access."""
        (operand,) = map(_access, children)
        return replace(self, operand=operand)

    def __str__(self) -> str:
        return f"reshape({self.operand})"


@dataclass(frozen=True)
class Concat(Expr):
    """Tensors one after the other along an index, which has another extent in each of them. It stands alone
    on the right side: ``C[i, j] = concat(j, A[i, j], B[i, j])``."""

    index: str
    operands: tuple[Access, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.operands

    def with_children(self, children: Sequence[Expr]) -> "Concat":
        """Raises TypeError for an operand that is not an access."""
        return replace(self, operands=tuple(map(_access, children)))

    def __str__(self) -> str:
        return f"concat({', '.join((self.index, *map(str, self.operands)))})"


@dataclass(frozen=True)
class RunningReduction(Expr):
    """The reduction of all that comes up to each coordinate of an index, or before it if `exclusive`. It
    stands alone on the right side: ``C[i, j] = cumsum(j, A[i, j])``."""

    reduction: str
    """One of `REDUCTIONS`."""
    index: str
    operand: Expr
    exclusive: bool = False

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.operand,)

    def with_children(self, children: Sequence[Expr]) -> "RunningReduction":
        (operand,) = children
        return replace(self, operand=operand)

    def __str__(self) -> str:
        return f"cum{self.reduction}({self.index}, {self.operand}{', exclusive' * self.exclusive})"


@dataclass(frozen=True)
class Recurrence(Expr):
    """The linear recurrence ``h = h * factor + operand`` along an index, which begins with the first operand.
    It stands alone on the right side: ``h[i, t] = recur(t, a[i, t], b[i, t])``. Where the index is missing on
    the left, it is what h has become after the last coordinate."""

    index: str
    factor: Expr
    operand: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.factor, self.operand)

    def with_children(self, children: Sequence[Expr]) -> "Recurrence":
        factor, operand = children
        return replace(self, factor=factor, operand=operand)

    def __str__(self) -> str:
        return f"recur({self.index}, {self.factor}, {self.operand})"


def _access(expr: Expr) -> Access:
    if not isinstance(expr, Access):
        raise TypeError(f"'{expr}' is no tensor; only whole tensors are moved")
    return expr
