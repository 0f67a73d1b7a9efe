"""Chooses the tests of each round, from what all tests took and covered.

    python -m tests.rounds.choose FOLDER

FOLDER has what `covered.py` wrote. The round of a minute has the digests, and the tests that run the most
lines of samhw in the time that is left, by the greedy rule for weighted cover (Chvatal 1979): the next test
is the one that adds the most new lines a second, as long as it fits. A line counts again, for less, when a
second and a third test run it, since a test that runs a line need not see that it is wrong. Slow are
functions whose cases take more than half a second on average. Of their cases the whole suite runs those that
add lines to the others, by the same rule, and of every other function the cheapest case, if that is not
dear; all others are *deep*, for the nightly.
"""

import argparse
import heapq
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

SMOKE, SLOW, DEEP = (Path(__file__).with_name(f"{name}.txt") for name in ("smoke", "slow", "deep"))
"""The names of tests, of functions of tests, and of tests."""

ALWAYS = "tests/golden/test_digests.py"
"""Of the round of a minute whatever it covers: its tests see a change of nearly any line that they run."""

QUICK = 0.5
"""Seconds that a case of a quick test takes at most, on average."""

OPENING = 0.05
"""Seconds that a file of tests costs by itself, since it is imported."""

LONGEST = 4.0
"""Seconds that one test of the round of a minute may take: two workers should end at the same time."""

AGAIN = (1.0, 0.25, 0.1)
"""What a line counts for the first, the second and the third test of the round of a minute."""

WORTH = 1.0
"""New lines a second for which the whole suite takes a slow case."""

CHEAP = {"tests/agreement/": 40.0, "tests/test_architecture.py": 10.0, "": 4.0}
"""Seconds that the cheapest case of a function may take that adds no lines, by the beginning of its name: the
agreement of backends is no matter of lines."""


@dataclass(frozen=True)
class Timed:
    """A test, the seconds that it took, and by file a bit for each line that it ran."""

    name: str
    seconds: float
    lines: Mapping[str, int]

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]

    @property
    def function(self) -> str:
        return self.name.partition("[")[0]


class Cover:
    """The lines that tests run.

    Args:
        weights: what a line counts for the first test that runs it, for the second one, and so on; none is
            more than the one before.
    """

    def __init__(self, *weights: float) -> None:
        self.weights = weights
        self.levels: list[dict[str, int]] = [{} for _ in weights]
        """Which lines this many tests and one more have run."""

    def worth(self, test: Timed) -> float:
        """What the lines of a test would count."""
        return sum(
            weight * new.bit_count()
            for file, bits in test.lines.items()
            for weight, new in zip(self.weights, self._new(file, bits), strict=True)
        )

    def add(self, test: Timed) -> None:
        for file, bits in test.lines.items():
            for level, new in zip(self.levels, list(self._new(file, bits)), strict=True):
                level[file] = level.get(file, 0) | new

    def lines(self) -> int:
        """How many lines any test runs."""
        return sum(bits.bit_count() for bits in self.levels[0].values())

    def _new(self, file: str, bits: int) -> Iterator[int]:
        """The lines of a test that are new at each level: those that it has at the level before."""
        for level in self.levels:
            have = level.get(file, 0)
            yield bits & ~have
            bits &= have


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--seconds", type=float, default=65.0, help="of the round of a minute, without imports"
    )
    options = parser.parse_args()
    tests = list(_read(options.folder))
    cheap = [test for test in tests if test.seconds <= LONGEST]
    always = [test for test in tests if test.file == ALWAYS]
    cover = Cover(*AGAIN)
    for test in always:
        cover.add(test)
    left = options.seconds - sum(test.seconds for test in always)
    others = _chosen([test for test in cheap if test not in always], left, cover)
    _write(SMOKE, [test.name for test in (*always, *others)])
    seconds: dict[str, list[float]] = {}
    for test in tests:
        seconds.setdefault(test.function, []).append(test.seconds)
    slow = [name for name, of_cases in seconds.items() if mean(of_cases) > QUICK]
    ran = {test.name for test in tests}
    _write(SLOW, {*slow, *(listed(SLOW) - seconds.keys())})
    deep = _deep(tests, frozenset(slow))
    # FOLDER need not have what is deep already.
    _write(DEEP, deep | (listed(DEEP) - ran))
    quick = sum(test.seconds for test in tests if test.function not in slow)
    whole = sum(test.seconds for test in tests if test.name not in deep)
    print(f"quick: {quick:.0f} s of one processor; whole suite: {whole:.0f} s")


def listed(file: Path) -> frozenset[str]:
    """The names that a list has."""
    return frozenset(file.read_text(encoding="utf-8").splitlines())


def _write(file: Path, names: Iterable[str]) -> None:
    file.write_text("".join(f"{name}\n" for name in sorted(names)), encoding="utf-8")


def _read(folder: Path) -> Iterator[Timed]:
    for path in sorted(folder.glob("*.jsonl")):
        for row in path.read_text(encoding="utf-8").splitlines():
            test = json.loads(row)
            lines = {file: int(bits, 16) for file, bits in test["lines"].items()}
            yield Timed(test["test"], test["seconds"], lines)


def _deep(tests: list[Timed], slow: frozenset[str]) -> frozenset[str]:
    """The cases of slow tests that only the nightly runs."""
    cover = Cover(1.0)
    for test in tests:
        if test.function not in slow:
            cover.add(test)
    cases = sorted((test for test in tests if test.function in slow), key=lambda test: test.seconds)
    kept = list(_chosen(cases, math.inf, cover, WORTH))
    served = {test.function for test in kept}
    for test in cases:
        most = next(seconds for begin, seconds in CHEAP.items() if test.name.startswith(begin))
        if test.seconds <= most and test.function not in served:
            served.add(test.function)
            kept.append(test)
    return frozenset(test.name for test in cases).difference(test.name for test in kept)


def _chosen(tests: list[Timed], seconds: float, cover: Cover, least: float = 0.0) -> Iterator[Timed]:
    """The tests that add the most to the lines that are there, in that many seconds, at least that many a
    second."""
    opened: set[str] = set()

    def worth(test: Timed) -> float:
        return cover.worth(test) / _cost(test, opened)

    # What a test adds only shrinks, so that the one on top, if it is still worth most, is the best. That a
    # file is open makes its others cheaper: they are put in again.
    waiting = [(-worth(test), at) for at, test in enumerate(tests)]
    heapq.heapify(waiting)
    taken: set[int] = set()
    while waiting:
        _, at = heapq.heappop(waiting)
        test = tests[at]
        now = worth(test)
        if at in taken or now <= least or _cost(test, opened) > seconds:
            continue
        if waiting and -waiting[0][0] > now:
            heapq.heappush(waiting, (-now, at))
            continue
        taken.add(at)
        seconds -= _cost(test, opened)
        cover.add(test)
        if test.file not in opened:
            opened.add(test.file)
            for other, beside in enumerate(tests):
                if beside.file == test.file and other not in taken:
                    heapq.heappush(waiting, (-worth(beside), other))
        yield test
    print(f"{len(taken)} tests of {len(opened)} files, {cover.lines():,} lines")


def _cost(test: Timed, opened: set[str]) -> float:
    return test.seconds + 0.002 + OPENING * (test.file not in opened)


if __name__ == "__main__":
    main()
