"""What limits a run, ranked, and what helps: each command that is printed takes the cycles that it promises,
and no two parts of samhw contradict each other."""

import json
import re
import shlex
from pathlib import Path

import pytest

from samhw.app.checking import Verdict
from samhw.app.checking.advice import Advice
from samhw.app.sweep.tuning import Trial, Tuned
from samhw.choices.schedule import Schedule
from samhw.compiler.search.explore import Explored
from tests.support.command import good, report, samhw

GCN = ("run", "gcn", "--data", "karate", "--fuse", "none")


def test_each_command_takes_what_it_promises(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    output = good(*GCN, "--advise", "--json", path).output
    told = json.loads(path.read_text())
    found = re.findall(r"advice +([\d,]+) cycles instead of ([\d,]+).*\n +samhw (.*)\n", output)
    assert len(found) == len(told["advice"]["found"]) >= 2
    cycles = [int(promised.replace(",", "")) for promised, _, _ in found]
    assert cycles == sorted(cycles)
    for promised, (_, before, command), one in zip(cycles, found, told["advice"]["found"], strict=True):
        assert int(before.replace(",", "")) == told["cycles"] > promised
        words = shlex.split(command)
        assert words[: len(GCN) - 2] == list(GCN[:-2])
        assert not {"--advise", "--json"} & set(words)
        again = report(*words)
        assert (again["cycles"], again["checked"]) == (promised, True) == (one["cycles"], True)


def test_the_longest_come_first_and_equal_ones_are_named() -> None:
    told = report(*GCN)
    names = [one["region"] for one in told["limits"]]
    assert len(names) == 5
    by_cycles = sorted(told["regions"], key=lambda region: -region["cycles"])
    assert names == [region["name"] for region in by_cycles[:5]]
    (alone,) = report("run", "spmm", "--data", "karate")["regions"]
    limits = report("run", "spmm", "--data", "karate")["limits"]
    assert [one["node"] for one in limits][:2] == ["reduce_vector_t0", "scan_dense_X_j"]
    assert limits[0]["cycles"] == alone["cycles"]
    program = "S[i, j] = A[i, j] + A[i, j]\nR[i, j] = A[i, j] + A[i, j]"
    equal = report("run", program, "--data", "random", "--fuse", "none")
    assert "text_0 takes" in equal["limit"]
    assert "text_1 takes" in equal["limit"]


def test_no_region_is_above_its_own_roof() -> None:
    for words in (GCN, ("run", "spmm", "--lanes", "i=4"), ("run", "mlp", "--fuse", "none")):
        for region in report(*words)["regions"]:
            roof, operations = region["roof"], region["operations"]
            assert (roof["reached"] is None) == (operations == 0)
            if operations:
                rate = operations / region["cycles"]
                most = min(roof["operations"], operations / region["bytes"] * roof["bytes"])
                assert 0 < roof["reached"] == pytest.approx(rate / most)
                assert roof["reached"] <= 1


def test_advice_about_brackets_is_true() -> None:
    """A note says what an option brings, and the option is expected to bring it."""
    words = ("run", "T[i, l] = A[i, j] * B[j, k] * C[k, l]", "--data", "random:i=30,j=30,k=30,l=2")
    result = samhw(*words)
    note = re.search(r"note: (--brackets '.*') is expected to take .* about ([\d,]+) cycles", result.stderr)
    assert note is not None
    option, text = shlex.split(note[1])
    with_them, without = report(*words, option, text), report(*words)
    assert with_them["cycles"] < without["cycles"]
    assert with_them["cycles"] == pytest.approx(int(note[2].replace(",", "")), rel=0.05)


def trial(cycles: int, luts: float, verdict: Verdict = Verdict.RIGHT, share: float = 0.0) -> Trial:
    return Trial(Explored(Schedule(), float(cycles), luts, 1, share=share), cycles, verdict)


def test_the_best_is_on_its_front() -> None:
    trials = (trial(5019, 20483), trial(5019, 20451), trial(6000, 100), trial(4000, 10, Verdict.UNPROVED))
    for objective in ("cycles", "area-delay"):
        tuned = Tuned("data", trials, 4, objective)
        assert tuned.best in tuned.front
        assert trials[3] not in tuned.front
    assert Tuned("data", trials, 4, "cycles").best is trials[1]
    small = (trial(5000, 200), trial(100, 100, share=1.5))
    assert Tuned("data", small, 2, "cycles").front == [small[0]]


def test_options_of_flags_have_no_words() -> None:
    assert Advice({"permute": "True", "lanes": "i=2"}, 1, 1.0).options == ["--lanes", "i=2", "--permute"]
    assert Advice({"permute": "False"}, 1, 1.0).options == ["--no-permute"]
