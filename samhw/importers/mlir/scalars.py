"""What is computed with single elements: the bodies of operations, as expressions."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce

from samhw.frontend.expr import Access, Expr, Literal, Mul, Neg
from samhw.importers.core import UnsupportedError
from samhw.importers.mlir.idioms import (
    ERF,
    call,
    difference,
    literal,
    number_of,
    product,
    quotient,
    selected,
    sum_of,
)
from samhw.importers.mlir.operation import Block, Elements, MlirOperation
from samhw.importers.mlir.predicates import PREDICATES
from samhw.importers.mlir.types import MlirType, TensorType

__all__ = ["Scalars", "element_type", "is_elementwise"]

_GREATEST_POWER = 16

Fold = Callable[[int, int], int]
Find = Callable[[str], Expr]

_UNARY: Mapping[str, Callable[[Expr], Expr]] = {
    "arith.negf": lambda x: difference(Literal(0), x),
    "math.absf": lambda x: call("abs", x),
    "math.absi": lambda x: call("abs", x),
    "math.exp": lambda x: call("exp", x),
    "math.exp2": lambda x: call("exp", product(x, Literal(math.log(2)))),
    "math.expm1": lambda x: difference(call("exp", x), Literal(1)),
    "math.log": lambda x: call("log", x),
    "math.log1p": lambda x: call("log", sum_of(x, Literal(1))),
    "math.log2": lambda x: product(call("log", x), Literal(1 / math.log(2))),
    "math.log10": lambda x: product(call("log", x), Literal(1 / math.log(10))),
    "math.sqrt": lambda x: call("sqrt", x),
    "math.rsqrt": lambda x: call("rsqrt", x),
    "math.tanh": lambda x: call("tanh", x),
    "math.sin": lambda x: call("sin", x),
    "math.cos": lambda x: call("cos", x),
    "math.tan": lambda x: quotient(call("sin", x), call("cos", x)),
    "math.erf": lambda x: call(ERF, x),
}
_BINARY: Mapping[str, Callable[[Expr, Expr], Expr]] = {
    "addf": sum_of,
    "addi": sum_of,
    "subf": difference,
    "subi": difference,
    "mulf": product,
    "muli": product,
    "divf": quotient,
    **{f"max{kind}": lambda a, b: call("max", a, b) for kind in ("imumf", "numf", "f", "si", "ui")},
    **{f"min{kind}": lambda a, b: call("min", a, b) for kind in ("imumf", "numf", "f", "si", "ui")},
}
_CASTS = frozenset(
    f"arith.{name}" for name in ("extf", "truncf", "extui", "trunci", "uitofp", "index_cast", "index_castui")
)
_SIGNED_CASTS = ("arith.extsi", "arith.sitofp")
_INTEGERS: Mapping[str, Fold] = {
    "arith.divsi": lambda a, b: int(a / b),
    "arith.divui": lambda a, b: a // b,
    "arith.floordivsi": lambda a, b: a // b,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.ceildivui": lambda a, b: -(-a // b),
    "arith.remsi": lambda a, b: int(math.fmod(a, b)),
    "arith.remui": lambda a, b: a % b,
}
_WAYS_OUT = {
    "arith.fptosi": "round before the run, or compute with numbers of floating point throughout",
    "arith.fptoui": "round before the run, or compute with numbers of floating point throughout",
}


def is_elementwise(name: str) -> bool:
    """Whether an operation computes single elements."""
    return name.startswith(("arith.", "math."))


def element_type(kind: MlirType | None) -> str:
    """The type of single elements."""
    return kind.element if isinstance(kind, TensorType) else str(kind)


class Scalars:
    """Makes expressions of the operations of a body.

    Args:
        find: gives the expression of a value from outside of the body.
        extract: gives that of an element of a tensor from outside.
    """

    def __init__(self, find: Find, extract: Callable[[MlirOperation], Expr] | None = None) -> None:
        self.find = find
        self.extract = extract

    def body(self, block: Block, arguments: Sequence[Expr], place: int = 0) -> Expr | None:
        """One of what a block yields for its arguments; None where it yields less."""
        return self._run(block, arguments, {}, self.find, place)

    def _run(
        self,
        block: Block,
        arguments: Sequence[Expr],
        around: Mapping[str, str],
        find: Find,
        place: int = 0,
    ) -> Expr | None:
        """One of what a block yields, where `around` has the types of values from outside of it, and `find`
        gives their expressions."""
        known = {name: expr for (name, _), expr in zip(block.arguments, arguments, strict=False)}
        kinds = {**around, **{name: element_type(kind) for name, kind in block.arguments}}
        made = {result: op for op in block.operations for result in op.results}
        for op in block.operations:
            kinds.update({name: element_type(kind) for name, kind in zip(op.results, op.gives, strict=False)})

        making: set[str] = set()

        def value(name: str) -> Expr:
            if name not in known and name in made:
                op = made[name]
                if op.problem is not None:
                    raise Unread(op)
                if name in making:
                    raise Located(op, UnsupportedError("is made of itself", "mend the file"))
                making.add(name)
                try:
                    if op.name == "tensor.extract" and self.extract is not None:
                        known[name] = self.extract(op)
                    else:
                        known[name] = self.operation(op, [value(n) for n in op.operands], kinds, value)
                except Located:
                    raise
                except UnsupportedError as error:
                    raise Located(op, error) from None
            return known[name] if name in known else find(name)

        last = block.last
        if last is None or not last.name.endswith("yield"):
            return None
        names = last.operands or last.groups.get("yield", [])
        return value(names[place]) if place < len(names) else None

    def operation(
        self, op: MlirOperation, given: Sequence[Expr], kinds: Mapping[str, str], find: Find | None = None
    ) -> Expr:
        """What an operation gives for these operands.

        Args:
            kinds: by name, the types of values.
            find: gives what its regions have from outside of them.
        """
        name = op.name
        if name in ("arith.constant", "constant"):
            return _constant(op)
        if name == "linalg.index":
            return Access.of(f"%index{op.words[0] if op.words else op.attributes.get('dim', 0)}")
        if name.startswith("sparse_tensor."):
            return self._sparse(op, given, kinds, find or self.find)
        if name == "arith.select" and len(given) == 3:
            return selected(*given)
        if name in PREDICATES:
            return _compared(op, given)
        if name in _UNARY and len(given) == 1:
            return _UNARY[name](given[0])
        short = name.partition(".")[2]
        if name.startswith("arith.") and short in _BINARY and len(given) == 2:
            if kinds.get(op.operands[0]) == "i1":
                return _conditions(name, *given)
            return _BINARY[short](*given)
        if name in ("arith.andi", "arith.ori", "arith.xori") and len(given) == 2:
            return self._bits(op, given, kinds)
        if name in _CASTS and len(given) == 1:
            return given[0]
        if name in _SIGNED_CASTS and len(given) == 1:
            return Neg(given[0]) if kinds.get(op.operands[0]) == "i1" else given[0]
        if name in _INTEGERS:
            return _folded(op, given)
        if name in ("math.powf", "math.fpowi", "math.ipowi") and len(given) == 2:
            return _power(*given)
        if name == "math.copysign" and len(given) == 2:
            size = call("abs", given[0])
            return selected(call("lt", given[1], Literal(0)), difference(Literal(0), size), size)
        if name == "math.fma" and len(given) == 3:
            return sum_of(product(given[0], given[1]), given[2])
        raise UnsupportedError(
            "has no meaning in a program here", _WAYS_OUT.get(name, "compute it before the run")
        )

    def _bits(self, op: MlirOperation, given: Sequence[Expr], kinds: Mapping[str, str]) -> Expr:
        kind = element_type(op.types[0]) if op.types else kinds.get(op.operands[0])
        if kind != "i1":
            raise UnsupportedError("works on the bits of integers", "compute it before the run")
        return _conditions(op.name, *given)

    # Sparse operations

    def stored(self, block: Block, arguments: Sequence[Expr], sparse: Collection[str]) -> Expr | None:
        """What is not zero where a block gives something, or its `sparse_tensor.reduce` has something to
        take; None if that is everywhere.

        Args:
            sparse: the block's arguments that store only some elements.
        """
        known = {name: expr for (name, _), expr in zip(block.arguments, arguments, strict=False)}
        made = {result: op for op in block.operations for result in op.results}

        def where(name: str) -> Expr | None:
            op = made.get(name)
            if op is None:
                return known[name] if name in sparse else None
            empty = {key for key in ("absent", "left", "right") if not _region(op, key)}
            if op.name == "sparse_tensor.unary" and "absent" in empty:
                return where(op.operands[0])
            has_identity = {"left=identity", "right=identity"}.intersection(op.words)
            if op.name == "sparse_tensor.binary" and {"left", "right"} <= empty and not has_identity:
                both = [found for operand in op.operands if (found := where(operand)) is not None]
                return reduce(product, both) if both else None
            return None

        last = block.last.operands if block.last else []
        reduces = [op for op in block.operations if op.name == "sparse_tensor.reduce"]
        if len(reduces) == 1 and reduces[0].operands:
            return where(reduces[0].operands[0])
        return where(last[0]) if len(last) == 1 and last[0] in made and not reduces else None

    def _sparse(self, op: MlirOperation, given: Sequence[Expr], kinds: Mapping[str, str], find: Find) -> Expr:
        def region(name: str, *arguments: Expr) -> Expr | None:
            """What a region yields; None for an empty one, which leaves the place empty."""
            block = _region(op, name)
            return self._run(block, arguments, kinds, find) if block else None

        zero = Literal(0)
        match op.name, len(given):
            case "sparse_tensor.unary", 1:
                (x,) = given
                present, absent = region("present", x), region("absent")
                if "present=identity" in op.words:
                    present = x
                return _where_zero(x, absent or zero, zero if present is None else present)
            case "sparse_tensor.binary", 2:
                return self._binary(op, given[0], given[1], region)
            case "sparse_tensor.select", 1:
                keep = region("0", given[0])
                return zero if keep is None else selected(keep, given[0], zero)
            case "sparse_tensor.reduce", 3:
                found = region("0", given[0], given[1])
                return zero if found is None else found
        raise UnsupportedError("has no meaning in a program here", "compute it before the run")

    def _binary(self, op: MlirOperation, a: Expr, b: Expr, region: Callable[..., Expr | None]) -> Expr:
        zero = Literal(0)
        overlap = region("overlap", a, b)
        left = a if "left=identity" in op.words else region("left", a)
        right = b if "right=identity" in op.words else region("right", b)
        both = zero if overlap is None else overlap
        if left is None and right is None and isinstance(both, Mul):
            return both  # Zero wherever a factor is.
        only_left = zero if left is None else left
        only_right = zero if right is None else right
        return _where_zero(a, _where_zero(b, zero, only_right), _where_zero(b, only_left, both))


class Unread(Exception):
    """An operation that is needed, and could not be read."""

    def __init__(self, operation: MlirOperation) -> None:
        super().__init__(operation.name)
        self.operation = operation


class Located(UnsupportedError):
    """A refusal of an operation inside of another one's body."""

    def __init__(self, operation: MlirOperation, error: UnsupportedError) -> None:
        Exception.__init__(self, str(error))
        self.operation = operation


def _region(op: MlirOperation, name: str) -> Block | None:
    """One of an operation's regions; None for an empty one."""
    blocks = op.regions.get(name)
    return blocks[0] if blocks and blocks[0].operations else None


def _where_zero(x: Expr, yes: Expr, no: Expr) -> Expr:
    """One where an expression is zero, which is what a sparse tensor does not store, and another one
    elsewhere."""
    if yes == no:
        return yes
    if number_of(yes) == 0 and no == x:
        return x
    known = number_of(x)
    if known is not None:
        return no if known else yes
    return call("select", x, no, yes)


def _constant(op: MlirOperation) -> Expr:
    value = op.attributes.get("value")
    if isinstance(value, Elements) and value.values is not None and value.values.size == 1:
        return literal(float(value.values.reshape(-1)[0]))
    if isinstance(value, bool):
        return Literal(int(value))
    if isinstance(value, int | float):
        return literal(value)
    raise UnsupportedError("is no number", "give a number")


def _compared(op: MlirOperation, given: Sequence[Expr]) -> Expr:
    """A comparison; NaN compares as it likes."""
    names = [str(word).strip('"') for word in op.words]
    number = op.attributes.get("predicate")
    known = PREDICATES[op.name]
    if isinstance(number, int) and 0 <= number < len(known):
        names.append(known[number])
    if not names or names[0] not in known or len(given) != 2:
        raise UnsupportedError("has no known predicate", "give one such as ogt")
    name = names[0]
    a, b = given
    if name in ("true", "false", "ord", "uno"):
        return Literal(int(name in ("true", "ord")))
    match name[-2:]:
        case "eq":
            return call("eq", a, b)
        case "ne":
            return difference(Literal(1), call("eq", a, b))
        case "lt":
            return call("lt", a, b)
        case "le":
            return call("le", a, b)
        case "gt":
            return call("lt", b, a)
    return call("le", b, a)


def _conditions(name: str, a: Expr, b: Expr) -> Expr:
    """Of conditions, which are 0 or 1."""
    if name in ("arith.andi", "arith.muli", "arith.minui"):
        return product(a, b)
    if name in ("arith.ori", "arith.maxui"):
        return call("max", a, b)
    if name in ("arith.xori", "arith.addi", "arith.subi"):
        for one, other in ((a, b), (b, a)):
            if number_of(other) == 1:
                return difference(Literal(1), one)
        return difference(Literal(1), call("eq", a, b))
    raise UnsupportedError("takes conditions as numbers", "extend them with arith.extui first")


def _folded(op: MlirOperation, given: Sequence[Expr]) -> Expr:
    numbers = [number_of(expr) for expr in given]
    if any(not isinstance(n, int) for n in numbers) or len(numbers) != 2 or not numbers[1]:
        raise UnsupportedError(
            "divides integers, for which there is no hardware", "divide before the run, or in floating point"
        )
    return Literal(_INTEGERS[op.name](int(numbers[0] or 0), int(numbers[1])))


def _power(x: Expr, exponent: Expr) -> Expr:
    n = number_of(exponent)
    if n is not None:
        size, result = abs(n), None
        whole = int(size)
        if size <= _GREATEST_POWER and size in (whole, whole + 0.5):
            factors = [x] * whole + ([call("sqrt", x)] if size != whole else [])
            if n == -0.5:
                return call("rsqrt", x)
            result = Literal(1) if not factors else factors[0]
            for factor in factors[1:]:
                result = product(result, factor)
            return quotient(Literal(1), result) if n < 0 else result
    raise UnsupportedError(
        "raises to a power that is no half or whole number up to 16", "write it with exp and log"
    )
