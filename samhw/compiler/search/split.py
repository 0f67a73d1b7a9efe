"""Where a region ends earlier than it was asked to: after an intermediate that would be computed again and
again, and where streams cannot follow all of it at once.

Where a use lies in another nest of loops than what computes an intermediate, no stream can serve it: a whole
tensor would have to wait. Then it is stored, and a region of its own goes on from there, if that is expected
to take fewer cycles than to recompute it. Where that is what streams cannot follow, nothing else will do.

What can be lowered statement by statement is never refused: parts become shorter until they can be lowered.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from samhw.compiler import Scope
from samhw.compiler.computations import Computation, own_cycles
from samhw.compiler.search.region_search import Candidate, RegionSearch
from samhw.lang import Region
from samhw.lang.decision import Refusal

__all__ = ["RegionSplitter"]

BETTER = 0.95
"""What the expected cycles must come down to before a region is split."""

RISE = 1.25
"""How many times more often an intermediate is computed than what reads it, where a region may end."""

Parts = tuple[Candidate, ...]
"""What some statements have become: regions, in their order."""


class RegionSplitter:
    """Of one region. Parts are `(start, stop)`, places in its statements.

    Args:
        scope: of the program.
        number: of the region in it.
    """

    def __init__(self, scope: Scope, number: int):
        self._scope = scope
        self._number = number
        self._region = scope.program.regions[number]
        self._schedule = scope.lowerable.schedule
        self._search = RegionSearch(scope)
        self._known: dict[tuple[int, int], Candidate | Refusal] = {}
        self._split: dict[tuple[int, int], Parts | Refusal] = {}

    def parts(self) -> Parts | Refusal:
        """The region's parts in order; itself, if it is not split.

        Raises:
            InputError: for what no decision would make possible.
        """
        statements = self._region.statements
        ends = [
            n + 1
            for n, statement in enumerate(statements[:-1])
            if self._schedule.share_of(statement.lhs.tensor) == "store"
        ]
        if ends and self._region.order is not None:
            return Refusal(
                f"'share' stores {statements[ends[0] - 1].lhs.tensor}, so that its region ends there, but "
                "the schedule gives the whole region an order",
                ("leave one of the two out",),
                self._region.written,
            )
        found: Parts = ()
        for start, stop in pairwise([0, *ends, len(statements)]):
            parts = self._quickest(start, stop)
            if isinstance(parts, Refusal):
                return parts
            found += parts
        return found

    @property
    def _is_whole(self) -> bool:
        """The schedule forbids that the region ends earlier."""
        return self._schedule.share == "none" or self._region.order is not None

    def _quickest(self, start: int, stop: int) -> Parts | Refusal:
        """The statements as they are expected to take the fewest cycles, in one region or several."""
        if (start, stop) not in self._split:
            whole = self._alone(start, stop)
            if isinstance(whole, Refusal):
                self._split[start, stop] = self._where_it_must(start, stop, whole)
            else:
                self._split[start, stop] = self._where_it_pays(start, stop, whole)
        return self._split[start, stop]

    # Where it pays

    def _where_it_pays(self, start: int, stop: int, whole: Candidate) -> Parts | Refusal:
        """A region that can be lowered, split if that is quicker."""
        cycles: dict[int, float] = {}
        most = math.inf if self._schedule.share == "all" else BETTER * whole.cycles
        for end in () if self._is_whole else self._ends(whole, start, stop, most):
            expected = self._both(start, end, stop, min((most, *cycles.values())))
            if expected is not None:
                cycles[end] = expected
        if not cycles:
            twice = self._twice(whole)
            return (whole,) if twice is None else self._where_it_must(start, stop, twice)
        end = min(cycles, key=cycles.__getitem__)
        return self._cut(start, end, stop, self._computed_again(whole, start, end))

    def _both(self, start: int, end: int, stop: int, most: float) -> float | None:
        """The cycles of both parts of a split; None if it is not possible, or takes more than `most`.

        What is longer is lowered first: where it takes too many by itself, the other part need not be.
        """
        parts = sorted(((start, end), (end, stop)), key=lambda part: part[0] - part[1])
        cycles = 0.0
        for part in parts:
            found = self._alone(*part)
            if isinstance(found, Refusal):
                return None
            cycles += found.cycles
            if cycles > most:
                return None
        return cycles

    def _ends(self, whole: Candidate, start: int, stop: int, most: float) -> list[int]:
        """Where the region may end: after what a node computes more often than what reads it, or right
        before its first reader. What several nodes compute, each once, takes hardware and no cycles. The
        region ends between what would take more than `most` cycles by itself, were its readers computed once,
        and one of these."""
        place = {s.lhs.tensor: n for n, s in enumerate(self._region.statements[:stop])}
        original = self._original(whole, start)
        everything = self._schedule.share == "all"
        times = {
            original(c.tensor): c.times if everything else c.times_at_a_place for c in whole.main.computations
        }
        cycles = own_cycles(whole.main.computations, whole.main.graph, whole.main.expected)
        ends = set()
        between = set(range(start + 1, stop))
        for computation in whole.main.computations:
            tensor = original(computation.tensor)
            readers = [name for reader in computation.readers if (name := original(reader)) in place]
            anew = max(times.get(reader, 1.0) for reader in readers)
            if self._may_end_behind(computation, tensor) and times[tensor] > RISE * anew:
                ends |= {place[tensor] + 1, min(place[r] for r in readers)}
            if not computation.is_once and cycles[computation.tensor] > most * anew:
                between &= set(range(place[tensor] + 1, max(place[r] for r in readers) + 1))
        return sorted(ends & between)

    def _may_end_behind(self, computation: Computation, tensor: str) -> bool:
        return not computation.is_once and self._schedule.share_of(tensor) in ("auto", "all")

    def _computed_again(self, whole: Candidate, start: int, end: int) -> str:
        """What a region that ends computes once, instead of again and again."""
        written = {s.lhs.tensor for s in self._region.statements[start:end]}
        original = self._original(whole, start)
        again = [c for c in whole.main.computations if original(c.tensor) in written and not c.is_once]
        worst = max(again, key=lambda c: c.times * c.points)
        return (
            f"fused with what follows, {worst.tensor} would be computed about {worst.times:.1f} times "
            f'({worst.why}); share = "none" fuses it'
        )

    def _twice(self, whole: Candidate) -> Refusal | None:
        """The refusal of what is computed twice, if nothing may be."""
        for computation in whole.main.computations:
            if self._schedule.share == "all" and not computation.is_once:
                return Refusal(
                    f"'share' is all, but {computation.tensor} would be computed more than once: "
                    f"{computation.why}",
                    ("choose another order", "end the fused region after it", "take 'auto'"),
                    whole.main.region.written,
                )
        return None

    def _original(self, whole: Candidate, start: int) -> Callable[[str], str]:
        """From what a region writes to the results that it stands for."""
        written = whole.main.region.statements
        names = {
            made.lhs.tensor: asked.lhs.tensor
            for made, asked in zip(written, self._region.statements[start:], strict=False)
        }
        return lambda tensor: names.get(tensor, tensor)

    # Where it must

    def _where_it_must(self, start: int, stop: int, refusal: Refusal) -> Parts | Refusal:
        """The statements in several regions, since streams cannot follow one. The refusal, if there is no
        way.

        The candidates are the parts from the first statement on, each as long as it can be, and those from
        the last one back; between the former and the latter may lie one that is shorter. Of the ways through
        them it is the one that takes the fewest cycles.
        """
        if self._is_whole or stop - start == 1:
            return refusal
        ahead, back = self._chain(start, stop), self._chain_back(start, stop)
        if not ahead and not back:
            return self._unsplit(start, stop) or refusal
        edges = [*pairwise(ahead), *pairwise(back)]
        edges += [(p, s) for p, q in pairwise(ahead) for s in back if p < s < q]
        best: dict[int, tuple[float, Parts]] = {start: (0.0, ())}
        for begin, end in sorted(set(edges)):
            if begin not in best:
                continue
            part = self._quickest(begin, end)
            if isinstance(part, Refusal):
                refusal = part
                continue
            cycles, before = best[begin]
            if end not in best or cycles + _cycles(part) < best[end][0]:
                reason = self._reason(begin, end, stop, refusal)
                best[end] = cycles + _cycles(part), (*before, *self._noted(part, end, stop, reason))
        return best[stop][1] if stop in best else refusal

    def _chain(self, start: int, stop: int) -> list[int]:
        """The ends of parts from the first statement on, each as long as it can be; nothing if one cannot."""
        places = [start]
        while places[-1] < stop:
            begin = places[-1]
            most = stop - begin - (begin == start)
            guess = begin - places[-2] if len(places) > 1 else 2
            end = begin + _longest(partial(self._can_begin, begin), most, guess)
            while end > begin and end < stop and not self._may_end(start, end, stop):
                end -= 1
            if end == begin:
                return []
            places.append(end)
        return places

    def _chain_back(self, start: int, stop: int) -> list[int]:
        """The same from the last statement back."""
        places = [stop]
        while places[-1] > start:
            end = places[-1]
            most = end - start - (end == stop)
            guess = places[-2] - end if len(places) > 1 else 2
            begin = end - _longest(partial(self._can_end, end), most, guess)
            while begin < end and begin > start and not self._may_end(start, begin, stop):
                begin += 1
            if begin == end:
                return []
            places.append(begin)
        return places[::-1]

    def _unsplit(self, start: int, stop: int) -> Refusal | None:
        """Why there is no way, if a statement by itself cannot be lowered."""
        alone = (self._alone(place, place + 1) for place in range(start, stop))
        return next((found for found in alone if isinstance(found, Refusal)), None)

    def _reason(self, begin: int, end: int, stop: int, refusal: Refusal) -> str:
        """Why a part ends where it does."""
        longer = self._known.get((begin, end + 1)) if end < stop else None
        cause = longer.cause if isinstance(longer, Refusal) else refusal.cause
        return f"streams cannot follow what comes after in the same region ({cause})"

    def _can_begin(self, start: int, count: int) -> bool:
        return self._can_be(start, start + count)

    def _can_end(self, stop: int, count: int) -> bool:
        return self._can_be(stop - count, stop)

    def _can_be(self, start: int, stop: int) -> bool:
        found = self._alone(start, stop)
        return not isinstance(found, Refusal) and self._twice(found) is None

    def _may_end(self, start: int, end: int, stop: int) -> bool:
        """No intermediate that the schedule keeps in a region would leave it."""
        if isinstance(self._schedule.share, str):
            return True
        reads = {access.tensor for s in self._region.statements[end:stop] for access in s.needs}
        written = (s.lhs.tensor for s in self._region.statements[start:end])
        asked = (self._schedule.share_of(tensor) for tensor in reads.intersection(written))
        return not {"buffer", "recompute"}.intersection(asked)

    # Parts

    def _cut(self, start: int, end: int, stop: int, why: str) -> Parts | Refusal:
        """Both parts, each split further, with the reason why the first one ends."""
        before = self._quickest(start, end)
        if isinstance(before, Refusal):
            return before
        behind = self._quickest(end, stop)
        if isinstance(behind, Refusal):
            return behind
        return (*self._noted(before, end, stop, why), *behind)

    def _noted(self, parts: Parts, end: int, stop: int, why: str) -> Parts:
        """Parts with the reason why the last one ends, unless they are the last ones."""
        last = parts[-1].decision
        if end == stop or last.why:
            return parts
        why = f"ends after {self._region.statements[end - 1].lhs.tensor}: {why}"
        return (*parts[:-1], replace(parts[-1], decision=replace(last, why=why)))

    def _alone(self, start: int, stop: int) -> Candidate | Refusal:
        """A part as one region."""
        if (start, stop) not in self._known:
            self._known[start, stop] = self._tried(start, stop)
        return self._known[start, stop]

    def _tried(self, start: int, stop: int) -> Candidate | Refusal:
        region, lowerable = self._region, self._scope.lowerable
        statements = region.statements
        if (start, stop) == (0, len(statements)):
            return self._search.best(lowerable, self._number)
        parts = [statements[:start], statements[start:stop], statements[stop:]]
        regions = [Region(part, region.order, part[-1].lhs.tensor) for part in parts if part]
        # Its last statement may make a tensor that a pass has put in the place of the result.
        regions[-1] = replace(regions[-1], label=region.label)
        others = lowerable.program.regions
        divided = lowerable.in_regions([*others[: self._number], *regions, *others[self._number + 1 :]])
        return self._search.best(divided, self._number + bool(start))


def _cycles(parts: Sequence[Candidate]) -> float:
    return sum(part.cycles for part in parts)


def _longest(possible: Callable[[int], bool], most: int, guess: int) -> int:
    """How many statements are possible, if fewer are wherever more are; at least 1. What is far longer than
    that is not tried: it costs the most."""
    known, reach = 1, max(2, guess)
    while reach <= most and possible(reach):
        known, reach = reach, 2 * reach
    impossible = min(reach, most + 1)
    while impossible - known > 1:
        middle = (known + impossible) // 2
        if possible(middle):
            known = middle
        else:
            impossible = middle
    return known
