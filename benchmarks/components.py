"""What the components of designs take of an FPGA, by Yosys (pip install samhw[fpga]): the table that
estimates of areas go by (`samhw/cost/components.py`).

Each node is synthesised with the channels at its inputs, since synthesis leaves out what nobody looks at of a
token. Memories are what a shell with one of them takes more than one without. All components of one run are
modules of one design, each of which is made flat and kept apart from the others.

All are measured for the ECP5, half an hour of one core for the 529 of the package. Of the other
families a sample is (`--sample`, some minutes): each kind of node at one size, with the arithmetic that
differs most, and channels and memories at several sizes. What they take of the rest follows from both.

With each component stands a digest of its netlist before synthesis, so that `--stale` measures only those
that have changed since, and those that the table lacks.

Usage, from the repository's root: python -m benchmarks.components [--family FAMILY] [--sample]
[--value TYPE ...] [--only KIND ...] [--stale] [-o FILE]
"""

import argparse
import csv
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from benchmarks.apart import AtRoot, Unit, measured, netlist
from benchmarks.common import follow
from benchmarks.families import SYNTHESIS
from samhw.cost.components import (
    DEPTH,
    FIGURES,
    MEASURED,
    Component,
    Use,
    binding_component,
    channel_component,
    control_component,
    memory_component,
    node_component,
    off_chip_component,
    shell_component,
    use_of_component,
)
from samhw.errors import InputError
from samhw.graph import Arch, Channel, Design, Endpoint, Graph, Memory, MemoryRole, Run, make
from samhw.graph.address_map import AddressMap
from samhw.graph.numerics import ALL_OPERATIONS, REDUCTIONS, ValueType, value_type
from samhw.graph.off_chip import OffChipLayout, OffChipPort
from samhw.graph.off_chip_numbers import Ports
from samhw.graph.shared_ports import SharedPort
from samhw.graph.spec import StoredArray
from samhw.rtl.access import AskSignature, PutSignature
from samhw.rtl.actor import component
from samhw.rtl.binding import Bindings
from samhw.rtl.channel import Fifo
from samhw.rtl.control import RunControl
from samhw.rtl.interface import MemorySignature
from samhw.rtl.memories import TensorMemory
from samhw.rtl.off_chip import OffChipPorts, PortNeeds
from samhw.rtl.shell import Shell
from samhw.rtl.token import token_layout

VALUES = ("i32", "f32", "bf16", "i16", "i8", "fixed<16,8>", "fixed<32,16>")

INDEX_BITS = (8, 16, 32)

ADDRESSES = (8, 16)
"""Bits of the addresses of the memories that nodes read and write."""

WORDS = (16, 32, 33, *(1 << bits for bits in (6, 7, 8, 9, 10, 11, 12, 14)))
"""Of memories. Those of more than 32 words lie in blocks (`IN_BLOCKS`)."""

DEPTHS = (2, 3, 5, 17, 32, 65, 257, 513, 1025, 4097)
"""Of channels: one more than words of a memory, and the greatest in a memory that is read without a clock."""

REGIONS = (1, 8, 104)
"""Of designs. What control and the host's port take of many is measured: a line through few would add up
its errors."""

AT_ROOTS = ("array", "repeat", "scan_compressed", "scan_dense")
"""The kinds that are measured after a root, too."""


class Case(NamedTuple):
    """A component, and the hardware that is measured for it; what `less` takes is no part of it."""

    component: Component
    unit: Unit
    less: wiring.Component | None = None

    @property
    def units(self) -> Sequence[Unit]:
        """What is synthesised."""
        return (self.unit,) if self.less is None else (self.unit, self.less)

    @property
    def netlist(self) -> str:
        """A digest of it."""
        return "-".join(map(netlist, self.units))


# Which components


def cases(values: Sequence[ValueType], widths: Sequence[int] = INDEX_BITS) -> Iterator[Case]:
    """All components, with indices of some widths; those that compute for each of the value types."""
    for index_bits in widths:
        arch = Arch(index_bits=index_bits)
        for kind, depth, params in _structural():
            yield from _node_cases(kind, depth, params, arch, value_type("i32"))
    for value in values:
        for kind, depth, params in _computing(value):
            for index_bits in dict.fromkeys((widths[0], widths[-1]) if "bits" in params else widths[-1:]):
                yield from _node_cases(kind, depth, params, Arch(index_bits=index_bits), value)
    for width, tokens in product((8, 32), DEPTHS):
        yield Case(channel_component(width, tokens), Fifo(token_layout(width), tokens))
    for width in (8, 16, 32):
        yield from _memory_cases(width)
    yield from _off_chip_cases()
    for nodes, regions, more in product((8, 200, 1600), REGIONS, (0, 8)):
        writers = [{n % regions} for n in range(regions + more)]
        unit = RunControl(nodes=nodes, writers=writers, watchdog=Arch().watchdog)
        yield Case(control_component(nodes, len(writers), regions), unit)
    for sizes in product((1, 16), (16, 240, 1920), REGIONS):
        yield Case(shell_component(*sizes), _shell((), *sizes))
    for of, width, count in product(("numbers", "signals"), (8, 32), (2, 12, 48)):
        yield Case(binding_component(of, width, count), Bound(of, width, count))


SAMPLED_WORK = {
    "alu": [f"{op} {family}" for op in ("add", "mul", "max") for family in ("integer", "f32", "bf16")]
    + ["div f32", "exp f32"],
    "reduce_scalar": ["add integer", "add f32", "max integer"],
    "reduce_vector": ["add integer", "add f32"],
}
"""What the nodes of a sample compute."""

SAMPLED_SIZES = {"inputs": 2, "lanes": 4, "levels": 0, "address": 8, "bits": 5, "bits of": 1}
"""Those of the nodes of a sample."""

SAMPLED_WORDS = tuple(1 << bits for bits in (4, 6, 7, 8, 9, 10, 12))
"""Of its memories."""


def sample() -> Iterator[Case]:
    """The components of a sample: of memories without what decodes their addresses for the host, and without
    control and the host's port."""
    for case in cases([value_type(name) for name in ("i32", "f32", "bf16")], (16,)):
        kind, variant, sizes = case.component.kind, case.component.variant, case.component.sizes
        if (
            case.less is not None
            or kind in ("bound_numbers", "bound_signals", "control", "shell", "off_chip")
            or {"roots", "banks"} & set(sizes)
        ):
            continue
        if any(sizes.get(name, size) != size for name, size in SAMPLED_SIZES.items()):
            continue
        wanted = not variant or variant in SAMPLED_WORK.get(kind, ())
        if wanted and use_of_component(case.component, "ecp5"):
            yield case
    for role, width, words in product((MemoryRole.INPUT, MemoryRole.BUFFER), (8, 32), SAMPLED_WORDS):
        memory = Memory("T.vals", "T", StoredArray.VALS, role, words, value_type(f"i{width}"))
        window = AddressMap(_holding((memory,)), Arch()).windows[memory.name]
        unit = TensorMemory(window, regions=2, readers=[frozenset({0})], writers=[frozenset({1})])
        yield Case(memory_component(memory, width, 1), unit)


Params = Mapping[str, Any]


def _structural() -> Iterator[tuple[str, int, Params]]:
    """The kinds that compute nothing, each with the depth of its first input and its parameters."""
    yield "root", 0, {}
    yield "scan_dense", 0, {"extent": "x"}
    yield "scan_compressed", 0, {"pos": "p", "crd": "c", "extent": "x"}
    yield "scan_singleton", 0, {"crd": "c", "extent": "x"}
    yield "scan_ell", 0, {"cnt": "n", "crd": "c", "width": 4, "extent": "x"}
    yield "scan_ragged", 0, {"pos": "p", "extent": "x"}
    yield "scan_dia", 0, {"cnt": "n", "off": "o", "rows": "x", "extent": "x"}
    yield "repeat", 0, {"payload": "ref"}
    yield "crd_hold", 0, {}
    yield "locate", 0, {"extent": "x"}
    yield "pick", 0, {"crd": "c", "extent": "x"}
    yield "shift", 1, {"extent": "x"}
    for lanes in (2, 4, 8):
        yield "scatter", 1, {"lanes": lanes, "payload": "ref"}
        for levels in (0, 2):
            yield "gather", levels + 1, {"lanes": lanes, "levels": levels, "payload": "ref"}
    for inputs in (2, 3, 4):
        yield "intersect", 1, {"inputs": inputs, "payloads": ["ref"] * inputs}
        yield "union", 1, {"inputs": inputs, "payloads": ["ref"] * inputs}
    yield "array", 0, {"vals": "v"}
    yield "last", 1, {}
    yield "drop_crd", 1, {}
    yield "drop_val", 1, {}
    yield "write_compressed", 1, {"pos": "p", "crd": "c"}
    yield "write_dense", 1, {"extent": "x"}
    yield "write_val", 1, {"vals": "v"}


def _computing(value: ValueType) -> Iterator[tuple[str, int, Params]]:
    for op, operands in ALL_OPERATIONS.items():
        if op in value.operations:
            yield "alu", 1, {"op": op}
            if operands == 2:
                yield "alu", 1, {"op": op, "immediates": {"b": 0.75 if value.family != "integer" else 3}}
    for op in REDUCTIONS:
        yield "reduce_scalar", 1, {"op": op}
        yield "running", 1, {"op": op}
        for bits in ([2], [5], [10], [2, 2], [5, 5]):
            yield "reduce_vector", len(bits) + 1, {"op": op, "bits": bits}
    yield "reduce_vector", 2, {"op": "sum", "bits": [5], "banks": 4}
    yield "recur", 1, {}
    yield "recur_vector", 2, {"bits": [5]}


def _node_cases(kind: str, depth: int, params: Params, arch: Arch, value: ValueType) -> Iterator[Case]:
    """A node for each size of its memories, if it has some."""
    node = make(kind, "node", depth, **params)
    for address in ADDRESSES if node.memories else ADDRESSES[:1]:
        memories = tuple(
            Memory(name, "T", node.spec.memories[param].array, MemoryRole.OUTPUT, 1 << address)
            for param, name in node.memories.items()
        )
        graph = Graph("graph", value, (node,), (), memories, (), {"x": 100})
        try:
            unit = component(node, graph, arch, stall_port=False)
        except InputError:  # The type lacks the unit.
            continue
        yield Case(node_component(graph, node, arch.index_bits), unit)
        if kind in AT_ROOTS:
            root = make("root", "root", 0)
            wire = Channel(Endpoint("root", root.outputs[0].name), Endpoint("node", "ref"), 1, DEPTH)
            below = replace(graph, nodes=(root, node), channels=(wire,))
            again = component(node, graph, arch, stall_port=False)
            yield Case(node_component(below, node, arch.index_bits), AtRoot(again))


def _memory_cases(width: int) -> Iterator[Case]:
    """Inputs and results that lie in memories of this many bits a word."""
    value = value_type(f"i{width}")
    bare = _shell((), 4, 16, 2)
    for words in WORDS:
        for role, copies in product((MemoryRole.INPUT, MemoryRole.BUFFER), (1, 2)):
            memory = Memory("T.vals", "T", StoredArray.VALS, role, words, value)
            signature = MemorySignature(
                capacity=words,
                width=width,
                readers=[frozenset({0})] * copies,
                writers=[] if role is MemoryRole.INPUT else [frozenset({1})],
            )
            whole = _shell(((memory, signature),), 4, 16, 2)
            yield Case(memory_component(memory, width, copies), whole, bare)


def _off_chip_cases() -> Iterator[Case]:
    """Ports of one master, with its arbiter."""
    for reads, writes, width, address in product((1, 8), (1, 8), (8, 32), (8, 20)):
        value, vals = value_type(f"i{width}"), StoredArray.VALS
        names = [f"T{n}" for n in range(reads + writes)]
        memories = [Memory(name, name, vals, MemoryRole.OUTPUT, 1 << address, value) for name in names]
        layout = OffChipLayout(_holding(memories), Arch(), Ports())
        ports = []
        for n, name in enumerate(names):
            port = OffChipPort(name, vals, 0, layout.arrays[name], n >= reads, n)
            ports.append(SharedPort({0: port}, {0: port}))
        needs = [
            PortNeeds(port, (PutSignature if port.first.write else AskSignature)(address, width))
            for port in ports
        ]
        yield Case(off_chip_component(ports), OffChipPorts(layout, needs, 1))


class Bound(wiring.Component):
    """A register of a binding, which has another value in each region."""

    def __init__(self, of: str, width: int, values: int):
        self.width, self.values = width, values
        self.has_signals = of == "signals"
        signals = {"signals": In(width).array(values)} if self.has_signals else {}
        super().__init__({"region": In(values), "value": Out(width), **signals})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        source = random.Random(self.width)
        numbers = [source.getrandbits(self.width) for _ in range(self.values)]
        by_turn = dict(enumerate(self.signals if self.has_signals else numbers))
        m.d.comb += self.value.eq(Bindings(m, self.region, (0,)).value(by_turn, self.width))
        return m


def _shell(
    memories: Sequence[tuple[Memory, MemorySignature]], extents: int, channels: int, regions: int
) -> Shell:
    """A shell for a design that has so much."""
    design = _holding([memory for memory, _ in memories], extents, channels, regions)
    return Shell(AddressMap(design, Arch()), Arch(), {memory.name: ports for memory, ports in memories})


def _holding(memories: Sequence[Memory], extents: int = 4, channels: int = 16, regions: int = 2) -> Design:
    """A design that has so much, and computes nothing."""
    names = {f"x{n}": 100 for n in range(extents)}
    graphs = [Graph(f"g{n}", value_type("i32"), (), (), (), ()) for n in range(regions)]
    wires = tuple(Channel(Endpoint("a", "a"), Endpoint("b", f"b{n}"), 1, 2) for n in range(channels))
    graphs[0] = replace(graphs[0], channels=wires)
    runs = tuple(map(Run, range(regions)))
    return Design("shell", value_type("i32"), tuple(graphs), tuple(memories), (), names, runs)


# Measuring


AT_A_TIME = 20
"""Units of a run of Yosys, which takes a minute or two for them."""


def table(todo: Sequence[Case], family: str) -> Iterator["Row"]:
    """The lines of all cases, as far as they have been measured."""
    known: dict[int, Use] = {}
    for start in range(0, len(todo), AT_A_TIME):
        some = todo[start : start + AT_A_TIME]
        units = {id(unit): unit for case in some for unit in case.units}
        new = [unit for key, unit in units.items() if key not in known]
        known |= dict(zip(map(id, new), measured(new, family), strict=True))
        for case in some:
            less = Use() if case.less is None else known[id(case.less)]
            yield row(case, known[id(case.unit)] - less)


Row = dict[str, str]


def row(case: Case, use: Use) -> Row:
    """A line of the file."""
    figures = {name: f"{figure:g}" for name, figure in zip(FIGURES, astuple(use), strict=True)}
    kind, variant, sizes = key(case.component)
    return {"kind": kind, "variant": variant, "sizes": sizes, **figures, NETLIST: case.netlist}


def key(component: Component) -> tuple[str, ...]:
    """What a line of the file begins with."""
    sizes = "; ".join(f"{name}={size:g}" for name, size in component.sizes.items())
    return component.kind, component.variant, sizes


NETLIST = "netlist"
"""The column with the digests."""


def is_stale(case: Case, known: Mapping[tuple[str, ...], Row]) -> bool:
    """Whether a file lacks a case, or has it as it was before its netlist changed."""
    line = known.get(key(case.component))
    return line is None or line.get(NETLIST) != case.netlist


def write(path: Path, rows: Sequence[Row]) -> None:
    """Writes rows instead of those of the same components, or beside what else a file has."""
    known = lines(path) | {_key(new): new for new in rows}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(known[key] for key in sorted(known, key=_natural))


def lines(path: Path) -> dict[tuple[str, ...], Row]:
    """The lines of a file, by what they begin with; none where there is no file."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {_key(old): old for old in csv.DictReader(file)}


def _key(one: Row) -> tuple[str, ...]:
    return one["kind"], one["variant"], one["sizes"]


def _natural(key: tuple[str, ...]) -> list[tuple[str, float]]:
    """Numbers by their size."""
    found = re.findall(r"([^0-9]*)([0-9.]*)", "|".join(key))
    return [(text, float(number or 0)) for text, number in found]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--family", choices=tuple(SYNTHESIS), default="ecp5")
    parser.add_argument("--sample", action="store_true", help="the components of a sample alone")
    parser.add_argument("--value", action="append", metavar="TYPE", help=f"by default {', '.join(VALUES)}")
    parser.add_argument("--only", nargs="+", metavar="KIND", help="of components")
    parser.add_argument("--stale", action="store_true", help="leave out those that the file has as they are")
    parser.add_argument("-o", "--output", metavar="FILE", help="by default the package's own")
    given = parser.parse_args()
    values = [value_type(name) for name in given.value or VALUES]
    todo = list(sample() if given.sample else cases(values))
    if given.only:
        todo = [case for case in todo if case.component.kind in given.only]
    path = Path(given.output) if given.output else MEASURED / f"{given.family}.csv"
    if given.stale:
        known = lines(path)
        todo = [case for case in follow(todo) if is_stale(case, known)]
    rows = []
    for line in follow(table(todo, given.family), len(todo)):
        rows.append(line)
        if len(rows) % AT_A_TIME == 0 or len(rows) == len(todo):
            write(path, rows)


if __name__ == "__main__":
    main()
