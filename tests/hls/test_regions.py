"""Programs of several regions: kernels with an order for the host, and one top function with a sequencer."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from samhw.app.workload import Workload, compile_workload, make_workload
from samhw.compiler import Compiled
from samhw.errors import RunError
from samhw.graph import Design, MemoryRole, Placement, Run
from samhw.graph.liveness import DeadlockError
from samhw.graph.numerics import Words
from samhw.hls import Options, emit
from samhw.hls.lower import lower
from samhw.hls.off_chip import memory_bytes
from samhw.lang import parse
from samhw.sim import simulate_regions
from samhw.targets.running.csim import HlsDesign, project_files
from samhw.targets.running.images import inputs_of, load, load_inputs
from tests.hls.test_emit import CLANG_FORMAT, assert_laid_out
from tests.running import test_side_by_side
from tests.support.hls_bench import run_design

ON_CHIP = Options(one_top=True)
IN_MEMORY = Options(one_top=True, placement=Placement(room=0))
SOME = Options(one_top=True, placement=Placement(room=1500))

# T is read twice by the second region.
SQUARE = """
tensor A[i=8, k=8] : csr
tensor B[k=8, j=8] : csr
tensor T[i=8, j=8] : csr
tensor X[i=8, j=8] : csr
fuse { T[i, j] = A[i, k] * B[k, j]    order i, k, j }
fuse { X[i, j] = T[i, k] * T[k, j]    order i, k, j }
"""

# The second region must keep a row of U until it has its sum.
ROW_TIMES_ITS_SUM = """
tensor A[i=4, k=16] : dense
tensor B[k=16, j=40] : dense
tensor T[i=4, j=40] : dense
tensor U[i=4, j=40] : dense
tensor s[i=4] : dense
tensor X[i=4, j=40] : dense
fuse { T[i, j] = A[i, k] * B[k, j]    order i, k, j }
fuse {
  U[i, j] = relu(T[i, j])
  s[i] = U[i, j]
  X[i, j] = U[i, j] * s[i]
}
"""


def compiled(text: str = SQUARE, name: str = "square") -> tuple[Compiled, Workload]:
    workload = make_workload(parse(text, f"{name}.ein"), ["random:density=0.4"])
    return compile_workload(workload), workload


def inputs(program: Compiled, workload: Workload) -> tuple[dict[str, Words], dict[str, int]]:
    return load_inputs(program.program, program.design, workload.tensors)


def results(program: Compiled, words: tuple[dict[str, Words], dict[str, int]]) -> dict[str, Words]:
    """The words of every memory that the simulator's regions write."""
    runs = simulate_regions(program.design, program.arch, *words)
    return {name: array for run in runs for name, array in run.memories.items()}


@pytest.mark.slow
@pytest.mark.parametrize("options", [ON_CHIP, IN_MEMORY, SOME])
def test_a_buffer_with_two_readers(options: Options) -> None:
    """On the chip it has a copy; in memory both ports get one pointer, and the host can read it."""
    program, workload = compiled()
    off_chip = options.off_chip(program.design, program.arch)
    assert (0 < len(off_chip) < len(program.design.memory)) == (options is SOME)
    words = inputs(program, workload)
    written = results(program, words)
    golden = {n: w for n, w in written.items() if program.design.memory[n].role is MemoryRole.OUTPUT}
    result = HlsDesign.build(program.design, program.arch, options).run(*words, golden)
    seen = set(golden) | (set(written) & off_chip)
    assert result.memories.keys() == seen
    for name in seen:
        assert list(result.memories[name][: len(written[name])]) == list(written[name])
    text = emit(program.design, program.arch, options)["src/square_kernel.cpp"]
    copies = text.count("samhw::pass<64>(T_vals_chip, T_vals_2_chip, 0, T_vals_count);")
    in_memory = "T.vals" in off_chip
    assert copies == (0 if in_memory else 1)
    assert ("burst_port T_vals,\n" in text) == in_memory
    assert ("burst_port T_vals_2,\n" in text) == in_memory


def test_status_names_region_and_node() -> None:
    """The first region that fails is the last one to run."""
    program, workload = compiled()
    memories, extents = inputs(program, workload)
    design = HlsDesign.build(program.design, program.arch, ON_CHIP)
    for factor, region, node in ((1 << 28, 0, "mul"), (1 << 13, 1, "mul")):
        large = {**memories, "A.vals": np.full_like(memories["A.vals"], factor)}
        large["B.vals"] = np.full_like(memories["B.vals"], 8)
        with pytest.raises(RunError, match=rf"^Region square_{region}: overflow at node '{node}' "):
            simulate_regions(program.design, program.arch, large, extents)
        with pytest.raises(
            RunError, match=rf": overflow error at node {node} of region square_{region}_kernel\."
        ):
            design.run(large, extents, {})


def test_deadlock_in_a_later_region() -> None:
    """Depths are checked for all regions."""
    program, workload = compiled(ROW_TIMES_ITS_SUM)
    words = inputs(program, workload)
    written = results(program, words)
    first, second = program.design.regions
    tight = Design.assemble("square", [first, second.with_depths({c.name: 2 for c in second.channels})])
    with pytest.raises(DeadlockError):
        simulate_regions(tight, program.arch, *words)
    with pytest.raises(DeadlockError, match="is full") as error:
        HlsDesign.build(tight, program.arch, ON_CHIP).run(*words, {"X.vals": written["X.vals"]})
    assert all(name.startswith("square_1_kernel.") for name in error.value.waiting)


def test_a_change_changes_only_its_region() -> None:
    program, _ = compiled()
    first, second = program.design.regions
    nodes = [replace(n, params={**n.params, "op": "add"}) if n.name == "mul" else n for n in second.nodes]
    later = Design.assemble("square", [first, replace(second, nodes=tuple(nodes))])
    before, after = (emit(design, program.arch, ON_CHIP) for design in (program.design, later))
    assert {path for path in before if before[path] != after[path]} == {
        "src/square_1_kernel.cpp",
        "src/samhw/alu.hpp",
    }


def test_regions_are_called_in_the_order_of_the_sequence() -> None:
    """Whatever their numbers are."""
    program, _ = compiled()
    first, second = program.design.regions
    turned = replace(program.design, regions=(second, first), sequence=(Run(1), Run(0)))
    for options in (ON_CHIP, IN_MEMORY):
        assert emit(turned, program.arch, options) == emit(program.design, program.arch, options)


def test_kernels_in_order() -> None:
    program, workload = compiled()
    files = project_files(program, inputs_of(program, workload.tensors))
    order = json.loads(files["regions.json"])
    assert [entry["folder"] for entry in order] == ["square_0", "square_1"]
    assert order[0]["inputs"] == {"A": "host", "B": "host"}
    assert order[1]["inputs"] == {"T": "square_0"}
    assert files["square_1/tb_data/T_vals.txt"] == files["square_0/tb_data/T_vals.txt"]


def test_comments_have_the_statements() -> None:
    program, _ = compiled()
    files = project_files(program, options=ON_CHIP)
    call = "    // Region 1: X from T\n    //   X[i, j] = T[i, k] * T[k, j]    order i, k, j\n"
    assert call in files["src/square_kernel.cpp"]
    assert "//   T[i, j] = A[i, k] * B[k, j]    order i, k, j\n" in files["src/square_0_kernel.cpp"]


@pytest.mark.skipif(CLANG_FORMAT is None, reason="clang-format is not installed")
@pytest.mark.parametrize("options", [ON_CHIP, IN_MEMORY])
def test_layout(options: Options, tmp_path: Path) -> None:
    for program in (compiled()[0], test_side_by_side.compiled(share="all")):
        assert_laid_out(project_files(program, options=options), tmp_path)


@pytest.mark.slow
@pytest.mark.nightly(but=1)
@pytest.mark.parametrize(
    ("share", "options"),
    [("all", Options(one_top=True, placement=Placement(room=300))), ("auto", ON_CHIP), ("auto", IN_MEMORY)],
)
def test_regions_side_by_side(share: str, options: Options) -> None:
    """Words, tokens and depths; alone, with copies for later regions, and of a function that others call."""
    program = test_side_by_side.compiled(share=share)
    built = HlsDesign.build(program.design, program.arch, options)
    for seed in range(3):
        memories, extents = load(program.design, test_side_by_side.inputs(seed))
        models = simulate_regions(program.design, program.arch, memories, extents, trace=True)
        run_design(built, (memories, extents), *models)
    # Of a step, u is too large, and so is m.
    large = memories | {"b.vals": np.full_like(memories["b.vals"], 1 << 30), "A.pos1": 0 * memories["A.pos1"]}
    with pytest.raises(RunError, match=r"^Region heads_2: overflow"):
        simulate_regions(program.design, program.arch, large, extents)
    with pytest.raises(RunError, match=r"overflow error at node \w+ of region heads_2_kernel\."):
        built.run(large, extents, {})


def test_a_step_is_a_dataflow_region() -> None:
    """A body that is one region is its call; one with copies for later regions, or that calls a function of
    another region, is a function."""
    program = test_side_by_side.compiled(share="all")
    text = emit(program.design, program.arch, ON_CHIP)["src/heads_kernel.cpp"]
    step = text[text.index("static void beside_2(") :]
    assert step.index("#pragma HLS DATAFLOW") < step.index("heads_2_kernel(") < step.index(" body_3(")
    assert (
        step.index(" body_3(") < step.index("heads_4_kernel(") < step.index("samhw::meet(error_0, error_1,")
    )
    # y is read by three processes, and by two of them at a time.
    assert text.count("SAMHW_MEMORY ap_uint<32> y_vals") == 3
    assert Options().placement is None
    assert memory_bytes(program.design, program.arch, by_turns=True)["y.vals"] == 3 * 4 * 6


# The first three regions are equal, and the next two; the last one has another immediate.
LAYERS = """
tensor A[i=6, k=6] : csr
tensor x[k=6]
tensor b[i=6]
y[i] = A[i, k] * x[k] + b[i]
z[i] = A[i, k] * y[k] + b[i]
w[i] = A[i, k] * z[k] + b[i]
u[i] = relu(z[i] * 2 + 1)
v[i] = relu(w[i] * 2 + 1)
t[i] = relu(w[i] * 3 + 1)
"""


@pytest.mark.slow
def test_equal_regions_call_one_function() -> None:
    program, workload = compiled(LAYERS, "layers")
    assert program.design.fabrics == ((0, 1, 2), (3, 4, 5))
    assert lower(program.design, program.arch).functions == (0, 0, 0, 3, 3, 5)
    files = emit(program.design, program.arch, ON_CHIP)
    top = files["src/layers_kernel.cpp"]
    assert [top.count(f"layers_{n}_kernel(") for n in range(6)] == [3, 0, 0, 2, 0, 1]
    assert [f"src/layers_{n}_kernel.cpp" in files for n in range(6)] == [
        True,
        False,
        False,
        True,
        False,
        True,
    ]
    assert [f"ALLOCATION function instances=layers_{n}_kernel limit=1" in top for n in (0, 3, 5)] == [1, 1, 0]
    memories, extents = inputs(program, workload)
    written = results(program, (memories, extents))
    golden = {n: w for n, w in written.items() if program.design.memory[n].role is MemoryRole.OUTPUT}
    design = HlsDesign.build(program.design, program.arch, ON_CHIP)
    found = design.run(memories, extents, golden).memories
    assert all(list(found[n][: len(words)]) == list(words) for n, words in golden.items())
    # Each of three layers gives 2^11 times what it takes, which is too much for the third one.
    large = memories | {"A.pos1": np.arange(7), "A.crd1": np.arange(6), "A.vals": np.full(6, 1 << 11)}
    large |= {"x.vals": np.full(6, 1), "b.vals": np.zeros(6, int)}
    with pytest.raises(RunError, match=r"^Region layers_2: overflow"):
        simulate_regions(program.design, program.arch, large, extents)
    with pytest.raises(RunError, match=r"overflow error at node mul of region layers_2_kernel\."):
        design.run(large, extents, {})
