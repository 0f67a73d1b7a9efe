"""A port of bursts under Verilator: the simulator's words and cycles, and a word in each cycle."""

import numpy as np
import pytest

import samhw
from samhw.graph import HostOptions
from samhw.targets.running.driver import VerilatedDesign

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

SPMM = "tensor A[i=20, k=20] : csr\ntensor X[k=20, j=16] : dense\nY[i, j] = A[i, k] * X[k, j]"


def test_a_run_has_the_cycles_and_words_of_the_simulator() -> None:
    rng = np.random.default_rng(2)
    data = {
        "A": rng.integers(-3, 4, (20, 20)) * (rng.random((20, 20)) < 0.3),
        "X": rng.integers(-9, 9, (20, 16)),
    }
    design = samhw.compile(SPMM, value="i32")
    model = design.run(data)
    run = design.host_run(data)
    taken = {}
    for host in (HostOptions(), HostOptions.parse("axi4:2")):
        rtl = VerilatedDesign.build(run.compiled.design, run.compiled.arch, host=host)
        with rtl.session() as session:
            for _ in range(2):
                begin = session.port.cycles
                found = session.run(*run.inputs)
                taken[host] = session.port.cycles - begin
                assert found.cycles == model.cycles
                np.testing.assert_array_equal(
                    run.results(found.memories)["Y"].to_dense(), data["A"] @ data["X"]
                )
    plain, bursts = taken.values()
    words = sum(map(np.size, run.inputs.memories.values()))
    assert plain > 3 * words
    # Of each transfer all but a few cycles move a word.
    moved = words + 20 * 16
    assert moved < bursts < moved + 150


def test_a_megabyte_goes_in_and_out_at_a_word_in_each_cycle() -> None:
    words = 1 << 18
    text = f"tensor x[i={words}] : dense\ntensor y[i={words}] : dense\ny[i] = x[i]"
    compiled = samhw.compile(text, value="i32").compiled
    rtl = VerilatedDesign.build(compiled.design, compiled.arch, host=HostOptions.parse("axi4"))
    data = np.random.default_rng(1).integers(0, 1 << 32, words)
    with rtl.session() as session:
        begin = session.port.cycles
        session.load({"x.vals": data}, {"i": words})
        assert session.port.cycles - begin <= words + 20
        session.start()
        session.wait()
        begin = session.port.cycles
        np.testing.assert_array_equal(session.read("y.vals", words), data)
        assert session.port.cycles - begin <= words + 10
