"""The energy of a run, as an estimate: what an ASIC of one technology would take for the operations, the
words and the tokens that the simulator has counted. Nothing is known here of an FPGA.

Every figure has a source, or says that it is assumed and why. A user's table takes the place of some or all.
Leakage, the clock's tree, and wires between parts are left out.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from math import exp, log, sqrt
from pathlib import Path
from typing import Any

from samhw.compiler import Compiled, estimate_compiled
from samhw.cost.statistics import TensorStatistics
from samhw.errors import InputError
from samhw.files import read_toml
from samhw.graph import Channel, Graph
from samhw.sim import operations, traffic
from samhw.targets.backends import RunResult
from samhw.words import did_you_mean

__all__ = ["TABLE", "Energy", "EnergyTable", "Figure", "energy_of", "expected_energy", "load_energy"]

_HOROWITZ = "Horowitz, Computing's energy problem, ISSCC 2014, 45 nm at 0.9 V"


@dataclass(frozen=True)
class Figure:
    """What something takes, in picojoules, and who says so."""

    pj: float
    source: str

    @property
    def is_assumed(self) -> bool:
        """Nobody has published it for this technology."""
        return self.source.startswith("assumed")


_FIGURES = {
    "add.i8": Figure(0.03, _HOROWITZ),
    "add.i16": Figure(0.05, "assumed: in proportion to the width, from that of 32 bits"),
    "add.i32": Figure(0.1, _HOROWITZ),
    "mul.i8": Figure(0.2, _HOROWITZ),
    "mul.i16": Figure(0.8, "assumed: that of i8 by the square of the width"),
    "mul.i32": Figure(3.1, _HOROWITZ),
    "add.f8": Figure(0.2, "assumed: half of that for 16 bits"),
    "mul.f8": Figure(0.2, "assumed: that of i8, whose significand is wider"),
    "add.f16": Figure(0.4, _HOROWITZ),
    "mul.f16": Figure(1.1, _HOROWITZ),
    "add.bf16": Figure(0.4, "assumed: that of IEEE's 16 bits, whose significand is wider"),
    "mul.bf16": Figure(1.1, "assumed: that of IEEE's 16 bits, whose significand is wider"),
    "add.f32": Figure(0.9, _HOROWITZ),
    "mul.f32": Figure(3.7, _HOROWITZ),
    "sram.8KB": Figure(10.0, f"{_HOROWITZ}: 64 bits of a cache"),
    "sram.32KB": Figure(20.0, f"{_HOROWITZ}: 64 bits of a cache"),
    "sram.1MB": Figure(100.0, f"{_HOROWITZ}: 64 bits of a cache"),
    "dram": Figure(1300.0, f"{_HOROWITZ}: 64 bits, the lower end of 1,300 to 2,600"),
    "dram.hbm2": Figure(251.0, "O'Connor et al., Fine-grained DRAM, MICRO 2017: 64 bits at 3.92 pJ each"),
}
"""By name: `add`, `mul` of a value type; 64 bits of a memory."""

_SIZES = {"sram.8KB": 8 << 13, "sram.32KB": 32 << 13, "sram.1MB": 1 << 23}
"""In bits. In between, logarithms are interpolated; beyond, energy goes with the root of the size."""

_ASSUMED = {
    "function": "assumed: a function, a quotient or a root takes what a product does",
    "small": "assumed: a memory below 8 KB, such as a channel, follows the root of its size",
    "control": "assumed: a firing takes what an addition of an index does",
    "fixed": "assumed: fixed point goes with the width in additions, with its square in products",
}
_ADDS = frozenset({"add", "sub", "sum", "max", "min", "neg", "abs", "relu", "lt", "le", "eq", "select"})


@dataclass(frozen=True)
class EnergyTable:
    """What operations and words take."""

    technology: str
    figures: Mapping[str, Figure]
    used: set[str] = field(default_factory=set, compare=False, repr=False)
    """The sources that were asked for."""

    def _take(self, name: str) -> float:
        figure = self.figures[name]
        self.used.add(figure.source)
        return figure.pj

    def operation(self, name: str, family: str, width: int) -> float:
        """One operation of docs/numerics.md on values of a family of types and a width."""
        kind = "add" if name in _ADDS else "mul"
        if kind == "mul" and name not in ("mul", "prod", "matmul"):
            self.used.add(_ASSUMED["function"])
        if family in ("integer", "fixed"):
            if f"{kind}.i{width}" in self.figures:
                return self._take(f"{kind}.i{width}")
            self.used.add(_ASSUMED["fixed"])
            narrow = width / 32
            return self._take(f"{kind}.i32") * (narrow if kind == "add" else narrow * narrow)
        return self._take(f"{kind}.{family}")

    def word(self, bits: int, size: int) -> float:
        """Bits that are read from, or written to, an on-chip memory of a size in bits."""
        known = [(_SIZES[name], self.figures[name].pj) for name in _SIZES]
        if size < known[0][0]:
            self.used.add(_ASSUMED["small"])
        self.used.update(self.figures[name].source for name in _SIZES)
        (low, least), (high, most) = known[0], known[-1]
        if size <= low:
            each = least * sqrt(max(size, 1) / low)
        elif size >= high:
            each = most * sqrt(size / high)
        else:
            n = next(n for n in range(1, len(known)) if size <= known[n][0])
            (a, x), (b, y) = known[n - 1], known[n]
            each = exp(log(x) + (log(y) - log(x)) * (log(size) - log(a)) / (log(b) - log(a)))
        return each * bits / 64

    def control(self, bits: int) -> float:
        """A firing of a node whose indices have this many bits."""
        self.used.add(_ASSUMED["control"])
        return self._take("add.i32") * bits / 32

    def off_chip(self, memory: str, moved: float) -> float:
        """Bytes that a memory off chip moves."""
        name = f"dram.{memory}"
        return self._take(name if name in self.figures else "dram") * moved / 8


TABLE = EnergyTable("45 nm", _FIGURES)
"""samhw's own."""

_BORROWED = f"assumed: at {TABLE.technology}, "
"""How the source of a figure begins that a user's table leaves out."""


_TABLES = ("45nm", "hwcomponents")


def load_energy(name: str) -> EnergyTable:
    """A table: samhw's own by its technology, `45nm`; `hwcomponents`, whose integers take the place of these;
    or a TOML file, whose figures do.

    Raises:
        InputError: for another name, figures that there are not, and a package that is not installed.
    """
    if name in ("45nm", TABLE.technology):
        return EnergyTable(TABLE.technology, _FIGURES)
    if name == "hwcomponents":
        return EnergyTable(TABLE.technology, {**_FIGURES, **_of_hwcomponents()})
    if not name.endswith(".toml") and not Path(name).is_file():
        meant = did_you_mean(name, _TABLES)
        raise InputError(
            f"There is no table of energies '{name}'{meant}; give {', '.join(_TABLES)}, or a file."
        )
    data = read_toml(Path(name), "a table of energies")
    technology, own = data.pop("technology", None), data.pop("pj", {})
    if data or not isinstance(technology, str) or not isinstance(own, dict):
        raise InputError(
            f'{name}: a table of energies has technology = "..", and under [pj] figures such as '
            '"mul.f32" = 3.7.'
        )
    for key, number in own.items():
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if not (key in _FIGURES or key.startswith("dram.")) or not is_number or not 0 <= number < 1e9:
            raise InputError(f"{name}: {key} = {number}: give picojoules of {', '.join(_FIGURES)}.")
    source = f"{name}, {technology}"
    left = {key: Figure(f.pj, f"{_BORROWED}{f.source}") for key, f in _FIGURES.items()}
    return EnergyTable(technology, left | {key: Figure(float(pj), source) for key, pj in own.items()})


def _of_hwcomponents() -> dict[str, Figure]:
    """Its integers. Of floating point it has none, and its memories need CACTI's binary."""
    from importlib.metadata import version  # It takes long to load.

    try:
        library: Any = import_module("hwcomponents_library")
    except ImportError:
        raise InputError(
            "hwcomponents is not installed; do so by 'pip install samhw[energy]', with Python 3.12 or newer."
        ) from None
    models = (("add", library.AladdinAdder, "add"), ("mul", library.AladdinMultiplier, "multiply"))
    source = f"hwcomponents-library {version('hwcomponents-library')}, scaled to {TABLE.technology}"
    return {
        f"{kind}.i{width}": Figure(
            1e12 * getattr(model(tech_node=45e-9, width=width), action)().energy,
            f"{source}: {model.__name__}",
        )
        for kind, model, action in models
        for width in (8, 16, 32)
    }


@dataclass(frozen=True)
class Energy:
    """An estimate of the energy of a run, in picojoules."""

    technology: str
    parts: Mapping[str, float]
    """`operations`, `memories` on chip, `channels`, `control`, and `off_chip`."""
    nodes: Mapping[str, float]
    """Operations and control, by region and node, the most first."""
    memories: Mapping[str, float]
    """On chip, by name, the most first."""
    sources: tuple[str, ...]
    """Of the figures that were used; what is assumed says so."""

    @property
    def pj(self) -> float:
        """All of it."""
        return sum(self.parts.values())

    def __str__(self) -> str:
        parts = ((name.replace("_", " "), pj) for name, pj in self.parts.items() if pj)
        shares = (f"{name} {pj / self.pj:.0%}" for name, pj in parts)
        borrowed = any(source.startswith(_BORROWED) for source in self.sources)
        rest = f", and at {TABLE.technology} what its table leaves out" if borrowed else ""
        return f"about {self.pj / 1e3:,.1f} nJ of an ASIC at {self.technology}{rest}: {', '.join(shares)}"

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "pj": round(self.pj, 3),
            "estimate": True,
            "technology": self.technology,
            "parts": {name: round(pj, 3) for name, pj in self.parts.items()},
            "nodes": {name: round(pj, 3) for name, pj in self.nodes.items()},
            "memories": {name: round(pj, 3) for name, pj in self.memories.items()},
            "sources": list(self.sources),
        }


def energy_of(compiled: Compiled, run: RunResult, table: EnergyTable = TABLE) -> Energy:
    """That of a run of the simulator."""
    bits = compiled.arch.index_bits
    spent = _Spent(table)
    for graph, region in zip(compiled.design.runs, run.regions, strict=True):
        found = region.statistics
        assert found is not None, "a run of the simulator without its statistics"
        work = operations(graph, found)
        for node in graph.nodes:
            firings = found.nodes[node.name].firings
            spent.node(graph, node.name, work.get(node.name, 0), firings, bits)
        for channel in graph.channels:
            spent.channel(graph, channel, 2 * found.channels[channel.name].tokens, bits)
        away = _off_chip(compiled, graph)
        for name, moved in traffic(graph, compiled.arch, found).items():
            if name not in away:
                spent.memory(graph, name, 8 * moved.bytes, bits)
        if found.memory is not None:
            spent.parts["off_chip"] += table.off_chip(found.memory.memory.name, found.memory.bytes)
    return spent.told()


def expected_energy(compiled: Compiled, known: TensorStatistics, table: EnergyTable = TABLE) -> float:
    """What a run is expected to take, in picojoules, on data of these statistics: firings stand for tokens,
    and what moves is shared by the memories of a region."""
    bits, spent = compiled.arch.index_bits, _Spent(table)
    for graph, region in zip(compiled.design.runs, estimate_compiled(compiled, known).regions, strict=True):
        for node in graph.nodes:
            own = region.nodes[node.name]
            spent.node(graph, node.name, own.operations, own.busy, bits)
        for channel in graph.channels:
            spent.channel(graph, channel, 2 * region.nodes[channel.source.node].busy, bits)
        away = _off_chip(compiled, graph)
        here = [memory.name for memory in graph.memories if memory.name not in away]
        moved = 8 * (region.bytes_read + region.bytes_written) / max(1, len(graph.memories))
        for name in here:
            spent.memory(graph, name, moved, bits)
        if away:
            name = compiled.memory.name if compiled.memory is not None else ""
            spent.parts["off_chip"] += table.off_chip(name, moved / 8 * len(away))
    return spent.told().pj


def _off_chip(compiled: Compiled, graph: Graph) -> frozenset[str]:
    """The memories of a region that lie off chip."""
    if compiled.off_chip is None:
        return frozenset()
    return frozenset(port.array.memory for port in compiled.off_chip.ports_of(graph))


class _Spent:
    """What is added up."""

    def __init__(self, table: EnergyTable):
        self.table = EnergyTable(table.technology, table.figures)
        self.parts = dict.fromkeys(("operations", "memories", "channels", "control", "off_chip"), 0.0)
        self.nodes: dict[str, float] = defaultdict(float)
        self.memories: dict[str, float] = defaultdict(float)

    def node(self, graph: Graph, name: str, work: float, firings: float, bits: int) -> None:
        """Operations of a node, and its firings."""
        node = graph.node[name]
        control = firings * self.table.control(bits)
        done = node.spec.work(node.params)
        each = 0.0
        if done is not None and work:
            value = graph.result_type(node)
            each = self.table.operation(done.operation, value.family, value.width)
            if done.each > 1 and done.operation not in _ADDS:
                # Of a product of blocks half are additions.
                each = (each + self.table.operation("add", value.family, value.width)) / 2
        self.parts["operations"] += work * each
        self.parts["control"] += control
        self.nodes[f"{graph.name}.{node.copy_of or name}"] += work * each + control

    def channel(self, graph: Graph, channel: Channel, words: float, bits: int) -> None:
        """Words that are pushed to and popped from a channel."""
        width = graph.given(graph.node[channel.source.node], channel.source.port).width(bits)
        self.parts["channels"] += words * self.table.word(width, width * channel.depth)

    def memory(self, graph: Graph, name: str, moved: float, bits: int) -> None:
        """Bits that go between a memory on chip and the graph."""
        memory = graph.memory[name]
        size = memory.capacity * graph.stored(memory).width(bits)
        pj = self.table.word(1, size) * moved
        self.parts["memories"] += pj
        self.memories[name] += pj

    def told(self) -> Energy:
        """All of it."""
        sources = tuple(sorted(self.table.used))
        return Energy(self.table.technology, self.parts, _sorted(self.nodes), _sorted(self.memories), sources)


def _sorted(energies: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(energies.items(), key=lambda item: -item[1]))
