"""Registers that are put into block memories and multipliers, in netlists made by hand."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from samhw.targets.building.boards import bitstream
from samhw.targets.building.boards import netlist as netlists
from samhw.targets.building.boards.netlist import use_own_registers

CLOCK, OTHER = 2, 3
"""Bits of two clocks. Outputs of blocks begin at 100, of registers at 200."""


def register(data: int, **changes: Any) -> dict[str, Any]:
    """A plain register, with changes of its parameters and connections."""
    cell: dict[str, Any] = {
        "type": "TRELLIS_FF",
        "parameters": {"CEMUX": "1 ", "CLKMUX": "CLK", "LSRMUX": "LSR", "REGSET": "RESET", "GSR": "DISABLED"},
        "connections": {"CLK": [CLOCK], "LSR": ["0"], "DI": [data], "Q": [data + 100]},
    }
    for name, value in changes.items():
        cell["connections" if isinstance(value, list) else "parameters"][name] = value
    return with_directions(cell, "Q")


def memory(a: int = 18, b: int = 18, clock_a: int = CLOCK, clock_b: int = CLOCK) -> dict[str, Any]:
    """A block memory of two widths, with two outputs on each side: A's are 100 and 101, B's are 110 and
    111."""
    sides = {
        f"{pin}{side}": [bit]
        for side, clock in (("A", clock_a), ("B", clock_b))
        for pin, bit in (("CLK", clock), ("CE", "1"), ("OCE", "0"), ("RST", "0"), ("WE", "0"))
    }
    parameters = {"DATA_WIDTH_A": f"{a:032b}", "DATA_WIDTH_B": f"{b:032b}", "CLKAMUX": "CLKA"}
    parameters |= {"CLKBMUX": "CLKB", "REGMODE_A": "NOREG", "REGMODE_B": "NOREG"}
    outputs = {"DOA0": [100], "DOA1": [101], "DOB0": [110], "DOB1": [111]}
    cell = {"type": "DP16KD", "parameters": parameters, "connections": {**sides, **outputs}}
    return with_directions(cell, *outputs)


def multiplier() -> dict[str, Any]:
    """A multiplier with two outputs, 120 and 121."""
    cell = {"type": "MULT18X18D", "parameters": {}, "connections": {"A0": [5], "P0": [120], "P1": [121]}}
    return with_directions(cell, "P0", "P1")


def with_directions(cell: dict[str, Any], *outputs: str) -> dict[str, Any]:
    names = cell["connections"]
    return cell | {"port_directions": {name: "output" if name in outputs else "input" for name in names}}


def netlist(*cells: dict[str, Any], ports: tuple[int, ...] = ()) -> dict[str, Any]:
    """A netlist whose first cell is called `block`, and the others by their numbers."""
    named = {"block" if k == 0 else str(k): cell for k, cell in enumerate(cells)}
    outputs = {f"port{bit}": {"direction": "output", "bits": [bit]} for bit in ports}
    return {"modules": {"top": {"ports": outputs, "cells": named}}}


def cells_of(found: dict[str, Any]) -> dict[str, Any]:
    return found["modules"]["top"]["cells"]


def assert_left(found: dict[str, Any]) -> None:
    """Nothing is put in, and nothing is changed."""
    before = deepcopy(found)
    assert use_own_registers(found) == 0
    assert found == before


def test_registers_behind_a_multiplier() -> None:
    found = netlist(multiplier(), register(120), register(121), ports=(220, 221))
    assert use_own_registers(found) == 2
    assert cells_of(found).keys() == {"block"}
    block = cells_of(found)["block"]
    assert block["connections"] == {
        "A0": [5],
        "P0": [220],
        "P1": [221],
        "CLK0": [CLOCK],
        "CE0": ["1"],
        "RST0": ["0"],
    }
    assert block["port_directions"].keys() == block["connections"].keys()
    assert {name for name, way in block["port_directions"].items() if way == "output"} == {"P0", "P1"}
    assert block["parameters"] == {
        "REG_OUTPUT_CLK": "CLK0",
        "REG_OUTPUT_CE": "CE0",
        "REG_OUTPUT_RST": "RST0",
    }


def test_the_sides_of_a_narrow_memory_are_apart() -> None:
    """B's register is put in, with its own clock; A's stays, since one of A's outputs has another reader."""
    readers = [register(100), register(101), register(110, CLK=[OTHER]), register(111, CLK=[OTHER])]
    found = netlist(memory(clock_b=OTHER), *readers, ports=(101,))
    assert use_own_registers(found) == 2
    assert cells_of(found).keys() == {"block", "1", "2"}
    block = cells_of(found)["block"]
    assert (block["parameters"]["REGMODE_A"], block["parameters"]["REGMODE_B"]) == ("NOREG", "OUTREG")
    outputs = {name: bits for name, bits in block["connections"].items() if name.startswith("DO")}
    assert outputs == {"DOA0": [100], "DOA1": [101], "DOB0": [210], "DOB1": [211]}
    assert (block["connections"]["OCEA"], block["connections"]["OCEB"]) == (["0"], ["1"])


def test_both_sides_of_a_narrow_memory() -> None:
    found = netlist(memory(), *(register(bit) for bit in (100, 101, 110, 111)))
    assert use_own_registers(found) == 4
    assert cells_of(found).keys() == {"block"}


@pytest.mark.parametrize("widths", [(36, 36), (36, 18), (9, 36)])
def test_a_wide_memory_has_one_port_for_reading(widths: tuple[int, int]) -> None:
    """Its clock is B's; A's may be none at all, as that of a ROM."""
    wide = memory(*widths, clock_a="0")
    registers = [register(bit) for bit in (100, 101, 110, 111)]
    found = netlist(wide, *registers)
    assert use_own_registers(found) == 4
    block = cells_of(found)["block"]
    assert (block["parameters"]["REGMODE_A"], block["parameters"]["REGMODE_B"]) == ("OUTREG", "OUTREG")
    assert (block["connections"]["OCEA"], block["connections"]["OCEB"]) == (["1"], ["1"])
    outputs = {name: bits for name, bits in block["connections"].items() if name.startswith("DO")}
    assert outputs == {"DOA0": [200], "DOA1": [201], "DOB0": [210], "DOB1": [211]}

    # An output of either side without a register leaves both as they are.
    assert_left(netlist(memory(*widths, clock_a="0"), *registers[1:], ports=(100,)))
    assert_left(netlist(memory(*widths, clock_a="0"), *registers[:-1], ports=(111,)))
    assert_left(netlist(memory(*widths, clock_a=OTHER, clock_b=OTHER), *registers))


def test_outputs_that_nobody_reads_do_not_matter() -> None:
    found = netlist(memory(36, 36), register(100), register(111))
    assert use_own_registers(found) == 2
    block = cells_of(found)["block"]
    outputs = [block["connections"][name] for name in ("DOA0", "DOA1", "DOB0", "DOB1")]
    assert outputs == [[200], [101], [110], [211]]
    assert_left(netlist(memory(36, 36)))
    assert_left(netlist(multiplier()))


@pytest.mark.parametrize(
    "changes",
    [
        {"CEMUX": "CE", "CE": [7]},
        {"CEMUX": "INV", "CE": [7]},
        {"LSR": [7]},
        {"REGSET": "SET"},
        {"CLKMUX": "INV"},
        {"CLK": [OTHER]},
    ],
    ids=str,
)
def test_registers_of_another_kind_stay(changes: dict[str, Any]) -> None:
    """A single one of them keeps those of its port where they are."""
    assert_left(netlist(multiplier(), register(120), register(121, **changes)))
    assert_left(netlist(memory(36, 36), register(100), register(111, **changes)))
    found = netlist(memory(), register(100), register(101, **changes), register(110), register(111))
    assert use_own_registers(found) == 2
    assert cells_of(found).keys() == {"block", "1", "2"}


def test_outputs_with_another_reader_stay() -> None:
    """A cell, a second register, a pin of the design, or a register that reads them elsewhere."""
    cell = with_directions({"type": "LUT4", "parameters": {}, "connections": {"A": [120]}})
    registers = [register(120), register(121)]
    assert_left(netlist(multiplier(), *registers, cell))
    assert_left(netlist(multiplier(), *registers, register(120)))
    assert_left(netlist(multiplier(), *registers, ports=(120,)))
    assert_left(netlist(multiplier(), register(121), cell))
    assert_left(netlist(multiplier(), register(121), register(9, LSR=[120])))


def test_memories_with_a_clock_or_a_reset_that_their_registers_do_not_have() -> None:
    """A reset clears the register at the output together with the word before it."""
    registers = [register(bit) for bit in (100, 101, 110, 111)]
    inverted, reset = memory(36, 36), memory(36, 36)
    inverted["parameters"]["CLKBMUX"] = "INV"
    reset["connections"]["RSTB"] = [7]
    assert_left(netlist(inverted, *registers))
    assert_left(netlist(reset, *registers))


def test_of_two_registers_behind_each_other_the_first_one() -> None:
    found = netlist(multiplier(), register(120), register(220))
    assert use_own_registers(found) == 1
    assert cells_of(found)["2"]["connections"] == register(220)["connections"]
    assert cells_of(found)["block"]["connections"]["P0"] == [220]


def test_routed_designs_are_kept_by_what_was_done_with_their_netlist() -> None:
    recipe = b"".join(bitstream._recipe())
    assert Path(netlists.__file__).read_bytes() in recipe
    assert all(line.encode() in recipe for line in bitstream.SYNTHESIS.splitlines()[2:6])
