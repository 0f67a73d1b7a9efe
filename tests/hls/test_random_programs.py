"""Random programs, formats, orders, depths and data: the C simulation gives the simulator's tokens and words.

Where the simulator ends with some depths the HLS design must end too: its processes have at least the room
that the actors have.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st

from samhw.frontend import Program
from samhw.frontend.strategies import programs
from samhw.graph.deadlock import DeadlockError
from samhw.hls import Options
from tests.agreement.cases import compile_or_none, random_depths, random_tensors
from tests.hls.bench import run_hls, run_model

SHARDS = 8
PROGRAMS = 25
VALUES = ("i32", "fixed<16,8>", "bf16", "f32")


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_programs(shard: int) -> None:
    ended = 0

    @seed(shard)
    @settings(
        max_examples=PROGRAMS,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(), st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        nonlocal ended
        rng = np.random.default_rng(number)
        compiled = compile_or_none(program, value=VALUES[number % len(VALUES)])
        assume(compiled is not None and len(compiled.graph.nodes) > 4)
        assert compiled is not None
        graph = random_depths(compiled.graph, rng) if rng.random() < 0.4 else compiled.graph
        for _ in range(3):
            try:
                inputs, model = run_model(compiled, random_tensors(program, rng), graph)
            except DeadlockError:
                continue  # These depths are too small.
            run_hls(compiled, inputs, model, graph, Options(on_chip=bool(number & 4)))
            ended += 1

    body()
    assert ended > 2 * PROGRAMS
