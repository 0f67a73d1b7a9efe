"""Random programs under random splits: the same results, by NumPy and by the simulator.

Five hundred of each, instead of the few of a quick run:

    SAMHW_RANDOM_SPLITS=500 python -m pytest tests/splits/test_random.py
"""

import os

import numpy as np
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.errors import InputError, ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import Program, dumps, parse
from samhw.lang.reference import evaluate_program
from samhw.lang.splits import order_rows, split_program
from samhw.targets.backends import run
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.programs import programs

RUNS = int(os.environ.get("SAMHW_RANDOM_SPLITS", "40"))
"""How many programs are drawn for each test."""

COMMON = settings(
    max_examples=RUNS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

anything = st.one_of(programs(), chained_programs())

RULES = st.one_of(
    st.sampled_from(
        (
            *(
                "diagonal + csr",
                "diagonal + dcsr",
                "dia + csr",
                "dia(density=0.2) + dcsr",
                "blocks(2, density=0.5) + csr",
            ),
            "blocks(3, density=0.7) + (compressed, dense)",
        )
    ),
    st.builds(lambda n: f"rows({n})", st.integers(1, 4)),
    st.builds(lambda n: f"even({n})", st.integers(1, 3)),
    st.builds(lambda n: f"columns({n})", st.integers(1, 3)),
    st.builds(lambda c, k: f"hyb({c},{k})", st.integers(1, 2), st.integers(0, 2)),
)


ORDERS = st.one_of(
    st.sampled_from(("by length", "reverse Cuthill-McKee")),
    st.builds(lambda n: f"even({n})", st.integers(1, 3)),
)


@st.composite
def splits(draw: st.DrawFn, program: Program) -> dict[str, str]:
    """Rules for some operands that can be split by them."""
    rules: dict[str, str] = {}
    for decl in program.operands:
        rule = draw(st.none() | RULES)
        if rule is None:
            continue
        try:
            split_program(program, {**rules, decl.name: rule})
        except InputError:
            continue
        rules[decl.name] = rule
    if not rules:
        reject()
    return rules


@st.composite
def row_orders(draw: st.DrawFn, program: Program) -> dict[str, str]:
    """Orders of the rows of some operands that can have them."""
    orders: dict[str, str] = {}
    for decl in program.operands:
        order = draw(st.none() | ORDERS)
        if order is None:
            continue
        try:
            order_rows(program, {**orders, decl.name: order})
        except InputError:
            continue
        orders[decl.name] = order
    return orders


def partial_sums(program: Program) -> st.SearchStrategy[list[str]]:
    """Some of the results, whose terms over parts are stored."""
    computed = list(dict.fromkeys(statement.lhs.tensor for statement in program.statements))
    return st.lists(st.sampled_from(computed), unique=True)


@given(data=st.data(), program=anything, seed=st.integers(0, 1 << 30))
@COMMON
def test_splits_keep_the_results(data: st.DataObject, program: Program, seed: int) -> None:
    found = split_program(program, data.draw(splits(program)), stored=data.draw(partial_sums(program)))
    assert parse(dumps(found.program)) == found.program
    tensors = random_tensors(program, np.random.default_rng(seed))
    tensors |= found.derived(tensors)
    arrays = {name: tensor.to_dense() for name, tensor in tensors.items()}
    wanted = evaluate_program(program, {decl.name: arrays[decl.name] for decl in program.inputs})
    got = evaluate_program(found.program, {decl.name: arrays[decl.name] for decl in found.program.inputs})
    for decl in program.outputs:
        assert np.array_equal(got[decl.name], wanted[decl.name])


@given(data=st.data(), program=anything, seed=st.integers(0, 1 << 30))
@COMMON
def test_splits_run(data: st.DataObject, program: Program, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tensors = random_tensors(program, rng)
    kind = value_type(data.draw(st.sampled_from(("i32", "f32"))))
    schedule = Schedule(
        fuse=data.draw(st.sampled_from(FUSION_LEVELS)),
        split=data.draw(splits(program)),
        partial_sums=data.draw(st.just("auto") | partial_sums(program)),
        permute_rows=data.draw(row_orders(program)),
        permute=True,
    )
    workload = Workload("random", program, tensors)
    try:
        compiled = compile_workload(workload, schedule, value=kind)
    except ScheduleError:
        reject()
    room = workload.capacity(schedule)
    again = Workload("again", program, random_tensors(program, rng))
    for held in (workload, again):
        if held.capacity(schedule) | room == room:
            found = run(compiled, held.tensors)
            assert check(held, compiled, found.outputs).good
