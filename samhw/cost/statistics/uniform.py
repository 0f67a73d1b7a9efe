"""Statistics from shapes and numbers of entries alone.

Coordinates are taken to be spread evenly, and those of one tensor to tell nothing of another's (the uniform
estimator of Galley, finch-tensor).
"""

from collections.abc import Iterable, Mapping
from math import expm1, log1p, prod

from samhw.cost.statistics.statistics import Stock, TensorStatistics
from samhw.cost.statistics.support import (
    AllOf,
    AnyOf,
    Entries,
    Every,
    Onto,
    Relabelled,
    Shifted,
    Support,
    Thinned,
)

__all__ = ["UniformStatistics"]

Extents = Mapping[str, int]


class UniformStatistics(TensorStatistics):
    """Of tensors of which shape and number of entries are known."""

    kind = "uniform"

    def __init__(self, stocks: Mapping[str, Stock]):
        super().__init__()
        self._stocks = dict(stocks)
        self._known: dict[Support, tuple[float, Extents]] = {}

    @property
    def stocks(self) -> Mapping[str, Stock]:
        return self._stocks

    def _counted(self, support: Support) -> float:
        share, extents = self._share(support)
        return share * prod(map(float, extents.values()))

    def _share(self, support: Support) -> tuple[float, Extents]:
        """The share of all coordinates that a support has, and the extents of its indices."""
        if support not in self._known:
            self._known[support] = self._computed(support)
        return self._known[support]

    def _computed(self, support: Support) -> tuple[float, Extents]:
        match support:
            case Every(index, extent):
                return 1.0, {index: extent}
            case Entries(tensor, names, block):
                stock = self._stocks[tensor].in_blocks(block)
                size = prod(map(float, stock.shape))
                return min(1.0, stock.entries / max(size, 1.0)), dict(zip(names, stock.shape, strict=True))
            case AllOf(parts):
                shares = [self._share(part) for part in parts]
                return prod(share for share, _ in shares), _least(extents for _, extents in shares)
            case AnyOf(parts):
                return self._either(parts)
            case Onto(of, kept):
                return self._onto(of, kept)
            case Relabelled(of, names):
                share, extents = self._share(of)
                return share, {name: extents[inner] for inner, name in names}
            case Shifted(of, index, to, distance):
                share, extents = self._share(of)
                whole = extents[index] + distance
                moved = {to if i == index else i: n for i, n in extents.items()} | {to: whole}
                return share * extents[index] / max(whole, 1), moved
            case Thinned(of, share):
                before, extents = self._share(of)
                return before * share, extents
        raise TypeError(f"{support} is no support")

    def _either(self, parts: tuple[Support, ...]) -> tuple[float, Extents]:
        """A coordinate is missing where it is in none of the parts; parts of a concatenation do not meet."""
        found = [self._share(part) for part in parts]
        extents: dict[str, int] = {}
        for _, own in found:
            extents |= {index: max(extent, extents.get(index, 0)) for index, extent in own.items()}
        size = prod(map(float, extents.values()))
        shares = [min(1.0, s * prod(map(float, own.values())) / max(size, 1.0)) for s, own in found]
        if any(isinstance(part, Shifted) for part in parts):
            return min(1.0, sum(shares)), extents
        return 1.0 - prod(1.0 - share for share in shares), extents

    def _onto(self, of: Support, kept: frozenset[str]) -> tuple[float, Extents]:
        """What does not touch the indices that go stays; of all else, one coordinate of these is enough."""
        parts = of.parts if isinstance(of, AllOf) else (of,)
        stays = [self._share(part)[0] for part in parts if part.indices <= kept]
        goes = [self._share(part)[0] for part in parts if not part.indices <= kept]
        extents = self._share(of)[1]
        left_out = prod(float(n) for index, n in extents.items() if index not in kept)
        found = prod(stays) * _at_least_one(prod(goes), left_out)
        return found, {index: n for index, n in extents.items() if index in kept}


def _at_least_one(share: float, count: float) -> float:
    """How likely one of this many coordinates is there, each by itself with a probability."""
    if share >= 1.0:
        return 1.0 if count >= 1.0 else 0.0
    return -expm1(count * log1p(-share))


def _least(all_extents: Iterable[Extents]) -> Extents:
    found: dict[str, int] = {}
    for extents in all_extents:
        for index, extent in extents.items():
            found[index] = min(extent, found.get(index, extent))
    return found
