"""Tiles: a cascade takes this many consecutive coordinates at a time, and rescales once for all of them.

Of each tile there are its own earlier result, such as its maximum, and its own sum, of elements that are all
taken with the running result after the tile. So a sum waits for a tile, and no longer for each element, and
is rescaled and rounded as often as there are tiles (RedFuser, equation 15; FlashAttention).
"""

from dataclasses import replace

from samhw.errors import InputError
from samhw.lang import Access, Recurrence, Region, RunningReduction, Statement, accesses, free_indices, terms
from samhw.lang.cascade.one_pass import OnePass, Rescaling, begun
from samhw.lang.cascade.parts import InParts, blocks_of, cascades_of, dense
from samhw.lang.cascade.split_modes import CutViews

__all__ = ["tiled"]


def tiled(given: OnePass, size: int, views: CutViews) -> OnePass:
    """The program in which cascades that rescale go by tiles.

    The index itself counts the tiles, and another one the coordinates in one. What is stored along the index
    is read in another shape, through views.

    Args:
        size: of a tile, in coordinates; 1 for tiles that are the blocks of an index, where it has some.

    Raises:
        InputError: for a cascade that has no tiles.
    """
    done: list[Region] = []
    open_ = list(given.program.regions)
    while open_:
        region, *open_ = open_
        for tensor in cascades_of(given, region, given.rescaled):
            block = _blocks(given, region, tensor)
            if max(size, block) == 1:
                continue
            parts = _Tiles(given, region, tensor, block if size == 1 else size, views)
            region = parts.region()
            done += parts.made
            given = parts.behind((*done, region, *open_))
        done.append(region)
    return given


def _blocks(given: OnePass, region: Region, tensor: str) -> int:
    """How large the blocks are that a cascade has along its index."""
    dimension, index = given.program.dimensions.of_statement, given.reduced[tensor]
    own = {dimension(s)[index] for s in region.statements if s.lhs.tensor == tensor}
    along = (s for s in region.statements if dimension(s).get(index) in own)
    return blocks_of(given.program, along).get(index, 1)


class _Tiles(InParts):
    """The statements of a region over the tiles of one index."""

    is_tiles = True
    suffix = "tile"

    def __init__(self, given: OnePass, region: Region, of: str, number: int, views: CutViews):
        super().__init__(given, region, of, number, views)
        if self.whole is not None:
            raise self.refusal(self.whole[1])
        for tensor in self.writers.keys() & given.rescaled.keys() - self.cut.keys():
            if any(rescaling.writer.lhs.tensor in self.earlier for rescaling in given.rescaled[tensor]):
                raise self.refusal(
                    f"'{tensor}' is summed over it under another name, {given.reduced[tensor]}"
                )
        self.per_tile = self._per_tile()
        """The tensors that have a value for each tile, and not for each of its coordinates."""
        self._tile: dict[str, Access] = {}
        """What stands for a tile, by earlier result."""
        self._whole: dict[str, Statement] = {}
        """What reduces all tiles, by earlier result."""

    def refusal(self, why: str) -> InputError:
        return InputError(f"The cascade over '{self.index}' cannot go by tiles: {why}; leave 'tile' out.")

    def behind(self, regions: tuple[Region, ...]) -> OnePass:
        """What is known of the program with tiles."""
        given = self.given
        tensors = {**self.program.tensors, **self.tensors}
        # Masks no longer say which tiles there are.
        tensors |= {name: dense(name, tensors[name].indices, self.blocks) for name in self.per_tile}
        rescaled = {
            tensor: tuple(self._by_tiles(rescaling) for rescaling in rescalings)
            for tensor, rescalings in given.rescaled.items()
        }
        return replace(
            given,
            program=replace(self.program, tensors=tensors, regions=regions),
            rescaled=rescaled,
            reduced={**given.reduced, **{s.lhs.tensor: self.index for s in self._whole.values()}},
            added={*given.added, *self.tensors},
        )

    def _by_tiles(self, rescaling: Rescaling) -> Rescaling:
        result = rescaling.result
        whole = self._whole.get(result.tensor)
        if whole is None:
            return rescaling
        return replace(rescaling, result=Access.of(whole.lhs.tensor, result.names), writer=whole)

    def _per_tile(self) -> set[str]:
        """Running results, and what follows from them alone."""
        found: set[str] = set()
        for statement in self.asked.statements:
            tensor = statement.lhs.tensor
            index = self.cut.get(tensor)
            if tensor in self.given.running and index == self.index and self.is_along(statement):
                found.add(tensor)
            elif tensor in self.given.added and index in statement.lhs.names and not statement.is_move:
                along = {a.tensor for a in accesses(statement.rhs) if index in a.names}
                found |= {tensor} if along and along <= found else set()
        return found

    def emit(self, statement: Statement) -> None:
        tensor = statement.lhs.tensor
        if tensor in self.per_tile and tensor not in self.given.running:
            self.statements.append(replace(self.over(statement), mask=None))
        elif not self.is_along(statement):
            self.statements.append(self.over(statement))
        elif tensor in self.given.rescaled:
            self._emit_sum(statement)
        elif tensor in self.earlier:
            self._tile[tensor], self._whole[tensor] = self.emit_earlier(statement)
        elif tensor in self.given.running:
            self._emit_running(statement)
        else:
            self.statements.append(self.over(statement))

    def access(self, access: Access, index: str) -> Access:
        if access.tensor in self.per_tile:
            return access.renamed({index: self.index})
        return super().access(access, index)

    def _emit_running(self, statement: Statement) -> None:
        """An earlier result up to each tile, or before it."""
        running = statement.rhs
        assert isinstance(running, RunningReduction)
        result = self.given.running[statement.lhs.tensor]
        own = Access.of(self._tile[result.tensor].tensor, (*result.names, self.index))
        rhs = replace(running, index=self.index, operand=begun(running.reduction, own))
        self.statements.append(replace(self.over(statement), rhs=rhs, mask=None))

    def _emit_sum(self, statement: Statement) -> None:
        """A rescaled sum: of each tile, and of all."""
        over, tile = self.over(statement), self.own_sum(statement)
        assert isinstance(over.rhs, Recurrence)
        if any(self.inner not in free_indices(term) for term in terms(over.rhs.operand)):
            raise self.refusal(f"'{statement}' has a term that is the same in all of a tile")
        whole = Recurrence(self.index, over.rhs.factor, tile)
        self.statements += (
            Statement(tile, over.rhs.operand, over.order, mask=over.mask),
            Statement(statement.lhs, whole, self.without_inner(over.order)),
        )
