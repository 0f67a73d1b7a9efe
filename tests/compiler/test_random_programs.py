"""Random programs, formats, orders, regions and data: the simulated graphs give NumPy's result.

Ten thousand chained programs, each at the three fusion levels and by kinds, run on demand:

    SAMHW_RANDOM_PROGRAMS=10000 python -m pytest tests/compiler/test_random_programs.py -k chained
"""

import os
from collections import Counter
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from samhw.app.checking.check_run import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.iteration import ITERATIONS, Iteration
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.search import order_spaces
from samhw.errors import InputError, ScheduleError
from samhw.graph.numerics import Fixed, value_type
from samhw.lang import Program, dumps
from samhw.lang.fusion.order import PartialOrder
from samhw.lang.reference import evaluate_program
from samhw.targets.backends import run
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.drawn import drawn
from tests.support.strategies.matrices import matrix_chains
from tests.support.strategies.programs import programs

pytestmark = pytest.mark.slow

CHAINED = int(os.environ.get("SAMHW_RANDOM_PROGRAMS", "320"))
"""How many chained programs are drawn in all."""
ORDERED = CHAINED // 8
"""How many programs are drawn for each test of orders."""
IN_BLOCKS = CHAINED // 4
"""How many are drawn for each test of blocks."""
MODES = (
    ("i32", Schedule()),
    ("f32", Schedule()),
    ("fixed<16,8>", Schedule()),
    ("i32", Schedule(iteration="global")),
)
MOST_REFUSED = 0.35
"""Of the runs of one test."""
MOST_CHAINED_REFUSED = 0.1
"""Of the runs of one shard of chained programs, whose storage follows one order."""


def deeper(compiled: Compiled, rng: np.random.Generator) -> Compiled:
    """With channels as deep as the compiler says or deeper: neither may deadlock."""
    regions = [
        replace(
            region,
            graph=region.graph.with_depths(
                {c.name: c.depth + int(rng.choice([0, 0, 1, 40])) for c in region.graph.channels}
            ),
        )
        for region in compiled.regions
    ]
    return replace(compiled, regions=tuple(regions))


def outcome(work: Workload, rng: np.random.Generator, **options: object) -> str:
    """Runs a workload, and fails unless the result is NumPy's; "refused" for a
    schedule that is refused."""
    try:
        compiled = compile_workload(work, **options)
    except ScheduleError:
        return "refused"
    outputs = run(deeper(compiled, rng), work.tensors).outputs
    if isinstance(value_type(str(options["value"])), Fixed):
        dense = {name: tensor.to_dense() for name, tensor in work.tensors.items()}
        values = evaluate_program(work.program, dense).values()
        if any(np.abs(array).max(initial=0) >= 32 for array in values):
            # The bounds say nothing about saturation, which even a part of a sum may meet.
            return "saturated"
    result = check(work, compiled, outputs)
    assert result.good, f"off by {result.max_abs_error}, bound {result.bound}:\n{dumps(work.program)}"
    return "good"


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("shard", range(2 * len(MODES)))
def test_chained_programs(shard: int) -> None:
    value, schedule = MODES[shard % len(MODES)]
    seen: Counter[str] = Counter()

    @drawn(CHAINED // (2 * len(MODES)), shard)
    @given(chained_programs(integers=value == "i32"), st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        rng = np.random.default_rng(number)
        tensors = random_tensors(program, rng)
        for level in (*FUSION_LEVELS, "kinds"):
            work = Workload("random", Schedule(fuse=level).apply(program), tensors)
            seen[outcome(work, rng, value=value_type(value), schedule=schedule)] += 1

    body()
    assert seen["refused"] <= MOST_CHAINED_REFUSED * sum(seen.values())


@pytest.mark.parametrize("value", ["i32", "f32"])
def test_chained_programs_in_blocks(value: str) -> None:
    """Tensors in blocks of random sizes: what is not refused gives the reference's result."""
    seen: Counter[str] = Counter()

    @drawn(IN_BLOCKS, value == "f32")
    @given(chained_programs(integers=value == "i32", moves=False), st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        rng = np.random.default_rng(number)
        tensors = random_tensors(program, rng)
        dimensions = program.dimensions.extents
        blocks = {d: int(rng.choice([1, 2, 2, 3])) for d in dimensions if rng.random() < 0.7}
        level = str(rng.choice(FUSION_LEVELS))
        try:
            in_blocks = Schedule(fuse=level, blocks=blocks).apply(program)
            work = Workload("random", in_blocks, tensors)
            seen[outcome(work, rng, value=value_type(value))] += 1
        except InputError:
            seen["refused"] += 1

    body()
    assert seen["good"] >= IN_BLOCKS // 5, seen


@pytest.mark.parametrize("permute", [False, True])
def test_chained_programs_of_any_storage(permute: bool) -> None:
    seen: Counter[str] = Counter()

    @seed(permute)
    @settings(max_examples=60, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(chained_programs(concordant=False), st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        rng = np.random.default_rng(number)
        work = Workload("random", program, random_tensors(program, rng))
        seen[outcome(work, rng, value=value_type("i32"), schedule=Schedule(permute=permute))] += 1

    body()
    assert seen["good"] >= 10


def any_order(partial: PartialOrder, rng: np.random.Generator) -> tuple[str, ...]:
    """A topological order, drawn an index at a time."""
    left: nx.DiGraph[str] = nx.DiGraph(list(partial.edges))
    left.add_nodes_from(partial)
    order = []
    while left:
        outermost = [index for index in partial if index in left and left.in_degree(index) == 0]
        order.append(str(rng.choice(outermost)))
        left.remove_node(order[-1])
    return tuple(order)


def test_chained_programs_in_any_order() -> None:
    """Whole programs as one region, in orders drawn from all that their storage allows."""
    seen: Counter[str] = Counter()

    @seed(0)
    @settings(max_examples=ORDERED, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(chained_programs(max_statements=4, max_extent=12, moves=False), st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        rng = np.random.default_rng(number)
        program = Schedule(fuse="full").apply(program)
        work = Workload("random", program, random_tensors(program, rng, -1, 1))
        for space in order_spaces(program, program.regions[0]):
            for order in {any_order(space.stored, rng) for _ in range(2)}:
                seen[outcome(work, rng, value=value_type("f32"), schedule=Schedule(order=order))] += 1

    body()
    assert seen["refused"] <= MOST_REFUSED * sum(seen.values())


def test_chained_matrix_products_in_any_order() -> None:
    seen: Counter[str] = Counter()

    @seed(0)
    @settings(max_examples=ORDERED, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(matrix_chains(max_extent=16), st.integers(0, 2**32 - 1))
    def body(drawn: tuple[Program, tuple[str, ...]], number: int) -> None:
        program, order = drawn
        rng = np.random.default_rng(number)
        work = Workload("random", program, random_tensors(program, rng, -1, 1))
        seen[outcome(work, rng, value=value_type("i32"), schedule=Schedule(order=order))] += 1

    body()
    assert seen["good"] >= ORDERED // 2


@pytest.mark.parametrize("iteration", ITERATIONS)
def test_single_statements(iteration: Iteration) -> None:
    seen: Counter[str] = Counter()

    @seed(iteration == "factored")
    @settings(max_examples=120, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(programs(), st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        rng = np.random.default_rng(number)
        work = Workload("random", program, random_tensors(program, rng))
        seen[outcome(work, rng, value=value_type("i32"), schedule=Schedule(iteration=iteration))] += 1

    body()
    assert seen["refused"] <= MOST_REFUSED * sum(seen.values())
