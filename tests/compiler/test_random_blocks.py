"""Random data, extents, formats, blocks and lanes: products, sampled products, attention and layers give what
NumPy says and what they give without blocks, and simulator, RTL and C++ agree.

Three hundred programs in the simulator, forty in RTL and twenty in C++ run on demand:

    SAMHW_THOROUGH=1 python -m pytest tests/compiler/test_random_blocks.py
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest

from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.errors import ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.sim import simulate_regions, total_cycles
from samhw.targets.backends import run
from samhw.targets.running.csim import HlsDesign, compare
from samhw.targets.running.driver import VerilatedDesign
from samhw.targets.running.images import inputs_of
from samhw.tensors import Tensor
from tests.support.program_cases import random_tensors
from tests.support.strategies.lanes import random_lanes
from tests.support.thorough import THOROUGH

VALUES = ("i32", "fixed<16,8>", "bf16", "f32")
PRODUCT = """
tensor A[i={i}, k={k}] : {sparse}
tensor X[k={k}, j={j}] : dense
tensor Y[i={i}, j={j}] : dense
Y[i, j] = A[i, k] * X[k, j]    order i, k, j
"""
SAMPLED = """
tensor B[i={i}, j={j}] : {sparse}
tensor C[i={i}, k={k}] : dense
tensor D[j={j}, k={k}] : dense
tensor Y[i={i}, j={j}] : {sparse}
Y[i, j] = B[i, j] * C[i, k] * D[j, k]    order i, j, k
"""
ATTENTION = """
tensor M[i={i}, j={j}] : {sparse}
tensor Q[i={i}, d={k}] : dense
tensor K[j={j}, d={k}] : dense
tensor V[j={j}, d={k}] : dense
tensor S[i={i}, j={j}] : {sparse}
tensor E[i={i}, j={j}] : {sparse}
tensor P[i={i}, j={j}] : {sparse}
tensor Y[i={i}, d={k}] : dense
fuse {{
  S[i, j] = Q[i, d] * K[j, d] where M[i, j]    order i, j, d
  m[i] max= S[i, j] where M[i, j]              order i, j
  E[i, j] = {weight} where M[i, j]             order i, j
  l[i] = E[i, j]                               order i, j
  P[i, j] = {share}                            order i, j
  Y[i, d] = P[i, j] * V[j, d]                  order i, j, d
}}
"""
LAYERS = """
tensor W[k={k}, j={j}] : {sparse}
tensor U[i={i}, k={k}] : {sparse}
tensor X[j={j}, d={d}] : dense
tensor b[k={k}] : dense
tensor c[i={i}] : dense
tensor R[k={k}, d={d}] : dense
tensor Y[i={i}, d={d}] : dense
{open}
  T[k, d] = W[k, j] * X[j, d]
  R[k, d] = relu(T[k, d] + b[k])
  Z[i, d] = U[i, k] * R[k, d]
  Y[i, d] = Z[i, d] + c[i]
{close}
"""
PROGRAMS = (PRODUCT, SAMPLED, ATTENTION, LAYERS)


@dataclass(frozen=True)
class Case:
    """A program on data, with and without blocks."""

    work: Workload
    blocks: Mapping[str, int]
    value: str
    number: int

    def compiled(self, *, blocks: bool = True) -> Compiled:
        """With lanes in every third case that can have them, where there are blocks."""
        schedule = Schedule(blocks=self.blocks if blocks else {})
        compiled = compile_workload(self.work, schedule, value=value_type(self.value))
        if not blocks or self.number % 3:
            return compiled
        lanes = random_lanes(compiled, np.random.default_rng(self.number), most=3)
        try:
            return compile_workload(self.work, replace(schedule, lanes=lanes), value=value_type(self.value))
        except ScheduleError:
            return compiled


def draw(number: int, *, most: int = 9, sizes: tuple[int, ...] = (1, 2, 2, 3, 4), words: int = 64) -> Case:
    """A case: all programs in all types, one after another, with blocks of at most this many products."""
    rng = np.random.default_rng(number)
    value, text = VALUES[number % 4], PROGRAMS[number // 4 % 4]
    # Integers have neither exp nor a quotient.
    weight, share = (
        ("S[i, j] - m[i]", "E[i, j] * l[i]") if value == "i32" else ("exp(S[i, j] - m[i])", "E[i, j] / l[i]")
    )
    apart = rng.random() < 0.5
    program = parse(
        text.format(
            **{index: int(rng.integers(2, most)) for index in "ijkd"},
            sparse=rng.choice(["csr", "dcsr"]),
            weight=weight,
            share=share,
            open="" if apart else "fuse {",
            close="" if apart else "}",
        ),
        f"random_{number}",
    )
    blocks: dict[str, int] = {}
    while max(blocks.values(), default=1) == 1 or np.prod([*blocks.values()]) > words:
        blocks = {index: int(rng.choice(sizes)) for index in program.dimensions.extents}
    # So small that nothing saturates, in halves that all types have.
    data = random_tensors(program, rng, -2, 2)
    if value != "i32":
        data = {name: Tensor.from_dense(t.to_dense() / 2, t.format) for name, t in data.items()}
    return Case(Workload("random", program, data), blocks, value, number)


@pytest.mark.parametrize("number", range(304 if THOROUGH else 32))
def test_blocks_change_no_result(number: int) -> None:
    case = draw(number)
    found = [case.compiled(), case.compiled(blocks=False)]
    outputs = [run(compiled, case.work.tensors).outputs for compiled in found]
    for compiled, given in zip(found, outputs, strict=True):
        assert check(case.work, compiled, given).good
    if case.value in ("i32", "fixed<16,8>"):
        assert np.array_equal(*(given["Y"].to_dense() for given in outputs))


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("number", range(40 if THOROUGH else 1))
def test_rtl_takes_the_cycles_of_the_simulator(number: int) -> None:
    case = draw(number, most=7, sizes=(1, 2, 4), words=8)
    compiled = case.compiled()
    memories, extents = inputs_of(compiled, case.work.tensors)
    models = simulate_regions(compiled.design, compiled.arch, memories, extents)
    rtl = VerilatedDesign.build(compiled.design, compiled.arch).run(memories, extents)
    assert rtl.cycles == total_cycles(models)
    expected = {name: words for model in models for name, words in model.memories.items()}
    assert rtl.memories
    for name, words in rtl.memories.items():
        assert np.array_equal(words[: len(expected[name])], expected[name])


@pytest.mark.slow
@pytest.mark.parametrize("value", VALUES if THOROUGH else VALUES[:1])
def test_cpp_gives_the_tokens_of_the_simulator(value: str) -> None:
    """Programs of a type, each of which computes something else, in one build."""
    numbers = range(100 + VALUES.index(value), 100 + 4 * (5 if THOROUGH else 2), 4)
    cases = [draw(number, most=7, sizes=(1, 2, 4), words=16) for number in numbers]
    compiled = [case.compiled() for case in cases]
    designs = HlsDesign.build_together([made.design for made in compiled], compiled[0].arch)
    for case, made, hls in zip(cases, compiled, designs, strict=True):
        memories, extents = inputs_of(made, case.work.tensors)
        models = simulate_regions(made.design, made.arch, memories, extents, trace=True)
        expected = {name: words for model in models for name, words in model.memories.items()}
        compare(models, hls.run(memories, extents, expected, trace=True))
