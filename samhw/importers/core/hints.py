"""How an importer would have tensors stored."""

from dataclasses import dataclass

__all__ = ["NO_HINTS", "Hints"]


@dataclass(frozen=True)
class Hints:
    """How a tensor would best be stored, by what its importer knows of its data and its readers.

    The program that is emitted follows hints as far as its statements can. They are no part of what it
    computes: whoever decides how it runs may choose otherwise.

    Attributes:
        format: in the words of a declaration, by the tensor's modes; none for any.
        order: the tensor's indices, outermost first; none for any.
    """

    format: str | None = None
    order: tuple[str, ...] = ()


NO_HINTS = Hints()
"""Dense, in any order."""
