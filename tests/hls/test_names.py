"""Any names in HLS: what a compiler makes of them gives the simulator's tokens and words."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samhw.app.workload import compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.graph import Arch, Design, Placement
from samhw.graph.numerics import value_type
from samhw.hls import Options
from samhw.hls.cpp import top_name
from samhw.lang import Program, parse
from samhw.sim import Result
from samhw.targets.backends import run
from samhw.targets.running.csim import HlsDesign
from tests.support.hls_bench import Inputs, run_design, run_model
from tests.support.hostile import WORDS, renamed
from tests.support.program_cases import compile_or_none, random_tensors
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.drawn import drawn
from tests.support.thorough import THOROUGH, sample

PROGRAMS = 12 if THOROUGH else 6

SCALE = """
tensor {0}[{0}=5, {1}=4] : csr
tensor {1}[{1}] : csf
result[{0}] = {0}[{0}, {1}] * {1}[{1}] * {0}[{0}, {1}]
"""


PAIRS = list(zip(WORDS[::2], WORDS[1::2], strict=False))
"""Every hostile word once, and some long ones."""


@pytest.mark.slow
@pytest.mark.parametrize("on_chip", [True, False])
def test_every_word(on_chip: bool) -> None:
    """As tensor, index and program, in programs that share a library: a quarter on the chip and one off it,
    in the nightly all of them."""
    samples = []
    for tensor, index in sample(PAIRS, PAIRS[on_chip::4]):
        workload = make_workload(parse(SCALE.format(tensor, index), f"{tensor}.ein"), ["random:density=0.6"])
        compiled = compile_workload(workload)
        samples.append((compiled.design, run_model(compiled, workload.tensors)))
    designs = HlsDesign.build_together(
        [design for design, _ in samples], Arch(), Options(placement=Placement(room=None if on_chip else 0))
    )
    for design, (_, (inputs, model)) in zip(designs, samples, strict=True):
        run_design(design, inputs, model)


@pytest.mark.slow
def test_random_names() -> None:
    samples: list[tuple[Design, tuple[Inputs, Result]]] = []

    @drawn(PROGRAMS, 0)
    @given(chained_programs(max_statements=3), st.integers(0, 2**32 - 1))
    def collect(program: Program, number: int) -> None:
        rng = np.random.default_rng(number)
        program, _ = renamed(program, rng)
        compiled = compile_or_none(
            program, schedule=Schedule(fuse="full", permute=True), value=value_type("i32")
        )
        assume(compiled is not None and len(compiled.regions) == 1)
        assert compiled is not None
        design = Design.assemble(f"random_{len(samples)}", compiled.design.regions)
        samples.append((design, run_model(compiled, random_tensors(program, rng), design)))

    collect()
    designs = HlsDesign.build_together([design for design, _ in samples], Arch())
    for design, (_, (inputs, model)) in zip(designs, samples, strict=True):
        run_design(design, inputs, model)


# Tensors whose copies, ports and arrays have the names of each other's.
MEETING = """
tensor A[i=4, vals_chip=5] : csr
tensor A_vals[i=4, vals_words=5] : csr
tensor A_i_crd_to_A[i=4, top=5] : csr
fuse {
  T[i] = A[i, vals_chip] * A_vals[i, vals_chip]
  T_2[i] = A_i_crd_to_A[i, top] * T[i]
  T_vals[i] = T_2[i] + T[i]
}
T_vals_count[i] = T_vals[i] * T_vals[i] + T_2[i]
T_error[i] = T_vals[i] + T_vals_count[i]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("A_vals", {"one_top": True}),
        ("node_root", {"one_top": True, "placement": Placement(room=0)}),
        ("a\\", {}),
    ],
)
def test_names_that_meet(name: str, options: dict[str, bool]) -> None:
    workload = make_workload(parse(MEETING, f"{name}.ein"))
    run(compile_workload(workload), workload.tensors, "hls", **options)


def test_programs_of_long_names_stay_apart() -> None:
    """Files are called after them, with endings."""
    names = [top_name("p" * 250 + end) for end in ("_0", "_1")]
    assert names[0] != names[1]
    assert max(map(len, names)) < 120
