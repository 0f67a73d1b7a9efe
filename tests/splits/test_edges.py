"""Splits at the edges: parts with nothing, more parts than rows, a single row, zeros that are stored, and
types that saturate. Parts are drawn, and each backend gives the simulator's words and cycles."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.errors import RunError
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.targets.backends import run
from samhw.tensors import Tensor
from tests.support.strategies.drawn import drawn
from tests.support.thorough import THOROUGH

PROGRAMS = (
    "tensor X[k, j] : dense\ntensor T[i, j] : csr\nT[i, j] = A[i, k] * X[k, j]\n",
    "tensor x[k] : dense\ntensor c[i] : dense\ntensor T[i] : dense\nT[i] = c[i] - A[i, k] * A[i, k] * x[k]\n",
    "tensor X[i, j] : dense\ntensor Y[k, j] : dense\ntensor T[i, k] : csr\n"
    "T[i, k] = A[i, k] * X[i, j] * Y[k, j]\n",
)
FORMATS = ("csr", "dcsr", "dense", "ell(6)", "(dense, ragged)", "(compressed, dense)", "csf")
RULES = (
    *(
        "rows(1)",
        "rows(3)",
        "rows(7)",
        "even(2)",
        "even(9)",
        "columns(2)",
        "columns(8)",
        "hyb(1,0)",
        "hyb(1,3)",
    ),
    *("hyb(3,1)", "diagonal + csr", "dia + csr", "dia(density=1) + dcsr", "blocks(4, density=0.3) + csr"),
    "blocks(9, density=1) + dcsr",
)
SATURATING = ("fixed<8,3>", "fixed<16,8>")
TYPES = (*SATURATING, "i8", "i32", "fixed<32,8>", "bf16", "f8e4m3", "f32")


@st.composite
def edges(draw: st.DrawFn) -> tuple[Workload, Schedule, str]:
    """A program, its data and a split."""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    fmt, kind = draw(st.sampled_from(FORMATS)), draw(st.sampled_from(TYPES))
    program = parse(f"tensor A[i, k] : {fmt}\n{draw(st.sampled_from(PROGRAMS))}")
    extents = {"i": draw(st.sampled_from((1, 2, 6))), "k": draw(st.sampled_from((1, 6))), "j": 3}
    great = draw(st.booleans()) and kind in SATURATING
    tensors = {}
    for decl in program.inputs:
        shape = tuple(extents[index] for index in decl.indices)
        array = rng.integers(-3, 4, shape) * (40 if great else 1)
        if decl.name == "A":
            array = array * (rng.random(shape) < draw(st.sampled_from((0.0, 0.3, 1.0))))
        tensors[decl.name] = Tensor.from_dense(array.astype(float), decl.format)
    return Workload("edge", program, tensors), Schedule(split={"A": draw(st.sampled_from(RULES))}), kind


def model_of(workload: Workload, schedule: Schedule, kind: str) -> tuple[Any, Any]:
    """What the simulator makes of it, which is right; None where values do not fit the type."""
    compiled = compile_workload(workload, schedule, value=value_type(kind))
    try:
        found = run(compiled, workload.tensors)
    except RunError:
        if not kind.startswith("i"):  # Integers overflow.
            raise
        return compiled, None
    # What saturates depends on the order of a sum, and no bound says how: there, backends alone are compared.
    assert kind in SATURATING or check(workload, compiled, found.outputs).good
    return compiled, found


@drawn(400 if THOROUGH else 40, 7)
@given(edges())
def test_simulated(drawn_edge: tuple[Workload, Schedule, str]) -> None:
    model_of(*drawn_edge)


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("backend", ["verilator", "hls"])
def test_in_hardware(backend: str) -> None:
    @drawn(20 if THOROUGH else 1, 11)
    @given(edges())
    def agrees(drawn_edge: tuple[Workload, Schedule, str]) -> None:
        compiled, model = model_of(*drawn_edge)
        if model is None or len(compiled.design.nodes) > 60:
            return
        found = run(compiled, drawn_edge[0].tensors, backend)
        for name, wanted in model.outputs.items():
            assert np.array_equal(found.outputs[name].to_dense(), wanted.to_dense(), equal_nan=True)
        if backend == "verilator":
            assert found.cycles == model.cycles

    agrees()
