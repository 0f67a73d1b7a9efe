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

__all__ = ["Scalars", "is_elementwise"]

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

    def _run(
        self,
        block: Block,
        arguments: Sequence[Expr],
        find: Find,
        place: int = 0,
    ) -> Expr | None:
        """One of what a block yields, where `find` gives the expressions of values from outside of it."""
        known = {name: expr for (name, _), expr in zip(block.arguments, arguments, strict=False)}
        for (_, kind), expr in zip(block.arguments, arguments, strict=False):
            if isinstance(expr, Access):
                self.types.setdefault(expr.tensor, element_type(kind))
        made = {result: op for op in block.operations for result in op.results}

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
                        self.types[name] = element_type(op.gives[0])
                    else:
                        known[name] = self.operation(op, [value(n) for n in op.operands], value)
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

    def operation(self, op: MlirOperation, given: Sequence[Expr], find: Find | None = None) -> Expr:
        """What an operation gives for these operands.

        Args:
            find: gives what its regions have from outside of them.
        """
        name = op.name
        if name in ("arith.constant", "constant"):
            return _constant(op)
        if name == "linalg.index":
            return Access.of(f"%index{op.words[0] if op.words else op.attributes.get('dim', 0)}")
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

    def _sparse(self, op: MlirOperation, given: Sequence[Expr], find: Find) -> Expr:
        def region(name: str, *arguments: Expr) -> Expr | None:
            """What a region yields; None for an empty one, which leaves the place empty."""
            block = _region(op, name)
            return self._run(block, arguments, find) if block else None

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
