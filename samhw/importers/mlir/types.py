"""What a text in MLIR says of values: types, encodings, and affine maps."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Affine", "AffineMap", "Encoding", "Level", "MlirType", "OtherType", "TensorType", "element_type"]


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
