"""Counts how often each pair of features has run, and says which pairs are refused always."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations

from tests.seams.draw import PAIRS
from tests.seams.features import FEATURES
from tests.seams.run import Outcome

__all__ = ["Matrix"]


class Matrix:
    """Pairs of features by how often they came, and how often they ran."""

    def __init__(self) -> None:
        self.drawn: Counter[frozenset[str]] = Counter()
        self.ran: Counter[frozenset[str]] = Counter()
        self.sentences: defaultdict[frozenset[str], Counter[str]] = defaultdict(Counter)
        self.kinds: Counter[str] = Counter()

    def add(self, outcome: Outcome) -> None:
        """Counts a case."""
        self.kinds[outcome.kind] += 1
        pairs = [frozenset(pair) for pair in combinations(sorted(outcome.features), 2)]
        self.drawn.update(pairs)
        if outcome.kind == "refused":
            for pair in pairs:
                self.sentences[pair][outcome.message] += 1
        else:
            self.ran.update(pairs)

    def rare(self, least: int = 20) -> list[tuple[str, str]]:
        """The pairs that came less often."""
        return [pair for pair in PAIRS if self.drawn[frozenset(pair)] < least]

    def refused(self) -> list[tuple[tuple[str, str], str]]:
        """The pairs that never ran although they came, each with the sentence that came most."""
        found = []
        for pair in PAIRS:
            key = frozenset(pair)
            if self.drawn[key] and not self.ran[key]:
                found.append((pair, self.sentences[key].most_common(1)[0][0]))
        return found

    def lines(self) -> Iterable[str]:
        """A table with a row for each feature: how often each later one ran beside it."""
        names = FEATURES[:-1]
        yield "cases that ran with both features; the columns are numbered as the rows are"
        yield " " * 22 + "".join(f"{n:>5}" for n in range(len(names)))
        for n, row in enumerate(names):
            counts = [self.ran[frozenset((row, other))] if m > n else None for m, other in enumerate(names)]
            yield f"{n:>3} {row:<18}" + "".join("    ." if c is None else f"{c:>5}" for c in counts)
