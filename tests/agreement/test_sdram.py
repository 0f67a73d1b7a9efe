"""Tensors in an SDRAM with LiteDRAM's controller: the words are right, and the simulator, which is given
what the memory did, takes the same cycles. Our model of the chip ends a run at whatever its data sheet
forbids; LiteDRAM's prints it, which ends a run too."""

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
from samhw.rtl.sdram.sdram import _HEAD, READ_LATENCY, _blocking
from samhw.targets.backends import MODEL, RTL, run
from samhw.targets.boards import SDRAM_MODEL
from samhw.targets.running import driver

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


OTHER = "litedrams_chip"

AROUND = f"""
module samhw_sdram_registered #(
  parameter CYCLE_PS = 0, BANK_BITS = 2, ROW_BITS = 13, COLUMN_BITS = 9, BYTES = 2, LATENCY = 2
) (
  input clk, cke, cs_n, ras_n, cas_n, we_n, input [BANK_BITS-1:0] ba, input [ROW_BITS-1:0] a,
  input [BYTES-1:0] dqm, input [8*BYTES-1:0] dq_o, input dq_oe, output [8*BYTES-1:0] dq_i
);
  {OTHER} chip (.sys_clk(clk), .cs_n(cs_n | ~cke), .ras_n(ras_n), .cas_n(cas_n), .we_n(we_n), .bank(ba),
    .address(a), .wrdata_mask(dqm), .wrdata(dq_o), .rddata(dq_i));
endmodule
"""


def litedrams_model(chip: SdramChip) -> str:
    """Verilog of LiteDRAM's own model of a chip, which checks times, at our pins; and our observer."""
    from litedram import modules
    from litedram.common import PhySettings
    from litedram.phy.model import SDRAM_VERBOSE_STD, SDRAMPHYModel
    from litex.gen.fhdl import verilog
    from migen import ClockDomain, Module

    clock, bits = 1e12 / chip.cycle_ps, 8 * chip.word_bytes
    pins = PhySettings(
        *("model", "SDR", bits, bits, 1, 0, 0, chip.latency),
        read_latency=chip.latency + READ_LATENCY,
        write_latency=0,
    )
    m = Module()
    m.clock_domains.sys = sys = ClockDomain("sys", reset_less=True)
    figures = getattr(modules, chip.figures)(clock, "1:1")
    m.submodules.model = model = SDRAMPHYModel(figures, pins, clk_freq=clock, verbosity=SDRAM_VERBOSE_STD)
    names = ("cs_n", "ras_n", "cas_n", "we_n", "bank", "address", "wrdata_mask", "wrdata", "rddata")
    phase = model.dfi.p0
    for name in names:
        getattr(phase, name).name_override = name
    ports = {sys.clk, *(getattr(phase, name) for name in names)}
    text = _blocking(_HEAD.sub("", str(verilog.convert(m, ports, name=OTHER, regular_comb=False))))
    own = SDRAM_MODEL.read_text(encoding="utf-8")
    return f"{text}{AROUND}{own[own.index('// Shows the pins of a master') :]}"


@pytest.mark.parametrize(
    "name", [name if name in FEW else pytest.param(name, marks=pytest.mark.nightly) for name in CASES]
)
@pytest.mark.parametrize("chip", ["ours", pytest.param("LiteDRAM's", marks=pytest.mark.nightly)])
def test_cycles_and_words(name: str, chip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, data, schedule, memory = CASES[name]
    if chip != "ours":
        path = tmp_path / "chip.v"
        path.write_text(litedrams_model(memory.chip))
        monkeypatch.setattr(driver, "SDRAM_MODEL", path)
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
