"""How the inputs of an emitted program are made of a run's arguments."""

from dataclasses import dataclass

from samhw.importers.core.build import Build
from samhw.importers.core.emit import Emitted
from samhw.importers.core.value import Arguments, Fetch
from samhw.tensors import LevelType, Tensor

__all__ = ["InputSource", "input_sources"]


@dataclass(frozen=True)
class InputSource:
    """An input: where its data come from, and how they are stored.

    Attributes:
        sizes: the extents of its own modes, once views have split them.
        order: those modes, from the outermost level inwards.
        levels: of those modes, in that order.
    """

    fetch: Fetch
    sizes: tuple[int, ...]
    order: tuple[int, ...]
    levels: tuple[LevelType, ...]

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
        found[decl.name] = InputSource(stored.fetch, sizes, order, place.levels)
    return found
