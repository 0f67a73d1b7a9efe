"""Inputs of many zeros: where these are, what `--schedule auto` makes of them, and what a run says."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import samhw
from samhw.app.checking import advice
from samhw.app.cli import main
from samhw.app.workload import Workload, compile_workload, job_of
from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Room
from samhw.compiler.search.tried import expected_cycles
from samhw.lang import parse
from samhw.targets.backends import run
from samhw.tensors import Tensor, zeros_of

AUTO = Schedule.of("auto")
LAYER = """
tensor X[b, k]
tensor W[n, k]
tensor V[m, n]
T[b, n] = X[b, k] * W[n, k]
Y[b, m] = T[b, n] * V[m, n]
"""


def of(array: np.ndarray) -> Tensor:
    return Tensor.from_dense(array, "dense")


def test_blocks_are_found() -> None:
    tiles = np.array([[1, 0, 0], [0, 0, 0], [0, 0, 1]])
    for block in ((16, 16), (4, 1), (1, 8)):
        found = zeros_of(of(np.kron(tiles, np.ones(block, int))), 0.5)
        assert (found.share, found.block, found.halved) == (pytest.approx(7 / 9), block, None)
    # One nonzero in each tile of four by four fills none of them, nor anything larger than one.
    assert zeros_of(of(np.kron(tiles, np.diag([1, 0, 0, 0]))), 0.5).block is None


def test_two_of_four_are_found() -> None:
    rows = np.array([[1, 0, 2, 0, 0, 3, 0, 4], [0, 1, 1, 0, 5, 0, 0, 6], [7, 0, 0, 8, 0, 9, 9, 0]])
    assert zeros_of(of(rows), 0.5).halved == 1
    assert zeros_of(of(rows.T), 0.5).halved == 0
    rows[0, 1] = 1
    rows[0, 5] = 0
    assert zeros_of(of(rows), 0.5).halved is None


def test_without_places_there_are_no_zeros() -> None:
    assert zeros_of(of(np.zeros((0, 3)))).share == 0


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 3)])
def test_nothing_but_zeros(rows: int, columns: int) -> None:
    w = np.zeros((rows, columns), int)
    assert zeros_of(of(w)).share == 1
    design = samhw.compile("T[b, n] = X[b, k] * W[k, n]", schedule="auto")
    found = design.run(X=np.ones((2, rows), int), W=w)
    np.testing.assert_array_equal(found["T"], np.zeros((2, columns)))


def layer(density: float, *, constants: frozenset[str] | None = None) -> Workload:
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 9, (24, 40)) * (rng.random((24, 40)) < density)
    full = rng.integers(1, 9, (2, 24))
    tensors = {"X": of(rng.integers(1, 9, (3, 40))), "W": of(weights), "V": of(full)}
    program = parse(LAYER).bind({name: tensor.shape for name, tensor in tensors.items()})
    return Workload("layer", program, tensors, constants=constants)


@pytest.mark.parametrize(
    ("density", "constants", "is_sparse"),
    [(0.1, None, True), (0.6, None, False), (0.1, frozenset({"W"}), True), (0.1, frozenset({"V"}), False)],
)
def test_constants_of_many_zeros_are_stored_sparse(
    density: float, constants: frozenset[str] | None, is_sparse: bool
) -> None:
    workload = layer(density, constants=constants)
    found = compile_workload(workload, AUTO)
    assert (found.schedule.formats["W"] not in ("dense", "dense @ (1, 0)")) == is_sparse
    assert found.schedule.formats["V"].startswith("dense")
    assert any("are zeros" in line for line in found.why) == is_sparse
    result = run(found, workload.tensors).outputs["Y"].to_dense()
    x, w, v = (workload.tensors[name].to_dense() for name in "XWV")
    np.testing.assert_array_equal(result, x @ w.T @ v.T)


def test_a_format_that_is_given_stays() -> None:
    found = compile_workload(layer(0.1), Schedule.from_fields({"fuse": "auto", "formats": {"W": "dense"}}))
    assert found.schedule.formats["W"] == "dense"


def test_data_with_fewer_zeros_have_room_too() -> None:
    rng = np.random.default_rng(1)
    x, w = rng.integers(1, 9, (3, 40)), rng.integers(1, 9, (40, 24)) * (rng.random((40, 24)) < 0.1)
    design = samhw.compile("T[b, n] = X[b, k] * W[k, n]", schedule="auto")
    first = design.run(X=x, W=w)
    fuller = design.run(X=x, W=w + 1)
    np.testing.assert_array_equal(fuller["T"], x @ (w + 1))
    assert first.cycles < fuller.cycles / 3


def test_blocks_in_which_nonzeros_lie_are_named_and_taken_where_that_is_asked_for() -> None:
    rng = np.random.default_rng(2)
    tiles = np.kron(np.diag([1, 1, 0, 1, 0, 1]), np.ones((4, 4), int))
    tensors = {"X": of(rng.integers(1, 9, (3, 24))), "W": of(tiles)}
    program = parse("tensor X[b, k]\ntensor W[k, n]\nT[b, n] = X[b, k] * W[k, n]").bind(
        {name: tensor.shape for name, tensor in tensors.items()}
    )
    workload = Workload("tiles", program, tensors)
    found = compile_workload(workload, AUTO)
    assert found.schedule.formats["W"] in ("csr", "csc")
    assert not found.schedule.blocks
    (line,) = (line for line in found.why if line.startswith("no blocks"))
    assert "'--blocks k=4+n=4' expects" in line
    larger = compile_job(replace(job_of(workload, AUTO), room=Room(frozenset({"blocks"}))))
    assert larger.schedule.blocks["k"] >= 4 <= larger.schedule.blocks["n"]
    assert run(larger, tensors).cycles < run(found, tensors).cycles / 4


def test_a_run_says_what_it_would_bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said was tried: it is what the option expects."""
    workload = layer(0.1)
    for name, tensor in workload.tensors.items():
        np.save(tmp_path / f"{name}.npy", tensor.to_dense())
    (tmp_path / "layer.ein").write_text(LAYER)
    data = [word for name in workload.tensors for word in ("--data", f"{name}={tmp_path / name}.npy")]
    said = CliRunner().invoke(main, ["run", str(tmp_path / "layer.ein"), *data])
    (line,) = (line for line in said.output.splitlines() if "zeros" in line)
    other = workload.sparsified(0.5)
    assert other.program.tensors["W"].format.is_sparse
    cycles = []
    for each in (other, workload):
        job = job_of(each)
        cycles.append(f"{expected_cycles(compile_job(job), job.statistics(job.schedule)):,.0f}")
    share = round(100 * workload.zeros(0.5)["W"].share)
    assert line == (
        f"samhw: note: {share} % of W are zeros: --sparsify 0.5 expects {cycles[0]} cycles for {cycles[1]}."
    )
    with monkeypatch.context() as patched:  # A large design is not compiled twice.
        patched.setattr(advice, "_TRIED", 1)
        patched.setattr(advice, "compile_job", None)
        large = CliRunner().invoke(main, ["run", str(tmp_path / "layer.ein"), *data])
    assert f"note: {share} % of W are zeros: --sparsify 0.5 stores their nonzeros alone," in large.output
    asked = CliRunner().invoke(main, ["run", str(tmp_path / "layer.ein"), *data, "--sparsify", "0.5"])
    assert "are zeros" not in asked.output
    words = ["run", str(tmp_path / "layer.ein"), *data, "--schedule", "auto", "--json", "-"]
    assert json.loads(CliRunner().invoke(main, words).output)["checked"]
