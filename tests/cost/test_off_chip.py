"""Estimates with tensors off chip, against the simulator."""

from dataclasses import replace

import pytest

from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import estimate_compiled
from samhw.graph import DDR4, HBM2, ConstantMemory, OffChipMemory
from samhw.lang import load_kernel, parse
from samhw.targets.backends import run
from samhw.tensors.generate import power_law_graph, random_tensor


def spmm(rows: int = 48, columns: int = 64, density: float = 0.1) -> Workload:
    data = {
        "A": random_tensor((rows, rows), "csr", density=density, seed=1, low=-4, high=4),
        "X": random_tensor((rows, columns), "dense", density=1.0, seed=2, low=-4, high=4),
    }
    program = load_kernel("spmm").bind({name: tensor.shape for name, tensor in data.items()})
    return Workload("random", program, data)


def both(workload: Workload, memory: OffChipMemory, **schedule: object) -> tuple[float, float]:
    """The cycles that are expected, as a multiple of those of a run; and the same of the lines."""
    compiled = compile_workload(workload, Schedule(**schedule), memory=memory)
    expected = estimate_compiled(compiled, workload.statistics())
    found = run(compiled, workload.tensors, memory=memory)
    statistics = [region.statistics for region in found.regions if region.statistics]
    asked = sum(one.memory.requests for one in statistics if one.memory)
    lines = sum(sum(region.lines.values()) for region in expected.regions)
    return expected.cycles / found.cycles, lines / asked


@pytest.mark.parametrize("memory", [DDR4, HBM2, ConstantMemory(20)], ids=lambda memory: memory.name)
def test_one_lane(memory: OffChipMemory) -> None:
    cycles, lines = both(spmm(), memory)
    assert cycles == pytest.approx(1, abs=0.08)
    assert lines == pytest.approx(1, abs=0.08)


def test_a_bus_that_lanes_keep_busy() -> None:
    """Eight lanes are hardly faster than four: the bus moves a line in four cycles."""
    workload, memory = spmm(), ConstantMemory(20)
    for lanes in (4, 8):
        cycles, lines = both(workload, memory, lanes={"i": lanes})
        assert cycles == pytest.approx(1, abs=0.2)
        assert lines == pytest.approx(1, abs=0.15)


def test_hardly_any_data_is_mostly_latency() -> None:
    cycles, lines = both(spmm(2, 2, 1.0), ConstantMemory(100))
    assert cycles == pytest.approx(1, abs=0.1)
    assert lines == pytest.approx(1, abs=0.5)


def test_nothing_that_is_stored_is_not_waited_for() -> None:
    cycles, _ = both(spmm(6, 2, 0.0), ConstantMemory(100))
    assert cycles == pytest.approx(1, abs=0.1)


def test_few_lines_of_storage_hold_a_gather_back() -> None:
    """Each element of x is in another line; 2 of these at a time, and each for 28 cycles."""
    size = 64
    data = {
        "B": random_tensor((size, size), "csr", density=0.05, seed=1, low=-4, high=4),
        "c": random_tensor((size,), "dense", density=1.0, seed=2, low=-4, high=4),
    }
    program = load_kernel("spmv").bind({name: tensor.shape for name, tensor in data.items()})
    workload = Workload("random", program, data)
    ports = replace(ConstantMemory(20).ports, line=4, beat=4, lines=2, ahead=0)
    cycles, _ = both(workload, ConstantMemory(20, ports))
    assert cycles == pytest.approx(1, abs=0.25)


def power_law(text: str) -> Workload:
    """A program over B, in whose rows and columns a few have most."""
    program = parse(text)
    data = {name: power_law_graph(300, 0.02, seed=seed) for seed, name in enumerate("BC")}
    shapes = {name: data[name].shape for name in program.tensors if name in data}
    return Workload("power law", program.bind(shapes), {name: data[name] for name in shapes})


SUM = "tensor B[i, j] : csr\ntensor C[i, j] : csr\ntensor X[i, j] : csr\nX[i, j] = B[i, j] + C[i, j]"


@pytest.mark.parametrize("lanes", [4, 8])
def test_lanes_have_rows_far_from_each_other(lanes: int) -> None:
    """Each row begins in a line of its own, and what is written turns the bus among reads."""
    cycles, lines = both(power_law(SUM), DDR4, lanes={"i": lanes})
    assert cycles == pytest.approx(1, abs=0.15)
    assert lines == pytest.approx(1, abs=0.13)


def test_lanes_in_different_rows_of_a_bank() -> None:
    """X takes more than a row of each bank: lanes that read anywhere in it close each other's."""
    cycles, lines = both(spmm(160, 256, 0.05), DDR4, lanes={"i": 8})
    assert lines == pytest.approx(1, abs=0.01)
    assert 0.95 < cycles < 1.25  # If rows cost nothing, 0.84.


def test_what_is_read_again_is_in_the_same_line() -> None:
    """For each row of B all of c, which takes one line."""
    text = "tensor B[i=90, k=16] : csr\ntensor c[k] : dense\ny[i] = B[i, k] * c[k]"
    program = parse(text)
    data = {
        "B": random_tensor((90, 16), "csr", density=0.3, seed=1, low=-4, high=4),
        "c": random_tensor((16,), "dense", density=1.0, seed=2, low=-4, high=4),
    }
    program = program.bind({name: tensor.shape for name, tensor in data.items()})
    _, lines = both(Workload("random", program, data), DDR4, lanes={"i": 4})
    assert lines == pytest.approx(1, abs=0.1)


def test_regions_side_by_side_meet_at_a_master() -> None:
    """A beat is a word: two products that keep the bus busy take twice as long as one."""
    text = "\n".join(
        [
            "tensor A[i, k] : csr",
            "tensor X[k, j]",
            "S[i, j] = A[i, k] * X[k, j]",
            "T[i, j] = A[i, k] * X[k, j]",
        ]
    )
    data = spmm().tensors
    program = parse(text).bind({name: tensor.shape for name, tensor in data.items()})
    memory = ConstantMemory(20)
    narrow = replace(memory, ports=replace(memory.ports, beat=4))
    cycles, _ = both(Workload("random", program, data), narrow, fuse="none", parallel="all")
    assert cycles == pytest.approx(1, abs=0.2)
