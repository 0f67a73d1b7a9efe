"""Affine maps and encodings of sparse tensors, as text."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from samhw.importers.mlir.scanner import MlirScanner, SyntaxProblem
from samhw.importers.mlir.types import Affine, AffineMap, Encoding, Level

__all__ = ["affine_map", "encoding"]

_OLDER = (
    *("dimLevelType", "dimOrdering", "higherOrdering", "dimToLvl", "lvlTypes"),
    *("pointerBitWidth", "indexBitWidth"),
)
_WIDTHS = ("posWidth", "crdWidth", "explicitVal", "implicitVal")


def affine_map(scan: MlirScanner) -> AffineMap:
    """What stands in the angle brackets of an `affine_map`: ``(d0, d1) -> (d1, d0)``."""
    names = _names(scan)
    if scan.token == "[":
        scan.skip_bracket()
    scan.expect("->")
    scan.expect("(")
    return AffineMap(len(names), tuple(scan.separated(")", lambda: _sum(scan, names))))


def _names(scan: MlirScanner) -> dict[str, int]:
    """The dimensions in parentheses, by name; what is said of them besides, `: #sparse_tensor<slice(..)>` or
    `= l0`, is passed over."""

    def name() -> str:
        found = scan.expect_kind("word", "a dimension")
        _pass_over(scan, (",", ")"))
        return found

    scan.expect("(")
    return {name: n for n, name in enumerate(scan.separated(")", name))}


def _pass_over(scan: MlirScanner, ends: Collection[str]) -> None:
    """All up to one of some tokens, but what is in brackets."""
    while scan.token not in ends and scan.kind != "end":
        if scan.token in ("[", "(", "<", "{"):
            scan.skip_bracket()
        else:
            scan.next()


def _sum(scan: MlirScanner, names: Mapping[str, int]) -> Affine:
    found = _product(scan, names)
    while scan.token in ("+", "-"):
        sign = 1 if scan.next() == "+" else -1
        other = _product(scan, names)
        if found.divides or other.divides:
            raise scan.problem("a sum with a quotient in it is no sum of loops times numbers")
        found = found.plus(other.times(sign))
    return found


def _product(scan: MlirScanner, names: Mapping[str, int]) -> Affine:
    found = _atom(scan, names)
    while scan.token in ("*", "floordiv", "mod", "ceildiv"):
        operator, other = scan.next(), _atom(scan, names)
        if operator == "*" and found.is_constant:
            found, other = other, found
        if other.factors or found.divides or operator == "ceildiv":
            raise scan.problem("a product or quotient of loops is no sum of loops times numbers")
        if operator == "*":
            found = found.times(other.offset)
        elif operator == "mod":
            found = replace(found, mod=other.offset)
        else:
            found = replace(found, floordiv=other.offset)
    return found


def _atom(scan: MlirScanner, names: Mapping[str, int]) -> Affine:
    if scan.taken("("):
        found = _sum(scan, names)
        scan.expect(")")
        return found
    if scan.taken("-"):
        return _atom(scan, names).times(-1)
    if scan.kind == "int":
        return Affine((), int(scan.next()))
    at = scan.at
    name = scan.expect_kind("word", "a dimension or a number")
    if name not in names:
        raise SyntaxProblem(at, f"'{name}' is none of the dimensions")
    return Affine(((names[name], 1),))


def encoding(scan: MlirScanner) -> Encoding:
    """What stands in the angle brackets of a `#sparse_tensor.encoding`. One that cannot be followed says
    so."""
    found: Encoding | None = None
    problem: str | None = None

    def field() -> None:
        nonlocal found, problem
        key = scan.expect_kind("word", "a field of the encoding")
        scan.expect("=")
        if key == "map":
            found = _storage_map(scan)
            return
        _pass_over(scan, (",", "}"))
        if key in _OLDER:
            problem = (
                f"has an encoding in the older form, with '{key}'; write it as 'map = (d0, d1) -> (d0 : "
                "dense, d1 : compressed)', as in MLIR since 2023"
            )
        elif key not in _WIDTHS:
            problem = f"has an encoding with the field '{key}', which is not known; leave it out"

    scan.expect("{")
    scan.separated("}", field)
    if problem is not None:
        return Encoding(problem=problem)
    return found or Encoding(problem="has an encoding without a map; give it one")


def _storage_map(scan: MlirScanner) -> Encoding:
    if scan.token in ("[", "{"):
        scan.skip_bracket()
    start = scan.at
    names = _names(scan)
    sliced = "slice" in scan.text[start : scan.at]
    scan.expect("->")
    scan.expect("(")
    return Encoding(tuple(scan.separated(")", lambda: _level(scan, names))), sliced=sliced)


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
