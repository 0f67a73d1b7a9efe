"""What a text in MLIR says of values: types, encodings of sparse tensors, and affine maps."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from samhw.importers.mlir.scanner import MlirScanner, SyntaxProblem

__all__ = [
    "Affine",
    "AffineMap",
    "Encoding",
    "Level",
    "MlirType",
    "OtherType",
    "TensorType",
    "affine_map",
    "element_type",
    "encoding",
]


@dataclass(frozen=True)
class Affine:
    """A sum of loops times whole numbers, and a whole number: ``2 * d0 + d1 - 1``.

    Attributes:
        factors: of each loop that takes part.
        floordiv, mod: what the sum is divided by, or of which division it is the remainder; 0 for none.
    """

    factors: tuple[tuple[int, int], ...]
    offset: int = 0
    floordiv: int = 0
    mod: int = 0

    @property
    def divides(self) -> bool:
        """Whether it is a quotient or a remainder."""
        return bool(self.floordiv or self.mod)

    @property
    def loop(self) -> int | None:
        """The loop that it is, if it is nothing else."""
        plain = len(self.factors) == 1 and self.factors[0][1] == 1 and not self.offset
        return self.factors[0][0] if plain and not self.divides else None

    @property
    def is_constant(self) -> bool:
        """Whether it is one number."""
        return not self.factors and not self.divides

    def times(self, factor: int) -> "Affine":
        """The product with a number."""
        return Affine(tuple((loop, own * factor) for loop, own in self.factors), self.offset * factor)

    def plus(self, other: "Affine") -> "Affine":
        """The sum with another one."""
        factors = dict(self.factors)
        for loop, own in other.factors:
            factors[loop] = factors.get(loop, 0) + own
        left = tuple((loop, own) for loop, own in sorted(factors.items()) if own)
        return Affine(left, self.offset + other.offset)

    def __str__(self) -> str:
        parts = [f"{factor} * d{loop}" if factor != 1 else f"d{loop}" for loop, factor in self.factors]
        parts += [str(self.offset)] if self.offset or not parts else []
        text = " + ".join(parts)
        if self.divides:
            return f"({text}) {'floordiv' if self.floordiv else 'mod'} {self.floordiv or self.mod}"
        return text


@dataclass(frozen=True)
class AffineMap:
    """From loops, of which there are `loops`, to places."""

    loops: int
    results: tuple[Affine, ...]

    @classmethod
    def of_loops(cls, loops: int, results: Sequence[int]) -> "AffineMap":
        """The map to some of the loops."""
        return cls(loops, tuple(Affine(((loop, 1),)) for loop in results))


@dataclass(frozen=True)
class Level:
    """A level of a storage format: of which dimension it is, and how it is stored.

    Attributes:
        dimension: an expression of the dimensions.
        kind: `dense`, `compressed`, `loose_compressed`, `singleton`, `structured`, or another word.
        unique: each coordinate comes once in a fiber.
    """

    dimension: Affine
    kind: str
    unique: bool = True

    def size(self, shape: Sequence[int]) -> int:
        """The extent of the level in a tensor of a shape; raises ValueError for an expression of several
        dimensions."""
        ((dimension, _),) = self.dimension.factors
        if self.dimension.mod:
            return self.dimension.mod
        return -(-shape[dimension] // (self.dimension.floordiv or 1))


@dataclass(frozen=True)
class Encoding:
    """How a sparse tensor is stored.

    Attributes:
        levels: from the outermost one inwards.
        problem: why the encoding cannot be followed; None for one that can.
        sliced: it is a slice of another tensor's storage.
    """

    levels: tuple[Level, ...] = ()
    problem: str | None = None
    sliced: bool = False


@dataclass(frozen=True)
class TensorType:
    """A tensor.

    Attributes:
        shape: the extents; None for one that only data give.
        element: the type of its elements, as it is written.
    """

    shape: tuple[int | None, ...]
    element: str
    encoding: Encoding | None = None

    @property
    def stores_some(self) -> bool:
        """Whether it stores only some elements."""
        return self.encoding is not None and any(level.kind != "dense" for level in self.encoding.levels)

    def __str__(self) -> str:
        sizes = "".join(f"{'?' if size is None else size}x" for size in self.shape)
        return f"tensor<{sizes}{self.element}>"


@dataclass(frozen=True)
class OtherType:
    """Any other type, as it is written."""

    text: str

    def __str__(self) -> str:
        return self.text


MlirType = TensorType | OtherType


def element_type(kind: MlirType | None) -> str:
    """The type of single elements."""
    return kind.element if isinstance(kind, TensorType) else str(kind)


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
