"""Two banks of inputs and results: a host loads and reads one while a run works on the other."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.errors import InputError, RunError
from samhw.graph import MemoryRole
from samhw.graph.address_map import Control, Register, Status
from samhw.targets.backends import HostRun, build
from tests.support.built import run_program, verilated

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

SPMM = "tensor A[i, k] : csr\ntensor X[k, j] : dense\nT[i, j] = A[i, k] * X[k, j]\nY[i] = T[i, j]"
PROGRAMS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "two regions": (SPMM, "i32", {"fuse": "none"}),
    "lanes and banks": (SPMM, "i32", {"fuse": "none", "lanes": {"i": 3}, "interleave": "all"}),
    "equal regions": (
        "tensor A[i, k] : csr\ntensor X[k, j] : csr\n"
        "P[i, j] = A[i, k] * X[k, j]\nY[i, j] = A[i, k] * P[k, j]",
        "i32",
        {"fuse": "none"},
    ),
    "a scan": (
        "tensor A[i, k]\ntensor X[k, j]\nT[i, j] = A[i, k] * X[k, j]\n"
        "scan i {\n  Y[i, j] = Y[i - 1, j] * 0.5 + T[i, j]\n}",
        "f32",
        {},
    ),
}
MOST = 9


def _drawn(count: int) -> Iterator[dict[str, np.ndarray]]:
    """Data of other extents and densities each time; the first has the greatest."""
    rng = np.random.default_rng(8)
    for number in range(count):
        i, k, j = (MOST, MOST, MOST) if number == 0 else rng.integers(1, MOST + 1, 3)
        k = i if number else k  # Where products follow each other, both are the nodes of a graph.
        dense = rng.integers(-2, 3, (i, k)), rng.integers(-2, 3, (k, j))
        yield {
            name: array * (rng.random(array.shape) < rng.random())
            for name, array in zip("AX", dense, strict=True)
        }


def _runs(program: str, count: int) -> tuple[Any, list[dict[str, np.ndarray]], list[HostRun]]:
    text, value, schedule = PROGRAMS[program]
    sparse = [line.split()[1][0] for line in text.splitlines() if line.endswith("csr")]
    data = list(_drawn(count))
    extents = dict.fromkeys("ij" if program == "equal regions" else "ikj", MOST)
    room = dict.fromkeys(sparse, MOST * MOST)
    design = samhw.compile(text, value=value, schedule=schedule, entries=room, extents=extents)
    return design, data, [design.host_run(each) for each in data]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("host", ["pingpong", "axi4,clock,pingpong,counters"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_data_go_in_and_out_beside_a_run(program: str, host: str) -> None:
    """Each run has results and cycles of its own data, of which the host has loaded some during the run
    before, and has read the results during the run after."""
    design, data, runs = _runs(program, 5)
    wanted = [design.run(each) for each in data]
    with verilated(runs[0], host).session() as session:
        session.load(*runs[0].inputs)
        session.start()
        for number, result in enumerate(wanted):
            if number + 1 < len(runs):
                session.load(*runs[number + 1].inputs)
            session.wait()
            assert session.counters().cycles == result.cycles
            if number + 1 < len(runs):
                session.start()
            else:
                session.swap()
            stored = {
                stored.name: session.read(stored.name, stored.words)
                for stored in runs[number].compiled.design.memories
                if stored.role is MemoryRole.OUTPUT
            }
            found = runs[number].results(stored)["Y"].to_dense()
            np.testing.assert_array_equal(found, result["Y"])


def test_what_is_not_loaded_again_stays_in_its_bank() -> None:
    design, data, runs = _runs("two regions", 2)
    with verilated(runs[0], "pingpong").session() as session:
        for number in (0, 1):
            session.load(*runs[number].inputs)
            session.start()
            session.wait()
        for number in (0, 1, 0):  # The two banks in turns.
            session.load({}, runs[number].inputs.extents)
            session.start()
            session.wait()
            assert session.counters().cycles == design.run(data[number]).cycles


def test_starts_that_are_ignored_exchange_nothing() -> None:
    design, data, runs = _runs("two regions", 2)
    cycles = [design.run(each).cycles for each in data]
    with verilated(runs[0], "axi4,pingpong,recovery").session() as session:
        session.load(*runs[0].inputs)
        session.start()
        session.load(*runs[1].inputs)
        for word in (Control.START, Control.SWAP, Control.START):
            session.port.load(Register.CONTROL, [word])
        session.wait()
        assert session.counters().cycles == cycles[0]
        session.port.load(Register.CONTROL, [Control.SWAP])
        session.port.load(Register.CONTROL, [Control.SWAP])
        session.start()
        session.wait()
        assert session.counters().cycles == cycles[1]
        # A run that is given up for another one leaves its bank to the host.
        session.start()
        session.port.load(Register.CONTROL, [Control.CLEAR | Control.START])
        assert session.port.read(Register.STATUS, 1)[0] == Status.RUNNING
        session.wait()
        assert session.counters().cycles == cycles[1]


def test_an_error_leaves_what_was_loaded() -> None:
    text = "tensor x[i=8] : dense\ny[i] = x[i] + x[i]"
    run = samhw.compile(text, value="i8").host_run({"x": np.arange(8)})
    with verilated(run, "pingpong,recovery").session() as session:
        session.load({"x.vals": [100] * 8}, run.inputs.extents)
        session.start()
        session.load(*run.inputs)
        with pytest.raises(RunError, match="overflow"):
            session.wait()
        session.start()
        session.wait()
        session.swap()
        assert session.read("y.vals", 8).tolist() == list(range(0, 16, 2))


def test_a_build_reads_what_its_run_has_left(tmp_path: Path) -> None:
    _, data, runs = _runs("two regions", 1)
    compiled = runs[0].compiled
    tensors = {name: samhw.Tensor.from_dense(array, "dense") for name, array in data[0].items()}
    tensors["A"] = samhw.Tensor.from_dense(data[0]["A"], "csr")
    build(compiled, "verilator", tmp_path / "out", tensors, host="pingpong")
    assert run_program(tmp_path / "out")["status"] == "done"
    found = np.fromfile(tmp_path / "out" / "results" / "Y.vals.bin", "<i4")
    np.testing.assert_array_equal(found, (data[0]["A"] @ data[0]["X"]).sum(1))


def test_tensors_off_the_chip_have_no_banks() -> None:
    with pytest.raises(InputError, match="needs all tensors on chip"):
        samhw.compile("y[i] = A[i, k] * x[k]").run(
            "random:size=4", backend="verilator", host="pingpong", memory="constant:20"
        )
