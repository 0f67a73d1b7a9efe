"""Generated Verilog through the cache, and a generated design from tensors to tensors."""

from pathlib import Path

import numpy as np
import pytest

import samhw.rtl
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import RunError
from samhw.graph import PLAIN_HOST, Arch, Design, HostOptions
from samhw.lang import Capacity, load_kernel
from samhw.sim import simulate
from samhw.targets.building.elaborate import generate_verilog
from samhw.targets.running.driver import VerilatedDesign
from samhw.targets.running.images import load, unload
from samhw.tensors import Tensor


@pytest.fixture(scope="module")
def spmv() -> Compiled:
    """x = B c for matrices of up to 6 by 5."""
    program = load_kernel("spmv").bind({"B": (6, 5)})
    (statement,) = program.statements
    extents = {index: size or 1 for index, size in program.extents(statement).items()}
    return compile_job(Job(program, capacity=Capacity(extents, dict.fromkeys(program.tensors, 32))))


def test_generated_once(spmv: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def verilog(design: object, arch: object, **options: object) -> str:
        made.append((design, arch, options))
        return f"// {len(made)}"

    monkeypatch.setenv("SAMHW_CACHE", str(tmp_path))
    monkeypatch.setattr(samhw.rtl, "verilog", verilog)
    design, arch = spmv.design, spmv.arch
    assert generate_verilog(design, arch) == "// 1"
    assert generate_verilog(design, arch) == "// 1"
    assert generate_verilog(design, arch, probes=True) == "// 2"
    assert generate_verilog(design, arch, stall_ports=True) == "// 3"
    assert generate_verilog(design, Arch(memory=3)) == "// 4"
    (graph,) = design.regions
    deeper = Design.of(graph.with_depths({graph.channels[0].name: 9}))
    assert generate_verilog(deeper, arch) == "// 5"
    host = HostOptions.parse("axi4")
    assert generate_verilog(design, arch, host=host) == "// 6"
    plain = {
        "name": "samhw_top",
        "probes": False,
        "stall_ports": False,
        "host": PLAIN_HOST,
        "layout": None,
        "chip_model": True,
    }
    assert made[1] == (design, arch, plain | {"probes": True})
    assert made[5] == (design, arch, plain | {"host": host})


@pytest.mark.slow
@pytest.mark.verilator
def test_from_tensors_to_tensors(spmv: Compiled) -> None:
    """Several inputs one after the other, an overflow between them: results and cycles, token for token."""
    (graph,) = spmv.design.regions
    arch = spmv.arch
    design = VerilatedDesign.build(spmv.design, arch, probes=True, stall_ports=True)
    rng = np.random.default_rng(5)
    formats = {binding.name: binding.format for binding in graph.tensors}

    def tensors(matrix: np.ndarray, vector: np.ndarray) -> dict[str, Tensor]:
        return {name: Tensor.from_dense(a, formats[name]) for name, a in (("B", matrix), ("c", vector))}

    with design.session() as session:
        for rows, columns in [(6, 5), (1, 1), (3, 4)]:
            matrix = rng.integers(-9, 9, (rows, columns)) * (rng.random((rows, columns)) < 0.4)
            vector = rng.integers(-9, 9, columns)
            memories, extents = load(spmv.design, tensors(matrix, vector))
            stalls = {name: (rng.random(7) < 0.3).tolist() for name in design.stallable}
            stalls["root"] = [False, True, True, True]
            model = simulate(graph, arch, memories, extents, trace=True, stalls=stalls)
            rtl = session.run(memories, extents, trace=True, stalls=stalls)
            assert rtl.cycles == model.cycles
            assert rtl.traces == model.traces
            # A root that is stalled in the last cycle is free in the next run.
            assert session.run(memories, extents).cycles == simulate(graph, arch, memories, extents).cycles
            (result,) = unload(graph, rtl.memories, extents).values()
            assert np.array_equal(result.to_dense(), matrix @ vector)

            too_large = tensors(np.full((1, 1), 1 << 30), np.full(1, 4))
            with pytest.raises(RunError, match=r"^overflow at node 'mul"):
                session.run(*load(spmv.design, too_large))
