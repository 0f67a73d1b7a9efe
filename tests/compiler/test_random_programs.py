"""Random statements, formats, orders and data: the simulated graph gives NumPy's result."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, seed, settings
from hypothesis import strategies as st

from samhw.frontend import Program, evaluate
from samhw.frontend.strategies import programs
from samhw.sim import simulate
from samhw.targets.images import load, unload
from tests.agreement.cases import compile_or_none, random_tensors


def check(program: Program, number: int, **options: object) -> None:
    compiled = compile_or_none(program, **options)
    assume(compiled is not None)
    assert compiled is not None
    rng = np.random.default_rng(number)
    statement = program.statements[0]
    for _ in range(3):
        tensors = random_tensors(program, rng)
        memories, extents = load(
            compiled.graph,
            {b.name: tensors[b.name].convert(b.format) for b in compiled.graph.tensors if b.name in tensors},
        )
        result = simulate(compiled.graph, compiled.arch, memories, extents, check=True)
        (name,) = (d.name for d in program.outputs)
        actual = unload(compiled.graph, result.memories, extents)[name].to_dense()
        expected = evaluate(statement, {n: t.to_dense() for n, t in tensors.items()}, extents)
        assert np.array_equal(actual, expected), f"{statement}\n{actual}\n{expected}"


@pytest.mark.slow
@pytest.mark.parametrize("factored", [True, False])
@pytest.mark.parametrize("shard", range(2))
def test_random_programs(shard: int, factored: bool) -> None:
    @seed(shard)
    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(programs(), st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        check(program, number, factored=factored)

    body()
