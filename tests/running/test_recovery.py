"""Recovery in the RTL of whole designs: whatever a run has come to, the next one is the simulator's."""

import numpy as np
import pytest

import samhw
from samhw.errors import RunError
from samhw.graph import HostOptions
from samhw.graph.address_map import Control, Register
from samhw.targets.running.driver import VerilatedDesign

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

SPMM = "tensor A[i=8, k=8] : csr\ntensor X[k=8, j=4] : dense\nT[i, j] = A[i, k] * X[k, j]\nY[i] = T[i, j]"


def test_a_run_that_is_given_up_leaves_nothing_behind() -> None:
    """In every seventh cycle; vector reducers, sums in blocks and several regions are on their way then."""
    rng = np.random.default_rng(6)
    data = {"A": rng.integers(-2, 3, (8, 8)), "X": rng.integers(-2, 3, (8, 4))}
    design = samhw.compile(SPMM, value="f32")
    cycles = design.run(data).cycles
    run = design.host_run(data)
    rtl = VerilatedDesign.build(run.compiled.design, run.compiled.arch, host=HostOptions.parse("recovery"))
    wanted = (data["A"] @ data["X"]).sum(axis=1)
    with rtl.session() as session:
        session.load(*run.inputs)
        for end in range(0, cycles, 7):
            session.start()
            with pytest.raises(RunError, match="did not end within"):
                session.wait(end)
            # The host does not load again: what it has loaded stays.
            found = session.run({}, run.inputs.extents, buffers=True)
            assert found.cycles == cycles
            np.testing.assert_array_equal(run.results(found.memories)["Y"].to_dense(), wanted)


def test_an_error_is_cleared_by_the_host_alone() -> None:
    design = samhw.compile("tensor x[i=8] : dense\ny[i] = x[i] + x[i]", value="i8")
    run = design.host_run({"x": [1, 2, 3, 4, 5, 6, 7, 8]})
    rtl = VerilatedDesign.build(
        run.compiled.design, run.compiled.arch, host=HostOptions.parse("axi4,recovery")
    )
    with rtl.session() as session:
        session.run(*run.inputs)
        with pytest.raises(RunError, match="overflow"):
            session.run({"x.vals": [100] * 8}, run.inputs.extents)
        assert session.port.read(Register.STATUS, 3).tolist() == [0, 0, 0xFFFF_FFFF]
        found = session.run(*run.inputs)
        assert run.results(found.memories)["y"].to_dense().tolist() == list(range(2, 17, 2))
        session.port.load(Register.CONTROL, [Control.START])
        session.port.load(Register.CONTROL, [Control.CLEAR])
        assert session.port.read(Register.STATUS, 1)[0] == 0
