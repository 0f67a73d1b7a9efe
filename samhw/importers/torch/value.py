"""Tensors of a module that the hardware does not compute: known as it is imported, or worked out by the
host."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

from torch import Tensor

from samhw.errors import InputError
from samhw.importers.core import Arguments, Value

__all__ = ["Host", "Known", "Same", "TensorFetch"]

TensorFetch = Callable[[Arguments], Tensor]
"""Gives a tensor of PyTorch."""


class Same:
    """A key that is equal for one object only. It holds the object, so that no other one gets its place in
    memory as long as somebody has the key."""

    def __init__(self, held: object) -> None:
        self._held = held

    def __hash__(self) -> int:
        return id(self._held)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self._held is other._held


LARGEST_FOLDED = 1 << 24
"""Elements of a sparse constant that is computed with as a dense one."""


@dataclass(frozen=True, eq=False)
class Known:
    """A tensor that is known when the module is imported: a parameter, a buffer, or what is computed of them.

    Attributes:
        tensor: dense; of a sparse parameter None.
        name: that of the parameter or buffer.
        held: how it is stored if that is not dense.
        base: of a view, what it is one of, and what makes a value of that one's value.
        annotation: the format that its user has asked for.
        of_numbers: it is computed of numbers alone, and one input for all that have its elements.
        elements: of a view of a sparse one, whose `held` has a shape and no values, what gives them.
    """

    tensor: Tensor | None
    name: str
    held: Tensor | None = None
    base: "tuple[Known, Callable[[Value], Value]] | None" = None
    annotation: str | None = None
    of_numbers: bool = False
    elements: Callable[[], Tensor] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """As in PyTorch."""
        return tuple(self._given.shape)

    def numel(self) -> int:
        """The number of its elements."""
        return prod(self.shape)

    @property
    def key(self) -> Same:
        """Equal for the same tensor."""
        return Same(self._given)

    @property
    def example(self) -> Tensor:
        """As of a `Host`."""
        return self.dense()

    @property
    def fetch(self) -> TensorFetch:
        """As of a `Host`."""
        tensor = self.dense()
        return lambda _: tensor

    def stored(self) -> Tensor:
        """In its own layout."""
        return self._given if self.held is None else self.held

    @property
    def _given(self) -> Tensor:
        """Dense if it is known so."""
        found = self.held if self.tensor is None else self.tensor
        assert found is not None
        return found

    def dense(self) -> Tensor:
        """To compute with. Raises InputError where that would be too large to have been meant."""
        if self.tensor is not None:
            return self.tensor
        if self.elements is not None:
            return self.elements()
        held = self._given
        if held.numel() > LARGEST_FOLDED:
            raise InputError(
                f"'{self.name}' is sparse, and something is computed of it alone; compute that before"
            )
        return held.to_dense()


@dataclass(frozen=True)
class Host:
    """A tensor of indices, or of conditions on them, that is worked out as the data of a run are loaded."""

    example: Tensor
    fetch: TensorFetch = field(compare=False)
    name: str = "index"
    annotation: str | None = None

    @property
    def key(self) -> Same:
        """Equal for what is worked out in the same way."""
        return Same(self.fetch)
