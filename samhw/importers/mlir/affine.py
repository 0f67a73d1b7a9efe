"""Affine maps and encodings of sparse tensors, as text."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from samhw.importers.mlir.scanner import MlirScanner, SyntaxProblem
from samhw.importers.mlir.types import Affine, AffineMap, Encoding, Level

__all__ = ["affine_map", "encoding", "permuted_dimensions"]

_OLDER = (
    "dimLevelType",
    "dimOrdering",
    "higherOrdering",
    "dimToLvl",
    "lvlTypes",
    "pointerBitWidth",
    "indexBitWidth",
)
_WIDTHS = ("posWidth", "crdWidth", "explicitVal", "implicitVal")


def affine_map(scan: MlirScanner) -> AffineMap:
    """What stands in the angle brackets of an `affine_map`: ``(d0, d1) -> (d1, d0)``."""
    names = _names(scan)
    if scan.token == "[":
        scan.skip_bracket()
    scan.expect("->")
    return AffineMap(len(names), tuple(_results(scan, names)))


def _names(scan: MlirScanner) -> dict[str, int]:
    """The dimensions in parentheses, by name; what is said of them besides is passed over."""
    scan.expect("(")
    names: dict[str, int] = {}
    while not scan.taken(")"):
        names[scan.expect_kind("word", "a dimension")] = len(names)
        _pass_over_rest(scan)
        scan.taken(",")
    return names


def _pass_over_rest(scan: MlirScanner) -> None:
    """What is said of a dimension behind its name: `: #sparse_tensor<slice(..)>`, `= l0`."""
    while scan.token not in (",", ")", ""):
        if scan.token in ("<", "("):
            scan.skip_bracket()
        else:
            scan.next()


def _results(scan: MlirScanner, names: Mapping[str, int]) -> list[Affine]:
    scan.expect("(")
    found: list[Affine] = []
    while not scan.taken(")"):
        found.append(_sum(scan, names))
        if scan.token != ")":
            scan.expect(",")
    return found


def _sum(scan: MlirScanner, names: Mapping[str, int]) -> Affine:
    found = _product(scan, names)
    while scan.token in ("+", "-"):
        sign = 1 if scan.next() == "+" else -1
        found = _added(scan, found, _product(scan, names), sign)
    return found


def _product(scan: MlirScanner, names: Mapping[str, int]) -> Affine:
    found = _atom(scan, names)
    while scan.token in ("*", "floordiv", "mod", "ceildiv"):
        operator, other = scan.next(), _atom(scan, names)
        if operator == "*" and not found.factors and not found.floordiv and not found.mod:
            found, other = other, found
        if other.factors or found.floordiv or found.mod or operator == "ceildiv":
            raise scan.problem("a product or quotient of loops is no sum of loops times numbers")
        if operator == "*":
            found = _times(found, other.offset)
        else:
            divisor = other.offset
            found = (
                replace(found, floordiv=divisor) if operator == "floordiv" else replace(found, mod=divisor)
            )
    return found


def _atom(scan: MlirScanner, names: Mapping[str, int]) -> Affine:
    if scan.taken("("):
        found = _sum(scan, names)
        scan.expect(")")
        return found
    if scan.taken("-"):
        return _times(_atom(scan, names), -1)
    if scan.kind == "int":
        return Affine((), int(scan.next()))
    at = scan.at
    name = scan.expect_kind("word", "a dimension or a number")
    if name not in names:
        raise SyntaxProblem(at, f"'{name}' is none of the dimensions")
    return Affine(((names[name], 1),))


def _times(found: Affine, factor: int) -> Affine:
    return Affine(tuple((loop, times * factor) for loop, times in found.factors), found.offset * factor)


def _added(scan: MlirScanner, one: Affine, other: Affine, sign: int) -> Affine:
    if one.floordiv or one.mod or other.floordiv or other.mod:
        raise scan.problem("a sum with a quotient in it is no sum of loops times numbers")
    factors = dict(one.factors)
    for loop, times in other.factors:
        factors[loop] = factors.get(loop, 0) + sign * times
    left = tuple((loop, times) for loop, times in sorted(factors.items()) if times)
    return Affine(left, one.offset + sign * other.offset)


def encoding(scan: MlirScanner) -> Encoding:
    """What stands in the angle brackets of a `#sparse_tensor.encoding`. One that cannot be followed says
    so."""
    scan.expect("{")
    found: Encoding | None = None
    problem: str | None = None
    while not scan.taken("}"):
        key = scan.expect_kind("word", "a field of the encoding")
        scan.expect("=")
        if key == "map":
            found = _storage_map(scan)
        elif key in _OLDER:
            problem = (
                f"has an encoding in the older form, with '{key}'; write it as 'map = (d0, d1) -> (d0 : "
                "dense, d1 : compressed)', as MLIR has it since 2023"
            )
            _pass_over_value(scan)
        elif key in _WIDTHS:
            _pass_over_value(scan)
        else:
            problem = f"has an encoding with the field '{key}', which is not known; leave it out"
            _pass_over_value(scan)
        scan.taken(",")
    if problem is not None:
        return Encoding(problem=problem)
    return found or Encoding(problem="has an encoding without a map; give it one")


def _pass_over_value(scan: MlirScanner) -> None:
    while scan.token not in (",", "}", ""):
        if scan.token in ("[", "(", "<", "{"):
            scan.skip_bracket()
        else:
            scan.next()


def _storage_map(scan: MlirScanner) -> Encoding:
    if scan.token in ("[", "{"):
        scan.skip_bracket()
    start = scan.at
    names = _names(scan)
    sliced = "slice" in scan.text[start : scan.at]
    scan.expect("->")
    scan.expect("(")
    levels: list[Level] = []
    while not scan.taken(")"):
        levels.append(_level(scan, names))
        if scan.token != ")":
            scan.expect(",")
    return Encoding(tuple(levels), sliced=sliced)


def _level(scan: MlirScanner, names: Mapping[str, int]) -> Level:
    dimension = _sum(scan, names)
    if scan.taken("="):  # The level had a name: that was it.
        dimension = _sum(scan, names)
    scan.expect(":")
    kind, properties = scan.expect_kind("word", "a kind of level"), ""
    for bracket in ("[", "("):
        if scan.token == bracket:
            properties += scan.skip_bracket()
    return Level(dimension, kind, "nonunique" not in properties)


def permuted_dimensions(levels: Sequence[Level]) -> tuple[int, ...] | None:
    """The dimension of each level, if each level is one of them and each comes once; else None."""
    loops = [level.dimension.loop for level in levels]
    if None in loops or sorted(loop for loop in loops if loop is not None) != list(range(len(loops))):
        return None
    return tuple(loop for loop in loops if loop is not None)
