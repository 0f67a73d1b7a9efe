"""Draws programs that mix features in pairs, runs them, and holds them against the oracle.

python -m tests.seams --programs 10000 --jobs 2
python -m tests.seams --seed 123
"""

import argparse
import signal
import sys
import traceback
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import chain, islice
from itertools import count as counting
from multiprocessing import Pool
from time import monotonic

from samhw.errors import InputError
from tests.seams.case import Case
from tests.seams.draw import PAIRS, draw, pair_of
from tests.seams.matrix import Matrix
from tests.seams.off_chip import Placed
from tests.seams.run import FAULTS, Outcome, OutOfTime, run_case
from tests.seams.shrink import cause, shrunk

SECONDS = 60
"""Of a processor that a case may take."""

WAITING = 10
"""How many times as long it may take by the clock: other work may have the processor, or nothing happens."""

TRIES = 4
"""How many cases of its pair a seed has, as long as they are refused."""

TURNS, ROUNDS = 10, 5
"""How often a rare pair is drawn before all are counted again, and how often they are counted."""

AGAIN = 1_000_000 * len(PAIRS)
"""From a seed to the next one of its pair."""


def _ring(*_: object) -> None:
    raise OutOfTime


_CLOCKS = ((signal.SIGPROF, signal.ITIMER_PROF, 1), (signal.SIGALRM, signal.ITIMER_REAL, WAITING))


def timed(case: Case, backend: str | None = None, seconds: int = SECONDS) -> Outcome:
    """Runs a case for so long at most."""
    for number, clock, times in _CLOCKS:
        signal.signal(number, _ring)
        signal.setitimer(clock, times * seconds)
    try:
        return run_case(case, backend)
    except OutOfTime:
        return Outcome("timeout", f"more than {seconds} s", features=frozenset(case.wanted))
    finally:
        for _, clock, _ in _CLOCKS:
            signal.setitimer(clock, 0)


def run_seed(job: tuple[int, str | None]) -> list[tuple[int, Outcome]]:
    """What becomes of the case of a seed; where it is refused, also of a few more of the same pair."""
    seed, backend = job
    found: list[tuple[int, Outcome]] = []
    for n in range(TRIES):
        own = seed + n * AGAIN
        found.append((own, _outcome(own, backend)))
        if found[-1][1].kind != "refused":
            break
    return found


def _outcome(seed: int, backend: str | None) -> Outcome:
    try:
        return timed(draw(seed), backend, 600 if backend else SECONDS)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome("generator", f"{type(error).__name__}: {error}", f"{frame.name}:{frame.lineno}")


def ends(jobs: list[tuple[int, str | None]], workers: int) -> Iterator[tuple[int, Outcome]]:
    """What becomes of cases, as they end."""
    with Pool(workers, maxtasksperchild=500) as pool:
        for found in pool.imap_unordered(run_seed, jobs, chunksize=1 if jobs[0][1] else 10):
            yield from found


def say(case: Case, outcome: Outcome) -> None:
    print(f"{outcome.kind}: {outcome.message} {outcome.place}")
    print(case.snippet())
    if "off chip" in case.faces:
        with suppress(InputError):
            print(f"# tensors lie in {Placed.of(case)}")
    if case.faces:
        print(f"# with {', '.join(sorted(case.faces))}; a second run has the data {case.other}")
    print(flush=True)


def main() -> int:
    """Exits with 1 for a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.seams", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many run in the simulator")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--rtl", type=int, default=0, help="how many run as RTL too, from the first seed on")
    parser.add_argument("--engines", type=int, default=0, help="how many run in both engines too")
    parser.add_argument("--hls", type=int, default=0, help="how many run as HLS too")
    parser.add_argument("--modules", type=int, default=0, help="how many modules of PyTorch run besides")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument(
        "--with",
        dest="features",
        action="append",
        choices=sorted({name for pair in PAIRS for name in pair}),
        metavar="FEATURE",
        help="only pairs with this feature, or one of several",
    )
    parser.add_argument("--pairs", action="store_true", help="print the matrix of pairs")
    parser.add_argument("--seed", type=int, help="run one case alone, and print it")
    chosen = parser.parse_args()
    if chosen.seed is not None:
        case = draw(chosen.seed)
        outcome = timed(case)
        say(case, outcome)
        print(", ".join(sorted(outcome.features)))
        return outcome.kind in FAULTS
    seeds = seeds_with(chosen.features, chosen.first)
    jobs: list[tuple[int, str | None]] = [(seed, None) for seed in islice(seeds, chosen.programs)]
    faults = simulate(jobs, chosen.jobs, is_full=chosen.pairs) if jobs else 0
    for backend, number in (("engines", chosen.engines), ("verilator", chosen.rtl), ("hls", chosen.hls)):
        seeds = seeds_with(chosen.features, chosen.first)
        faults += build([(seed, backend) for seed in islice(seeds, TRIES * number)], number, chosen.jobs)
    return faults + import_modules(chosen.modules) > 0


def seeds_with(features: Collection[str] | None, first: int) -> Iterator[int]:
    """From a seed on, those whose pairs have one of these features; all without any."""
    return (seed for seed in counting(first) if features is None or not {*pair_of(seed)}.isdisjoint(features))


def import_modules(count: int) -> int:
    """Runs modules of PyTorch; gives how many have a fault."""
    if not count:
        return 0
    from tests.seams.modules import run_module  # PyTorch takes seconds to come.

    kinds: Counter[str] = Counter()
    for seed in range(count):
        outcome = run_module(seed)
        kinds[outcome.kind] += 1
        if outcome.kind in FAULTS:
            print(f"module {seed}: {outcome.kind}: {outcome.message}", flush=True)
    print(f"{count} modules of PyTorch: {dict(kinds)}")
    return sum(kinds[kind] for kind in FAULTS)


def simulate(jobs: list[tuple[int, str | None]], workers: int, *, is_full: bool) -> int:
    """Runs cases in the simulator and prints what they tell; gives how many have a fault."""
    matrix = Matrix()
    faults: defaultdict[tuple[str, str, str], list[tuple[int, Outcome]]] = defaultdict(list)
    told = begin = monotonic()
    found = ends(jobs, workers)
    if is_full:
        found = chain(found, rare_ends(matrix, jobs[-1][0] + 1, workers))
    for number, (seed, outcome) in enumerate(found, 1):
        matrix.add(outcome)
        if outcome.kind in FAULTS:
            faults[cause(outcome)].append((seed, outcome))
            print(f"seed {seed}: {outcome.kind}: {outcome.message[:200]} {outcome.place}", flush=True)
        if monotonic() - told > 30:
            told = monotonic()
            print(f"{number:,} cases, {dict(matrix.kinds)}, {told - begin:.0f} s", flush=True)
    print_faults(faults)
    rare, refused = matrix.rare(), matrix.refused()
    if is_full:
        print("\n".join(matrix.lines()))
    print(f"{len(PAIRS)} pairs, of which {len(rare)} came less than 20 times: {rare[:20]}")
    print(f"{len(refused)} pairs are refused always ({len(refused) / len(PAIRS):.1%}):")
    for (a, b), sentence in refused:
        print(f"  {a}, {b}: {sentence}")
    print(dict(matrix.kinds))
    return sum(map(len, faults.values()))


def rare_ends(matrix: Matrix, first: int, workers: int) -> Iterator[tuple[int, Outcome]]:
    """Further cases of the pairs that have come too rarely, from a seed on, until there is none."""
    for round in range(ROUNDS):
        rare = set(matrix.rare())
        begin = first + round * TURNS * len(PAIRS)
        seeds = range(begin, begin + TURNS * len(PAIRS))
        if jobs := [(seed, None) for seed in seeds if pair_of(seed) in rare]:
            yield from ends(jobs, workers)


def print_faults(faults: dict[tuple[str, str, str], list[tuple[int, Outcome]]]) -> None:
    """Each kind of fault with the seeds that show it, and its smallest example."""
    for key, found in sorted(faults.items(), key=lambda item: -len(item[1])):
        print(f"== {key}, {len(found)} cases, seeds {[seed for seed, _ in found][:12]}")
        for seed, outcome in found[: 6 if key[0] == "wrong" else 1]:
            if key[0] == "generator":
                continue
            small = shrunk(draw(seed), outcome, run=timed)
            print(f"-- seed {seed}")
            say(small, timed(small))


def build(jobs: list[tuple[int, str | None]], count: int, workers: int) -> int:
    """Runs this many cases on a backend of hardware, or as many as are not refused, at difference 0."""
    faults = done = 0
    if not count:
        return 0
    backend = jobs[0][1]
    for seed, outcome in ends(jobs, workers):
        done += outcome.kind == "right"
        if outcome.kind in FAULTS:
            faults += 1
            print(f"-- seed {seed}")
            say(draw(seed), outcome)
        if not done % 20 and outcome.kind == "right":
            print(f"{backend}: {done} cases at difference 0, {faults} faults so far", flush=True)
        if done == count:
            break
    print(f"{backend}: {done} cases at difference 0, {faults} faults")
    return faults


if __name__ == "__main__":
    sys.exit(main())
