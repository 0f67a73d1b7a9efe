import pytest
from hypothesis import find, given, settings

from samhw.frontend import Literal, free_indices, terms, walk
from samhw.frontend.strategies import programs


@given(programs(max_extent=4))
def test_programs_are_valid(program):
    program.check()
    (statement,) = program.statements
    assert program.bind({}) == program
    assert 1 <= len(program.inputs) <= 4
    for decl in program.tensors.values():
        assert decl.rank <= 3
        assert all(1 <= extent <= 4 for extent in decl.shape)
    for term in terms(statement.rhs):
        assert set(statement.lhs.indices) <= set(free_indices(term))


@given(programs())
def test_programs_are_concordant(program):
    (statement,) = program.statements
    order = statement.order or ()
    assert sorted(order) == sorted(statement.indices)
    for access in statement.accesses:
        modes = program.tensors[access.tensor].format.mode_order
        depths = [order.index(access.indices[mode]) for mode in modes]
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
