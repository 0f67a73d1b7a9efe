"""What goes into an emitted program, and what comes out: inputs that are made of a run's arguments, and
values as results, tensors that statements write and none reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.importers.core.draft import Build
from samhw.importers.core.finish import Emitted
from samhw.importers.core.tensors import Tensors
from samhw.importers.core.value import Arguments, Fetch, Value
from samhw.lang.expr import Access
from samhw.tensors import LevelType, Tensor

__all__ = ["InputSource", "PlacedResult", "as_results", "constants_of", "input_sources", "placed_result"]


@dataclass(frozen=True)
class PlacedResult:
    """How a result of the program becomes a value's array.

    The stored array is transposed to `order`, reshaped to `sizes`, which have 1 for what it lacks, broadcast
    to `spread`, and reshaped to `shape`.
    """

    name: str
    shape: tuple[int, ...]
    order: tuple[int, ...]
    sizes: tuple[int, ...]
    spread: tuple[int, ...]

    def of(self, tensors: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """The value's array, of those of the program's results."""
        array = np.asarray(tensors[self.name]).transpose(self.order).reshape(self.sizes)
        return np.broadcast_to(array, self.spread).reshape(self.shape)


def as_results(build: Build, tensors: Tensors, values: Sequence[Value], label: str) -> list[Value]:
    """The values as tensors that no statement reads, or as numbers.

    A program stores what no statement reads, however it is fused; so an input, or what a statement reads, is
    copied. Views of one tensor share it. All values become tensors first, since the statement that makes one
    may read another.
    """
    found = [tensors.materialized(value) for value in values]
    read = build.read
    copies: dict[str, str] = {}
    for place, value in enumerate(found):
        access = value.expr
        if isinstance(access, Access) and (
            access.tensor in read or build.stored[access.tensor].fetch is not None
        ):
            if access.tensor not in copies:
                copies[access.tensor] = build.statement(access.names, access, label=label).tensor
            found[place] = replace(value, expr=replace(access, tensor=copies[access.tensor]))
    return found


def placed_result(build: Build, value: Value, emitted: Emitted) -> PlacedResult:
    """A result with the order of its modes, which is known once the program is."""
    axes, access = build.axes, value.expr
    assert isinstance(access, Access)
    place = emitted.placed[access.tensor]
    own = axes.resolved(build.stored[access.tensor].modes)
    theirs = dict(zip(own, axes.resolved(access.names), strict=True))
    stored = [theirs[index] for index in place.indices]
    indices = axes.resolved(value.indices)
    return PlacedResult(
        access.tensor,
        build.shape(value),
        tuple(stored.index(index) for index in indices if index in stored),
        tuple(axes.size([index]) if index in stored else 1 for index in indices),
        tuple(axes.size([index]) for index in indices),
    )


@dataclass(frozen=True)
class InputSource:
    """An input: where its data come from, and how they are stored.

    Attributes:
        sizes: the extents of its own modes, once views have split them.
        order: those modes, from the outermost level inwards.
        levels: of those modes, in that order.
        is_constant: the data are the same in every run.
    """

    fetch: Fetch
    sizes: tuple[int, ...]
    order: tuple[int, ...]
    levels: tuple[LevelType, ...]
    is_constant: bool

    def of(self, arguments: Arguments) -> Tensor:
        """The input's tensor for the arguments of a run."""
        return self.fetch(arguments).stored(self.sizes, self.order, self.levels)


def input_sources(build: Build, emitted: Emitted) -> dict[str, InputSource]:
    """How each input of the program is made, by its name."""
    found = {}
    for decl in emitted.program.inputs:
        stored = build.stored[decl.name]
        assert stored.fetch is not None
        own = build.axes.resolved(stored.modes)
        place = emitted.placed[decl.name]
        order = tuple(own.index(index) for index in place.indices)
        sizes = tuple(build.axes.size([index]) for index in own)
        found[decl.name] = InputSource(stored.fetch, sizes, order, place.levels, stored.is_constant)
    return found


def constants_of(inputs: Mapping[str, InputSource]) -> frozenset[str]:
    """The inputs whose data are the same in every run, such as weights."""
    return frozenset(name for name, made in inputs.items() if made.is_constant)
