"""What goes wrong in a run is reported by name, and never a wrong result."""

from dataclasses import replace

import numpy as np
import pytest

from samhw.app.workload import Workload
from samhw.compiler import Compiled
from samhw.errors import RunError
from samhw.graph import Arch, Design, Graph
from samhw.graph.liveness import DeadlockError
from samhw.hls.region_builder import SPARE
from samhw.sim import simulate
from samhw.targets.running.csim import HlsDesign, compare
from samhw.targets.running.images import load_inputs
from tests.hls.test_kernels import compiled
from tests.support.graphs import WIDE, Builder
from tests.support.hls_bench import Inputs, run_model


def inputs_of(program: Compiled, workload: Workload) -> Inputs:
    return load_inputs(program.program, program.design, workload.tensors)


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def spmv() -> tuple[Compiled, HlsDesign, Inputs]:
    program, workload = compiled("spmv", "i32", "karate")
    return program, HlsDesign.build(program.design, program.arch), inputs_of(program, workload)


def fails_alike(
    spmv: tuple[Compiled, HlsDesign, Inputs], cause: str, node: str, **changes: np.ndarray
) -> None:
    """Simulator and C simulation end with the same cause at the same node."""
    program, design, (memories, extents) = spmv
    changed = {**memories, **{name.replace("__", "."): words for name, words in changes.items()}}
    with pytest.raises(RunError, match=f"^{cause} at node '{node}' "):
        simulate(program.design.regions[0], program.arch, changed, extents)
    with pytest.raises(RunError, match=f": {cause} error at node {node}\\."):
        design.run(changed, extents, {})


def test_overflow(spmv: tuple[Compiled, HlsDesign, Inputs]) -> None:
    _, _, (memories, _) = spmv
    greatest = np.full_like(memories["c.vals"], 0x7FFF_FFFF)
    fails_alike(spmv, "overflow", "reduce_scalar_t0", c__vals=greatest)
    fails_alike(spmv, "overflow", "mul", c__vals=greatest, B__vals=np.full_like(memories["B.vals"], 4))


def test_range_of_a_coordinate(spmv: tuple[Compiled, HlsDesign, Inputs]) -> None:
    _, _, (memories, extents) = spmv
    crd = memories["B.crd1"].copy()
    crd[5] = extents["j"]
    fails_alike(spmv, "range", "scan_compressed_B_j", B__crd1=crd)


@pytest.mark.parametrize(("crd", "cause"), [((3, 3), "protocol"), ((3, 2), "protocol"), ((3, 34), "range")])
def test_coordinates(spmv: tuple[Compiled, HlsDesign, Inputs], crd: tuple[int, int], cause: str) -> None:
    _, _, (memories, extents) = spmv
    assert extents["j"] == 34
    at = int(np.flatnonzero(np.diff(memories["B.pos1"]) > 1)[0])
    stored = memories["B.crd1"].copy()
    first = memories["B.pos1"][at]
    stored[first : first + 2] = crd
    fails_alike(spmv, cause, "scan_compressed_B_j", B__crd1=stored)


def test_range_of_a_position(spmv: tuple[Compiled, HlsDesign, Inputs]) -> None:
    _, _, (memories, _) = spmv
    pos = memories["B.pos1"].copy()
    pos[:2] = 1 << 12, (1 << 12) + 1
    fails_alike(spmv, "range", "scan_compressed_B_j", B__pos1=pos)


def test_fiber_that_ends_before_it_starts(spmv: tuple[Compiled, HlsDesign, Inputs]) -> None:
    _, _, (memories, _) = spmv
    pos = memories["B.pos1"].copy()
    pos[3] = pos[5] + 1
    fails_alike(spmv, "protocol", "scan_compressed_B_j", B__pos1=pos)


def test_capacity() -> None:
    program, workload = compiled("plus2", "i32")
    (graph,) = program.design.regions
    small = replace(
        graph,
        memories=tuple(replace(m, capacity=2) if m.name == "X.vals" else m for m in graph.memories),
    )
    memories, extents = inputs_of(program, workload)
    with pytest.raises(RunError, match=r"^capacity "):
        simulate(small, program.arch, memories, extents)
    with pytest.raises(RunError, match="capacity error at node write_val_X"):
        HlsDesign.build(Design.of(small), program.arch).run(memories, extents, {})


def test_wrong_words_are_found(spmv: tuple[Compiled, HlsDesign, Inputs]) -> None:
    program, design, inputs = spmv
    words = simulate(program.design.regions[0], program.arch, *inputs).memories["x.vals"].copy()
    words[7] ^= 1
    with pytest.raises(RunError, match=r"x_vals\[7\] is"):
        design.run(*inputs, {"x.vals": words})
    words[7] ^= 1
    with pytest.raises(RunError, match=r"x_vals\[33\] is"):
        design.run(*inputs, {"x.vals": words[:-1]})


def test_wrong_tokens_are_found() -> None:
    program, workload = compiled("spmv", "i32", "karate")
    inputs, model = run_model(program, workload.tensors)
    result = HlsDesign.build(program.design, program.arch).run(*inputs, model.memories, trace=True)
    (own,) = result.tokens
    name = program.design.regions[0].channels[0].name
    with pytest.raises(RunError, match=f"sends 1 tokens on {name}, the simulator 2"):
        compare([model], replace(result, tokens=({**own, name: own[name][:1]},)))
    with pytest.raises(RunError, match=f"Token 0 on {name} is D"):
        compare([model], replace(result, tokens=({**own, name: own[name][::-1]},)))
    with pytest.raises(RunError, match="held 9 tokens"):
        compare([model], replace(result, high_water={"root": (4, 9)}))


def row_times_its_sum() -> Graph:
    """x[i,j] = v[i,j] * (the sum of row i): the values of a row must wait for their sum."""
    b = Builder()
    b.add("root", "root", 0)
    b.add("scan_dense", "rows", 0, "root.out", extent="i")
    b.add("scan_compressed", "columns", 1, "rows.ref", pos="p", crd="c", extent="x")
    b.add("array", "values", 2, "columns.ref", vals="v")
    b.add("reduce_scalar", "sums", 2, "values.val", op="sum")
    b.add("repeat", "spread", 1, "sums.val", "columns.crd", payload="val")
    b.add("alu", "scale", 2, "values.val", "spread.ref", op="mul")
    b.add("write_val", "result", 2, "scale.val", vals="x")
    return b.graph({"i": 2})


def test_deadlock_is_found() -> None:
    row = 20 + SPARE  # The streams of an HLS design have that much more room than the depths.
    memories = {"p": np.array([0, 3, 3 + row]), "c": np.arange(3 + row), "v": np.arange(3 + row)}
    extents = {"i": 2, **WIDE}
    tight = row_times_its_sum()
    with pytest.raises(DeadlockError):
        simulate(tight, Arch(), memories, extents)
    with pytest.raises(DeadlockError, match="columns_crd is full") as error:
        HlsDesign.build(Design.of(tight), Arch()).run(memories, extents, {"x": np.zeros(0, np.int64)})
    assert "columns_crd" in error.value.waiting

    deep = tight.with_depths({c.name: 64 for c in tight.channels})
    words = simulate(deep, Arch(), memories, extents).memories["x"]
    result = HlsDesign.build(Design.of(deep), Arch()).run(memories, extents, {"x": words})
    depth, high = result.high_water["values_val_to_scale"]
    assert row - 1 <= high <= depth == 64 + SPARE
