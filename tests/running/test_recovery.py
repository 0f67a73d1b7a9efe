"""Recovery in the RTL of whole designs: whatever a run has come to, the next one is the simulator's."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.compiler.placement import layout_beside
from samhw.errors import InputError, RunError
from samhw.graph import ConstantMemory, HostOptions, OffChipMemory, Ports, RandomMemory, load_memory
from samhw.graph.address_map import Control, Register, Status
from samhw.sim import total_cycles
from samhw.targets.backends import HostRun, find_backend
from samhw.targets.backends.rtl import ProgramBackend
from samhw.targets.running.harness_session import HarnessSession
from tests.support.built import verilated
from tests.support.spent import results_of, simulated, told

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

MEMORIES = {
    "constant": ConstantMemory(40, Ports(beat=4, line=16, lines=4, ahead=1, offer=4, answer=5)),
    "random": RandomMemory(7, Ports(beat=8, line=32, lines=8, masters=2)),
}
SPMM = "tensor A[i=8, k=8] : csr\ntensor X[k=8, j=4] : dense\nT[i, j] = A[i, k] * X[k, j]\nY[i] = T[i, j]"


def _spmm() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(6)
    return {"A": rng.integers(-2, 3, (8, 8)), "X": rng.integers(-2, 3, (8, 4))}


def _run(
    text: str, value: str, data: Mapping[str, Any], memory: OffChipMemory | None, **schedule: Any
) -> HostRun:
    design = samhw.compile(text, value=value, schedule=schedule)
    workload = design.bind(data)
    return HostRun.of(design.compile_for(workload, memory), workload.tensors)


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    ("host", "memory", "schedule"),
    [
        ("recovery", None, {}),
        ("recovery", "constant", {}),
        ("recovery", "random", {"fuse": "none"}),
        ("axi4,clock,recovery,counters", "random", {"fuse": "none"}),
    ],
)
def test_a_run_that_is_given_up_leaves_nothing_behind(
    host: str, memory: str | None, schedule: dict[str, Any]
) -> None:
    """In every seventh cycle; vector reducers, sums in blocks and several regions are on their way then, and
    so are bursts to a memory."""
    data, held = _spmm(), MEMORIES[memory] if memory else None
    run = _run(SPMM, "f32", data, held, **schedule)
    wanted = (data["A"] @ data["X"]).sum(axis=1)
    with verilated(run, host, held).session() as session:
        cycles = session.run(*run.inputs, memory=held).cycles
        assert cycles == total_cycles(results_of(run, held))
        session.load(*run.inputs)
        for end in range(0, cycles, 7):
            session.start()
            with pytest.raises(RunError, match="did not end within"):
                session.wait(end)
            # The host does not load again: what it has loaded stays.
            found = session.run({}, run.inputs.extents, buffers=True)
            assert found.cycles == cycles
            np.testing.assert_array_equal(run.results(found.memories)["Y"].to_dense(), wanted)


@pytest.mark.parametrize("backend", ["icarus", pytest.param("cxxrtl", marks=pytest.mark.nightly)])
def test_it_is_the_same_in_other_simulators(backend: str) -> None:
    simulator = find_backend(backend)
    assert isinstance(simulator, ProgramBackend)
    try:
        simulator.find_tools()
    except InputError as error:
        pytest.skip(str(error))
    data, held = _spmm(), MEMORIES["random"]
    run = _run(SPMM, "i32", data, held)
    host = HostOptions.parse("recovery,counters")
    compiled, layout = run.compiled, layout_beside(run.compiled, held)
    program = simulator.make(compiled, host, layout).path
    with HarnessSession(compiled.design, compiled.arch, program, host, layout) as session:
        cycles = session.run(*run.inputs, memory=held).cycles
        assert cycles == total_cycles(results_of(run, held))
        assert told(session.spent()) == simulated(run, held)
        for end in range(0, cycles, 101):
            session.start()
            with pytest.raises(RunError, match="did not end within"):
                session.wait(end)
            assert session.run({}, run.inputs.extents, memory=held).cycles == cycles


def test_a_start_waits_for_the_memory() -> None:
    """A host may clear and start at once: the new run begins when the memory has answered the old one."""
    data, held = _spmm(), MEMORIES["constant"]
    run = _run(SPMM, "i32", data, held)
    with verilated(run, "recovery", held).session() as session:
        cycles = session.run(*run.inputs, memory=held).cycles
        for end in range(0, cycles, 31):
            session.start()
            assert session.port.wait(end).status == "limit"
            session.port.load(Register.CONTROL, [Control.CLEAR | Control.START])
            assert session.port.read(Register.STATUS, 1)[0] == Status.RUNNING
            ending = session.port.wait(10_000)
            assert (ending.status, ending.cycles) == ("done", cycles)


def test_an_error_beside_a_memory_is_cleared() -> None:
    """Requests to write are on their way when a sum of the second region does not fit."""
    text = "tensor x[i=40] : dense\ny[i] = x[i] + x[i]\nz[i] = y[i] + y[i]"
    held = MEMORIES["constant"]
    run = _run(text, "i8", {"x": np.arange(40) % 9}, held, fuse="none")
    with verilated(run, "recovery", held).session() as session:
        cycles = session.run(*run.inputs, memory=held).cycles
        for place in (0, 7, 39):
            wrong = np.ones(40, int)
            wrong[place] = 40
            with pytest.raises(RunError, match="overflow"):
                session.run({"x.vals": wrong}, run.inputs.extents, memory=held)
            assert session.port.read(Register.STATUS, 3).tolist() == [0, 0, 0xFFFF_FFFF]
            found = session.run(*run.inputs, buffers=True, memory=held)
            assert found.cycles == cycles
            np.testing.assert_array_equal(
                run.results(found.memories)["z"].to_dense(), 4 * (np.arange(40) % 9)
            )


def test_an_sdram_is_the_hosts_again_when_it_has_answered() -> None:
    data, held = _spmm(), load_memory("sdram")
    run = _run(SPMM, "i32", data, held)
    wanted = (data["A"] @ data["X"]).sum(axis=1)
    with verilated(run, "recovery", held).session() as session:
        for end in range(50, 400, 50):
            session.load(*run.inputs)
            session.start()
            with pytest.raises(RunError, match="did not end within"):
                session.wait(end)
            found = session.run(*run.inputs, buffers=True, memory=held)
            np.testing.assert_array_equal(run.results(found.memories)["Y"].to_dense(), wanted)


def test_an_error_is_cleared_by_the_host_alone() -> None:
    design = samhw.compile("tensor x[i=8] : dense\ny[i] = x[i] + x[i]", value="i8")
    run = design.host_run({"x": [1, 2, 3, 4, 5, 6, 7, 8]})
    with verilated(run, "axi4,recovery").session() as session:
        session.run(*run.inputs)
        with pytest.raises(RunError, match="overflow"):
            session.run({"x.vals": [100] * 8}, run.inputs.extents)
        assert session.port.read(Register.STATUS, 3).tolist() == [0, 0, 0xFFFF_FFFF]
        found = session.run(*run.inputs)
        assert run.results(found.memories)["y"].to_dense().tolist() == list(range(2, 17, 2))
        session.port.load(Register.CONTROL, [Control.START])
        session.port.load(Register.CONTROL, [Control.CLEAR])
        assert session.port.read(Register.STATUS, 1)[0] == 0
