"""Types of tensors and of operations, by docs/numerics.md ("Types of operations") alone; and cases whose
tensors have types of their own."""

import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from samhw.lang import Program, Statement
from samhw.lang.expr import Access, Add, Call, Div, Expr, Literal, Mul, Neg, Recurrence, RunningReduction, Sub
from samhw.lang.index import Name, StepIndex
from tests.seams.arithmetic import arithmetic
from tests.seams.case import Case

__all__ = ["Typing", "narrowest", "with_types"]

_CALCULATES = Add | Sub | Mul | Div | Neg
_COMMON = ("i8", "i16", "i32", "bf16", "f32")
_INTEGERS = {"i8": 8, "u8": 8, "i16": 16, "i32": 32}
_WIDTHS = {**_INTEGERS, "f8e4m3": 8, "f8e5m2": 8, "bf16": 16, "f16": 16, "f32": 32}
_FLOATS = {
    "f8e4m3": (4, -9, 448),
    "f8e5m2": (3, -16, 57344),
    "f16": (11, -24, 65504),
    "bf16": (8, -126, 2**127),
    "f32": (24, -126, 2**127),
}
"""Their significant bits, the exponent of the least number above zero, and about the greatest number."""


def narrowest(kinds: Iterable[str]) -> str | None:
    """The narrowest type that has all numbers of some."""
    given = sorted(set(kinds))
    for target in sorted([*given, *_COMMON], key=_width):
        if all(_has(target, number) for kind in given for number in _witnesses(kind)):
            return target
    return None if any(kind.startswith("fixed") for kind in given) else "f32"


def _width(kind: str) -> int:
    return _WIDTHS[kind] if kind in _WIDTHS else int(kind[len("fixed<") :].split(",")[0])


def _sizes(kind: str) -> tuple[int, int, int]:
    """The ends of an integer or of fixed point in units of the last place, and the bits after the point."""
    bits, fraction = kind[len("fixed<") : -1].split(",") if kind.startswith("fixed") else (kind[1:], 0)
    half = 2 ** (int(bits) - 1)
    return (0, 2 * half - 1, 0) if kind == "u8" else (-half, half - 1, int(fraction))


def _witnesses(kind: str) -> list[Fraction]:
    """Numbers that no type has without having all of the type's."""
    if kind in _FLOATS:
        bits, least, greatest = _FLOATS[kind]
        return [Fraction(2) ** least, 1 + Fraction(1, 2 ** (bits - 1)), Fraction(greatest)]
    least, greatest, fraction = _sizes(kind)
    return [Fraction(n, 2**fraction) for n in (1, greatest, least) if n]


def _has(kind: str, number: Fraction) -> bool:
    if kind in _FLOATS:
        bits, least, greatest = _FLOATS[kind]
        odd = abs(number.numerator)
        while odd and odd % 2 == 0:
            odd //= 2
        return odd < 2**bits and Fraction(2) ** least <= abs(number) <= greatest
    least_word, greatest_word, fraction = _sizes(kind)
    unit = number * 2**fraction
    return unit.denominator == 1 and least_word <= unit <= greatest_word


def _wide(kind: str) -> str:
    return "i32" if kind in _INTEGERS else "f32" if kind in _FLOATS else kind


class Typing:
    """The types of a statement's operations.

    Attributes:
        of: of each node of its right side, by identity; None for numbers.
        computed: of what it computes.
        result: of what it writes.
    """

    def __init__(
        self, program: Program, statement: Statement, known: Mapping[str, str], default: str
    ) -> None:
        self.known, self.default = known, default
        self.of: dict[int, str | None] = {}
        own = program.tensors[statement.lhs.tensor].value
        declared = None if own is None else str(own)
        if declared is None and statement.lhs.tensor in known:
            # A state that earlier steps are read of.
            declared = known[statement.lhs.tensor]
        rhs, wanted = statement.rhs, declared or default
        found: str | None
        if statement.reduction.startswith("arg"):
            found = self.value(rhs, default, None)
            self.computed, self.result = found or default, wanted
            return
        if isinstance(rhs, Recurrence) or (
            isinstance(rhs, RunningReduction) and rhs.reduction in ("sum", "prod")
        ):
            kinds = [self.value(child, wanted, None) for child in rhs.children]
            found = self.united(kinds, wanted)
        elif isinstance(rhs, RunningReduction):
            found = self.value(rhs.operand, wanted, None)
        elif statement.reduction == "prod" or (statement.reduction == "sum" and _adds(statement)):
            found = self.calculation(rhs, wanted)
        else:
            found = self.value(rhs, wanted, declared)
        self.computed = found or wanted
        self.result = declared or self.computed

    def value(self, expr: Expr, wanted: str, target: str | None) -> str | None:
        kind = (
            self.calculation(expr, wanted)
            if isinstance(expr, _CALCULATES)
            else self.leaf(expr, wanted, target)
        )
        self.of[id(expr)] = kind
        return kind

    def calculation(self, expr: Expr, wanted: str) -> str | None:
        operands, operations = _parts(expr)
        kind = self.united([self.value(operand, wanted, None) for operand in operands], wanted)
        for operation in operations:
            self.of[id(operation)] = kind
        return kind

    def united(self, kinds: Iterable[str | None], wanted: str) -> str | None:
        found = {kind for kind in kinds if kind is not None}
        if not found:
            return None
        if found == {wanted}:
            return wanted
        kind = narrowest(found)
        return None if kind is None else _wide(kind)

    def leaf(self, expr: Expr, wanted: str, target: str | None) -> str | None:
        match expr:
            case Access(tensor=tensor):
                return self.known[tensor]
            case Literal():
                return None
            case Call("to", (operand,), kind):
                self.value(operand, self.default, str(kind))
                return str(kind)
            case Call("scale", arguments):
                for argument in arguments:
                    self.value(argument, "i32", None)
                return target or "i32"
            case Call(_, arguments):
                found = {self.value(argument, wanted, None) for argument in arguments} - {None}
                return narrowest(kind for kind in found if kind) if found else None
        return self.known[next(child.tensor for child in expr.children if isinstance(child, Access))]


def _adds(statement: Statement) -> bool:
    is_plain = all(isinstance(index, Name | StepIndex) for index in statement.lhs.indices)
    return bool(statement.reduction_indices) or not is_plain


def _parts(expr: Expr) -> tuple[list[Expr], list[Expr]]:
    """The operands of a calculation, and its operations."""
    if not isinstance(expr, _CALCULATES):
        return [expr], []
    found = [_parts(child) for child in expr.children]
    return [o for operands, _ in found for o in operands], [expr, *(o for _, others in found for o in others)]


# Cases

_FAMILIES = (
    ("i8", "i8", "i16", "i32"),
    ("i8", "i32"),
    ("bf16", "f32", "f8e4m3", "f8e5m2"),
    ("bf16", "f32"),
    ("i8", "f32", "bf16"),
    ("i8", "i16", "f32"),
    ("u8", "i8", "i32"),
    ("u8", "i32"),
    ("u8", "f16", "f32"),
    ("f16", "f32", "f8e5m2", "bf16"),
    ("i8", "fixed<16,4>", "f32"),
    ("fixed<16,4>", "fixed<24,8>"),
)


def with_types(case: Case, seed: int) -> Case:
    """The case with types for some of its tensors, conversions of some operands, and numbers that these types
    have."""
    source = random.Random(f"types {seed}")
    family = source.choice(_FAMILIES)
    index_tensors = case.program.index_tensors
    lines, types = [], {}
    for line in case.text.splitlines():
        if line.startswith("value "):
            continue
        if found := re.match(r"tensor (\w+)", line):
            if found[1] not in index_tensors and source.random() < 0.8:
                types[found[1]] = source.choice(family)
                line += f"{', ' if ':' in line else ' : '}{types[found[1]]}"
        elif found := re.match(
            r"(\s*)([A-Za-z]\w*(?:\[[^=]*?\])?)( (?:max|min|prod|arg\w+|top|bottom)?=)(.*)", line
        ):
            name = found[2].split("[")[0]
            declared = ""
            if name not in types and source.random() < 0.35:
                declared = f" : {source.choice(family)}"
            right = re.sub(
                r"\b[A-Z]\w*\[[^\[\]]*\]", lambda m: _converted(m, source, family, index_tensors), found[4]
            )
            if "reshape" in right or "concat" in right:
                right, declared = found[4], ""
            line = f"{found[1]}{found[2]}{declared}{found[3]}{right}"
        lines.append(line)
    typed = replace(
        case, text="\n".join(lines), value=source.choice(family), faces=case.faces - {"command line"}
    )
    return replace(
        typed,
        data={
            name: _fitting(array, types.get(name, typed.value), name in index_tensors)
            for name, array in case.data.items()
        },
        other={
            name: _fitting(array, types.get(name, typed.value), name in index_tensors)
            for name, array in case.other.items()
        },
    )


def _converted(
    found: re.Match[str], source: random.Random, family: tuple[str, ...], places: Iterable[str]
) -> str:
    text = found[0]
    if source.random() > 0.15 or text.split("[")[0] in places or "where" in found.string[: found.start()]:
        return text
    if family in (("i8", "i32"), ("u8", "i32")) and source.random() < 0.6:
        return (
            f"scale({text}, {source.randrange(1, 9)}, {source.randrange(0, 4)}{source.choice(['', ', 3'])})"
        )
    return f"to({source.choice(family)}, {text})"


def _fitting(array: np.ndarray, kind: str, is_index: bool) -> np.ndarray:
    if is_index:
        return array
    if kind in _INTEGERS:
        whole = np.rint(array).astype(np.int64)
        return np.abs(whole) if kind == "u8" else whole
    limits = arithmetic(kind)
    return np.clip(np.asarray(array, float), limits.lowest, limits.highest)
