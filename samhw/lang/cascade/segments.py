"""Segments: the index of a cascade in parts of consecutive coordinates, each with a state of its own, which
lanes compute side by side.

Each segment s has its own earlier result d_s, such as its maximum, and its own sum y_s. After the segments
d is reduced from all d_s, and y = Σ_s y_s · H(d) / H(d_s) (RedFuser, equation 11).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from samhw.errors import InputError
from samhw.lang import Access, Expr, Mul, Program, Recurrence, Region, RunningReduction, Statement
from samhw.lang.cascade.one_pass import OnePass, Rescaling
from samhw.lang.cascade.parts import InParts, cascades_of
from samhw.lang.cascade.split_modes import CutViews
from samhw.lang.cascade.symbols import Symbolic

__all__ = ["segmented"]


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
            f"'{asked[0]}' and '{asked[1]}'; give them names of their own, or separate them with --fuse none."
        )
    return InputError(
        f"'{one}' and '{other}' cannot both have lanes: each has a cascade of the same region; give lanes to "
        "one of them, or separate them with --fuse none."
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
