from itertools import pairwise

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings

from samhw.lang import Call, Concat, Div, Literal, Reshape, check_program, free_indices, terms, walk
from samhw.lang.reference import evaluate_program
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.programs import programs

pytestmark = pytest.mark.slow


@given(programs(max_extent=4))
def test_programs_are_valid(program):
    check_program(program)
    (statement,) = program.statements
    assert program.bind({}) == program
    assert 1 <= len(program.inputs) <= 4
    for decl in program.tensors.values():
        assert decl.rank <= 3
        assert all(1 <= extent <= 4 for extent in decl.shape)
    for term in terms(statement.rhs):
        assert set(statement.lhs.names) <= set(free_indices(term))


@given(programs())
def test_programs_are_concordant(program):
    (statement,) = program.statements
    order = statement.order or ()
    assert sorted(order) == sorted(statement.indices)
    for access in statement.accesses:
        modes = program.tensors[access.tensor].format.mode_order
        depths = [order.index(access.names[mode]) for mode in modes]
        assert depths == sorted(depths)


@given(programs(literals=False))
def test_programs_without_literals(program):
    assert not any(isinstance(node, Literal) for node in walk(program.statements[0].rhs))


@pytest.mark.parametrize(
    "wanted",
    [
        lambda program, statement: not statement.indices,
        lambda program, statement: len(statement.lhs.indices) == 3 and len(statement.indices) == 4,
        lambda program, statement: len(statement.reduction_indices) == 3,
        lambda program, statement: len(list(terms(statement.rhs))) == 3,
        lambda program, statement: len(program.inputs) == 4,
        lambda program, statement: any(decl.format.mode_order == (2, 0, 1) for decl in program.inputs),
        lambda program, statement: any(isinstance(node, Literal) for node in walk(statement.rhs)),
    ],
)
def test_programs_are_various(wanted):
    find(
        programs(), lambda p: wanted(p, p.statements[0]), settings=settings(max_examples=2000, database=None)
    )


@given(chained_programs(max_extent=4), chained_programs(integers=False, concordant=False, max_statements=3))
def test_chained_programs_are_valid(program, other):
    for chain, most in ((program, 6), (other, 3)):
        check_program(chain)
        assert chain.bind({}) == chain
        assert 2 <= len(chain.statements) <= most
        assert len(chain.outputs) == 1
        for before, statement in pairwise(chain.statements):
            assert before.lhs.tensor in {access.tensor for access in statement.reads}


@given(chained_programs())
def test_chained_programs_are_concordant(program):
    for statement in program.statements:
        if statement.order is None:
            continue
        for access in statement.accesses:
            modes = program.tensors[access.tensor].format.mode_order
            depths = [statement.order.index(access.names[mode]) for mode in modes]
            assert depths == sorted(depths)


@settings(max_examples=50)
@given(chained_programs())
def test_chained_integers_fit_i32(program):
    inputs = {decl.name: np.full(decl.shape, 4) for decl in program.inputs}
    for array in evaluate_program(program, inputs).values():
        assert array.dtype == np.int64
        assert np.all(np.abs(array) < 2**31)


def _functions(program):
    nodes = (node for statement in program.statements for node in walk(statement.rhs))
    return {node.function for node in nodes if isinstance(node, Call)}


@pytest.mark.parametrize(
    "wanted",
    [
        lambda p: len(p.statements) == 6 and len(p.regions) == 1,
        lambda p: len(p.regions) == len(p.statements) == 4,
        lambda p: any(statement.reduction == "max" and statement.mask for statement in p.statements),
        lambda p: any(statement.reduction == "min" and not statement.mask for statement in p.statements),
        lambda p: any(isinstance(statement.rhs, Div) for statement in p.statements),
        lambda p: any(isinstance(statement.rhs, Reshape) for statement in p.statements[:-1]),
        lambda p: any(isinstance(statement.rhs, Concat) for statement in p.statements[:-1]),
        lambda p: "exp" in _functions(p),
        lambda p: len(_functions(p)) > 1,
        lambda p: any(len(statement.reduction_indices) == 2 and statement.mask for statement in p.statements),
        # A residual: the result of a statement is read by the next one and by a later one.
        lambda p: any(
            p.statements[n].lhs.tensor in {access.tensor for access in statement.reads}
            for n in range(len(p.statements))
            for statement in p.statements[n + 2 :]
        ),
        lambda p: any(statement.order is None for statement in p.statements),
    ],
)
def test_chained_programs_are_various(wanted):
    # Any example will do, so none is made smaller.
    found = settings(max_examples=3000, database=None, derandomize=True, phases=[Phase.generate])
    find(chained_programs(integers=False), wanted, settings=found)
