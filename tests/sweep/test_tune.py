"""Tuning: what is simulated of what was found, what is best of it, and the command from end to end."""

import json
import tomllib
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import samhw
from samhw.app.checking import Verdict
from samhw.app.checking.types_search import TunedTypes, tune_types
from samhw.app.cli import main
from samhw.app.report.plots import plot_tuned
from samhw.app.report.tune_page import tune_results
from samhw.app.sweep.tuning import OBJECTIVES, Trial, Tuned, cost_of, search, shortlist, written_one
from samhw.app.workload import Workload, bind_program
from samhw.choices.schedule import Schedule
from samhw.compiler.search.explore import Explored
from samhw.errors import InputError
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.tensors import Tensor
from tests.support.command import good


def explored(cycles: float, luts: float, *, written: bool = False) -> Explored:
    return Explored(Schedule(fuse=[[f"T{cycles:.0f}"]]), cycles, luts, 1, written)


FAST, SMALL, WRITTEN, WORSE = (
    explored(10, 50),
    explored(40, 20),
    explored(30, 30, written=True),
    explored(50, 60),
)
FOUND = [FAST, WRITTEN, SMALL, WORSE]
RIGHT = Verdict.RIGHT


def test_what_is_simulated() -> None:
    assert written_one(FOUND) is WRITTEN
    assert written_one([FAST]) is FAST
    assert shortlist(FOUND, 1) == [WRITTEN, FAST]
    # The front of cycles and LUTs, too; what is worse in both is not.
    assert shortlist(FOUND, 3) == [WRITTEN, FAST, SMALL]


def test_what_is_best() -> None:
    trials = tuple(Trial(found, round(found.cycles), RIGHT) for found in (WRITTEN, FAST, SMALL, WORSE))
    assert Tuned("data", trials, 4, "cycles").best.found is FAST
    assert Tuned("data", trials, 4, "area-delay").best.found is FAST
    large = (*trials[:1], Trial(replace(FAST, share=1.01), 10, RIGHT), *trials[2:])
    assert Tuned("data", large, 4, "cycles").best.found is WRITTEN
    assert [trial.found for trial in Tuned("data", trials, 4, "cycles").front] == [FAST, WRITTEN, SMALL]
    assert cost_of("cycles")(replace(FAST, share=1.01)) > cost_of("cycles")(replace(SMALL, cycles=1e9))
    assert cost_of("cycles")(replace(FAST, share=2)) > cost_of("cycles")(replace(WORSE, share=1.5))
    wrong = (trials[0], Trial(FAST, 10, Verdict.WRONG), *trials[2:])
    assert Tuned("data", wrong, 4, "cycles").best.found is WRITTEN


def test_a_result_is_told_by_its_verdict() -> None:
    trials = (
        Trial(WRITTEN, 30, RIGHT),
        Trial(FAST, 10, Verdict.PLAUSIBLE, 20),
        Trial(SMALL, 40, Verdict.WRONG),
    )
    tuned = Tuned("data", trials, 4, "cycles")
    titles, *rows = tuned.grid()
    told = {row[0]: row[titles.index("status")] for row in rows}
    assert told == {"30": "right", "10": "plausible, 20 unproved", "40": "WRONG"}
    assert [(one["status"], one["checked"]) for one in tuned.to_json()["trials"]] == [
        *(("right", True), ("plausible", True), ("wrong", False))
    ]
    assert repr(tuned) == "<Tuned on data for cycles: best 10 cycles, 50 LUTs; 3 of 4 designs simulated>"
    assert len(str(tuned).splitlines()) == tuned._repr_html_().count("<tr>") == 4


def test_a_front_is_called_by_its_quantities() -> None:
    trials = (Trial(WRITTEN, 30, RIGHT, energy=5.0), Trial(SMALL, 40, RIGHT, energy=9.0))
    for objective, of in (
        ("cycles", "LUTs"),
        ("area-delay", "LUTs"),
        ("energy", "energy"),
        ("edp", "energy"),
    ):
        tuned = Tuned("data", trials, 2, objective)
        titles, written, small = tuned.grid()
        place = titles.index(f"front of cycles and {of}")
        assert (written[place], small[place]) == ("yes", "yes" if of == "LUTs" else "")
        assert plot_tuned(tuned).axes[0].get_title() == f"cycles and {of} of 2 schedules on data"
        simulated = tune_results("p", tuned).stats[-1]
        assert simulated.note.endswith(f"on the Pareto front of cycles and {of}")


def test_the_file_says_what_was_guessed() -> None:
    guessed = replace(FAST, caveat="without alu sine, which have not been measured")
    tuned = Tuned("data", (Trial(WRITTEN, 30, RIGHT), Trial(guessed, 10, RIGHT)), 4, "cycles")
    assert "# LUTs: without alu sine, which have not been measured.\n" in tuned.dumps("samhw tune p")
    assert "# LUTs" not in Tuned("data", (Trial(WRITTEN, 30, RIGHT),), 1, "cycles").dumps("samhw tune p")


def test_the_command(tmp_path: Path) -> None:
    output, plot = tmp_path / "tuned.toml", tmp_path / "tuned.svg"
    arguments = ["tune", "sae", "--budget", "4", "--confirm", "2", "-o", str(output), "--jobs", "1"]
    found = CliRunner().invoke(main, [*arguments, "--plot", str(plot), "--json", "-"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    written, best = told["trials"][0], told["best"]
    assert best["cycles"] < 0.6 * written["cycles"]
    text = output.read_text(encoding="utf-8")
    assert text.startswith("# Found by: samhw tune sae --budget 4")
    assert f"{best['cycles']:,} cycles" in text
    assert Schedule.from_fields(tomllib.loads(text)).to_json() == best["schedule"]
    assert "<svg" in plot.read_text(encoding="utf-8")
    run = CliRunner().invoke(main, ["run", "sae", "--schedule", str(output), "--json", "-"])
    assert json.loads(run.stdout)["cycles"] == best["cycles"]
    # What was simulated is not simulated again.
    journal = output.with_name("tuned.csv.journal")
    lines = journal.read_text(encoding="utf-8").count("\n")
    again = CliRunner().invoke(main, arguments)
    assert again.exit_code == 0
    assert "best" in again.stdout
    assert journal.read_text(encoding="utf-8").count("\n") <= lines + 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--budget", "0"], "give more than 0"),
        (["--area", "nodes=5"], "as in luts=20000"),
        (["-o", "-"], "give a file"),
    ],
)
def test_what_is_refused(tmp_path: Path, options: list[str], message: str) -> None:
    output = [] if "-o" in options else ["-o", str(tmp_path / "s.toml")]
    found = CliRunner().invoke(main, ["tune", "spmv", *output, *options])
    assert found.exit_code == 2
    assert message in found.stderr


def test_python() -> None:
    design = samhw.compile("T[i,l] = A[i,k] * X[k,l]\nY[i,j] = T[i,l] * W[l,j]")
    rng = np.random.default_rng(0)
    data = {"A": rng.random((9, 9)), "X": rng.random((9, 9)), "W": rng.random((9, 2))}
    before = design.run(data).cycles
    tuned = design.tune(data, budget=2, confirm=1)
    result = design.run(data)
    assert result.cycles == tuned.best.cycles < before == tuned.written.cycles
    np.testing.assert_allclose(result["Y"], data["A"] @ data["X"] @ data["W"], rtol=1e-5)
    frugal = design.tune(data, budget=2, confirm=1, objective="energy")
    assert 0 < frugal.best.energy <= frugal.written.energy
    assert frugal.best.found.energy == min(trial.found.energy for trial in frugal.trials) > 0
    assert f"{frugal.best.energy / 1e3:,.1f} nJ" in frugal.dumps("design.tune")


def test_command_and_python_simulate_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within an area lanes are tried unasked. Time is counted in schedules here, so that both have as much of
    it."""
    text, area, confirm = "tensor A[i,k] : csr\nP[i,l] = A[i,k] * X[k,l]", "luts=30000", 2
    rng = np.random.default_rng(0)
    data = {name: rng.random(shape) for name, shape in (("A", (40, 9)), ("X", (9, 4)))}
    data["A"] *= rng.random((40, 9)) < 0.5
    for name, array in data.items():
        np.save(tmp_path / f"{name}.npy", array)

    def slowly() -> None:
        monkeypatch.setattr("samhw.compiler.search.explore.monotonic", count().__next__)

    slowly()
    files = [word for name in data for word in ("--data", f"{name}={tmp_path / name}.npy")]
    limits = ["--budget", "40", "--area", area, "--confirm", str(confirm), "--jobs", "1"]
    words = ["tune", text, *files, *limits, "-o", str(tmp_path / "s.toml"), "--json", "-"]
    told = json.loads(CliRunner().invoke(main, words, catch_exceptions=False).stdout)
    slowly()
    tuned = samhw.compile(text).tune(data, budget=40, area=area, confirm=confirm)
    assert tuned.to_json()["trials"] == told["trials"]
    assert "lanes" in tuned.best.found.schedule.to_json()


PRODUCT = "tensor A[i, k]\ntensor X[k, j]\nT[i, j] = A[i, k] * X[k, j]\n"


def typed(value: str, limit: float, objective: str = "bytes", **arrays: np.ndarray) -> TunedTypes:
    tensors = {name: Tensor.from_dense(array, "dense") for name, array in arrays.items()}
    program = parse(PRODUCT).bind({name: tensor.shape for name, tensor in tensors.items()})
    workload = Workload("data", program, tensors)
    kind = value_type(value)
    return tune_types(workload, Schedule(), value=kind, limit=limit, objective=objective, seconds=60)


def test_types_that_lose_nothing() -> None:
    """Powers of two are numbers of f8e4m3; odd numbers below 256 of bf16, and of nothing narrower; their
    products and sums are numbers of f32 alone."""
    rng = np.random.default_rng(0)
    a, x = 2.0 ** rng.integers(0, 3, (4, 6)), 2 * rng.integers(64, 128, (6, 5)) + 1.0
    found = typed("f32", 1e-5, A=a, X=x)
    assert found.types == {"A": value_type("f8e4m3"), "X": value_type("bf16")}
    assert found.best.measured == 0 < found.proved
    # What is simulated lies where the bounds say.
    simulated = [point for point in found.points if point.measured is not None]
    assert len(simulated) == found.simulated
    assert all(point.least <= point.error <= point.most for point in simulated)
    # Of a front both fall.
    errors, prices = zip(*((point.error, point.bytes) for point in found.front), strict=True)
    assert list(errors) == sorted(errors)
    assert list(prices) == sorted(prices, reverse=True)
    larger = typed("f32", 1e-2, A=a, X=x)
    assert larger.best.bytes < found.best.bytes
    assert found.best.error <= 1e-5 < larger.best.error <= 1e-2


def test_integers_that_fit() -> None:
    """Sums to 40,000 leave i16."""
    found = typed("i32", 0.0, A=np.full((3, 4), 10), X=np.full((4, 5), 1000))
    assert found.types == {"A": value_type("i8"), "X": value_type("i16")}
    assert found.best.error == 0


def test_the_search_for_types_as_a_command(tmp_path: Path) -> None:
    output, page, plot = tmp_path / "typed.ein", tmp_path / "page", tmp_path / "front.svg"
    words = ["tune", "spmm", "--data", "karate", "--value", "f32", "--error", "1e-2", "--objective", "area"]
    shown = ["--plot", str(plot), "--report", str(page), "-o", str(output)]
    done = CliRunner().invoke(main, [*words, *shown, "--json", str(tmp_path / "found.json")])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "found.json").read_text())
    best = found["best"]
    assert best["types"]
    assert best["measured_error"] <= 1e-2
    assert sum(point["front"] for point in found["points"]) >= 2
    assert "Pareto front" in plot.read_text()
    assert "types for an error of 0.01" in (page / "index.html").read_text()
    assert best["luts"] < found["points"][0]["luts"]
    assert f"with --types '{','.join(f'{n}={k}' for n, k in best['types'].items())}'" in done.output
    run = CliRunner().invoke(main, ["run", str(output), "--data", "karate", "--json", "-"])
    assert json.loads(run.stdout)["checked"]
    # What was simulated has the cycles of that run, and not those that were expected.
    assert json.loads(run.stdout)["cycles"] == best["cycles"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--objective", "area"], "--objective area is for a search of types; add '--error 1e-3'."),
        (["--error", "1", "--objective", "edp"], "with --error give area, cycles, bytes."),
        (["--error", "1", "--lanes", "auto"], "--error searches types on this machine"),
        (["--error", "1", "--value", "f8e4m3"], "There are no narrower types beside f8e4m3"),
    ],
)
def test_what_a_search_for_types_refuses(tmp_path: Path, options: list[str], sentence: str) -> None:
    done = CliRunner().invoke(main, ["tune", "spmm", "-o", str(tmp_path / "x"), *options])
    assert done.exit_code == 2
    assert sentence in done.output


def test_types_from_python() -> None:
    design = samhw.compile(PRODUCT, value="f32")
    data = {"A": np.eye(3), "X": np.full((3, 2), 0.5)}
    found = design.tune_types(data, error=0.0, objective="bytes")
    assert repr(found).startswith(f"<TunedTypes on {found.data}: best {found.best.said}, error 0, about ")
    assert len(str(found).splitlines()) == found._repr_html_().count("<tr>") == 1 + len(found.points)
    assert found.best.error == 0
    typed = samhw.compile(PRODUCT, value="f32", types=found.types).run(data)
    np.testing.assert_array_equal(typed["T"], np.full((3, 2), 0.5))
    assert set(found.types.values()) == {value_type("f8e4m3")}
    with pytest.raises(InputError, match="There is no objective 'luts'; give area or cycles or bytes"):
        design.tune_types(data, error=0.0, objective="luts")


def test_every_objective_looks_at_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    """They cost energy and save cycles alone, so that a search for energy has looked at some and takes
    none."""
    for objective in OBJECTIVES:
        monkeypatch.setattr("samhw.compiler.search.explore.monotonic", count().__next__)
        workload = bind_program("gcn", ["karate"])
        found, _ = search(workload, Schedule(), 80, objective, confirm=1000)
        assert any(one.schedule.queues for one in found)
        if objective == "energy":
            assert not found[1].schedule.queues
            assert found[1].energy == min(one.energy for one in found)


def test_types_are_judged_on_the_data_that_are_given_and_what_is_random_is_named(tmp_path: Path) -> None:
    features = tmp_path / "x.npy"
    np.save(features, np.random.default_rng(0).normal(size=(34, 5)))
    options = ("--value", "f32", "--error", "1e-2", "--budget", "9", "-o", tmp_path / "n.ein")
    mixed = good("tune", "spmm", "--data", "karate", *options).stdout
    assert mixed.startswith("spmm on karate, X random: types for an error of 0.01")
    own = good("tune", "spmm", "--data", "karate", "--data", f"X={features}", *options).stdout
    assert own.startswith("spmm on karate+X=x.npy: types for")
    assert good("tune", "gcn", *options).stdout.startswith("gcn on karate, X, W1, b1, W2, b2 random: types")


def test_a_search_takes_the_data_of_the_last_run() -> None:
    rng = np.random.default_rng(0)
    design = samhw.compile("T[i, j] = A[i, k] * X[k, j]", value="f32")
    given = {"A": rng.normal(size=(6, 6)), "X": rng.normal(size=(6, 4))}
    with pytest.raises(InputError, match="lacks data for A, X"):
        design.tune_types(error=1e-2)
    design.run(given)
    assert str(design.tune_types(error=1e-2)) == str(design.tune_types(given, error=1e-2))
    assert design.tune(budget=1, confirm=1).on == "data"
