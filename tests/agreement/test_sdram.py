"""Tensors in an SDRAM with LiteDRAM's controller: the words are right, and the simulator, which is given
what the memory did, takes the same cycles. The chip's model ends a run at whatever its data sheet forbids."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samhw.app.checking import check
from samhw.app.workload import bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.graph import Ports, RecordedMemory, SdramMemory
from samhw.graph.off_chip_memory import read_log
from samhw.graph.off_chip_numbers import SdramChip
from samhw.targets.backends import MODEL, RTL, run

pytest.importorskip("litedram")
pytestmark = [pytest.mark.slow, pytest.mark.verilator]

CASES: dict[str, tuple[str, str, dict[str, Any], SdramMemory]] = {
    "spmm": ("spmm", "karate", {}, SdramMemory()),
    "lanes": ("spmm", "karate", {"lanes": {"i": 4}}, SdramMemory()),
    "lanes of a sum": ("sddmm", "karate", {"lanes": {"j": 2}}, SdramMemory()),
    "a fast clock": ("spmm", "karate", {}, SdramMemory(SdramChip(cycle_ps=13_400))),
    "a slow clock": ("spmv", "karate", {}, SdramMemory(SdramChip(cycle_ps=40_000))),
    "least": ("spmm", "karate", {}, SdramMemory(ports=Ports(4, 4, 2, 0, 1, 1, 2, 1))),
    "beats of a line": ("spmm", "karate", {}, SdramMemory(ports=Ports(128, 16, 8, 2))),
    "some on chip": ("spmm", "karate", {"place": {"X": "ddr"}}, SdramMemory()),
    **{
        name: (name, "auto", {}, SdramMemory())
        for name in ("spmspm_ijk", "spmspm_kij", "sddmm", "mmadd", "plus3", "ttv", "mttkrp", "residual")
    },
    "a scan": ("retention", "auto", {}, SdramMemory()),
    "gcn": ("gcn", "karate", {}, SdramMemory()),
    "gcn, unfused": ("gcn", "karate", {"fuse": "none"}, SdramMemory()),
    "sae": ("sae", "auto", {}, SdramMemory()),
}
FEW = ("spmm",)
"""Those that every round runs."""


@pytest.mark.parametrize(
    "name", [name if name in FEW else pytest.param(name, marks=pytest.mark.nightly) for name in CASES]
)
def test_cycles_and_words(name: str, tmp_path: Path) -> None:
    program, data, schedule, memory = CASES[name]
    workload = bind_program(program, [data])
    compiled = compile_workload(workload, Schedule(**schedule))
    log = tmp_path / "log"
    hardware = run(compiled, workload.tensors, RTL, memory=memory, memory_log=log)
    model = run(compiled, workload.tensors, MODEL, memory=RecordedMemory(str(log), memory.ports))
    assert (hardware.cycles, hardware.outputs.keys()) == (model.cycles, model.outputs.keys())
    for region, other in zip(hardware.regions, model.regions, strict=True):
        assert region.cycles == other.cycles, region.name
    for key, tensor in hardware.outputs.items():
        for part, words in tensor.arrays().items():
            assert np.array_equal(words, model.outputs[key].arrays()[part], equal_nan=True), (key, part)
    assert check(workload, compiled, hardware.outputs).good
    entries = read_log(str(log), memory.ports)
    assert entries
    print(name, hardware.cycles, len(entries))
