"""Whole graphs of random expressions: simulator and RTL agree to the bit and to the cycle.

Each random graph gets random latencies and random channel depths from one token up, and is run on random data
with random stalls at the root and at the writers. Where the simulator says that the depths deadlock, the RTL
must deadlock too.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st

from samhw.compiler import Compiled
from samhw.frontend import Program
from samhw.frontend.strategies import programs
from samhw.graph import Graph
from samhw.sim import DeadlockError, simulate
from samhw.targets.driver import Session, VerilatedDesign
from samhw.targets.images import load, unload
from tests.agreement.cases import (
    compile_or_none,
    random_arch,
    random_depths,
    random_stalls,
    random_tensors,
)

SHARDS = 4
GRAPHS = 8
RUNS = 8


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_expressions(shard: int) -> None:
    runs = 0

    @seed(shard)
    @settings(
        max_examples=GRAPHS,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(), st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        nonlocal runs
        rng = np.random.default_rng(number)
        compiled = compile_or_none(program, arch=random_arch(rng))
        assume(compiled is not None and len(compiled.graph.nodes) > 5)
        assert compiled is not None
        graph = compiled.graph if rng.random() < 0.3 else random_depths(compiled.graph, rng)
        design = VerilatedDesign.build(graph, compiled.arch, stall_ports=True)
        with design.session() as session:
            for _ in range(RUNS):
                compare(session, compiled, graph, rng)
                runs += 1

    body()
    assert runs == GRAPHS * RUNS


def compare(session: Session, compiled: Compiled, graph: Graph, rng: np.random.Generator) -> None:
    """One run on random data with random stalls."""
    tensors = random_tensors(compiled.program, rng)
    stored = {b.name: tensors[b.name].convert(b.format) for b in graph.tensors if b.name in tensors}
    memories, extents = load(graph, stored)
    stalls = random_stalls(graph, rng)
    try:
        model = simulate(graph, compiled.arch, memories, extents, stalls=stalls)
    except DeadlockError:
        with pytest.raises(DeadlockError) as error:
            session.run(memories, extents, stalls=stalls)
        assert error.value.waiting
        return
    rtl = session.run(memories, extents, stalls=stalls)
    assert rtl.cycles == model.cycles, f"{compiled.statement}, order {compiled.order}"
    expected, actual = unload(graph, model.memories, extents), unload(graph, rtl.memories, extents)
    for name, tensor in expected.items():
        for array, words in tensor.arrays().items():
            assert np.array_equal(actual[name].arrays()[array], words), (
                f"{compiled.statement}: {name}.{array}"
            )
