"""Graphs with lanes: simulator, RTL and HLS agree, to the cycle and the bit.

Sixty random programs, and larger ones:

    SAMHW_RANDOM_LANES_RTL=60 python -m pytest tests/agreement/test_lanes.py -k random
"""

import os

import numpy as np
import pytest

from samhw.app.checking.check_run import check
from samhw.app.checking.model_and_rtl import correlate
from samhw.app.workload import bind_program, compile_workload
from samhw.choices.choice import choice
from samhw.choices.fuse import FUSION_LEVELS, FusionLevel
from samhw.choices.schedule import Schedule, with_words
from samhw.compiler import Compiled
from samhw.graph.numerics import value_type
from samhw.lang import Program
from samhw.targets.backends import run
from tests.agreement.test_expressions import RUNS, VALUES, run_random
from tests.support.program_cases import compile_or_none, random_arch
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.lanes import random_lanes
from tests.support.strategies.programs import programs
from tests.support.thorough import sample

pytestmark = pytest.mark.slow

KERNELS = (
    ("i=2", "innerprod"),
    ("i=2+j=2", "sddmm"),
    ("i=3", "mttkrp"),
    ("i=4", "spmspm_ikj"),
    ("i=2", "spmm"),
    ("i=2", "sddmm"),
    ("i=8", "spmm"),
    ("i=2+k=3", "spmm"),
    ("i=18", "spmv"),
)
"""A summed index, lanes within lanes, numbers of lanes that are not powers of two, reducers of rows; then
more of each."""
MODELS = (("gcn", "partial", 2), ("bigbird_attention", "full", 3))
VALUE = "bf16"
"""Of models and random programs: what f32 adds is a multiple of the logic to build, and nothing of lanes."""
PROGRAMS = int(os.environ.get("SAMHW_RANDOM_LANES_RTL", "4"))
"""How many random programs are drawn in all."""
NODES = 50 if PROGRAMS < 60 else 200
"""The most nodes that they have. Builds take the longer the more there are."""


@pytest.mark.nightly(but=1)
@pytest.mark.verilator
@pytest.mark.parametrize(("lanes", "name"), sample(KERNELS, KERNELS[:4]))
def test_kernels(lanes: str, name: str) -> None:
    assert correlate(
        [[bind_program(name, ["auto"])]], Schedule(lanes=choice("lanes").taken(lanes)), jobs=1
    ).good


@pytest.mark.verilator
@pytest.mark.parametrize(("name", "level", "lanes"), sample(MODELS, MODELS[:1]))
def test_models(name: str, level: FusionLevel, lanes: int) -> None:
    work = bind_program(name, ["random:i=16,d=4" if name == "bigbird_attention" else "random:f=8,h=4,c=3"])
    assert correlate([[work]], Schedule(fuse=level, lanes={"i": lanes}), jobs=1, value=value_type(VALUE)).good


@pytest.mark.nightly(but=1)
@pytest.mark.verilator
@pytest.mark.parametrize("value", ["i32", VALUE])
def test_random_programs_with_lanes(value: str) -> None:
    strategy = programs() if value == "i32" else chained_programs()

    def build(program: Program, rng: np.random.Generator) -> tuple[Compiled | None, bool]:
        fused = Schedule(fuse=FUSION_LEVELS[rng.integers(len(FUSION_LEVELS))]).apply(program)
        arch = random_arch(rng)
        plain = compile_or_none(fused, arch=arch, value=value_type(value))
        if plain is None:
            return None, False
        lanes = random_lanes(plain, rng, 3)
        shallow = rng.random() < 0.3
        laned = compile_or_none(fused, schedule=Schedule(lanes=lanes), arch=arch, value=value_type(value))
        fits = laned is not None and len(laned.design.nodes) <= NODES
        return (laned if lanes and fits else None), shallow

    graphs = PROGRAMS // 2
    assert run_random(strategy, build, 60 + VALUES.index(value), graphs) == graphs * RUNS


IN_RANGES = (
    ("i=3", "spmm", "T = csr"),
    ("i=5", "spmv", "B = dcsr"),
    ("i=2+j=2", "sddmm", "X = dcsr"),
)
"""Of rows: banks of results in compressed levels, empty rows, lanes further in."""


def in_ranges(lanes: str, formats: str) -> Schedule:
    words = {"lanes": lanes, "deal": "i=ranges", "formats": formats}
    return with_words(Schedule(), words)


@pytest.mark.nightly(but=1)
@pytest.mark.verilator
@pytest.mark.parametrize(("lanes", "name", "formats"), sample(IN_RANGES, IN_RANGES[:1]))
def test_ranges_of_rows(lanes: str, name: str, formats: str) -> None:
    schedule = in_ranges(lanes, formats)
    first, other = (bind_program(name, [f"random:size=9,density=0.3,seed={seed}"]) for seed in (1, 2))
    # One design takes both: the host balances each anew.
    assert correlate([[first, other]], schedule, jobs=1).good


IN_BANKS = (
    ("i=4", "spmv", ""),
    ("i=8", "spmm", ""),
    ("i=3+k=2", "spmm", ""),
    ("i=8", "sddmm", "i=ranges"),
    ("i=6", "spmspm_ikj", "i=ranges"),
)
"""Single places, rows of a dense matrix, lanes within lanes, ranges, and rows of a compressed matrix."""


@pytest.mark.nightly(but=1)
@pytest.mark.verilator
@pytest.mark.parametrize(("lanes", "name", "deal"), sample(IN_BANKS, IN_BANKS[:1]))
def test_memories_in_banks(lanes: str, name: str, deal: str) -> None:
    words = {"lanes": lanes, "interleave": "all", **({"deal": deal} if deal else {})}
    schedule = with_words(Schedule(), words)
    data = [bind_program(name, [f"random:size=13,density=0.3,seed={seed}"]) for seed in (1, 2)]
    assert correlate([data], schedule, jobs=1).good


IN_HLS = (
    ("spmm", "i=2+k=2"),
    ("sddmm", "i=2+j=2"),
    ("bigbird_attention", "i=4"),
    ("spmm", "i=3"),
    ("gcn", "i=4"),
)


@pytest.mark.parametrize(("name", "lanes"), sample(IN_HLS, IN_HLS[:3]))
def test_hls(name: str, lanes: str) -> None:
    work = bind_program(name, ["random:i=8,d=4" if name == "bigbird_attention" else "auto"])
    compiled = compile_workload(work, Schedule(lanes=choice("lanes").taken(lanes)))
    # It fails for tokens that are not the simulator's.
    outputs = run(compiled, work.tensors, "hls").outputs
    assert check(work, compiled, outputs).good


@pytest.mark.parametrize(("lanes", "name", "formats"), sample(IN_RANGES, IN_RANGES[:1]))
def test_ranges_of_rows_in_hls(lanes: str, name: str, formats: str) -> None:
    work = bind_program(name, ["auto"])
    compiled = compile_workload(work, in_ranges(lanes, formats))
    assert check(work, compiled, run(compiled, work.tensors, "hls").outputs).good
