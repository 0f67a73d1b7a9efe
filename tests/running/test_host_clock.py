"""A host's port with a clock of its own, under Verilator: the simulator's words and cycles at any ratio."""

import numpy as np
import pytest

import samhw
from samhw.graph import HostOptions
from samhw.targets.running.driver import VerilatedDesign

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

SPMM = "tensor A[i=20, k=20] : csr\ntensor X[k=20, j=16] : dense\nY[i, j] = A[i, k] * X[k, j]"
PERIODS = (9, 37, 100, 101, 253)
"""Of the host's clock, in hundredths of the design's."""


@pytest.mark.parametrize("words", ["clock", "axi4:2,clock,recovery"])
def test_a_run_has_the_cycles_and_words_of_the_simulator(words: str) -> None:
    rng = np.random.default_rng(2)
    data = {
        "A": rng.integers(-3, 4, (20, 20)) * (rng.random((20, 20)) < 0.3),
        "X": rng.integers(-9, 9, (20, 16)),
    }
    design = samhw.compile(SPMM, value="i32")
    model = design.run(data)
    run = design.host_run(data)
    rtl = VerilatedDesign.build(run.compiled.design, run.compiled.arch, host=HostOptions.parse(words))
    with rtl.session() as session:
        for period in PERIODS:
            session.port.ask(f"host-clock {period}")
            found = session.run(*run.inputs)
            assert found.cycles == model.cycles
            np.testing.assert_array_equal(run.results(found.memories)["Y"].to_dense(), data["A"] @ data["X"])
            session.port.reset()


def test_bursts_move_a_word_in_each_cycle_of_the_slower_clock() -> None:
    words = 1 << 14
    text = f"tensor x[i={words}] : dense\ntensor y[i={words}] : dense\ny[i] = x[i]"
    compiled = samhw.compile(text, value="i32").compiled
    rtl = VerilatedDesign.build(compiled.design, compiled.arch, host=HostOptions.parse("axi4,clock"))
    data = np.random.default_rng(1).integers(0, 1 << 32, words)
    with rtl.session() as session:
        for period in PERIODS:
            session.port.ask(f"host-clock {period}")
            least = words * max(1, 100 / period)
            begin = session.port.cycles
            session.load({"x.vals": data}, {"i": words})
            assert session.port.cycles - begin <= least + 40 * max(1, 100 / period)
            session.start()
            session.wait()
            begin = session.port.cycles
            np.testing.assert_array_equal(session.read("y.vals", words), data)
            assert session.port.cycles - begin <= least + 40 * max(1, 100 / period)
