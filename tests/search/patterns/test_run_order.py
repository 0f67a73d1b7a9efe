"""Groups that can run: against the sequence of all groups, found from the beginning each time."""

import random

import pytest

from samhw.choices.fuse.asked_regions import in_sequence
from samhw.compiler.search.patterns import StatementPattern, call, find_patterns
from samhw.compiler.search.patterns.expression_shapes import anything
from samhw.compiler.search.patterns.shipped import RunOrder
from samhw.lang import Access, Program, Statement, accesses, parse


def random_program(draw: random.Random, length: int) -> Program:
    """Statements that read one or two of those before them."""
    lines = [f"tensor {name}[i=2] : dense" for name in ("X", *(f"T{n}" for n in range(length)))]
    for n in range(length):
        left, right = (draw.choice(["X", *(f"T{m}" for m in range(max(0, n - 6), n))]) for _ in range(2))
        lines.append(f"T{n}[i] = {left}[i] + {right}[i]")
    return parse("\n".join(lines) + "\n")


@pytest.mark.parametrize("number", range(40))
def test_groups_are_united_where_they_can_run(number: int) -> None:
    draw = random.Random(number)
    program = random_program(draw, 24)
    writers = {statement.lhs.tensor: statement for statement in program.statements}
    order, groups, verdicts = RunOrder(program), [[tensor] for tensor in writers], set()
    for _ in range(16):
        chosen = draw.sample(range(len(groups)), draw.choice([2, 2, 3]))
        results = [tensor for tensor in writers if any(tensor in groups[n] for n in chosen)]
        united = [results, *(group for n, group in enumerate(groups) if n not in chosen)]
        _, left = in_sequence(program, [[writers[tensor] for tensor in group] for group in united])
        between = order.unite(results)
        assert (between is None) == (left is None)
        verdicts.add(between is None)
        if between is None:
            groups = united
        else:
            assert between not in results
            assert any(between in (a.tensor for a in writers[tensor].reads) for tensor in results)
    assert verdicts == {True, False}


def test_the_work_grows_like_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = 0

    def counted(statement: Statement) -> tuple[Access, ...]:
        nonlocal reads
        reads += 1
        return (*accesses(statement.rhs), *([statement.mask] if statement.mask else []))

    monkeypatch.setattr(Statement, "reads", property(counted))
    shape = call("+", anything(), anything())
    pattern = StatementPattern("it", shape, lambda match: ", ".join(match.uses_elsewhere))
    programs = [random_program(random.Random(0), length) for length in (50, 100)]
    counts = []
    for program in programs:
        reads = 0
        assert len(find_patterns(program, [pattern]).matches) == len(program.statements)
        counts.append(reads)
    assert counts[1] == 2 * counts[0]
