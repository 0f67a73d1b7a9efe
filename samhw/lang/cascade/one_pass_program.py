"""Programs with their cascades of reductions in one pass, over lanes and tiles where they are asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from samhw.errors import InputError
from samhw.lang import (
    Access,
    Expr,
    Mul,
    Program,
    Recurrence,
    Region,
    RunningReduction,
    Statement,
    accesses,
    free_indices,
    terms,
)
from samhw.lang.cascade.parts import InParts, OnePass, Rescaling, begun, blocks_of, cascades_of, dense
from samhw.lang.cascade.rewrite_region import CascadeFinding, RegionRewriter
from samhw.lang.cascade.split_modes import CutView, CutViews
from samhw.lang.cascade.symbols import Symbolic
from samhw.names import Names
from samhw.tensors import Tensor

__all__ = ["Cascaded", "cascaded", "segmented", "tiled"]


# Segments: the index of a cascade in parts of consecutive coordinates, each with a state of its own, which
# lanes compute side by side.
#
# Each segment s has its own earlier result d_s, such as its maximum, and its own sum y_s. After the segments
# d is reduced from all d_s, and y = Σ_s y_s · H(d) / H(d_s) (RedFuser, equation 11).


def segmented(
    given: OnePass, lanes: Mapping[str, int], views: CutViews
) -> tuple[Program, dict[str, tuple[Statement, str]]]:
    """The program in which cascades over an index with lanes go over its segments, one for each lane.

    The index itself counts the segments, and so has the lanes; another one counts the coordinates in one.
    What is stored along the index is read in another shape, through views.

    Args:
        lanes: by index.

    Returns:
        The program; and the indices with one state for all of their lanes, each with what needs that, and
        why.

    Raises:
        InputError: for a cascade that has no segments.
    """
    program = given.program
    tensors = dict(program.tensors)
    regions: list[Region] = []
    whole: dict[str, tuple[Statement, str]] = {}
    for region in program.regions:
        asked = [t for t in cascades_of(given, region, given.reduced) if lanes.get(given.reduced[t], 1) > 1]
        if len(asked) > 1:
            raise _several(given, asked)
        for tensor in asked:
            index = given.reduced[tensor]
            parts = _Segments(given, region, tensor, lanes[index], views)
            if parts.whole is not None:
                if parts.has_vectors:
                    raise parts.refusal(parts.whole[1])
                # Its lanes share what lies inside, as those of any index, and one state takes what they give.
                whole[index] = parts.whole
                continue
            region = parts.region()
            regions += parts.made
            tensors |= parts.tensors
        regions.append(region)
    return replace(program, tensors=tensors, regions=tuple(regions)), whole


def _several(given: OnePass, asked: Sequence[str]) -> InputError:
    """The refusal of lanes on several cascades of a region."""
    one, other = (given.reduced[tensor] for tensor in asked[:2])
    if one == other:
        return InputError(
            f"'{one}' cannot have lanes: two cascades of a region call their indices so, those of "
            f"'{asked[0]}' and '{asked[1]}'; give them names of their own, or separate them with '--fuse "
            "none'."
        )
    return InputError(
        f"'{one}' and '{other}' cannot both have lanes: each has a cascade of the same region; give lanes to "
        "one of them, or separate them with '--fuse none'."
    )


class _Segments(InParts):
    """The statements of a region over the segments of one index."""

    is_tiles = False
    suffix = "own"

    def __init__(self, given: OnePass, region: Region, of: str, number: int, views: CutViews):
        super().__init__(given, region, of, number, views)
        self._own: dict[str, str] = {}
        self._weights: dict[tuple[Access, Symbolic], Access] = {}

    @property
    def has_vectors(self) -> bool:
        """Whether a rescaled sum keeps an index inside of the cut one: its reducer takes whole rows, of which
        lanes without segments would have none."""
        return any(
            set(writer.lhs.names).difference(*(each.result.names for each in self.given.rescaled[tensor]))
            for tensor, writer in self.writers.items()
            if tensor in self.given.rescaled and self.is_along(writer)
        )

    def refusal(self, why: str) -> InputError:
        return InputError(
            f"The cascade over '{self.index}' cannot have lanes there: {why}; give lanes to another index."
        )

    def emit(self, statement: Statement) -> None:
        tensor = statement.lhs.tensor
        if not self.is_along(statement):
            self.statements.append(self.over(statement))
        elif tensor in self.given.rescaled:
            self._emit_sum(statement)
        elif tensor in self.earlier:
            own, _ = self.emit_earlier(statement)
            self._own[tensor] = own.tensor
        else:
            self.statements.append(self.over(statement))

    def over(self, statement: Statement) -> Statement:
        over = super().over(statement)
        match over.rhs:
            case RunningReduction(index=along) | Recurrence(index=along):
                if along == self.cut[statement.lhs.tensor]:
                    over = replace(over, rhs=replace(over.rhs, index=self.inner))
        return over

    def _emit_sum(self, statement: Statement) -> None:
        """A rescaled sum: of each segment, and of all, in which each has the weight that its own results
        lack."""
        over, own = self.over(statement), self.own_sum(statement)
        self.statements.append(replace(over, lhs=own))
        whole: Expr = own
        for rescaling in self.given.rescaled[statement.lhs.tensor]:
            whole = Mul(whole, self._weight(rescaling))
        self.statements.append(Statement(statement.lhs, whole, self.without_inner(over.order)))

    def _weight(self, rescaling: Rescaling) -> Access:
        """H(d) / H(d_s) of each segment."""
        key = rescaling.result, rescaling.part.results
        if key not in self._weights:
            result = rescaling.result
            names = (*result.names, self.index)
            own = Access.of(self._own[result.tensor], names)
            self._weights[key] = weight = self.declare(f"{result.tensor}_weight", names)
            self.statements.append(Statement(weight, rescaling.part.factor(result, own)))
        return self._weights[key]


# Tiles: a cascade takes this many consecutive coordinates at a time, and rescales once for all of them.
#
# Of each tile there are its own earlier result, such as its maximum, and its own sum, of elements that are
# all taken with the running result after the tile. So a sum waits for a tile, and no longer for each element,
# and is rescaled and rounded as often as there are tiles (RedFuser, equation 15; FlashAttention).


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


@dataclass(frozen=True)
class Cascaded:
    """A program, what was found about its cascades, the tensors that it reads in segments and tiles, and the
    indices that count segments, each with one of the tensors and its mode."""

    program: Program
    findings: tuple[CascadeFinding, ...]
    views: tuple[CutView, ...] = ()
    segmented: Mapping[str, tuple[str, int]] = field(default_factory=dict)

    def derived(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The segments and tiles that are made of some data, by name."""
        return {view.name: view.made(tensors[view.of]) for view in self.views if view.is_derived}


def cascaded(program: Program, mode: str, lanes: Mapping[str, int] | None = None, tile: int = 1) -> Cascaded:
    """The program with its cascades in one pass. A region in which an index is no name stays as it is.

    Args:
        mode: `rescaled` and `auto` rewrite what can be; `deferred` what needs no rescaling; `finite` also
            what is several sums, which may cancel; `off` nothing.
        lanes: by index. A sum that is rescaled goes over as many segments of its index.
        tile: of how many coordinates a sum is rescaled once.

    Raises:
        InputError: for lanes on the index of a cascade that has no segments, and for one that has no tiles.
    """
    findings: list[CascadeFinding] = []
    tensors = dict(program.tensors)
    names = Names(tensors)
    regions = []
    rescaled: dict[str, tuple[Rescaling, ...]] = {}
    reduced: dict[str, str] = {}
    running: dict[str, Access] = {}
    for region in program.regions:
        if region.scan is not None or not region.is_plain:
            # The reductions of a scan have an end in each step; and where an index is more than a name, it
            # is first to be made one.
            regions.append(region)
            continue
        rewriter = RegionRewriter(program, region, names, mode)
        regions.append(rewriter.region())
        findings += rewriter.findings
        tensors |= rewriter.tensors
        rescaled |= rewriter.rescaled
        reduced |= rewriter.reduced
        running |= rewriter.running
    if not any(finding.rewritten for finding in findings):
        return Cascaded(program, tuple(findings))
    # After a cut, an index counts parts. What has its extent from the index alone has it of its own before.
    tensors |= program.bind({}).tensors
    extents = {index: n for index, n in program.index_extents.items() if index not in reduced.values()}
    made = replace(program, tensors=tensors, regions=tuple(regions), written=None, index_extents=extents)
    views = CutViews(made)
    added, outputs = tensors.keys() - program.tensors.keys(), {decl.name for decl in program.outputs}
    one_pass = OnePass(made, rescaled, reduced, running, added, outputs)
    one_pass = tiled(one_pass, tile, views)
    views.along.clear()
    made, whole = segmented(one_pass, lanes or {}, views)
    findings += (
        CascadeFinding(statement.lhs.tensor, index, f"one state for all lanes of {index}, since {why}", False)
        for index, (statement, why) in whole.items()
    )
    made = _without_dead(made, outputs)
    used = tuple(view for view in views.even if view.name in made.tensors)
    along = {i: [place for place in places if place[0] in made.tensors] for i, places in views.along.items()}
    counted = {index: places[0] for index, places in along.items() if places}
    return Cascaded(made, tuple(findings), used, counted)


def _without_dead(program: Program, outputs: set[str]) -> Program:
    """The program without statements that nobody reads any more, and their tensors.

    Args:
        outputs: the tensors that are read after it.
    """
    while True:
        alive = tuple(
            replace(
                region,
                statements=tuple(
                    s for s in region.statements if s.lhs.tensor in outputs or program.is_read(s.lhs.tensor)
                ),
            )
            for region in program.regions
        )
        if alive == program.regions:
            break
        program = replace(program, regions=alive)
    used = {access.tensor for s in (*program.statements, *program.starts) for access in s.accesses}
    kept = {name: decl for name, decl in program.tensors.items() if name in used}
    return replace(program, tensors=kept, regions=tuple(r for r in program.regions if r.statements))
