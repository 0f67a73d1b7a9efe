"""Graphs of several regions in the simulator."""

import numpy as np
import pytest

from samhw.compiler import compile_program
from samhw.errors import InputError
from samhw.frontend import parse
from samhw.graph import Arch, Graph
from samhw.sim import simulate, simulate_regions, total_cycles

MEMORIES = {"x.vals": np.arange(1, 5)}


def doubled_and_one() -> Graph:
    text = "tensor x[i=4] : dense\ntensor y[i] : dense\ntensor z[i] : dense\n"
    return compile_program(parse(text + "y[i] = 2 * x[i]\nz[i] = y[i] + 1")).graph


def test_a_region_reads_what_the_one_before_has_written() -> None:
    graph = doubled_and_one()
    first, second = simulate_regions(graph, Arch(), MEMORIES, {"i": 4})
    assert first.memories["y.vals"].tolist() == [2, 4, 6, 8]
    assert second.memories["z.vals"].tolist() == [3, 5, 7, 9]


def test_a_change_of_regions_costs_a_cycle() -> None:
    assert total_cycles([10]) == 10
    assert total_cycles([10, 20, 5]) == 37


def test_one_simulation_runs_one_region() -> None:
    graph = doubled_and_one()
    with pytest.raises(InputError, match=r"has 2 regions.*use simulate_regions"):
        simulate(graph, Arch(), MEMORIES, {"i": 4})
