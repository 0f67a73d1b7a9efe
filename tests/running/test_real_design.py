"""Generated RTL under Verilator: runs that follow each other, and every error that hardware can find."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from samhw.app.checking import check
from samhw.app.workload import make_workload
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import RunError
from samhw.graph import Design, Graph
from samhw.graph.numerics import value_type
from samhw.lang import Capacity, load_kernel, parse
from samhw.sim import DeadlockError, simulate
from samhw.targets.backends import run
from samhw.targets.running.driver import VerilatedDesign
from samhw.targets.running.images import load
from samhw.tensors import Tensor

pytestmark = pytest.mark.verilator


def compiled_mmadd(**options: object) -> Compiled:
    capacity = Capacity({"i": 16, "j": 16}, {"B": 64, "C": 64, "X": 128})
    return compile_job(Job(load_kernel("mmadd"), **{"capacity": capacity, **options}))


def tensors(b: object, c: object) -> dict[str, Tensor]:
    return {"B": Tensor.from_dense(np.array(b), "dcsr"), "C": Tensor.from_dense(np.array(c), "dcsr")}


def both_fail(
    compiled: Compiled, inputs: Mapping[str, Tensor], graph: Graph | None = None
) -> tuple[str, str]:
    """The errors of simulator and RTL."""
    design = Design.of(graph) if graph else compiled.design
    memories, extents = load(design, inputs)
    with pytest.raises(RunError) as model:
        simulate(design.regions[0], compiled.arch, memories, extents)
    with pytest.raises(RunError) as rtl:
        VerilatedDesign.build(design, compiled.arch).run(memories, extents)
    assert type(model.value) is type(rtl.value)
    return str(model.value), str(rtl.value)


@pytest.mark.slow
def test_one_build_runs_other_data_and_other_shapes_without_reset() -> None:
    compiled = compiled_mmadd()
    design = VerilatedDesign.build(compiled.design, compiled.arch)
    with design.session() as session:
        for spec in (
            "random:size=4",
            "random:size=16,density=0.2",
            "random:size=1",
            "random:size=9,density=0",
        ):
            workload = make_workload(load_kernel("mmadd"), [spec])
            memories, extents = load(compiled.design, workload.tensors)
            model = simulate(compiled.design.regions[0], compiled.arch, memories, extents)
            rtl = session.run(memories, extents)
            assert rtl.cycles == model.cycles
            for name, words in rtl.memories.items():
                assert np.array_equal(words, model.memories[name][: len(words)])


@pytest.mark.slow
def test_capacity_is_named() -> None:
    compiled = compiled_mmadd(capacity=Capacity({"i": 16, "j": 16}, {"B": 64, "C": 64, "X": 2}))
    for message in both_fail(compiled, tensors([[1, 1, 1, 1]], [[0, 0, 0, 1]])):
        assert "capacity" in message
        assert "write_compressed_X_j" in message or "write_val_X" in message


@pytest.mark.slow
def test_overflow_is_named() -> None:
    for message in both_fail(compiled_mmadd(value=value_type("i8")), tensors([[0, 100]], [[0, 100]])):
        assert "overflow" in message
        assert "'add'" in message


@pytest.mark.slow
def test_overflow_of_a_reducer_is_named() -> None:
    compiled = compile_job(
        Job(load_kernel("spmv"), value=value_type("i8"), capacity=Capacity({"i": 4, "j": 4}))
    )
    inputs = {
        "B": Tensor.from_dense(np.full((2, 4), 10), "csr"),
        "c": Tensor.from_dense(np.full(4, 5), "dense"),
    }
    for message in both_fail(compiled, inputs):
        assert "overflow" in message
        assert "reduce_scalar" in message


@pytest.mark.slow
def test_overflow_names_the_type_of_the_node() -> None:
    """Products and sums of i16 in 32 bits: four products of 30 bits are too much."""
    compiled = compile_job(
        Job(load_kernel("spmv"), value=value_type("i16"), capacity=Capacity({"i": 4, "j": 4}))
    )
    i32 = value_type("i32")
    wide = {"mul": {"to": i32}, "reduce_scalar": {"value": i32}, "write_val": {"value": i32}}
    (graph,) = compiled.design.regions
    nodes = tuple(
        replace(n, params={**n.params, **wide.get("mul" if n.params.get("op") == "mul" else n.kind, {})})
        for n in graph.nodes
    )
    memories = tuple(replace(m, value=i32) if m.name == "x.vals" else m for m in graph.memories)
    inputs = {
        "B": Tensor.from_dense(np.full((1, 4), 0x7FFF), "csr"),
        "c": Tensor.from_dense(np.full(4, 0x7FFF), "dense"),
    }
    _, message = both_fail(compiled, inputs, replace(graph, nodes=nodes, memories=memories))
    assert "overflow at node 'reduce_scalar" in message
    assert "the range of i32" in message


@pytest.mark.slow
def test_deadlock_is_named_with_the_channels_of_the_waiting_cycle() -> None:
    # B is empty: its scanner waits for the token after the root's first, which the channel to the repeater
    # of `a` holds back, and the repeater waits for a coordinate.
    program = parse("tensor B[i=4, j=4] : dcsr\ntensor X[i, j] : dcsr\ntensor a\nX[i,j] = a * B[i,j]")
    compiled = compile_job(Job(program))
    (whole,) = compiled.design.regions
    graph = whole.with_depths(dict.fromkeys((c.name for c in whole.channels), 1))
    inputs = {
        "B": Tensor.from_dense(np.zeros((4, 4), dtype=int), "dcsr"),
        "a": Tensor.from_dense(np.array(3), "dense"),
    }
    memories, extents = load(Design.of(graph), inputs)
    with pytest.raises(DeadlockError) as model:
        simulate(graph, compiled.arch, memories, extents)
    with pytest.raises(DeadlockError) as rtl:
        VerilatedDesign.build(Design.of(graph), compiled.arch).run(memories, extents)
    for error in (model.value, rtl.value):
        assert "deeper" in str(error)
        assert all(name in str(error) for name in error.waiting)
    assert set(rtl.value.waiting) & set(model.value.waiting)


@pytest.mark.slow
def test_fixed_point_equals_the_simulator_to_the_bit() -> None:
    workload = make_workload(load_kernel("sddmm"), ["random:size=12"], value=value_type("fixed<16,8>"))
    compiled = compile_job(
        Job(workload.program, value=value_type("fixed<16,8>"), capacity=workload.capacity())
    )
    model, rtl = (run(compiled, workload.tensors, backend) for backend in ("sim", "verilator"))
    assert rtl.cycles == model.cycles
    assert np.array_equal(rtl.outputs["X"].vals, model.outputs["X"].vals)
    assert check(workload, compiled, rtl.outputs).good


@pytest.mark.slow
def test_a_channel_of_more_than_65536_tokens() -> None:
    """It lies in a memory of its own, and all of it is needed: rows of 70,000 wait for their sum."""
    program = parse("""
        tensor X[i=2, e=70000] : dense
        tensor b[e] : dense
        tensor Y[i, e] : dense
        fuse {
          H[i, e] = relu(X[i, e])
          s[i] = H[i, e] * b[e]
          Y[i, e] = H[i, e] + s[i]
        }
    """)
    compiled = compile_job(Job(program, value=value_type("i32")))
    (graph,) = compiled.design.runs
    assert max(channel.depth for channel in graph.channels) > 70_000
    rows = np.arange(140_000).reshape(2, 70_000) % 100 - 50
    given = {"X": Tensor.from_dense(rows, "dense"), "b": Tensor.from_dense(np.ones(70_000, int), "dense")}
    model, rtl = (run(compiled, given, backend) for backend in ("sim", "verilator"))
    assert rtl.cycles == model.cycles
    relu = np.maximum(rows, 0)
    for result in (model, rtl):
        assert np.array_equal(result.outputs["Y"].to_dense(), relu + relu.sum(axis=1, keepdims=True))
    shallow = replace(
        graph,
        channels=tuple(replace(c, depth=min(c.depth, 65_536)) for c in graph.channels),
    )
    with pytest.raises(DeadlockError):
        simulate(shallow, compiled.arch, *load(Design.of(shallow), given))
