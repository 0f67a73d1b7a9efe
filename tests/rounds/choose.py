"""Chooses the tests of the round of a minute and those that are slow, from what all tests took and covered.

    python -m tests.rounds.choose FOLDER

FOLDER has what `covered.py` wrote. The round of a minute has the tests that run the most lines of samhw in
the time there is, by the greedy rule for weighted cover (Chvatal 1979): the next test is the one that adds
the most new lines a second, as long as it fits. Slow are functions whose cases take more than half a second
on average.
"""

import argparse
import heapq
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

SMOKE, SLOW = (Path(__file__).with_name(f"{name}.txt") for name in ("smoke", "slow"))
"""The names of tests, and of functions of tests."""

QUICK = 0.5
"""Seconds that a case of a quick test takes at most, on average."""

OPENING = 0.05
"""Seconds that a file of tests costs by itself, since it is imported."""

LONGEST = 4.0
"""Seconds that one test may take: two workers should end at the same time."""


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

    def new(self, have: Mapping[str, int]) -> int:
        """How many of its lines are not there yet."""
        return sum((bits & ~have.get(file, 0)).bit_count() for file, bits in self.lines.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0, help="of one processor, for all of them")
    options = parser.parse_args()
    tests = list(_read(options.folder))
    _write(SMOKE, [test.name for test in _chosen(tests, options.seconds)])
    seconds: dict[str, list[float]] = {}
    for test in tests:
        seconds.setdefault(test.function, []).append(test.seconds)
    _write(SLOW, [name for name, of_cases in seconds.items() if mean(of_cases) > QUICK])
    print(f"quick: {sum(sum(s) for s in seconds.values() if mean(s) <= QUICK):.0f} s of one processor")


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


def _chosen(tests: list[Timed], seconds: float) -> Iterator[Timed]:
    have: dict[str, int] = {}
    opened: set[str] = set()

    def worth(test: Timed) -> float:
        return test.new(have) / _cost(test, opened)

    # What a test adds only shrinks, so that the one on top, if it is still worth most, is the best. That a
    # file is open makes its others cheaper: they are put in again.
    waiting = [(-worth(test), at) for at, test in enumerate(tests) if test.seconds <= LONGEST]
    heapq.heapify(waiting)
    taken: set[int] = set()
    while waiting:
        _, at = heapq.heappop(waiting)
        test = tests[at]
        now = worth(test)
        if at in taken or not now or _cost(test, opened) > seconds:
            continue
        if waiting and -waiting[0][0] > now:
            heapq.heappush(waiting, (-now, at))
            continue
        taken.add(at)
        seconds -= _cost(test, opened)
        for file, bits in test.lines.items():
            have[file] = have.get(file, 0) | bits
        if test.file not in opened:
            opened.add(test.file)
            for other, beside in enumerate(tests):
                if beside.file == test.file and beside.seconds <= LONGEST and other not in taken:
                    heapq.heappush(waiting, (-worth(beside), other))
        yield test
    print(f"{len(taken)} tests of {len(opened)} files, {sum(b.bit_count() for b in have.values()):,} lines")


def _cost(test: Timed, opened: set[str]) -> float:
    return test.seconds + 0.002 + OPENING * (test.file not in opened)


if __name__ == "__main__":
    main()
