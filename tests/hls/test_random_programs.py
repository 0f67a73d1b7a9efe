"""Random programs, formats, orders, depths and data: the C simulation gives the simulator's tokens and words.

Where the simulator ends with some depths the HLS design must end too: its processes have at least the room
that the actors have.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samhw.graph import Arch, Design, Placement
from samhw.graph.liveness import DeadlockError
from samhw.graph.numerics import value_type
from samhw.hls import Options
from samhw.lang import Program
from samhw.sim import Result
from samhw.targets.running.csim import HlsDesign
from tests.support.hls_bench import Inputs, run_design, run_model
from tests.support.program_cases import compile_or_none, random_depths, random_tensors
from tests.support.strategies.drawn import drawn
from tests.support.strategies.programs import programs
from tests.support.thorough import THOROUGH, sample

PROGRAMS = 40 if THOROUGH else 9
RUNS = 3
VALUES = ("i32", "fixed<16,8>", "bf16", "f32")


@dataclass(frozen=True)
class Sample:
    """A random program's design, and what the simulator makes of it on random data."""

    design: Design
    runs: list[tuple[Inputs, Result]]


def draw_samples(start: int, value: str) -> list[Sample]:
    """The same random programs for the same start."""
    samples: list[Sample] = []

    @drawn(PROGRAMS, start)
    @given(programs(), st.integers(0, 2**32 - 1))
    def collect(program: Program, number: int) -> None:
        rng = np.random.default_rng(number)
        compiled = compile_or_none(program, value=value_type(value))
        assume(compiled is not None and len(compiled.design.nodes) > 4 and len(compiled.regions) == 1)
        assert compiled is not None
        (graph,) = compiled.design.regions
        graph = random_depths(graph, rng) if rng.random() < 0.4 else graph
        design = Design.assemble(f"random_{len(samples)}", [graph])
        samples.append(Sample(design, []))
        for _ in range(RUNS):
            try:
                samples[-1].runs.append(run_model(compiled, random_tensors(program, rng), design))
            except DeadlockError:
                continue  # These depths are too small.

    collect()
    return samples


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "on_chip"),
    sample(list(product(VALUES, (True, False))), [(value, n % 2 == 0) for n, value in enumerate(VALUES)]),
)
def test_random_programs(value: str, on_chip: bool) -> None:
    samples = draw_samples(2 * VALUES.index(value) + on_chip, value)
    options = Options(placement=Placement(room=None if on_chip else 0))
    designs = HlsDesign.build_together([s.design for s in samples], Arch(), options)
    for design, one in zip(designs, samples, strict=True):
        for run in one.runs:
            run_design(design, *run)
    assert sum(len(one.runs) for one in samples) > 2 * PROGRAMS
