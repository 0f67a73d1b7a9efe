"""Spacing inside of whole graphs: the plain engine against the rule run with a clock, and what it counts."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.graph import Arch
from samhw.sim import simulate
from tests.support.clocked import clocked
from tests.support.graphs import gustavson
from tests.support.strategies.arches import spaced_arches


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), spaced_arches)
def test_sums_of_rows(seed: int, arch: Arch) -> None:
    rng = np.random.default_rng(seed)
    b, c = (rng.integers(-2, 3, shape) * (rng.random(shape) < 0.6) for shape in ((3, 4), (4, 3)))
    program = gustavson(b, c, arch)
    graph = program.graph.with_depths(dict.fromkeys((c.name for c in program.graph.channels), 20))
    reference = clocked(graph, arch, program.memories, program.extents)
    reference.run()
    result = simulate(graph, arch, program.memories, program.extents)
    assert result.cycles == reference.committed(graph)
    assert {name: words.tolist() for name, words in result.memories.items()} == program.expected
    for cell in reference.cells:
        stats = result.nodes[cell.node].actors[cell.actor.name]
        waits = sum(stats.starved.values()) + sum(stats.blocked.values()) + stats.spaced + stats.stalled
        assert (stats.firings, stats.firings + waits) == (len(cell.firings), cell.firings[-1])


def test_waits_are_counted() -> None:
    """A column of ones times a row of ones: each product goes to the one address of the row's sum."""
    column, row = np.ones((1, 10), np.int64), np.ones((10, 1), np.int64)
    cycles = {}
    for latency in (1, 2, 5):
        arch = Arch(reduce={"integer": {"sum": latency}})
        program = gustavson(column, row, arch)
        result = simulate(program.graph, arch, program.memories, program.extents)
        (reducer,) = [node for node in program.graph.nodes if node.kind == "reduce_vector"]
        cycles[latency] = result.nodes[reducer.name].actors["accumulate"].spaced
    # Products come every other cycle, one and a stop; nine of them wait for the one before.
    assert cycles == {1: 0, 2: 0, 5: 9 * 3}
