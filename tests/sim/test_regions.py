"""Graphs of several regions in the simulator."""

from dataclasses import replace

import numpy as np
import pytest

from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, RunError
from samhw.graph import Arch, Design, Run
from samhw.lang import parse
from samhw.sim import simulate_regions, simulated_regions, total_cycles

MEMORIES = {"x.vals": np.arange(1, 5)}


def doubled_and_one() -> Design:
    text = "tensor x[i=4] : dense\ntensor y[i] : dense\ntensor z[i] : dense\n"
    return compile_job(Job(parse(text + "y[i] = 2 * x[i]\nz[i] = y[i] + 1", "steps.ein"))).design


def test_a_region_reads_what_the_one_before_has_written() -> None:
    design = doubled_and_one()
    first, second = simulate_regions(design, Arch(), MEMORIES, {"i": 4})
    assert first.memories["y.vals"].tolist() == [2, 4, 6, 8]
    assert second.memories["z.vals"].tolist() == [3, 5, 7, 9]


def test_a_change_of_regions_costs_a_cycle() -> None:
    results = simulate_regions(doubled_and_one(), Arch(), MEMORIES, {"i": 4})
    first, second = (result.cycles for result in results)
    assert total_cycles(results) == first + 1 + second


def test_regions_run_in_the_order_of_the_sequence() -> None:
    """Whatever their numbers are."""
    design = doubled_and_one()
    turned = replace(design, regions=design.regions[::-1], sequence=(Run(1), Run(0)))
    runs = list(simulated_regions(turned, Arch(), MEMORIES, {"i": 4}))
    assert [run.graph.name for run in runs] == [graph.name for graph in design.regions]
    assert runs[1].result.memories["z.vals"].tolist() == [3, 5, 7, 9]
    with pytest.raises(InputError, match=r"reads memory 'y\.vals', which no earlier region writes"):
        simulate_regions(replace(turned, sequence=(Run(0), Run(1))), Arch(), MEMORIES, {"i": 4})


def test_channels_are_traced_by_region() -> None:
    design = doubled_and_one()
    (label,) = (design.label(n, c.name) for n, c in design.channels if n == 1 and c.source.node == "root")
    results = simulate_regions(design, Arch(), MEMORIES, {"i": 4}, trace=[label], check=True)
    assert [list(result.passages) for result in results] == [[], [label.removeprefix("steps_1.")]]
    whole = simulate_regions(design, Arch(), MEMORIES, {"i": 4}, trace=True)
    assert results[1].passages.items() <= whole[1].passages.items()
    with pytest.raises(InputError, match=r"no channel 'root\.out->.*' to trace; the form is 'region\.node"):
        simulate_regions(design, Arch(), MEMORIES, {"i": 4}, trace=[label.removeprefix("steps_1.")])


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_a_window_counts_the_cycles_of_the_run(engine: str) -> None:
    design = doubled_and_one()
    data = design, Arch(), MEMORIES, {"i": 4}
    whole = simulate_regions(*data, trace=True)
    second = whole[0].cycles + 1
    for window in ((0, second), (5, second + 5), (second + 3, 1 << 40), (1 << 40, 1 << 41)):
        results = simulate_regions(*data, trace=True, window=window, engine=engine)
        for start, result, all_of_it in zip((0, second), results, whole, strict=True):
            for name, passages in all_of_it.passages.items():
                within = [p for p in passages if window[0] <= start + p.popped < window[1]]
                assert result.passages.get(name, []) == within


def test_a_limit_counts_the_cycles_of_the_run() -> None:
    design = doubled_and_one()
    data = design, Arch(), MEMORIES, {"i": 4}
    cycles = total_cycles(simulate_regions(*data))
    simulate_regions(*data, limit=cycles)
    for limit in (1, cycles // 2, cycles - 1):
        with pytest.raises(RunError, match="limit"):
            simulate_regions(*data, limit=limit)


def test_an_error_says_which_region_it_comes_from() -> None:
    design = doubled_and_one()
    large = {"x.vals": np.full(4, 0x7FFF_FFFF)}
    with pytest.raises(RunError, match=r"^Region steps_0: overflow at node 'mul' in cycle 9: a"):
        simulate_regions(design, Arch(), large, {"i": 4})
    alone = Design.of(design.regions[0])
    with pytest.raises(RunError, match=r"^overflow at node 'mul'"):
        simulate_regions(alone, Arch(), large, {"i": 4})
