"""What the comparison with the reference takes for right, and what it says about what it cannot prove."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import samhw
from samhw.app.checking import Check, Verdict
from samhw.app.checking.check_run import check
from samhw.app.cli import main
from samhw.app.sweep.configuration import Configuration
from samhw.app.sweep.outcome import is_outcome, outcome
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.targets.backends import run
from samhw.tensors import Tensor

# In f32 the product is rounded and equal to e; NumPy's, in double precision, is not.
EQUAL = "tensor c[i=3]\ntensor d[i=3]\ntensor e[i=3]\ny[i] = eq(c[i] * d[i], e[i])\n"
C = np.full(3, 0.1, np.float32)
D = np.array([0.3, 0.6, 0.7], np.float32)
ARRAYS = {"c": C, "d": D, "e": C * D}


def found(text: str, arrays: dict[str, np.ndarray], result: list[float] | None = None) -> Check:
    """The check of a result y; else of the simulator's."""
    program = parse(text)
    tensors = {name: Tensor.from_dense(array, "dense") for name, array in arrays.items()}
    work = Workload("check", program, tensors)
    compiled = compile_workload(work, value=value_type("f32"))
    outputs = (
        {"y": Tensor.from_dense(np.array(result), "dense")} if result else run(compiled, tensors).outputs
    )
    return check(work, compiled, outputs)


def test_a_nan_is_infinitely_far_from_a_number() -> None:
    text = "tensor a[i=2]\ny[i] = a[i] + 1\n"
    seen = found(text, {"a": np.array([1.0, 2.0])}, [np.nan, 3.0])
    assert not seen.good
    assert seen.max_abs_error == np.inf


def test_a_number_is_not_right_where_nan_is_expected() -> None:
    text = "tensor a[i=2]\ny[i] = log(a[i])\n"
    assert found(text, {"a": np.array([-1.0, 1.0])}).good
    assert not found(text, {"a": np.array([-1.0, 1.0])}, [0.0, 0.0]).good


def test_what_passes_by_a_bound_that_proves_nothing_is_counted() -> None:
    """Whether the product is equal is open within its rounding, so that 0 and 1 are both right."""
    assert found(EQUAL, ARRAYS) == Check(1, 1, unproved=3, tensors={"y": Verdict.UNPROVED}, region_error=1)
    assert found(EQUAL, ARRAYS, [0, 1, 0]).unproved == 1
    assert found(EQUAL, ARRAYS, [0, 0, 0]).unproved == 0


def test_what_is_proved_beside_it_makes_a_tensor_plausible() -> None:
    """Whether the first of three products is equal is open within its rounding; the others are not."""
    text = "tensor c[i=3]\ntensor d[i=3]\ntensor e[i=3]\ny[i] = 4 * eq(c[i] * d[i], e[i]) + 1\n"
    seen = found(text, {"c": C, "d": D, "e": np.array([C[0] * D[0], 9, 9], np.float32)})
    assert (seen.verdict, seen.unproved) == (Verdict.PLAUSIBLE, 1)
    assert repr(seen) == "<Check: plausible, max_abs_error=4, region_error=4, bound=4, unproved=1>"


@pytest.mark.parametrize(
    ("a", "verdict"), [([-1, -2], "unproved"), ([-1, 3], "plausible"), ([2, 3], "right")]
)
def test_nan_proves_nothing(a: list[int], verdict: str) -> None:
    """It comes of any NaN, whatever is computed."""
    seen = found("tensor a[i=2]\ny[i] = log(a[i])\n", {"a": np.array(a)})
    assert (seen.verdict, seen.unproved) == (verdict, sum(x < 0 for x in a))
    assert seen.verdict.is_proof == (verdict != "unproved")


def test_a_run_is_as_good_as_its_weakest_tensor() -> None:
    """A result is computed of what is stored before it."""
    text = "tensor a[i=2]\nb[i] = log(a[i])\nc[i] = log(b[i])\ny[i] = relu(a[i])\n"
    seen = found(text, {"a": np.array([0.5, 1.5])})
    assert dict(seen.tensors) == {"b": "right", "c": "plausible", "y": "right"}
    assert seen.verdict is Verdict.PLAUSIBLE
    seen = found(text, {"a": np.array([0.5, 0.5])})
    assert dict(seen.tensors) == {"b": "right", "c": "unproved", "y": "right"}
    assert seen.verdict is Verdict.UNPROVED


def test_a_rounded_result_is_proved() -> None:
    seen = found("tensor c[i=3]\ntensor d[i=3]\ny[i] = c[i] * d[i]\n", {"c": C, "d": D})
    assert 0 < seen.max_abs_error <= seen.bound < 1e-7
    assert seen.verdict is Verdict.RIGHT
    assert seen.unproved == 0


@pytest.fixture
def equal(tmp_path: Path) -> list[str]:
    """The words of a command about such a program."""
    (tmp_path / "equal.ein").write_text(EQUAL)
    words = [str(tmp_path / "equal.ein"), "--value", "f32"]
    for name, array in ARRAYS.items():
        np.savez(tmp_path / f"{name}.npz", array)
        words += ["--data", f"{name}={tmp_path}/{name}.npz"]
    return words


def test_commands_say_so(equal: list[str]) -> None:
    told = CliRunner().invoke(main, ["run", *equal])
    assert told.exit_code == 0
    assert "result     unproved: greatest difference from NumPy 1" in told.output
    assert "unproved   3 of the elements" in told.output
    table = CliRunner().invoke(main, ["compare", *equal])
    assert table.exit_code == 0
    assert "unproved │" in table.output
    for command in ("run", "compare"):
        report = json.loads(CliRunner().invoke(main, [command, *equal, "--json", "-"]).stdout)
        seen = report if command == "run" else report["outcomes"][0]
        assert (seen["status"], seen["checked"], seen["unproved"]) == ("unproved", False, 3)
    data = "+".join(word for word in equal if "=" in word)
    row = outcome(Configuration(equal[0], data, value=value_type("f32")))
    assert (row["status"], row["checked"], row["unproved"]) == ("unproved", False, 3)
    assert is_outcome(row)


def test_a_build_is_checked_if_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["build", "spmv", "--data", "karate", "--target", "sim", "-o"]
    told = CliRunner().invoke(main, [*words, str(tmp_path / "unchecked")])
    assert told.exit_code == 0
    assert "nothing was checked" in told.stderr
    told = CliRunner().invoke(main, [*words, str(tmp_path / "checked"), "--check"])
    assert told.exit_code == 0
    assert told.stderr.endswith("samhw: checked, right on karate\n")

    monkeypatch.setattr("samhw.app.cli.build.check", lambda *_: Check(2.0, 0.0, tensors={"x": Verdict.WRONG}))
    told = CliRunner().invoke(main, [*words, str(tmp_path / "wrong"), "--check"])
    assert told.exit_code == 1
    assert "The results of 'spmv' on karate are wrong, off by 2, so that nothing was written" in told.stderr
    assert not (tmp_path / "wrong").exists()


def test_a_check_needs_data(tmp_path: Path) -> None:
    (tmp_path / "p.ein").write_text("tensor a[i=2]\ny[i] = a[i] + 1\n")
    words = ["build", str(tmp_path / "p.ein"), "--target", "sim", "-o", str(tmp_path / "b")]
    told = CliRunner().invoke(main, [*words, "--check"])
    assert told.exit_code == 2
    assert "--check simulates the build on data" in told.stderr
    assert CliRunner().invoke(main, words).exit_code == 0


def test_a_sample_of_rows_where_all_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, and what is wrong in it is seen."""
    monkeypatch.setattr(sys.modules["samhw.app.checking.check_run"], "memory_limit", lambda: 40_000)
    words = ["run", "gcn", "--data", "karate", "--fuse", "none"]
    told = CliRunner().invoke(main, words)
    assert told.exit_code == 0
    (rows,) = re.findall(r"sample     (\d+) of the 34 rows of U1 were compared: more do not fit", told.output)
    assert 1 <= int(rows) < 34
    report = json.loads(CliRunner().invoke(main, [*words, "--json", "-"]).stdout)
    assert report["sampled"]["U1"] == [int(rows), 34]
    assert report["checked"]

    statements = "  T[i, j] = A[i, k] * X[k, j]\n  Y[i, j] = relu(T[i, j])\n"
    text = f"tensor A[i, k]\ntensor X[k, j]\nfuse {{\n{statements}}}\n"
    arrays = {"A": np.ones((500, 3)), "X": np.ones((3, 2))}
    right = np.full((500, 2), 3.0)
    program = parse(text)
    tensors = {name: Tensor.from_dense(array, "dense") for name, array in arrays.items()}
    work = Workload("check", program, tensors)
    compiled = compile_workload(work, value=value_type("f32"))
    seen = check(work, compiled, {"Y": Tensor.from_dense(right, "dense")})
    assert seen.good
    rows = seen.sampled["Y"][0]
    assert 10 < rows < 250
    caught = 0
    for row in range(500):
        wrong = right.copy()
        wrong[row, 1] = 4
        caught += not check(work, compiled, {"Y": Tensor.from_dense(wrong, "dense")}).good
    assert caught == rows


def test_a_check_may_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("checked")

    monkeypatch.setattr("samhw.app.cli.run.check", never)
    result = CliRunner().invoke(main, ["run", "spmv", "--no-check"])
    assert result.exit_code == 0, result.output
    assert "not checked (--no-check)" in result.output
    found = json.loads(CliRunner().invoke(main, ["run", "spmv", "--no-check", "--json", "-"]).stdout)
    assert found["checked"] is False
    assert found["max_abs_error"] is None


@pytest.mark.parametrize("h", ["i, k", "k, i"])
def test_the_bound_of_cascades_as_written_takes_what_is_stored_after_a_scan(h: str) -> None:
    """A scan over an inner mode stores its steps in another layout, and h only after the last one."""
    text = (
        f"tensor x[i=2]\ntensor h[{h.replace('k', 'k=3').replace('i', 'i=2')}] : dense\n"
        "tensor s[k=3, i=2] : dense\nscan k {\n"
        f"    h[{h}] = h[{h.replace('k', 'k - 1')}] * 2 + x[i]\n    s[k, i] = max(s[k - 1, i], h[{h}])\n}}\n"
    )
    checks = []
    for cascade in ("off", "auto"):
        result = samhw.compile(text, schedule={"cascade": cascade}, value="bf16").run(x=[1, -1])
        np.testing.assert_array_equal(result["s"], [[1, 0], [3, 0], [7, 0]])
        checks.append(result.check())
    assert checks[1].good
    assert checks[0].plain_bound is None
    assert checks[1].plain_bound == checks[0].bound
    assert not checks[1].is_wider


def test_a_cascade_has_the_values_of_the_program_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that changes them is found, although the run computes what the pass has made."""
    program = parse(
        "value f32\ntensor S[i, j] : csr\nfuse {\nm[i] max= S[i, j]\nl[i] = exp(S[i, j] - m[i])\n}\n"
    )
    tensors = {"S": Tensor.from_dense(-np.ones((2, 10)), "csr")}
    work = Workload("check", program, tensors)
    verdicts = []
    for breaks in (False, True):
        if breaks:
            # Tiles of 4 then have zeros beyond the extent of 10.
            monkeypatch.setattr("samhw.lang.cascade.parts.reaching_beyond", lambda statement: ())
        schedule = Schedule(cascade={"tile": 4 if breaks else 5})
        compiled = compile_workload(work, schedule, value=value_type("f32"))
        verdicts.append(check(work, compiled, run(compiled, tensors).outputs).verdict)
    assert verdicts == [Verdict.RIGHT, Verdict.WRONG]


def test_the_bound_is_for_the_error_of_a_region() -> None:
    """The last region rounds nothing, and its input has been rounded."""
    text = "tensor A[i=3, k=3]\ntensor x[k=3]\nT[i] = A[i, k] * x[k]\nH[i] = relu(T[i])\n"
    rng = np.random.default_rng(1)
    design = samhw.compile(text, value="bf16", schedule=Schedule(fuse="none"))
    seen = design.run(A=rng.random((3, 3)), x=rng.random(3)).check()
    assert seen.bound == seen.region_error == 0 < seen.max_abs_error
