"""What makers say of what a design runs on: cards and boards by name, with their device and the memory that
kernels reach through m_axi; and the floating-point IP, with how many stages it gets."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from samhw.graph import Arch, Graph
from samhw.graph.numerics import Float
from samhw.graph.spec.arch import HLS_STEP

__all__ = [
    "BOARDS",
    "CARDS",
    "Banks",
    "Card",
    "clock_of",
    "float_operators",
    "is_device",
    "memory_of",
    "part_of",
    "processor_of",
    "ram_of",
]

CLOCK = 4.0
"""Clock period in nanoseconds where nobody says another one."""


class Banks(NamedTuple):
    """What kernels reach through m_axi."""

    kind: str
    """As a link configuration calls it."""
    banks: int
    bank_bytes: int


class Card(NamedTuple):
    """What the makers of a card or a board say of it: AWS of the instances F1 and F2, AMD of Alveo, Zynq and
    Kria."""

    part: str
    """Its device, as Vitis calls it."""
    block_rams: int
    """Of 36 Kb (DS190, DS889, DS890, DS987; of the Alveo cards, their product pages' data sheets)."""
    ultra_rams: int = 0
    """Of 288 Kb."""
    memory: Banks | None = None
    """None where that is left to the platform."""
    clock: float = CLOCK
    """Its clock period, unless another is asked for."""

    @property
    def ram_bytes(self) -> int:
        """What its memories on the chip hold."""
        return (self.block_rams * 36 + self.ultra_rams * 288) * 1024 // 8


CARDS = {
    "f1": Card("xcvu9p-flgb2104-2-i", 2_160, 960),
    "f2": Card("xcvu47p-fsvh2892-2-e", 2_016, 960),
    "u50": Card("xcu50-fsvh2104-2-e", 1_344, 640, Banks("HBM", 32, 256 << 20)),
    "u55c": Card("xcu55c-fsvh2892-2L-e", 2_016, 960, Banks("HBM", 32, 512 << 20)),
    "u250": Card("xcu250-figd2104-2L-e", 2_688, 1_280, Banks("DDR", 4, 16 << 30)),
    "u280": Card("xcu280-fsvh2892-2L-e", 2_016, 960, Banks("HBM", 32, 256 << 20)),
}

BOARDS = {
    "arty_z7": Card("xc7z020clg400-1", 140, clock=10.0),
    "cora_z7_07s": Card("xc7z007sclg400-1", 50, clock=10.0),
    "cora_z7_10": Card("xc7z010clg400-1", 60, clock=10.0),
    "ebaz4205": Card("xc7z010clg400-1", 60, clock=10.0),
    "kv260": Card("xck26-sfvc784-2LV-c", 144, 64, clock=5.0),
    "microzed_z010": Card("xc7z010clg400-1", 60, clock=10.0),
    "microzed_z020": Card("xc7z020clg400-1", 140, clock=10.0),
    "redpitaya_125_14": Card("xc7z010clg400-1", 60, clock=10.0),
    "rfsoc4x2": Card("xczu48dr-ffvg1517-2-e", 1_080, 80, clock=5.0),
    "zturn_lite_z007s": Card("xc7z007sclg400-1", 50, clock=10.0),
    "zturn_lite_z010": Card("xc7z010clg400-1", 60, clock=10.0),
}
"""With a processor on the device, named as amaranth-boards names its files, but for the Kria KV260."""

_ALL: Mapping[str, Card] = {**CARDS, **BOARDS}


def part_of(name: str) -> str:
    """The device of a card or a board, or what is the name of none."""
    card = _ALL.get(name.lower())
    return card.part if card else name


_DEVICE = re.compile(
    r"x[acq](7[akrsvz]|[aksvz]u|u|k|v[a-z]?|2v[a-z])\d+[a-z]*-?[a-z]{2,5}\d+-\w+(-\w+)*", re.IGNORECASE
)
"""How AMD names devices: family and size, package, speed grade."""


def is_device(name: str) -> bool:
    """Whether a device may have the name: there are thousands, and none is listed here but those of cards and
    boards."""
    return _DEVICE.fullmatch(name) is not None


def processor_of(part: str) -> str:
    """The family of a device with an Arm processor, `zynq7` or `zynqmp`, as far as overlays are made for it;
    else nothing."""
    if re.match(r"x[acq]7z", part, re.IGNORECASE):
        return "zynq7"
    return "zynqmp" if re.match(r"x[acq](zu|k2)\d", part, re.IGNORECASE) else ""


def clock_of(part: str) -> float:
    """The clock period of the cards and boards with a device, in nanoseconds."""
    return next((card.clock for card in _ALL.values() if card.part == part), CLOCK)


def ram_of(part: str) -> int | None:
    """Bytes that the memories on a card's device hold; None for a device of no card."""
    return next((card.ram_bytes for card in _ALL.values() if card.part == part), None)


def memory_of(part: str) -> Banks | None:
    """The memory of the card that has the device, where it is known."""
    return next((card.memory for card in CARDS.values() if card.part == part), None)


_OPERATORS = {
    "add": "fadd",
    "sub": "fsub",
    "mul": "fmul",
    "div": "fdiv",
    "sqrt": "fsqrt",
    "leaky_relu": "fmul",
}
"""By operation, what Vitis calls the operator (UG1399, config_op)."""


def float_operators(graphs: Iterable[Graph], arch: Arch) -> dict[str, int]:
    """The latency of each operator on f32 that the graphs use: what `arch` gives the operation, less the two
    cycles that a process takes without it."""
    used = set()
    for graph in graphs:
        for node in graph.nodes:
            if Float("f32") in (graph.operand_type(node), graph.result_type(node)):
                work = node.spec.work(node.params)
                used.add(work.operation if work else "")
    operators = {
        _OPERATORS[op]: max(arch.alu_latency(op, Float("f32")) - HLS_STEP, 0)
        for op in used
        if op in _OPERATORS
    }
    return dict(sorted(operators.items()))
