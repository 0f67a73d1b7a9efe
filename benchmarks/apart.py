"""Units of hardware, each synthesised apart from the others: what it takes, and a digest of its netlist."""

import hashlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from amaranth.hdl import Elaboratable, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from benchmarks.families import use_of_cells
from benchmarks.synthesis import design_text, synthesise
from samhw.cost import Use
from samhw.cost.components import DEPTH
from samhw.rtl.actor import Primitive
from samhw.rtl.channel import Fifo


class AtRoot(NamedTuple):
    """A node's component whose references come from a root, which are 0."""

    unit: Primitive


Unit: TypeAlias = wiring.Component | AtRoot


class Apart(Elaboratable):
    """A unit whose members are ports; of a node's component the inputs have channels."""

    def __init__(self, unit: Unit):
        self.at_root = isinstance(unit, AtRoot)
        self.unit = unit = unit.unit if isinstance(unit, AtRoot) else unit
        self.heads = dict(unit.i.signature.members) if isinstance(unit, Primitive) else {}
        self.channels = {name: Fifo(getattr(unit.i, name).payload.shape(), DEPTH) for name in self.heads}
        ends: list[tuple[Value, bool]] = []
        for of in (unit, *self.channels.values()):
            for path, member, end in of.signature.flatten(of):
                inside = path[0] == "i" if of is unit and self.heads else path[0] == "o" and of is not unit
                zero = self.at_root and of is self.channels.get("ref") and path == ("i", "token")
                if not inside and not zero:
                    ends.append((_reported(path, Value.cast(end)), member.flow is In))
        self.kind = Signal(2, name="kind")
        self.ends = [(end, Signal(len(end), name=f"port{n}"), into) for n, (end, into) in enumerate(ends)]

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.unit = self.unit
        for name, channel in self.channels.items():
            m.submodules[f"i_{name}"] = channel
            wiring.connect(m, channel.o, getattr(self.unit.i, name))
        m.d.comb += [end.eq(port) if into else port.eq(end) for end, port, into in self.ends]
        if self.at_root:
            token = self.channels["ref"].i.token
            m.d.comb += [Value.cast(token.kind).eq(self.kind), token.payload.eq(0)]
        return m


def _reported(path: tuple[str | int, ...], end: Value) -> Value:
    """An end of a unit. Of errors that the control hears of, those that nodes report: each of them that its
    stream is none, and every other one that a place lies outside. Most designs report about as many."""
    if path[0] != "errors":
        return end
    return end[2:4] if int(path[1]) % 2 else end[2:3]


class Together(Elaboratable):
    """Many units, each a module `top.part<n>`."""

    def __init__(self, units: Sequence[Unit]):
        self.units = [Apart(unit) for unit in units]
        self.ports = [port for unit in self.units for _, port, _ in unit.ends]
        self.ports += [unit.kind for unit in self.units if unit.at_root]

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        for number, unit in enumerate(self.units):
            m.submodules[f"part{number}"] = unit
        return m


@cache
def netlist(unit: Unit) -> str:
    """A digest of a unit before synthesis, whatever its signals are called."""
    together = Together([unit])
    text, memories = design_text(together, together.ports)
    text = _ATTRIBUTES.sub("", text)
    if memories.module in text:
        text += memories.text
    numbers: dict[str, str] = {}
    text = _NAME.sub(lambda name: numbers.setdefault(name[0], str(len(numbers))), text)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


_ATTRIBUTES = re.compile(r"^ *attribute (?!\\init ).*\n", re.MULTILINE)
"""What RTLIL says beside a netlist: where it comes from, and names of values."""

_NAME = re.compile(r"\\\S+|\$signal(?:\$\d+)?|\$\d+")
"""Names that somebody has given, and numbers of what has none. Kinds of cells begin with a dollar too."""


SLACK = 20_000
"""Picoseconds that each path may take. Else Yosys spends LUTs on the longest paths of every unit, which are
short ones in a whole design, of which it makes as little as it can."""


def measured(units: Sequence[Unit], family: str) -> list[Use]:
    """What each of some units takes."""
    together = Together(units)
    text, memories = design_text(together, together.ports)
    before = f"setattr -mod -set keep_hierarchy 1 top.part* top.part*.* %d; scratchpad -set abc9.D {SLACK}"
    with tempfile.TemporaryDirectory() as folder:
        synthesise(folder, text, memories, "-json top.json", before=before, family=family)
        modules = json.loads(Path(folder, "top.json").read_text())["modules"]
    found = []
    for number in range(len(units)):
        cells = Counter(cell["type"] for cell in modules[f"top.part{number}"]["cells"].values())
        found.append(use_of_cells(cells, family))
    return found
