"""Registers that the blocks of an ECP5 have of their own.

A block memory gives a word 5.8 ns after the clock, or 1 ns after it from the register at its output; a
multiplier takes 3.9 ns, and then there is a wire to the register after it. Yosys uses the registers of
neither, and makes them of the fabric. So they are put into the blocks afterwards, in the netlist that nextpnr
reads.

The register of a memory has an enable of its own (OCE), which is always on. Should the enable of the port
(CE) stop it too, nothing would change: all that reads a tensor keeps its port enabled in the cycle after.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["use_own_registers"]

_Cell = dict[str, Any]
_Bit = int | str

_PLAIN = {"CEMUX": "1 ", "CLKMUX": "CLK", "REGSET": "RESET"}
"""What a register has that loads in every cycle and begins with 0, as those of the blocks do."""

_NO_RESET = (None, ["0"])

_WIDE = 36
"""Bits of a memory that has one port for reading, the second one, and uses the outputs of both."""


@dataclass(frozen=True)
class _Port:
    """Outputs of a block with a register after them."""

    outputs: Sequence[str]
    parameters: Mapping[str, str]
    """What switches the register on."""
    inputs: Mapping[str, Sequence[_Bit]]
    """What it needs besides the clock."""
    clock: Sequence[_Bit] | None = None
    """The clock of the port, if it has one without the register."""
    clock_input: str | None = None
    """Where the register's clock goes, if the port has none without it."""


def use_own_registers(netlist: Mapping[str, Any]) -> int:
    """Puts registers after block memories and multipliers into these, in place, and returns how many bits
    it found. All outputs that are used of a port must go to such registers and nowhere else.

    Args:
        netlist: Yosys' JSON, mapped to an ECP5 (`synth_ecp5`).
    """
    found = 0
    for module in netlist["modules"].values():
        cells = module["cells"]
        readers = _readers(module)
        for block in list(cells.values()):
            for port in _ports(block):
                if behind := _registers_behind(block, port, readers, cells):
                    _put_in(block, port, [(output, cells.pop(name)) for output, name in behind.items()])
                    found += len(behind)
    return found


def _ports(block: _Cell) -> Iterator[_Port]:
    connections = block["connections"]
    if block["type"] == "DP16KD":
        widths = [int(block["parameters"][f"DATA_WIDTH_{side}"], 2) for side in "AB"]
        # The mode of such a memory is that of both sides.
        for sides in ["AB"] if _WIDE in widths else ["A", "B"]:
            clocked = sides[-1]
            # A reset clears the register with the word before it, not a cycle later.
            reset = any(connections.get(f"RST{side}") not in _NO_RESET for side in sides)
            if block["parameters"][f"CLK{clocked}MUX"] == f"CLK{clocked}" and not reset:
                yield _Port(
                    outputs=_numbered(connections, [f"DO{side}" for side in sides]),
                    parameters={f"REGMODE_{side}": "OUTREG" for side in sides},
                    inputs={f"OCE{side}": ["1"] for side in sides},
                    clock=connections[f"CLK{clocked}"],
                )
    elif block["type"] == "MULT18X18D":
        yield _Port(
            outputs=_numbered(connections, ["P"]),
            parameters={f"REG_OUTPUT_{pin}": f"{pin}0" for pin in ("CLK", "CE", "RST")},
            inputs={"CE0": ["1"], "RST0": ["0"]},
            clock_input="CLK0",
        )


def _numbered(names: Iterable[str], prefixes: Sequence[str]) -> list[str]:
    return [name for name in names for prefix in prefixes if name.rstrip("0123456789") == prefix]


def _registers_behind(
    block: _Cell,
    port: _Port,
    readers: Mapping[_Bit, Sequence[tuple[str, str]]],
    cells: Mapping[str, _Cell],
) -> dict[str, str]:
    """The register after each output that is used, by the output's name; none if one of them has no such
    register, or they differ in their clock."""
    behind: dict[str, str] = {}
    clock = port.clock
    for output in port.outputs:
        (bit,) = block["connections"][output]
        match readers.get(bit, []):
            case []:
                continue
            case [(name, "DI")] if _is_plain(cells[name]):
                clock = clock or cells[name]["connections"]["CLK"]
                if cells[name]["connections"]["CLK"] != clock:
                    return {}
                behind[output] = name
            case _:
                return {}
    return behind


def _is_plain(cell: _Cell) -> bool:
    return (
        cell["type"] == "TRELLIS_FF"
        and all(cell["parameters"].get(name) == value for name, value in _PLAIN.items())
        and cell["connections"].get("LSR") in _NO_RESET
    )


def _put_in(block: _Cell, port: _Port, behind: Sequence[tuple[str, _Cell]]) -> None:
    inputs = dict(port.inputs)
    for output, register in behind:
        block["connections"][output] = register["connections"]["Q"]
        if port.clock_input:
            inputs[port.clock_input] = register["connections"]["CLK"]
    block["parameters"].update(port.parameters)
    block["connections"].update(inputs)
    block["port_directions"].update(dict.fromkeys(inputs, "input"))


def _readers(module: Mapping[str, Any]) -> Mapping[_Bit, list[tuple[str, str]]]:
    """Who reads each bit: cells and their ports, and the module's own."""
    readers = defaultdict(list)
    for name, cell in module["cells"].items():
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] != "output":
                for bit in bits:
                    readers[bit].append((name, port))
    for name, port in module["ports"].items():
        for bit in port["bits"]:
            readers[bit].append(("", name))
    return readers
