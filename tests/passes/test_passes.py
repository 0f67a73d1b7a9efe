"""Passes: what they take and give, and the order of all of them."""

import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import samhw.compiler.passes
from samhw.app.checking import check
from samhw.app.cli import main
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.compiler.passes import PROGRAM_PASSES, Lowerable, Recipe, apply_passes, pass_names, with_derived
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.lang import (
    Capacity,
    Program,
    check_program,
    dumps,
    greatest_extents,
    load_model,
    model_names,
    parse,
)
from samhw.lang.reference import evaluate_program
from samhw.targets.backends import build, run
from samhw.targets.running.images import load_inputs
from samhw.tensors import Tensor
from tests.passes.stored_only import stored_only
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs

SPMM = (
    "tensor A[i=5, k=4] : csr\ntensor X[k, j=3] : dense\ntensor T[i, j] : csr\nT[i, j] = A[i, k] * X[k, j]\n"
)
TURNED = "tensor A[i=5, j=7] : csr\ntensor T[j=7, i=5] : csr\nT[j, i] = 2 * A[i, j]\n"


@pytest.fixture
def with_stored_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's own pass as one of the compiler's: a file and a line."""
    module = import_module("tests.passes.stored_only")
    monkeypatch.setitem(sys.modules, "samhw.compiler.passes.stored_only", module)
    monkeypatch.setattr(samhw.compiler.passes, "PROGRAM_PASSES", ("stored_only", *PROGRAM_PASSES))


def test_every_file_is_a_pass() -> None:
    files = {path.stem for path in Path(samhw.compiler.passes.__file__).parent.glob("*.py")}
    assert files - {"__init__", "lowerable", "recipe"} == set(pass_names())
    for name in pass_names():
        assert getattr(import_module(f"samhw.compiler.passes.{name}"), name).__doc__


def test_passes_stop_after_one_that_is_named(with_stored_only: None) -> None:
    lowerable = Job(parse(TURNED), Schedule(permute=True)).lowerable()
    first = apply_passes(lowerable, "stored_only")
    assert (list(first.recipes), list(first.copies)) == (["A_stored"], [])
    every = apply_passes(lowerable)
    assert (list(every.recipes), list(every.copies)) == (["A_stored"], ["A_stored_10"])
    assert apply_passes(lowerable, "copy_discordant") == every


def agree(before: Lowerable, after: Lowerable, rng: np.random.Generator) -> None:
    """What has to be true of every pass."""
    program = after.program
    check_program(program)
    assert parse(dumps(program)) == program
    greatest_extents(program, after.capacity)
    assert {d.name for d in program.inputs} <= {d.name for d in before.program.inputs} | set(after.recipes)
    assert {d.name for d in before.program.outputs} <= {d.name for d in program.outputs}
    alone = [region.statements[0].lhs.tensor for region in program.regions if len(region.statements) == 1]
    assert set(after.copies) <= set(alone)
    for name, decl in before.program.tensors.items():
        if name in program.tensors:
            assert after.shape(name) == before.shape(name)
            assert program.tensors[name].format == decl.format
    data = random_tensors(before.program, rng)
    derived = with_derived(data, after.recipes)
    expected = evaluate_program(before.program, {name: data[name].to_dense() for name in data})
    found = evaluate_program(program, {d.name: derived[d.name].to_dense() for d in program.inputs})
    for decl in before.program.outputs:
        assert np.array_equal(found[decl.name], expected[decl.name])


@settings(max_examples=50)
@given(chained_programs(concordant=False), st.integers(0, 2**32 - 1), st.booleans())
def test_what_comes_out_is_a_program_to_the_same_results(program: Program, seed: int, permute: bool) -> None:
    before = Job(program, Schedule(permute=permute)).lowerable()
    for apply in (
        *(getattr(import_module(f"samhw.compiler.passes.{name}"), name) for name in pass_names()),
        stored_only,
    ):
        try:
            after = apply(before)
        except InputError:
            continue
        agree(before, after, np.random.default_rng(seed))


@settings(max_examples=50)
@given(chained_programs(concordant=False))
def test_the_text_after_all_passes_is_compiled_to_the_same(program: Program) -> None:
    try:
        after = apply_passes(Job(program, Schedule(permute=True)).lowerable())
    except InputError:
        return
    again = apply_passes(Job(parse(dumps(after.program))).lowerable())
    assert again.program == after.program
    assert {name: copy.of for name, copy in again.copies.items()} == {
        name: copy.of for name, copy in after.copies.items()
    }


@pytest.mark.parametrize("name", model_names())
def test_models_are_left_alone(name: str) -> None:
    """They store everything concordantly."""
    for level in FUSION_LEVELS:
        lowerable = Job(load_model(name), Schedule(fuse=level)).lowerable()
        assert apply_passes(lowerable) is lowerable


def test_capacities_go_over_to_dimensions_of_other_names() -> None:
    """The copy comes first, and names the dimensions after the declaration."""
    program = parse(TURNED.replace("[j, i] = 2 * A[i, j]", "[a, b] = 2 * A[b, a]"))
    before = Job(program, Schedule(permute=True), capacity=Capacity({"a": 8, "b": 16}, {"A": 9})).lowerable()
    after = apply_passes(before)
    assert set(after.extents) == {"i", "j"}
    assert after.capacity.extents == {"i": 16, "j": 8}
    assert after.capacity.entries == {"A": 9, "A_10": 9}


def test_a_dimension_holds_what_any_of_its_tensors_needs() -> None:
    program = parse("tensor a[i=4]\ntensor b[j=4]\nx[i] = a[i]\ny[j] = b[j]\n")
    one = parse("tensor a[i=4]\ntensor b[j=4]\nfuse {\n  x[i] = a[i]\n  y[i] = a[i] * 0 + b[i]\n}\n")
    lowerable = Job(program, capacity=Capacity({"i": 32, "j": 8})).lowerable().with_program(one)
    assert lowerable.extents == {"i": 32}


def test_the_example_of_the_docs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "compiler.md").read_text()
    before, after = re.findall(r"```ein\n(.*?)```", page.partition("\n## Passes\n")[2], re.DOTALL)[:2]
    left = apply_passes(Job(parse(before), Schedule(permute=True)).lowerable())
    assert "".join(f"# {copy}\n" for copy in left.copies.values()) + dumps(left.program) == after


# Recipes


def test_recipes_find_what_earlier_ones_have_made() -> None:
    def twice(tensor: Tensor) -> Tensor:
        return Tensor.from_dense(2 * tensor.to_dense(), tensor.format)

    a = Tensor.from_dense(np.array([1, 0, 3]), "dense")
    recipes = {"b": Recipe("twice a", ("a",), twice), "c": Recipe("twice b", ("b",), twice)}
    made = with_derived({"a": a}, recipes)
    assert [made[name].to_dense().tolist() for name in "abc"] == [[1, 0, 3], [2, 0, 6], [4, 0, 12]]
    assert with_derived({"a": a, "b": a}, recipes)["c"].to_dense().tolist() == [2, 0, 6]
    with pytest.raises(InputError, match=r"tensor 'a' is missing, of which b is made \(twice a\); add it"):
        with_derived({}, recipes)


@pytest.mark.parametrize(
    "backend", ["sim", pytest.param("verilator", marks=[pytest.mark.verilator, pytest.mark.slow])]
)
def test_derived_inputs_are_made_of_the_users(with_stored_only: None, backend: str) -> None:
    program = parse(SPMM)
    stored = Tensor.from_coo([[0, 2, 2], [1, 0, 3]], [5, 0, 3], (5, 4), "csr")
    dense = Tensor.from_dense(np.arange(12).reshape(4, 3), "dense")
    workload = Workload("by hand", program, {"A": stored, "X": dense})
    compiled = compile_workload(workload)
    assert [decl.name for decl in compiled.program.inputs] == ["A_stored", "X"]
    assert str(compiled.recipes["A_stored"]) == "A without stored zeros"
    result = run(compiled, workload.tensors, backend)
    assert check(workload, compiled, result.outputs).good
    assert np.array_equal(result.outputs["T"].to_dense(), stored.to_dense() @ dense.to_dense())
    memories, extents = load_inputs(compiled.program, compiled.design, workload.tensors, compiled.recipes)
    assert memories["A_stored.vals"].tolist() == [5, 3]
    assert set(extents.values()) == {5, 4, 3}


@pytest.mark.parametrize("target", ["sim", "vitis-hls"])
def test_a_build_says_how_derived_inputs_are_made(
    with_stored_only: None, target: str, tmp_path: Path
) -> None:
    (tmp_path / "p.ein").write_text(SPMM)
    arguments = ["build", f"{tmp_path}/p.ein", "--target", target, "-o", f"{tmp_path}/out"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "derived.txt" in result.output
    assert (tmp_path / "out" / "derived.txt").read_text() == "A_stored: A without stored zeros\n"


def test_a_build_without_derived_inputs_says_nothing(tmp_path: Path) -> None:
    build(compile_job(Job(parse(SPMM))), "sim", tmp_path / "out")
    assert not (tmp_path / "out" / "derived.txt").exists()


def test_what_a_recipe_needs_may_be_missing(with_stored_only: None) -> None:
    compiled = compile_job(Job(parse(SPMM)))
    with pytest.raises(InputError, match="'A' is missing, of which A_stored is made"):
        run(compiled, {"X": Tensor.from_dense(np.ones((4, 3), int), "dense")})


def test_models_run_on_derived_inputs(with_stored_only: None) -> None:
    workload = bind_program("gcn")
    compiled = compile_workload(workload)
    assert "A_stored" in compiled.program.tensors
    assert check(workload, compiled, run(compiled, workload.tensors).outputs).good
