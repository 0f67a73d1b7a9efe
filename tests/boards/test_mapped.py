"""What is placed and routed for an ECP5, under Verilator: it does what the simulator does."""

from typing import Any

import numpy as np
import pytest

from samhw.app.workload import bind_program, compile_workload
from samhw.graph.numerics import value_type
from samhw.graph.spec.arch import Arch
from samhw.targets.building.boards import BoardDesign
from samhw.targets.building.boards.netlist import use_own_registers
from samhw.targets.running.boards import EmulatedLine
from samhw.targets.running.inputs import load_inputs
from samhw.targets.running.session import SimulatedSession

from .emulated import open_session
from .mapped import HAS_YOSYS, as_verilog, mapped

pytestmark = [
    pytest.mark.verilator,
    pytest.mark.slow,
    pytest.mark.skipif(not HAS_YOSYS, reason="needs the extra fpga"),
]

BAUD = 12_000_000
"""The most there is, since most of a run's cycles are spent on the line."""


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("own_registers", [False, True], ids=["synthesis", "own registers"])
def test_a_mapped_netlist_takes_the_simulators_cycles(own_registers: bool) -> None:
    workload = bind_program("spmm", ["random:size=33,density=0.05"])
    compiled = compile_workload(workload, arch=Arch.load("ecp5-100"), value=value_type("i32"))
    on_board = BoardDesign.named("ulx3s", compiled.design, compiled.arch, baud=BAUD)
    netlist = mapped(on_board)
    if own_registers:
        assert use_own_registers(netlist) == 359
    assert {kind for kind, _ in registered(netlist)} == {"DP16KD", "MULT18X18D"}
    assert {used for _, used in registered(netlist)} == {own_registers}
    assert widths(netlist) == {4, 9, 18, 36}

    memories, extents = load_inputs(compiled.program, compiled.design, workload.tensors, compiled.recipes)
    with SimulatedSession(compiled.design, compiled.arch) as session:
        model = session.run(memories, extents)
    with open_session(on_board, EmulatedLine(on_board, as_verilog(netlist))) as session:
        board = session.run(memories, extents)
    assert board.cycles == model.cycles
    assert board.region_cycles == model.region_cycles
    assert board.memories.keys() == model.memories.keys()
    assert all(np.array_equal(words, board.memories[name]) for name, words in model.memories.items())


def registered(netlist: dict[str, Any]) -> list[tuple[str, bool]]:
    """The block memories and multipliers after which there is a register, which all are but those of the
    sums under way, and whether they use their own."""
    return [
        (cell["type"], bool({"OUTREG", "CLK0"} & set(cell["parameters"].values())))
        for name, cell in netlist["modules"]["top"]["cells"].items()
        if cell["type"] in ("DP16KD", "MULT18X18D") and ".values.bank" not in name
    ]


def widths(netlist: dict[str, Any]) -> set[int]:
    """Of the words of block memories."""
    cells = netlist["modules"]["top"]["cells"].values()
    return {int(cell["parameters"]["DATA_WIDTH_A"], 2) for cell in cells if cell["type"] == "DP16KD"}
