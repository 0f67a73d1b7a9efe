"""What is computed with single elements: the bodies of operations, as expressions."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import reduce

from samhw.importers.core import UnsupportedError
from samhw.importers.mlir.element_operations import element_operation
from samhw.importers.mlir.idioms import call, literal, number_of, product, selected
from samhw.importers.mlir.number_system import NumberSystem
from samhw.importers.mlir.operation import Block, Elements, MlirOperation
from samhw.importers.mlir.types import element_type
from samhw.lang.expr import Access, Expr, Literal, Mul

__all__ = ["Located", "Scalars", "constant_number", "is_elementwise"]

Find = Callable[[str], Expr]


def is_elementwise(name: str) -> bool:
    """Whether an operation computes single elements."""
    return name.startswith(("arith.", "math."))


class Scalars:
    """Makes expressions of the operations of a body.

    Args:
        system: the numbers of the program.
        find: gives the expression of a value from outside of the body.
        extract: gives that of an element of a tensor from outside.
    """

    def __init__(
        self, system: NumberSystem, find: Find, extract: Callable[[MlirOperation], Expr] | None = None
    ) -> None:
        self.types: dict[str, str] = {}
        self.system = replace(system, types=self.types)
        self.find = find
        self.extract = extract

    def body(self, block: Block, arguments: Sequence[Expr], place: int = 0) -> Expr | None:
        """One of what a block yields for its arguments; None where it yields less."""
        return self._run(block, arguments, self.find, place)

    def _run(self, block: Block, arguments: Sequence[Expr], find: Find, place: int = 0) -> Expr | None:
        """One of what a block yields, where `find` gives the expressions of values from outside of it."""
        known: dict[str, Expr] = {}
        for (name, kind), expr in zip(block.arguments, arguments, strict=False):
            known[name] = expr
            if isinstance(expr, Access):
                self.types.setdefault(expr.tensor, element_type(kind))
        made = {result: op for op in block.operations for result in op.results}
        making: set[str] = set()

        def value(name: str) -> Expr:
            if name not in known and name in made:
                op = made[name]
                if op.problem is not None:
                    raise Located(op, UnsupportedError("cannot be read", "mend it"))
                if name in making:
                    raise Located(op, UnsupportedError("is made of itself", "mend the file"))
                making.add(name)
                try:
                    known[name] = self._made(op, name, value)
                except Located:
                    raise
                except UnsupportedError as error:
                    raise Located(op, error) from None
            return known[name] if name in known else find(name)

        last = block.last
        is_end = last is not None and last.name.endswith("yield") and place < len(block.yields)
        return value(block.yields[place]) if is_end else None

    def _made(self, op: MlirOperation, name: str, value: Find) -> Expr:
        """What an operation of a body gives."""
        if op.name != "tensor.extract" or self.extract is None:
            return self.operation(op, [value(operand) for operand in op.operands], value)
        self.types[name] = element_type(op.gives[0])
        return self.extract(op)

    def operation(self, op: MlirOperation, given: Sequence[Expr], find: Find | None = None) -> Expr:
        """What an operation gives for these operands.

        Args:
            find: gives what its regions have from outside of them.
        """
        name = op.name
        if name == "arith.constant":
            return constant_number(op)
        if name == "linalg.index":
            return Access(f"%index{int(op.attributes.get('dim', 0))}")
        if name.startswith("sparse_tensor."):
            return self._sparse(op, given, find or self.find)
        return element_operation(self.system, op, given)

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
            empty = {key for key in ("absent", "left", "right") if op.region(key) is None}
            if op.name == "sparse_tensor.unary" and "absent" in empty:
                return where(op.operands[0])
            has_identity = {"left_identity", "right_identity"}.intersection(op.attributes)
            if op.name == "sparse_tensor.binary" and {"left", "right"} <= empty and not has_identity:
                both = [found for operand in op.operands if (found := where(operand)) is not None]
                return reduce(product, both) if both else None
            return None

        last = block.yields
        reduces = [op for op in block.operations if op.name == "sparse_tensor.reduce"]
        if len(reduces) == 1 and reduces[0].operands:
            return where(reduces[0].operands[0])
        return where(last[0]) if len(last) == 1 and last[0] in made and not reduces else None

    def _sparse(self, op: MlirOperation, given: Sequence[Expr], find: Find) -> Expr:
        def region(name: str, *arguments: Expr) -> Expr | None:
            """What a region yields; None for an empty one, which leaves the place empty."""
            block = op.region(name)
            return None if block is None else self._run(block, arguments, find)

        def alone(name: str, x: Expr) -> Expr | None:
            return x if f"{name}_identity" in op.attributes else region(name, x)

        zero = Literal(0)
        match op.name, len(given):
            case "sparse_tensor.unary", 1:
                (x,) = given
                return _where_zero(x, region("absent") or zero, alone("present", x) or zero)
            case "sparse_tensor.binary", 2:
                a, b = given
                left, right, both = alone("left", a), alone("right", b), region("overlap", a, b) or zero
                if left is None and right is None and isinstance(both, Mul):
                    return both  # Zero wherever a factor is.
                no_a = _where_zero(b, zero, right or zero)
                return _where_zero(a, no_a, _where_zero(b, left or zero, both))
            case "sparse_tensor.select", 1:
                keep = region("0", given[0])
                return zero if keep is None else selected(keep, given[0], zero)
            case "sparse_tensor.reduce", 3:
                return region("0", given[0], given[1]) or zero
        raise UnsupportedError("has no meaning in a program here", "compute it before the run")


class Located(UnsupportedError):
    """A refusal of an operation inside of another one's body."""

    def __init__(self, operation: MlirOperation, error: UnsupportedError) -> None:
        Exception.__init__(self, str(error))
        self.operation = operation


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


def constant_number(op: MlirOperation) -> Expr:
    """The number that a constant is."""
    value = op.attributes.get("value")
    if isinstance(value, Elements) and value.values is not None and value.values.size == 1:
        return literal(float(value.values.reshape(-1)[0]))
    if isinstance(value, bool | int | float):
        return literal(value)
    raise UnsupportedError("is no number", "give a number")
