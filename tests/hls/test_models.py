"""The models as HLS projects, on small data: every level of fusion, every value type."""

import os
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

from benchmarks.hls_models import VALUES, model_workload, rows
from samhw.app.workload import Workload, compile_workload, make_workload
from samhw.choices.fuse import FUSION_LEVELS, FusionLevel
from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.graph import Arch, Placement
from samhw.graph.numerics import value_type
from samhw.hls import Options, simulated
from samhw.hls.cpp import top_name
from samhw.lang import model_names, parse
from samhw.sim import simulated_regions
from samhw.targets.backends import run
from samhw.targets.building.hls_tools import WARNED, ap_headers, compile_cpp
from samhw.targets.running.csim import HlsDesign, project_files
from samhw.targets.running.images import inputs_of, load_inputs
from tests.support.hls_bench import run_as_vitis_does, run_design
from tests.support.thorough import sample

SIZES = {
    "sae": "random:n=2,f=8,h=4,g=4",
    "mlp": "random:n=4,f=8,h=4,g=4,c=3",
    "gin": "random:f=8,h=4,g=4,c=3",
    "gat": "random:f=4,c=3",
    "bigbird_attention": "random:i=16,d=4",
    "gpt3_block": "random:i=8,e=4,h=2,d=2,f=4",
}
"""Small, since what counts is that every construct is met; the graphs are the karate club.
`python -m benchmarks.hls_models` has the default sizes."""

ALONE = [(name, FUSION_LEVELS[k % 3], VALUES[1 + k // 3 % 3]) for k, name in enumerate(model_names())]

INTEGER = {"gcn", "gin", "mlp"}
"""The models that integers can hold."""


def compiled(model: str, fuse: FusionLevel, value: str) -> tuple[Compiled, Workload]:
    workload = model_workload(model, fuse, value, [SIZES.get(model, "random:f=8,h=4,c=3")])
    return compile_workload(workload, value=value_type(value), arch=Arch.vitis()), workload


def write(files: dict[str, str], folder: Path) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def csim(folder: Path) -> str:
    """What the testbench of a project prints. Without its Makefile, since `make` need not be there."""
    sources = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.?pp")}
    units = [path for path in simulated(sources) if path.endswith(".cpp")]
    program = compile_cpp(sources, units, (*WARNED, "-DSAMHW_CSIM"))
    done = subprocess.run([program, "tb_data"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fuse", "value"),
    sample(
        list(product(FUSION_LEVELS, VALUES)),
        [("none", "f32"), ("partial", "i32"), ("full", "bf16")],
    ),
)
def test_models(fuse: FusionLevel, value: str) -> None:
    """One top function for each program, all of them in one C++ program; tokens and results are the
    simulator's."""
    few = {"none": model_names()[::4], "partial": model_names()[1::2], "full": model_names()}
    models = [name for name in sample(model_names(), few[fuse]) if value != "i32" or name in INTEGER]
    cases = [compiled(model, fuse, value) for model in models]
    designs = HlsDesign.build_together(
        [program.design for program, _ in cases], Arch.vitis(), Options(one_top=True)
    )
    for design, (program, workload) in zip(designs, cases, strict=True):
        memories, extents = load_inputs(program.program, program.design, workload.tensors)
        runs = list(simulated_regions(program.design, program.arch, memories, extents, trace=True))
        run_design(design, (memories, extents), *(run.result for run in runs))


@pytest.mark.nightly(but=0)
@pytest.mark.slow
@pytest.mark.parametrize("room", [0, None])
@pytest.mark.parametrize("fuse", FUSION_LEVELS)
def test_models_as_vitis_runs_them(fuse: FusionLevel, room: int | None) -> None:
    """And with regions that run by turns, which share ports."""
    cases = [compiled(model, fuse, "f32") for model in model_names()]
    run_as_vitis_does(
        [(program, workload.tensors) for program, workload in cases],
        Options(one_top=True, placement=Placement(room=room)),
    )


@pytest.mark.parametrize("fuse", FUSION_LEVELS)
@pytest.mark.parametrize("model", sorted(set(model_names()) - INTEGER))
def test_models_that_integers_cannot_hold(model: str, fuse: FusionLevel) -> None:
    with pytest.raises(
        InputError, match=r"^i32 has no operation '\w+', which node .*; choose another 'value'"
    ):
        compiled(model, fuse, "i32")


@pytest.mark.nightly(but=4)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "fuse", "value"),
    sample(ALONE, ALONE[::3]),
)
def test_model_alone(model: str, fuse: FusionLevel, value: str) -> None:
    """As `samhw run` does it, with the library of its own project: what the model needs and no more."""
    program, workload = compiled(model, fuse, value)
    result = run(program, workload.tensors, "hls", one_top=True)
    assert [region.name for region in result.regions] == [region.name for region in program.design.runs]


@pytest.mark.slow
def test_rows_of_the_benchmark() -> None:
    (row,) = rows(["mlp"], ("full",), ("i32", "bf16"), [SIZES["mlp"]])
    assert (row["i32"], row["bf16"], row["regions"]) == ("equal", "equal", 1)
    (row,) = rows(["sae"], ("full",), ("i32",), [SIZES["sae"]])
    assert row["i32"].startswith("refused: i32 has no operation 'sigmoid'")


@pytest.mark.slow
@pytest.mark.parametrize("model", sample(["gat", "mlp"], ["mlp"]))
def test_a_kernel_for_each_region(model: str) -> None:
    program, workload = compiled(model, "partial", "f32")
    run(program, workload.tensors, "hls")


PROGRAM = """
tensor A[i, k] : csr
tensor x[k] : dense
T[i] = A[i, k] * x[k]
y[i] = T[i] * T[i] + T[i]
"""
"""Two regions, and what passes between them."""


def two_regions() -> tuple[Compiled, Workload]:
    workload = make_workload(parse(PROGRAM, "two.ein"), ["random:size=6,density=0.4"])
    return compile_workload(workload, value=value_type("bf16"), arch=Arch.vitis()), workload


@pytest.mark.slow
def test_projects_of_kernels(tmp_path: Path) -> None:
    """A folder for each region."""
    program, workload = two_regions()
    write(project_files(program, inputs_of(program, workload.tensors)), tmp_path)
    names = [region.name for region in program.design.runs]
    assert len(names) == 2
    assert [csim(tmp_path / name) for name in names] == [f"{top_name(name)}: PASS\n" for name in names]


@pytest.mark.slow
def test_project_of_one_top(tmp_path: Path) -> None:
    """Golden words are those of the program's results."""
    program, workload = two_regions()
    files = project_files(program, inputs_of(program, workload.tensors), Options(one_top=True))
    words = {path for path in files if path.startswith("tb_data/")}
    assert "tb_data/y_vals.txt" in words
    assert "tb_data/T_vals.txt" not in words
    write(files, tmp_path)
    assert csim(tmp_path) == f"{top_name('two')}: PASS\n"
    golden = tmp_path / "tb_data/y_vals.txt"
    first, rest = golden.read_text().split("\n", 1)
    golden.write_text(f"{int(first) ^ 1}\n{rest}")
    with pytest.raises(AssertionError, match=r"y_vals\[0\] is"):
        csim(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="Makefiles are for machines that have make")
def test_makefiles(tmp_path: Path) -> None:
    """As a user runs them: one for each region, and one that runs them all."""
    program, workload = two_regions()
    write(project_files(program, inputs_of(program, workload.tensors)), tmp_path)
    environment = {**os.environ, "AP_INCLUDE": str(ap_headers())}
    done = subprocess.run(
        ["make", "-s", "csim"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{top_name(region.name)}: PASS" for region in program.design.runs]
