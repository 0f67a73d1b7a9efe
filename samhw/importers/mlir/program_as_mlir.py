"""Programs as functions of linalg in MLIR."""

import re
from collections.abc import Mapping, Sequence

from samhw.errors import InputError
from samhw.graph.numerics import Integer, ValueType
from samhw.importers.mlir.written_bodies import ELEMENTS, WrittenBody, number_text
from samhw.lang import COORDINATES, RANKINGS, Program, Statement
from samhw.lang.expr import Access, Add, Concat, Expr, Neg, Recurrence, Reshape, RunningReduction, Sub
from samhw.lang.traverse import accesses, free_indices
from samhw.lang.typed import named_types, typed, types_of
from samhw.tensors import Format, LevelType

__all__ = ["write_function"]

_NEUTRAL = {"sum": 0.0, "prod": 1.0}
_ENDS = {
    "f32": ("0xFF800000", "0x7F800000"),
    "bf16": ("0xFF80", "0x7F80"),
    "f16": ("0xFC00", "0x7C00"),
    "f8e5m2": ("0xFC", "0x7C"),
    "f8e4m3": ("-448.0", "448.0"),
}
"""The least and the greatest value of a type of floating point."""


def write_function(program: Program, value: ValueType) -> str:
    """A program, all of whose extents are known, as a function in MLIR: a `linalg.generic` for each
    statement, with the formats as encodings. Each tensor has its type, and numbers are converted where
    docs/numerics.md ("Types of operations") says so.

    Args:
        value: the type of tensors that have none of their own.

    Raises:
        InputError: for a statement or a value type that linalg has no form for.
    """
    program = typed(program, value)
    types = types_of(program, value)
    for kind in (*types.values(), *named_types(program)):
        if kind.name not in ELEMENTS:
            raise InputError(
                f"MLIR has no elements of the type {kind}; choose one of {', '.join(ELEMENTS)} by --value or "
                "--types."
            )
    return _Writer(program, types).text()


class _Writer:
    def __init__(self, program: Program, types: Mapping[str, ValueType]) -> None:
        self.program = program
        self.types = types
        self.lines: list[str] = []
        self.encodings: dict[str, str] = {}

    def text(self) -> str:
        """The whole file."""
        for statement in self.program.statements:
            self.statement(statement)
        arguments = ", ".join(f"%{d.name}: {self.kind(d.name)}" for d in self.program.operands)
        results = [d.name for d in self.program.outputs]
        kinds = ", ".join(self.kind(name) for name in results)
        name = self.program.name
        symbol = name if re.fullmatch(r"[A-Za-z_]\w*", name) else f'"{name}"'
        lines = [f"{alias} = {encoding}" for encoding, alias in self.encodings.items()]
        lines += [f"func.func @{symbol}({arguments}) -> {kinds if len(results) == 1 else f'({kinds})'} {{"]
        lines += [f"  {line}" for line in self.lines]
        lines += [f"  return {', '.join(f'%{n}' for n in results)} : {kinds}", "}", ""]
        return "\n".join(lines)

    # Types

    def kind(self, tensor: str) -> str:
        """The type of a tensor."""
        decl = self.program.tensors[tensor]
        encoding = self.encoding(decl.format)
        return self.tensor_type([extent or 1 for extent in decl.shape], self.element(tensor), encoding)

    def tensor_type(self, shape: Sequence[int], element: str, encoding: str = "") -> str:
        """The type of a tensor of a shape."""
        sizes = "".join(f"{size}x" for size in shape)
        return f"tensor<{sizes}{element}{f', {encoding}' if encoding else ''}>"

    def element(self, tensor: str) -> str:
        """The type of a tensor's elements."""
        return ELEMENTS[self.types[tensor].name]

    def encoding(self, format: Format) -> str:
        """The name of the encoding that a format is; none for dense modes in their order."""
        if format.is_all_dense and format.is_natural and format.block is None:
            return ""
        dims = ", ".join(f"d{n}" for n in range(format.rank))
        places = [f"d{mode}" for mode in format.mode_order]
        if format.block is not None:
            sizes = list(zip(places, format.block_shape, strict=True))
            places = [f"{place} {how} {size}" for how in ("floordiv", "mod") for place, size in sizes]
        levels = ", ".join(
            f"{place} : {_level(level, following)}"
            for place, level, following in zip(places, format.levels, (*format.levels[1:], None), strict=True)
        )
        text = f"#sparse_tensor.encoding<{{ map = ({dims}) -> ({levels}) }}>"
        return self.encodings.setdefault(text, f"#format{len(self.encodings)}")

    # Statements

    def statement(self, statement: Statement) -> None:
        """Adds the operations of a statement."""
        name = statement.lhs.tensor
        if statement.reduction in COORDINATES or statement.reduction in RANKINGS:
            raise InputError(
                f"'{statement}' puts elements in order, for which linalg has no form; leave it out of what "
                "is written."
            )
        match statement.rhs:
            case Reshape(operand):
                self.reshape(name, operand)
            case Concat(index, operands):
                self.concatenation(statement.lhs, index, operands)
            case RunningReduction() | Recurrence():
                raise InputError(
                    f"'{statement}' goes on from each coordinate to the next, for which linalg has no form; "
                    "leave it out of what is written."
                )
            case _:
                self.loops(statement)

    def loops(self, statement: Statement) -> None:
        """A generic; several where the terms of a sum are summed over different indices."""
        lhs, reduced = statement.lhs, statement.reduction_indices
        if not reduced:
            out = self.filled(lhs.tensor, None)
            self.generic(statement, statement.rhs, (), lhs.tensor, out)
            return
        if statement.reduction != "sum":
            out = self.filled(lhs.tensor, statement.reduction)
            self.generic(statement, statement.rhs, reduced, lhs.tensor, out)
            return
        groups = _by_reduced(statement)
        rest = groups.pop((), None)
        last = len(groups) + (rest is not None) - 1
        names = [f"{lhs.tensor}.{n}" if n != last else lhs.tensor for n in range(last + 1)]
        out = self.filled(lhs.tensor, "sum" if rest is None else None)
        if rest is not None:
            self.generic(statement, rest, (), names[0], out)
            out = f"%{names.pop(0)}"
        for (own, expr), result in zip(groups.items(), names, strict=True):
            self.generic(statement, expr, own, result, out)
            out = f"%{result}"

    def filled(self, tensor: str, reduction: str | None) -> str:
        """What a statement writes into: a tensor of what a reduction begins with, or of nothing."""
        kind = self.kind(tensor)
        self.lines.append(f"%{tensor}.empty = tensor.empty() : {kind}")
        if reduction is None:
            return f"%{tensor}.empty"
        element, start = self.element(tensor), _start(reduction, self.types[tensor])
        self.lines += [
            f"%{tensor}.start = arith.constant {start} : {element}",
            f"%{tensor}.init = linalg.fill ins(%{tensor}.start : {element}) "
            f"outs(%{tensor}.empty : {kind}) -> {kind}",
        ]
        return f"%{tensor}.init"

    def generic(
        self, statement: Statement, expr: Expr, reduced: Sequence[str], result: str, out: str
    ) -> None:
        """One `linalg.generic`, which writes an expression to the statement's left side."""
        lhs, mask = statement.lhs, statement.mask
        loops = [*lhs.variables, *(index for index in reduced if index not in lhs.variables)]
        reads = list(dict.fromkeys([*accesses(expr), *(() if mask is None else (mask,))]))
        values = {access: f"%in.{n}" for n, access in enumerate(reads)}
        body = WrittenBody(self.types[lhs.tensor], values, self.types)
        lines = self.body(statement, expr, body, bool(reduced))
        maps = ", ".join(_map(loops, access) for access in (*reads, lhs))
        kinds = ", ".join('"reduction"' if index in reduced else '"parallel"' for index in loops)
        ins = ", ".join(f"%{access.tensor}" for access in reads)
        types = ", ".join(self.kind(access.tensor) for access in reads)
        names = [*((name, access.tensor) for access, name in values.items()), ("%out.0", lhs.tensor)]
        given = ", ".join(f"{name}: {self.element(tensor)}" for name, tensor in names)
        kind = self.kind(lhs.tensor)
        # What has a name of its own is read as a statement of its own.
        own = f', library_call = "{result}"' if result == lhs.tensor else ""
        self.lines += [
            f"%{result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]{own}}}",
            f"    ins({ins} : {types}) outs({out} : {kind}) {{" if reads else f"    outs({out} : {kind}) {{",
            f"^bb0({given}):",
            *(f"  {line}" for line in lines),
            f"}} -> {kind}",
        ]

    def body(self, statement: Statement, expr: Expr, body: WrittenBody, is_reduced: bool) -> list[str]:
        """The operations of a body, and what it yields."""
        mask = statement.mask
        value = body.expr(expr)
        if mask is not None:
            value = self.masked(statement, body, body.values[mask], value, is_reduced)
        elif is_reduced:
            value = _reduced(statement.reduction, body, value, "%out.0")
        return [*body.lines, f"linalg.yield {value} : {body.element}"]

    def masked(self, statement: Statement, body: WrittenBody, mask: str, value: str, is_reduced: bool) -> str:
        """A value where a mask is stored, and what is reduced of such."""
        assert statement.mask is not None
        if not self.program.tensors[statement.mask.tensor].format.is_sparse:
            raise InputError(
                f"'{statement}' has a mask that is stored densely, which encodings do not say; store "
                f"{statement.mask.tensor} compressed."
            )
        element, stored = body.element, self.element(statement.mask.tensor)
        body.lines += [
            f"%u = sparse_tensor.unary {mask} : {stored} to {element}",
            "  present={",
            f"  ^bb0(%m: {stored}):",
            f"    sparse_tensor.yield {value} : {element}",
            "  } absent={}",
        ]
        if not is_reduced:
            return "%u"
        inner = WrittenBody(body.kind, {}, {})
        made = _reduced(statement.reduction, inner, "%p", "%q")
        neutral = body.number(_NEUTRAL.get(statement.reduction, 0))
        body.lines += [
            f"%r = sparse_tensor.reduce %u, %out.0, {neutral} : {element} {{",
            f"^bb0(%p: {element}, %q: {element}):",
            *(f"  {line.replace('%v.', '%w.')}" for line in inner.lines),
            f"  sparse_tensor.yield {made.replace('%v.', '%w.')} : {element}",
            "}",
        ]
        return "%r"

    # Moves

    def reshape(self, name: str, operand: Access) -> None:
        """All elements in one row, and that in another shape."""
        decl, of = self.program.tensors[name], self.program.tensors[operand.tensor]
        sizes, shape = [n or 1 for n in of.shape], [n or 1 for n in decl.shape]
        count = 1
        for size in sizes:
            count *= size
        row = f"%{operand.tensor}"
        flat = self.tensor_type([count], self.element(name))
        if len(sizes) != 1:
            into = f"%{name}" if len(shape) == 1 else f"%{name}.row"
            groups = [list(range(len(sizes)))]
            self.lines.append(
                f"{into} = tensor.collapse_shape {row} {groups} : {self.kind(operand.tensor)} into {flat}"
            )
            row = into
        if len(shape) != 1:
            groups = [list(range(len(shape)))]
            self.lines.append(
                f"%{name} = tensor.expand_shape {row} {groups} output_shape {shape} : {flat} into "
                f"{self.kind(name)}"
            )

    def concatenation(self, lhs: Access, index: str, operands: Sequence[Access]) -> None:
        """Tensors one after the other."""
        if any(access.names != lhs.names for access in operands):
            raise InputError(
                f"'{lhs}' concatenates tensors under other indices than its own; write them in one order."
            )
        names = ", ".join(f"%{access.tensor}" for access in operands)
        kinds = ", ".join(self.kind(access.tensor) for access in operands)
        dim = lhs.names.index(index)
        self.lines.append(
            f"%{lhs.tensor} = sparse_tensor.concatenate {names} {{dimension = {dim} : index}} : {kinds} to "
            f"{self.kind(lhs.tensor)}"
            if "#" in kinds + self.kind(lhs.tensor)
            else f"%{lhs.tensor} = tensor.concat dim({dim}) {names} : ({kinds}) -> {self.kind(lhs.tensor)}"
        )


def _level(level: LevelType, following: LevelType | None) -> str:
    """A level in an encoding; one that singletons follow may have a coordinate several times.

    Raises:
        InputError: for a level that encodings do not have.
    """
    if not level.mlir:
        raise InputError(f"encodings of MLIR have no {level} level; store the tensor in compressed levels.")
    is_repeated = following is not None and following.is_branchless
    return f"{level.mlir[0]}(nonunique)" if is_repeated else level.mlir[0]


def _map(loops: Sequence[str], access: Access) -> str:
    names = access.names_for("an operation of linalg", "leave its statement out of what is written")
    places = ", ".join(f"d{loops.index(name)}" for name in names)
    return f"affine_map<({', '.join(f'd{n}' for n in range(len(loops)))}) -> ({places})>"


def _start(reduction: str, kind: ValueType) -> str:
    """What a reduction begins with, as the text of a constant."""
    if reduction not in ("max", "min"):
        return number_text(_NEUTRAL[reduction], kind)
    least, greatest = (
        (str(int(kind.least)), str(int(kind.greatest))) if isinstance(kind, Integer) else _ENDS[kind.name]
    )
    return least if reduction == "max" else greatest


def _reduced(reduction: str, body: WrittenBody, value: str, out: str) -> str:
    """A value together with what is there."""
    if reduction in ("max", "min"):
        return body.greatest(reduction, value, out)
    return body.arithmetic({"sum": "add", "prod": "mul"}[reduction], out, value)


def _by_reduced(statement: Statement) -> dict[tuple[str, ...], Expr]:
    """The terms of a sum, by the indices over which they are summed."""
    left = statement.lhs.variables
    groups: dict[tuple[str, ...], Expr] = {}
    for sign, term in _terms(statement.rhs):
        own = tuple(index for index in free_indices(term) if index not in left)
        before = groups.get(own)
        if before is None:
            groups[own] = term if sign > 0 else Neg(term)
        else:
            groups[own] = Add(before, term) if sign > 0 else Sub(before, term)
    return groups


def _terms(expr: Expr, sign: int = 1) -> list[tuple[int, Expr]]:
    match expr:
        case Add(left, right):
            return [*_terms(left, sign), *_terms(right, sign)]
        case Sub(left, right):
            return [*_terms(left, sign), *_terms(right, -sign)]
    return [(sign, expr)]
