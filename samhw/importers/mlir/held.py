"""What a name of a function stands for."""

from dataclasses import dataclass

from samhw.importers.core import Value

__all__ = ["Held", "Unset"]


@dataclass(frozen=True)
class Unset:
    """A tensor that nobody has written to."""

    shape: tuple[int, ...]
    zero: bool = False
    """It is sparse, and so begins as zero."""


Held = Value | Unset
