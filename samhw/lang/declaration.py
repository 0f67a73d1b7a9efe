"""The declaration of a tensor."""

from dataclasses import dataclass, field, replace

from samhw.errors import InputError
from samhw.graph.numerics import ValueType
from samhw.lang.source import Span
from samhw.tensors import Format

__all__ = ["MAX_EXTENT", "TensorDecl"]

MAX_EXTENT = 2**32 - 1
"""The greatest extent of an index: coordinates and extents have 32 bits."""


@dataclass(frozen=True)
class TensorDecl:
    """A tensor's name, modes and storage. An extent of None is not known yet: `Program.bind` fills it in.

    The index names only label the modes; a statement may access the tensor under other names.
    """

    name: str
    indices: tuple[str, ...]
    shape: tuple[int | None, ...]
    format: Format
    value: ValueType | None = None
    """The type of its values, where it has one of its own."""
    span: Span | None = field(default=None, compare=False, repr=False)
    declared: tuple[int | None, ...] | None = field(default=None, compare=False, repr=False)
    """The extents of the program's text, where `shape` has been filled in."""
    implied: bool = field(default=False, compare=False, repr=False)
    """Neither the text nor anybody else says how this input is stored, so that its data may."""

    @property
    def rank(self) -> int:
        return len(self.indices)

    @property
    def unbound(self) -> "TensorDecl":
        """The declaration with no extents but those of the program's text."""
        return self if self.declared is None else replace(self, shape=self.declared, declared=None)

    def of_shape(self, shape: tuple[int, ...]) -> "TensorDecl":
        """The declaration with its data's shape. Raises InputError if that is not as declared."""
        if len(shape) != self.rank:
            raise InputError(
                f"tensor '{self.name}' has rank {self.rank}, but its data has shape {shape}; change one of "
                "them"
            )
        for index, declared, given in zip(self.indices, self.shape, shape, strict=True):
            if declared is not None and declared != given:
                raise InputError(
                    f"tensor '{self.name}' is declared with {index}={declared}, but its data has {given} "
                    "there; change one of them"
                )
            if not 1 <= given <= MAX_EXTENT:
                raise InputError(
                    f"tensor '{self.name}' has data with {index}={given}; an extent is from 1 to "
                    f"{MAX_EXTENT:,}, as coordinates have 32 bits"
                )
        return replace(self, shape=shape)

    def __str__(self) -> str:
        own = () if self.value is None else (str(self.value),)
        if not self.indices:
            return " : ".join((f"tensor {self.name}", *own))
        modes = (
            index if extent is None else f"{index}={extent}"
            for index, extent in zip(self.indices, self.shape, strict=True)
        )
        return f"tensor {self.name}[{', '.join(modes)}] : {', '.join((str(self.format), *own))}"
