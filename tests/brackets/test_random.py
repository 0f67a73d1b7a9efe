"""Random programs under random brackets: the same results, by NumPy and by the simulator.

A thousand of each, instead of the few of a quick run:

    SAMHW_RANDOM_BRACKETS=1000 python -m pytest tests/brackets/test_random.py
"""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.compiler.search import Sizes, bracket_choices
from samhw.errors import InputError, ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import Capacity, Program, dumps, parse
from samhw.lang.brackets import apply_brackets
from samhw.lang.reference import evaluate_program
from samhw.targets.backends import run
from tests.support.program_cases import random_tensors
from tests.support.strategies.brackets import brackets
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.programs import programs

RUNS = int(os.environ.get("SAMHW_RANDOM_BRACKETS", "40"))
"""How many programs are drawn for each test."""

COMMON = settings(
    max_examples=RUNS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

anything = st.one_of(programs(), chained_programs())


@given(data=st.data(), program=anything, seed=st.integers(0, 1 << 30))
@COMMON
def test_brackets_keep_the_results(data: st.DataObject, program: Program, seed: int) -> None:
    drawn = data.draw(brackets(program))
    same_results(program, drawn, seed)


@given(program=anything, seed=st.integers(0, 1 << 30))
@COMMON
def test_what_is_searched_keeps_the_results(program: Program, seed: int) -> None:
    tensors = random_tensors(program, np.random.default_rng(seed))
    bound = program.bind({name: tensor.shape for name, tensor in tensors.items()})
    entries = {name: tensor.nnz for name, tensor in tensors.items()}
    choices = bracket_choices(bound, Sizes.of_entries(bound, Capacity(), entries), worth=np.inf)
    same_results(program, {choice.result: choice.text for choice in choices}, seed)


def bracketed(program: Program, brackets: dict[str, str]) -> Program:
    """The program with brackets, unless they sum over what a mask selects by."""
    try:
        return apply_brackets(program, brackets)
    except InputError as error:
        if "sums in parentheses over an index of the mask" in str(error):
            reject()
        raise


def same_results(program: Program, brackets: dict[str, str], seed: int) -> None:
    tensors = random_tensors(program, np.random.default_rng(seed))
    rewritten = bracketed(program, brackets)
    assert parse(dumps(rewritten), implied=True).text == dumps(rewritten)
    wanted, found = evaluate_program(program, tensors), evaluate_program(rewritten, tensors)
    for decl in program.outputs:
        np.testing.assert_allclose(
            found[decl.name].astype(float), wanted[decl.name].astype(float), err_msg=f"{brackets}", atol=1e-6
        )
        if found[decl.name].dtype == wanted[decl.name].dtype == np.int64:
            np.testing.assert_array_equal(found[decl.name], wanted[decl.name])


@pytest.mark.slow
@given(
    data=st.data(),
    program=anything,
    seed=st.integers(0, 1 << 30),
    fuse=st.sampled_from(FUSION_LEVELS),
    value=st.sampled_from(("i32", "f32")),
)
@COMMON
def test_the_simulator_gives_them_too(
    data: st.DataObject, program: Program, seed: int, fuse: str, value: str
) -> None:
    drawn = data.draw(brackets(program))
    tensors = random_tensors(program, np.random.default_rng(seed))
    bound = program.bind({name: tensor.shape for name, tensor in tensors.items()})
    workload = Workload("random", bound, tensors)

    bracketed(program, drawn)
    schedule = Schedule.from_fields({"fuse": fuse, "brackets": drawn, "permute": True})
    try:
        compiled = compile_workload(workload, schedule, value=value_type(value))
    except ScheduleError:
        return
    outputs = run(compiled, tensors).outputs
    assert check(workload, compiled, outputs).good
    wanted = evaluate_program(program, tensors)
    for decl in program.outputs:
        np.testing.assert_allclose(
            outputs[decl.name].to_dense(), wanted[decl.name], rtol=1e-3, atol=1e-3, err_msg=f"{drawn}"
        )
