"""Programs whose types are written out: each operation is on operands of one type. docs/numerics.md has the
rule ("Types of operations")."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from samhw.errors import InputError
from samhw.graph.numerics import Fixed, Float, Integer, ValueType, holds
from samhw.lang.expr import (
    Access,
    Add,
    Call,
    Concat,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Recurrence,
    Reshape,
    RunningReduction,
    Sub,
)
from samhw.lang.index import StepIndex
from samhw.lang.program import Program
from samhw.lang.statement import COORDINATES, RANKINGS, Region, Statement
from samhw.lang.traverse import walk
from samhw.names import Names, plain
from samhw.words import did_you_mean

__all__ = ["REAL", "Kind", "common", "kind_of", "named_types", "typed", "types_of", "with_types"]

Kind: TypeAlias = ValueType

_WHOLE, REAL = Integer(32), Float("f32")

_COMMON = (Integer(8), Integer(16), _WHOLE, Float("bf16"), REAL)


def _wide(kind: ValueType) -> ValueType:
    """The type of sums and products of a type."""
    if isinstance(kind, Integer):
        return _WHOLE if kind.width < _WHOLE.width else kind
    return REAL if isinstance(kind, Float) else kind


def common(kinds: Collection[ValueType]) -> ValueType | None:
    """The narrowest type that has all numbers of some types: one of them, or one that is common. f32 where
    there is none; None beside fixed point."""
    candidates = sorted([*sorted(kinds, key=str), *_COMMON], key=lambda kind: kind.width)
    for target in candidates:
        if all(holds(target, kind) for kind in kinds):
            return target
    return None if any(isinstance(kind, Fixed) for kind in kinds) else REAL


def with_types(program: Program, types: Mapping[str, ValueType]) -> Program:
    """The program with other types for some tensors: another program.

    Raises:
        InputError: for a name that no tensor has, or that of an index tensor.
    """
    tensors = dict(program.tensors)
    for name, kind in types.items():
        if name not in tensors:
            raise InputError(
                f"'{program.name}' has no tensor '{name}' to give a type{did_you_mean(name, tensors)}; it "
                f"has {', '.join(tensors)}."
            )
        if name in program.index_tensors:
            raise InputError(f"'{name}' names places, which have no value type; leave it out.")
        tensors[name] = replace(tensors[name], value=kind)
    return replace(program, tensors=tensors) if types else program


def types_of(program: Program, default: ValueType) -> dict[str, ValueType]:
    """The type of each tensor of a program whose types are written out. One that has none of its own, since a
    pass has added it, has that of what is computed."""
    if not program.is_typed:
        return dict.fromkeys(program.tensors, default)
    types = {name: decl.value for name, decl in program.tensors.items() if decl.value is not None}
    for decl in program.inputs:
        types.setdefault(decl.name, default)
    left = [*program.starts, *program.statements]
    while left:
        unknown = []
        for statement in left:
            found = _of_written(statement, types)
            if found is None and statement.lhs.tensor not in types:
                unknown.append(statement)
            elif found is not None:
                types.setdefault(statement.lhs.tensor, found)
        if len(unknown) == len(left):
            break
        left = unknown
    return {name: types.get(name, default) for name in program.tensors}


def named_types(program: Program) -> set[ValueType]:
    """The types that expressions name."""
    nodes = (node for statement in program.statements for node in walk(statement.rhs))
    return {node.to for node in nodes if isinstance(node, Call) and node.to is not None}


def _of_written(statement: Statement, types: Mapping[str, ValueType]) -> ValueType | None:
    """The type of what a statement computes, if that is known."""
    if statement.reduction in COORDINATES or statement.reduction.startswith("arg"):
        return None
    return kind_of(statement.rhs, types)


def kind_of(expr: Expr, types: Mapping[str, ValueType]) -> ValueType | None:
    """The type of an expression of a program whose types are written out, if that is known.

    Args:
        types: of tensors.
    """
    stack = [expr]
    while stack:
        match stack.pop():
            case Access(tensor=tensor):
                return types.get(tensor)
            case Call(to=kind) if kind is not None:
                return kind
            case Call("select", (condition, *chosen)):
                # A pass may select by a tensor of another type.
                stack += [condition, *reversed(chosen)]
            case node:
                stack += reversed(node.children)
    return None


def typed(program: Program, default: ValueType) -> Program:
    """The program with its types written out: every tensor has one, every operation has operands of one type,
    and `to` stands wherever numbers go from one type to another.

    Args:
        default: the type of tensors that have none of their own.

    Raises:
        InputError: for operands that have no common type, and functions that a type has not.
    """
    if program.is_typed or not program.is_mixed:
        return program
    return _Typer(program, default).program()


class _Typed(NamedTuple):
    """An expression and its type; None for a number, which takes that of its surroundings."""

    expr: Expr
    kind: ValueType | None


class _Typer:
    def __init__(self, program: Program, default: ValueType) -> None:
        self.given = program
        self.default = default
        self.tensors = dict(program.tensors)
        self.names = Names(program.tensors)
        self.types = {name: decl.value for name, decl in program.tensors.items() if decl.value is not None}
        # What a step reads of earlier ones has a type before it is written.
        earlier = {a.tensor for s in program.statements for a in s.reads if a.step is not None}
        for name in (*(decl.name for decl in program.inputs), *earlier):
            self.types.setdefault(name, default)

    def program(self) -> Program:
        """All of it."""
        regions = []
        for region in self.given.regions:
            statements = [one for statement in region.statements for one in self.statement(statement)]
            if all(statement.lhs.is_plain or statement.scan for statement in statements):
                regions.append(replace(region, statements=tuple(statements)))
            else:
                regions += [Region((statement,)) for statement in statements]
        for start in self.given.starts:
            self.check_start(start)
        tensors = {name: replace(decl, value=self.types[name]) for name, decl in self.tensors.items()}
        return replace(self.given, tensors=tensors, regions=tuple(regions), value=self.default, is_typed=True)

    def check_start(self, start: Statement) -> None:
        """Raises `InputError` where a scan starts from numbers of another type."""
        state = self.types[start.lhs.tensor]
        for access in start.reads:
            if self.types[access.tensor] != state:
                raise self.error(
                    start.rhs,
                    f"'{start.lhs}' has type {state}, and '{access.tensor}' {self.types[access.tensor]}; "
                    "declare one type for both",
                )

    def statement(self, statement: Statement) -> list[Statement]:
        """A statement, and if it sums in another type than that of its result, one that converts."""
        name, rhs, reduction = statement.lhs.tensor, statement.rhs, statement.reduction
        declared = self.types.get(name)
        if isinstance(rhs, Reshape | Concat):
            self.types[name] = self.moved(rhs, declared)
            return [statement]
        wanted = self.default if declared is None else declared
        if reduction in COORDINATES or (reduction in RANKINGS and reduction.startswith("arg")):
            self.types[name] = wanted
            return [replace(statement, rhs=self.value(rhs, self.default).expr)]
        if isinstance(rhs, RunningReduction | Recurrence):
            found = self.running(rhs, wanted)
        elif (reduction == "sum" and self.adds(statement)) or reduction == "prod":
            found = self.calculation(rhs, wanted, is_one=True)
        else:
            found = self.value(rhs, wanted, declared)
            if declared is not None:
                found = self.converted(found, declared)
        kind = self.types[name] = declared or found.kind or self.default
        if found.kind in (None, kind):
            return [replace(statement, rhs=found.expr)]
        assert found.kind is not None
        return self.in_two(replace(statement, rhs=found.expr), found.kind, kind)

    def in_two(self, statement: Statement, kind: ValueType, target: ValueType) -> list[Statement]:
        """A statement that gives a tensor of one type, and one that converts it into another."""
        lhs, decl = statement.lhs, self.tensors[statement.lhs.tensor]
        name = self.names.fresh(f"{lhs.tensor}_{plain(kind.name)}")
        modes = [n for n, index in enumerate(lhs.indices) if not isinstance(index, StepIndex)]
        if len(modes) < len(lhs.indices):
            decl = replace(
                decl,
                indices=tuple(decl.indices[n] for n in modes),
                shape=tuple(decl.shape[n] for n in modes),
                declared=None if decl.declared is None else tuple(decl.declared[n] for n in modes),
                format=type(decl.format).dense(len(modes)),
            )
        self.tensors[name] = replace(decl, name=name, value=kind, span=None)
        self.types[name] = kind
        first = replace(lhs, tensor=name, indices=tuple(lhs.indices[n] for n in modes))
        if lhs.is_plain or statement.scan:
            second, read, order = lhs, first, statement.order
            order = None if order is None else tuple(i for i in order if i in lhs.variables) or None
        else:
            second, read, order = Access.of(lhs.tensor, decl.indices), Access.of(name, decl.indices), None
        convert = Call("to", (read,), target)
        return [
            replace(statement, lhs=first),
            Statement(second, convert, order, statement.order_span, scan=statement.scan),
        ]

    def adds(self, statement: Statement) -> bool:
        """Whether a statement adds up what it computes."""
        scatters = not all(
            not index.variables or str(index) in index.variables for index in statement.lhs.indices
        )
        return bool(statement.reduction_indices) or (scatters and statement.lhs.step is None)

    def moved(self, rhs: Reshape | Concat, declared: ValueType | None) -> ValueType:
        """The type of a tensor that is moved, which it keeps."""
        kinds = dict.fromkeys(self.types[child.tensor] for child in rhs.children if isinstance(child, Access))
        kind = next(iter(kinds))
        if len(kinds) > 1 or declared not in (None, kind):
            others = [*kinds, *(() if declared is None else (declared,))]
            raise self.error(
                rhs,
                f"'{rhs}' moves numbers as they are, and is of the types {', '.join(map(str, others))}; "
                "convert with 'to' in a statement of its own",
            )
        return kind

    def running(self, rhs: RunningReduction | Recurrence, wanted: ValueType) -> _Typed:
        """A running reduction or a recurrence: of its operands' type if it only compares."""
        if isinstance(rhs, RunningReduction) and rhs.reduction in ("max", "min"):
            found = self.value(rhs.operand, wanted)
            return _Typed(replace(rhs, operand=found.expr), found.kind)
        return self.united(rhs, list(rhs.children), wanted)

    # Expressions

    def value(self, expr: Expr, wanted: ValueType, target: ValueType | None = None) -> _Typed:
        """An expression that nothing adds up.

        Args:
            wanted: the type of a calculation all of whose operands have it.
            target: that of the numbers that it becomes, which a `scale` gives at once.
        """
        if isinstance(expr, Add | Sub | Mul | Div | Neg):
            return self.calculation(expr, wanted)
        return self.leaf(expr, wanted, target)

    def calculation(self, expr: Expr, wanted: ValueType, *, is_one: bool = False) -> _Typed:
        """Sums, products and quotients as far as no function stands between them; `is_one` if a single
        operand is added up too."""
        assert is_one or isinstance(expr, Add | Sub | Mul | Div | Neg)
        leaves: list[Expr] = []
        _collect(expr, leaves)
        found = [self.leaf(leaf, wanted) for leaf in leaves]
        kind = self.kind_of(expr, [one.kind for one in found], wanted)
        if kind is None:
            return _Typed(expr, None)
        if isinstance(kind, Integer) and any(isinstance(node, Div) for node in _inside(expr)):
            raise self.error(expr, f"{kind} has no division, in '{expr}'; convert with to(f32, x) first")
        converted = iter([self.converted(one, kind).expr for one in found])
        return _Typed(_rebuilt(expr, converted), kind)

    def united(self, expr: Expr, parts: Sequence[Expr], wanted: ValueType) -> _Typed:
        """What calculates with several parts, in one type."""
        found = [self.value(part, wanted) for part in parts]
        kind = self.kind_of(expr, [one.kind for one in found], wanted)
        if kind is None:
            return _Typed(expr, None)
        return _Typed(expr.with_children([self.converted(one, kind).expr for one in found]), kind)

    def kind_of(self, expr: Expr, kinds: Sequence[ValueType | None], wanted: ValueType) -> ValueType | None:
        """The type of a calculation on operands of some types."""
        known = {kind for kind in kinds if kind is not None}
        if not known:
            return None
        return wanted if known == {wanted} else _wide(self.met(expr, known))

    def met(self, expr: Expr, kinds: set[ValueType]) -> ValueType:
        """The type that operands of some types have in common."""
        kind = common(kinds)
        if kind is None:
            names = ", ".join(sorted(map(str, kinds)))
            raise self.error(
                expr, f"{names} have no type in common, in '{expr}'; convert one with to(TYPE, x)"
            )
        return kind

    def leaf(self, expr: Expr, wanted: ValueType, target: ValueType | None = None) -> _Typed:
        """An operand of a calculation: a tensor, a number, or what a function gives."""
        match expr:
            case Access():
                return _Typed(expr, self.types[expr.tensor])
            case Literal():
                return _Typed(expr, None)
            case Call("to", (operand,), kind):
                assert kind is not None
                found = self.value(operand, self.default, kind)
                if found.kind is None:
                    raise self.error(expr, f"'{expr}' is a number; write it as one")
                return self.converted(found, kind)
            case Call("scale", arguments):
                return self.scaled(expr, arguments, target or expr.to or _WHOLE)
            case Call(function, arguments):
                parts = [self.value(argument, wanted) for argument in arguments]
                known = {part.kind for part in parts if part.kind is not None}
                if not known:
                    return _Typed(expr, None)
                kind = self.met(expr, known)
                if function not in kind.operations:
                    raise self.error(expr, f"{kind} has no {function}; convert with to(f32, x) first")
                return _Typed(expr.with_children([self.converted(part, kind).expr for part in parts]), kind)
        return self.calculation(expr, wanted)

    def scaled(self, expr: Expr, arguments: Sequence[Expr], target: ValueType) -> _Typed:
        """A `scale` to a type. A zero point is added in i32, before what does not fit is cut off."""
        if not isinstance(target, Integer):
            raise self.error(expr, f"'{expr}' gives an integer, and not {target}; write to(f32, x) around it")
        parts = [self.value(argument, _WHOLE) for argument in arguments]
        for part in parts:
            if not isinstance(part.kind, Integer | None):
                raise self.error(
                    expr, f"'{expr}' scales integers, and '{part.expr}' is {part.kind}; convert it"
                )
        value, multiplier, shift, *zero = (self.converted(part, _WHOLE).expr for part in parts)
        if isinstance(value, Literal):
            raise self.error(expr, f"'{expr}' scales a number; write the result")
        if not zero:
            return _Typed(Call("scale", (value, multiplier, shift), target, span=expr.span), target)
        moved: Expr = Add(Call("scale", (value, multiplier, shift), _WHOLE, span=expr.span), zero[0])
        if target == _WHOLE:
            # It stays one operand: a sum over what it scales counts the zero point each time.
            return _Typed(Call("to", (moved,), target), target)
        least, greatest = Literal(int(target.least)), Literal(int(target.greatest))
        cut = Call("max", (Call("min", (moved, greatest)), least))
        return _Typed(Call("to", (cut,), target), target)

    def converted(self, found: _Typed, kind: ValueType) -> _Typed:
        """The same in another type."""
        if found.kind in (None, kind):
            if isinstance(kind, Integer) and isinstance(found.expr, Literal):
                self.check_whole(found.expr, kind)
            return _Typed(found.expr, kind)
        return _Typed(Call("to", (found.expr,), kind, span=found.expr.span), kind)

    def check_whole(self, number: Literal, kind: ValueType) -> None:
        """Raises `InputError` for a number that a type of whole numbers lacks."""
        if number.value != int(number.value) or not kind.least <= number.value <= kind.greatest:
            raise self.error(
                number,
                f"{number.value} is no {kind}; convert what it meets with to(f32, x), or write another",
            )

    def error(self, expr: Expr, message: str) -> InputError:
        return self.given.error(expr.span, message)


def _collect(expr: Expr, leaves: list[Expr]) -> None:
    """The operands of a calculation, from left to right."""
    if isinstance(expr, Add | Sub | Mul | Div | Neg):
        for child in expr.children:
            _collect(child, leaves)
    else:
        leaves.append(expr)


def _rebuilt(expr: Expr, leaves: Iterator[Expr]) -> Expr:
    """A calculation on other operands."""
    if isinstance(expr, Add | Sub | Mul | Div | Neg):
        return expr.with_children([_rebuilt(child, leaves) for child in expr.children])
    return next(leaves)


def _inside(expr: Expr) -> Iterator[Expr]:
    """The operations of a calculation."""
    if isinstance(expr, Add | Sub | Mul | Div | Neg):
        yield expr
        for child in expr.children:
            yield from _inside(child)
