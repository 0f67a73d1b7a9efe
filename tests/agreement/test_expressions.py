"""Whole graphs of random expressions: simulator and RTL agree to the bit and to the cycle.

Each random graph gets random latencies and random channel depths from one token up, and is run on random data
with random stalls at the root and at the writers. Where the simulator says that the depths deadlock, the RTL
must deadlock too.
"""

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.errors import RunError
from samhw.graph import Design
from samhw.graph.numerics import Float, value_type
from samhw.lang import Program
from samhw.sim import DeadlockError, simulate_regions, total_cycles
from samhw.targets.running.driver import VerilatedDesign, VerilatedSession
from samhw.targets.running.images import load_inputs
from tests.support.program_cases import (
    compile_or_none,
    random_arch,
    random_depths,
    random_stalls,
    random_tensors,
)
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.drawn import drawn
from tests.support.strategies.programs import programs
from tests.support.thorough import THOROUGH

VALUES = ("i32", "fixed<16,8>", "bf16", "f32", "f8e4m3")
GRAPHS = 8 if THOROUGH else 2
RUNS = 16
NODES = 200 if THOROUGH else 60
"""The most nodes of a chain of statements. Builds take the longer the more there are."""


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("value", VALUES)
def test_random_expressions(value: str) -> None:
    def build(program: Program, rng: np.random.Generator) -> tuple[Compiled | None, bool]:
        return compile_or_none(program, arch=random_arch(rng), value=value_type(value)), rng.random() < 0.7

    assert run_random(programs(), build, VALUES.index(value)) == GRAPHS * RUNS


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("value", ["bf16", "f32"])
def test_random_programs_in_regions(value: str) -> None:
    """Chains of statements with functions and masks, at every level of fusion, with the compiler's depths."""

    def build(program: Program, rng: np.random.Generator) -> tuple[Compiled | None, bool]:
        fused = Schedule(fuse=FUSION_LEVELS[rng.integers(len(FUSION_LEVELS))]).apply(program)
        compiled = compile_or_none(fused, arch=random_arch(rng), value=value_type(value))
        return compiled if compiled and len(compiled.design.nodes) <= NODES else None, False

    assert run_random(chained_programs(), build, 10 + VALUES.index(value)) == GRAPHS * RUNS


def cause_of(error: RunError) -> str:
    """The first word of an error, after the name of the region."""
    return re.sub(r"^Region \S+: ", "", str(error)).partition(" ")[0]


def run_random(
    strategy: st.SearchStrategy[Program],
    build: Callable[[Program, np.random.Generator], tuple[Compiled | None, bool]],
    number: int,
    graphs: int = GRAPHS,
) -> int:
    """Builds this many random programs and runs them; gives the number of runs. `build` also tells whether
    the graph gets random channel depths."""
    runs = 0

    @drawn(graphs, number)
    @given(strategy, st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        nonlocal runs
        rng = np.random.default_rng(number)
        compiled, shallow = build(program, rng)
        assume(compiled is not None and len(compiled.design.nodes) > 5)
        assert compiled is not None
        design = compiled.design
        if shallow:
            design = Design.assemble(design.name, [random_depths(graph, rng) for graph in design.regions])
        rtl = VerilatedDesign.build(design, compiled.arch, stall_ports=True)
        with rtl.session() as session:
            for _ in range(RUNS):
                compare(session, compiled, design, rng)
                runs += 1

    body()
    return runs


def compare(session: VerilatedSession, compiled: Compiled, design: Design, rng: np.random.Generator) -> None:
    """One run on random data, with random stalls where the design has one region."""
    tensors = random_tensors(compiled.program, rng, integers=not isinstance(compiled.value, Float))
    memories, extents = load_inputs(compiled.program, design, tensors)
    stalls = random_stalls(design.regions[0], rng) if len(design.regions) == 1 else {}
    try:
        model = simulate_regions(design, compiled.arch, memories, extents, stalls=stalls)
    except DeadlockError:
        with pytest.raises(DeadlockError) as error:
            session.run(memories, extents, stalls=stalls)
        assert error.value.waiting
        return
    except RunError as failure:
        with pytest.raises(RunError, match=cause_of(failure)):
            session.run(memories, extents, stalls=stalls)
        return
    rtl = session.run(memories, extents, stalls=stalls, buffers=True)
    assert list(rtl.region_cycles) == [result.cycles for result in model], f"{compiled.program}"
    assert rtl.cycles == total_cycles(model)
    for result in model:
        for name, words in result.memories.items():
            found = rtl.memories[name]
            assert np.array_equal(found, words[: len(found)]), f"{compiled.program}: {name}"
