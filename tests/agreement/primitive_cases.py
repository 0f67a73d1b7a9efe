"""Random cases for every primitive, from a seeded generator: well-formed streams, timing, memories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np

from samhw.graph import STOP, VAL, Arch, Graph, Memory, MemoryRole, Token, make
from samhw.graph.numerics import Float, value_type
from tests.support.lanes import distributed
from tests.support.nested import Nested, to_stream

from .primitive_bench import Case, Instance

__all__ = ["VARIANTS", "Variant", "instances", "random_case"]

Rng = np.random.Generator
Streams = dict[str, list[Token]]

FIBERS, POINTS = 4, 5
"""The most items of a list, above the innermost fibers and in them."""

SLOW = Arch(
    index_bits=16,
    memory=3,
    locate=6,
    alu={
        family: {op: cycles + k % 3 for k, (op, cycles) in enumerate(latencies.items())}
        for family, latencies in Arch().alu.items()
    },
)
SPACED = replace(
    SLOW,
    reduce={**SLOW.reduce}
    | {family: {"sum": 3, "max": 5, "min": 2, "prod": 6} for family in ("integer", "fixed")},
)
"""With accumulations that a vector reducer must keep apart."""


@dataclass(frozen=True)
class Variant:
    """One primitive with its parameters, and how to draw what goes into it.

    `draw` gives the streams of the inputs, by port, and the words of the input memories.
    """

    name: str
    kind: str
    draw: Callable[[Rng, int], tuple[Streams, Mapping[str, Sequence[int]]]]
    params: Mapping[str, Any] = field(default_factory=dict)
    depth: int = 1
    value: str = "i32"
    memories: Mapping[str, int] = field(default_factory=dict)
    slow: Arch = SLOW
    extents: tuple[int, int] = (0, 6)
    """The extent is one of that range."""


def instances(variant: Variant, rng: Rng) -> list[Instance]:
    """The variant with the tightest channels, and with random ones and longer latencies."""
    node = make(variant.kind, "dut", variant.depth, **variant.params)
    role = MemoryRole.INPUT if node.outputs else MemoryRole.OUTPUT
    memories = tuple(Memory(name, "T", name, role, size) for name, size in variant.memories.items())
    graph = Graph(variant.name, value_type(variant.value), (node,), (), memories, (), {"x": 255})
    ports = [*(f"i.{p.name}" for p in node.inputs), *(f"o.{p.name}" for p in node.outputs)]
    loose = {port: int(rng.choice([1, 2, 2, 3, 4, 7])) for port in ports}
    return [
        Instance(f"{variant.name}, tight", graph, Arch(), dict.fromkeys(ports, 1)),
        Instance(f"{variant.name}, loose", graph, variant.slow, loose),
    ]


def random_case(variant: Variant, instance: Instance, rng: Rng) -> Case:
    """A case for an instance of the variant."""
    extent = int(rng.integers(*variant.extents))
    streams, memories = variant.draw(rng, extent)
    return Case(
        inputs={port: list(zip(_cycles(rng, len(s)), s, strict=True)) for port, s in streams.items()},
        releases={port.name: _cycles(rng, 200) for port in instance.node.outputs},
        memories=memories,
        extent=extent,
    )


def _cycles(rng: Rng, count: int) -> list[int]:
    """Ascending cycles: none that matters, here and there a pause, mostly pauses, or all late."""
    pauses = rng.random(count) < rng.choice([0, 0.1, 0.6])
    start = int(rng.choice([0, 0, 0, 30, 100]))
    return [start + int(cycle) for cycle in np.cumsum(pauses * rng.integers(1, 8, count))]


# Structures


def _tree(rng: Rng, depth: int, leaf: Callable[[], Nested]) -> Nested:
    """Nested lists of that depth, some of them empty, with a leaf at each end."""
    if depth == 0:
        return leaf()
    most = POINTS if depth == 1 else FIBERS
    return [_tree(rng, depth - 1, leaf) for _ in range(rng.integers(0, most + 1))]


def _map(tree: Nested, depth: int, function: Callable[[Any], Nested]) -> Nested:
    """The structure with every item at that depth replaced."""
    if depth == 0:
        return function(tree)
    return [_map(item, depth - 1, function) for item in tree]


def _fiber(rng: Rng, limit: int) -> list[int]:
    """Increasing coordinates below the limit."""
    chosen = rng.choice(limit, rng.integers(0, min(limit, POINTS) + 1), replace=False)
    return sorted(int(c) for c in chosen)


def _payload(rng: Rng, limit: int, empty: float = 0.15) -> int | None:
    return None if rng.random() < empty else int(rng.integers(limit))


def _value(rng: Rng, variant_value: str, limit: int) -> int | None:
    """A signed word up to the limit in magnitude, zero and EMPTY among them; of floating point also any."""
    if rng.random() < 0.1:
        return None
    kind = value_type(variant_value)
    if isinstance(kind, Float) and rng.random() < 0.7:
        return int(kind.encode(rng.integers(-limit, limit + 1) / 8))
    if isinstance(kind, Float):
        return int(rng.integers(1 << kind.width))
    return int(rng.integers(-limit, limit + 1)) & ((1 << kind.width) - 1)


# What goes into each kind


def _no_inputs(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
    return {}, {}


def _refs(limit: int, memories: Callable[[Rng], dict[str, list[int]]]) -> Any:
    """A stream of references of any depth, for scanners and arrays."""

    def draw(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
        depth = int(rng.integers(0, 4))
        tree = _tree(rng, depth, lambda: _payload(rng, limit))
        return {"ref": to_stream(tree, depth)}, memories(rng)

    return draw


def _compressed_level(rng: Rng) -> dict[str, list[int]]:
    fibers = [_fiber(rng, 200) if rng.random() < 0.7 else [] for _ in range(16)]
    pos = np.cumsum([0, *(len(fiber) for fiber in fibers)]).tolist()
    return {"pos": pos, "crd": [c for fiber in fibers for c in fiber]}


def _ell_level(width: int) -> Callable[[Rng], dict[str, list[int]]]:
    """Sixteen fibers, whose padding holds anything."""

    def draw(rng: Rng) -> dict[str, list[int]]:
        fibers = [_fiber(rng, 200)[:width] for _ in range(16)]
        padding = [rng.integers(256, size=width - len(fiber)).tolist() for fiber in fibers]
        rooms = [c for fiber, rest in zip(fibers, padding, strict=True) for c in [*fiber, *rest]]
        return {"cnt": [len(fiber) for fiber in fibers], "crd": rooms}

    return draw


def _ragged_level(rng: Rng) -> dict[str, list[int]]:
    return {"pos": np.cumsum([0, *rng.integers(0, 6, 16)]).tolist()}


def _dia_level(*, sort: bool) -> Callable[[Rng], dict[str, list[int]]]:
    """Up to nine diagonals, in words of 16 bits."""

    def draw(rng: Rng) -> dict[str, list[int]]:
        off = rng.choice(np.arange(-15, 25), int(rng.integers(0, 10)), replace=False)
        return {"cnt": [len(off)], "off": ((np.sort(off) if sort else off) & 0xFFFF).tolist()}

    return draw


def _damaged(level: Callable[[Rng], dict[str, list[int]]]) -> Callable[[Rng], dict[str, list[int]]]:
    """A level in which one coordinate may be any."""

    def draw(rng: Rng) -> dict[str, list[int]]:
        memories = level(rng)
        crd = memories["crd"]
        if crd and rng.random() < 0.8:
            k = rng.integers(len(crd))
            crd[k] = int(rng.choice([crd[k - 1], rng.integers(256), 199, 255]))
        return memories

    return draw


def _words(name: str, count: int, limit: int) -> Callable[[Rng], dict[str, list[int]]]:
    return lambda rng: {name: rng.integers(limit, size=count).tolist()}


def _hold(outer: str, inner: str, least: int = 0, empty: float = 0.15) -> Any:
    """An inner stream of coordinates and an outer one with a payload for each fiber of it."""

    def draw(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
        depth = int(rng.integers(least, 3))
        limit = max(extent, 1)
        tree = _tree(rng, depth, lambda: _fiber(rng, limit) if extent else [])
        above = _map(tree, depth, lambda fiber: _payload(rng, 100, empty))
        return {outer: to_stream(above, depth), inner: to_stream(tree, depth + 1)}, {}

    return draw


def _picked(limit: int) -> Any:
    """References in lockstep, and a memory of coordinates below a limit."""

    def draw(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
        depth = int(rng.integers(0, 4))
        at = _tree(rng, depth, lambda: _payload(rng, 30))
        ref = _map(at, depth, lambda _: _payload(rng, 100))
        return {"at": to_stream(at, depth), "ref": to_stream(ref, depth)}, _words("crd", 30, limit)(rng)

    return draw


def _join(inputs: int) -> Any:
    """Streams of coordinates that agree down to the innermost fibers, each with a stream in lockstep."""

    def draw(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
        depth = int(rng.integers(1, 4))
        limit = int(rng.choice([2, 6, 20]))
        above = _tree(rng, depth - 1, lambda: None)
        streams = {}
        for k in range(inputs):
            tree = _map(above, depth - 1, lambda _: _fiber(rng, limit))
            streams[f"crd{k}"] = to_stream(tree, depth)
            streams[f"ref{k}"] = to_stream(_map(tree, depth, lambda _: _payload(rng, 100)), depth)
        return streams, {}

    return draw


def _values(ports: Sequence[str], value: str, limit: int, least: int = 0) -> Any:
    """Streams of values with the same structure."""

    def draw(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
        depth = int(rng.integers(least, 4))
        tree = _tree(rng, depth, lambda: None)
        return {
            port: to_stream(_map(tree, depth, lambda _: _value(rng, value, limit)), depth) for port in ports
        }, {}

    return draw


def _placed(beyond: int | None = None) -> Any:
    """Values, and places in any order. All places up to the last one have a value, since a memory keeps what
    earlier cases have left. One of them may be beyond the memory."""

    def draw(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
        depth = int(rng.integers(4))
        tree = _tree(rng, depth, lambda: None)
        values: list[int | None] = []

        def value(_: Nested) -> int | None:
            values.append(_value(rng, "i16", 30000))
            return values[-1]

        valued = _map(tree, depth, value)
        places = [int(place) for place in rng.permutation(len(values))]
        if beyond is not None and places:
            places[int(rng.integers(len(places)))] = beyond
        left = iter(places)
        return {
            "ref": to_stream(_map(tree, depth, lambda _: next(left)), depth),
            "val": to_stream(valued, depth),
        }, {}

    return draw


def _long_fibers(value: str, limit: int) -> Any:
    """Fibers of up to four blocks of eight."""

    def draw(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
        depth = int(rng.integers(1, 4))
        tree = _tree(rng, depth - 1, lambda: [_value(rng, value, limit) for _ in range(rng.integers(34))])
        return {"val": to_stream(tree, depth)}, {}

    return draw


def _long_pairs(value: str, limit: int) -> Any:
    """Factors and values, in fibers of up to three blocks of sixteen."""

    def draw(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
        depth = int(rng.integers(1, 4))
        tree = _tree(rng, depth - 1, lambda: [None] * int(rng.integers(52)))
        return {
            port: to_stream(_map(tree, depth, lambda _: _value(rng, value, limit)), depth)
            for port in ("factor", "val")
        }, {}

    return draw


def _vectors(bits: Sequence[int], value: str, limit: int) -> Any:
    """Coordinates of sparse tensors with a level for each of the bits, below one or more lists."""

    def points(rng: Rng, level: int, outer: tuple[int, ...]) -> Nested:
        fiber = _fiber(rng, 1 << bits[level])
        if level == 0:
            return [(c, *outer) for c in fiber]
        return [points(rng, level - 1, (c, *outer)) for c in fiber]

    def draw(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
        n = len(bits)
        above = int(rng.integers(1, 3))
        tree = _tree(rng, above, lambda: points(rng, n - 1, ()))
        depth = above + n
        streams = {f"crd{s}": to_stream(_map(tree, depth, itemgetter(s)), depth) for s in range(n)}
        return {
            **streams,
            "val": to_stream(_map(tree, depth, lambda _: _value(rng, value, limit)), depth),
        }, {}

    return draw


def _rescaled_vectors(bits: Sequence[int], value: str, limit: int) -> Any:
    """As `_vectors`, with a factor beside each value."""
    vectors = _vectors(bits, value, limit)

    def draw(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
        streams, memories = vectors(rng, extent)
        factors = [t if t.kind != VAL else Token(VAL, _value(rng, value, 2) or 0) for t in streams["val"]]
        return {**streams, "factor": factors}, memories

    return draw


def _droppable(value: str) -> Any:
    """Coordinates and values, many of them zeros: in floating point negative and subnormal ones, too."""
    kind = value_type(value)
    zeros = [0, 1 << kind.width - 1, 1] if isinstance(kind, Float) else [0]

    def draw(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
        depth = int(rng.integers(1, 4))
        tree = _tree(rng, depth - 1, lambda: _fiber(rng, 50))
        zero = float(rng.choice([0.2, 0.8]))

        def draw_value(_: Nested) -> int | None:
            return int(rng.choice(zeros)) if rng.random() < zero else _value(rng, value, 50)

        return {"crd": to_stream(tree, depth), "val": to_stream(_map(tree, depth, draw_value), depth)}, {}

    return draw


def _ranked(value: str) -> Any:
    """As `_droppable`, with ranks for each fiber."""
    droppable = _droppable(value)

    def draw(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
        streams, memories = droppable(rng, extent)
        rank: list[Token] = []
        for token in streams["crd"]:
            if token.kind is not VAL:
                ends_fiber = token.kind is STOP and token.payload & 15 == 0
                rank += [Token(VAL, n) for n in range(int(rng.integers(0, 6)) * ends_fiber)]
                rank.append(token)
        return {**streams, "rank": rank}, memories

    return draw


def _any_depth(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
    """A stream to be distributed."""
    depth = int(rng.integers(1, 4))
    return {"ref": to_stream(_tree(rng, depth, lambda: _payload(rng, 100)), depth)}, {}


def _parts(lanes: int, levels: int) -> Any:
    """What lanes hold of rows of this many levels."""

    def draw(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
        above = int(rng.integers(1, 4 if levels < 2 else 3))
        parts = distributed(_tree(rng, above + levels, lambda: _payload(rng, 100)), above, lanes)
        return {f"ref{lane}": to_stream(part, above + levels) for lane, part in enumerate(parts)}, {}

    return draw


def _written_crd(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
    depth = int(rng.integers(1, 4))
    return {"crd": to_stream(_tree(rng, depth - 1, lambda: _fiber(rng, 50)), depth)}, {}


def _full_fibers(rng: Rng, extent: int) -> tuple[Streams, dict[str, list[int]]]:
    depth = int(rng.integers(1, 4))
    return {"crd": to_stream(_tree(rng, depth - 1, lambda: list(range(extent))), depth)}, {}


_LEVEL = {"pos": 17, "crd": 80}

VARIANTS: tuple[Variant, ...] = (
    Variant("root", "root", _no_inputs, depth=0),
    *(
        Variant(
            f"step_ref {offset} {' '.join(registers)}",
            "step_ref",
            _no_inputs,
            {"repeat": "x", "offset": offset, **dict.fromkeys(registers, "x")},
            depth=0,
        )
        for offset, registers in (
            (0, ("extent",)),
            (-3, ("extent",)),
            (-4, ()),
            (1, ("extent", "down")),
            (3, ("extent", "down")),
        )
    ),
    Variant("scan_dense", "scan_dense", _refs(9, lambda rng: {}), {"extent": "x"}),
    Variant(
        "scan_compressed",
        "scan_compressed",
        _refs(16, _compressed_level),
        {"pos": "pos", "crd": "crd", "extent": "x"},
        memories=_LEVEL,
        extents=(200, 256),
    ),
    Variant(
        "scan_singleton",
        "scan_singleton",
        _refs(30, _words("crd", 30, 99)),
        {"crd": "crd", "extent": "x"},
        memories={"crd": 30},
        extents=(99, 256),
    ),
    *(
        Variant(
            f"scan_ell {width}{name}",
            "scan_ell",
            _refs(16, change(_ell_level(width))),
            {"cnt": "cnt", "crd": "crd", "width": width, "extent": "x"},
            memories={"cnt": 16, "crd": 16 * width},
            extents=extents,
        )
        for width, name, change, extents in (
            (1, "", lambda level: level, (200, 256)),
            (5, "", lambda level: level, (200, 256)),
            (4, ", damaged", _damaged, (190, 220)),
        )
    ),
    *(
        Variant(
            f"scan_ragged{name}",
            "scan_ragged",
            _refs(16, _ragged_level),
            {"pos": "pos", "extent": "x"},
            memories={"pos": 17},
            extents=extents,
        )
        for name, extents in (("", (5, 9)), (", damaged", (3, 6)))
    ),
    *(
        Variant(
            f"scan_dia{name}",
            "scan_dia",
            _refs(16, _dia_level(sort=sort)),
            {"cnt": "cnt", "off": "off", "rows": "x", "extent": "x"},
            memories={"cnt": 2, "off": 9},
            extents=(1, 30),
        )
        for name, sort in (("", True), (", damaged", False))
    ),
    Variant(
        "scan_compressed, damaged",
        "scan_compressed",
        _refs(16, _damaged(_compressed_level)),
        {"pos": "pos", "crd": "crd", "extent": "x"},
        memories=_LEVEL,
        extents=(190, 220),
    ),
    Variant(
        "scan_singleton, damaged",
        "scan_singleton",
        _refs(30, _words("crd", 30, 99)),
        {"crd": "crd", "extent": "x"},
        memories={"crd": 30},
        extents=(80, 99),
    ),
    Variant("repeat ref", "repeat", _hold("ref", "crd"), {"payload": "ref"}),
    Variant("repeat val", "repeat", _hold("ref", "crd"), {"payload": "val"}, value="i16"),
    Variant("crd_hold", "crd_hold", _hold("outer", "inner", empty=0)),
    Variant("locate", "locate", _hold("ref", "crd"), {"extent": "x"}),
    *(
        Variant(
            f"pick{name}",
            "pick",
            _picked(99),
            {"crd": "crd", "extent": "x"},
            memories={"crd": 30},
            extents=extents,
        )
        for name, extents in (("", (99, 256)), (", damaged", (90, 99)))
    ),
    Variant("shift", "shift", _written_crd, {"extent": "x"}),
    *(
        Variant(f"scatter {n} {payload}", "scatter", _any_depth, {"lanes": n, "payload": payload})
        for n, payload in ((2, "ref"), (3, "crd"), (5, "val"))
    ),
    *(
        Variant(
            f"gather {n} {payload}, {levels} levels",
            "gather",
            _parts(n, levels),
            {"lanes": n, "levels": levels, "payload": payload},
            levels + 1,
        )
        for n, payload, levels in ((2, "val", 0), (3, "ref", 0), (2, "crd", 1), (4, "val", 1), (3, "ref", 2))
    ),
    *(
        Variant(f"{kind} {n}", kind, _join(n), {"inputs": n, "payloads": payloads})
        for kind in ("intersect", "union")
        for n, payloads in ((2, ["ref", "ref"]), (3, ["ref", "val", "crd"]))
    ),
    *(
        Variant(
            f"array {value}",
            "array",
            _refs(20, _words("vals", 20, 250)),
            {"vals": "vals"},
            1,
            value,
            {"vals": 20},
        )
        for value in ("i8", "i32", "bf16", "f8e4m3")
    ),
    *(
        Variant(f"alu {op} {value}", "alu", _values(["a", "b"], value, limit), {"op": op}, value=value)
        for op, value, limit in (
            ("add", "i8", 63),
            ("sub", "i32", 10**9),
            ("mul", "i16", 181),
            ("mul", "fixed<16,8>", 32767),
            ("max", "i16", 32767),
            ("le", "fixed<16,8>", 300),
            ("leaky_relu", "fixed<16,8>", 32767),
            ("add", "f32", 1000),
            ("mul", "bf16", 1000),
            ("min", "f32", 1000),
            ("lt", "bf16", 3),
            ("add", "f8e4m3", 400),
            ("div", "f8e4m3", 400),
            ("mul", "f8e5m2", 300),
            ("max", "f8e5m2", 300),
        )
    ),
    *(
        Variant(
            f"matmul {value}",
            "matmul",
            _values(["a", "b"], value, limit),
            {"shape": [], "over": [], "a": [], "b": []},
            value=value,
        )
        for value, limit in (("i16", 181), ("f32", 10))
    ),
    Variant(
        "fold f32",
        "fold",
        _values(["block"], "f32", 10),
        {"op": "sum", "shape": [], "over": []},
        value="f32",
    ),
    Variant("alu neg", "alu", _values(["a"], "i16", 32767), {"op": "neg"}, value="i16"),
    Variant("alu abs", "alu", _values(["a"], "f32", 100), {"op": "abs", "value": "f32"}),
    Variant("alu exp", "alu", _values(["a"], "f8e5m2", 12), {"op": "exp"}, value="f8e5m2"),
    Variant("alu relu", "alu", _values(["a"], "i8", 127), {"op": "relu"}, value="i8"),
    Variant("alu select", "alu", _values(["a", "b", "c"], "i16", 2), {"op": "select"}, value="i16"),
    Variant(
        "alu immediate",
        "alu",
        _values(["a"], "i16", 1000),
        {"op": "mul", "immediates": {"b": -3}},
        value="i16",
    ),
    Variant(
        "alu two immediates",
        "alu",
        _values(["a"], "f32", 2),
        {"op": "select", "value": "f32", "immediates": {"b": 1.5, "c": -2}},
    ),
    *(
        Variant(f"alu {op} {value} to {to}", "alu", draw, {"op": op, "value": value, "to": to})
        for op, value, to, draw in (
            ("mul", "i8", "i32", _values(["a", "b"], "i8", 128)),
            ("sub", "i16", "i32", _values(["a", "b"], "i16", 32767)),
            ("add", "bf16", "f32", _values(["a", "b"], "bf16", 1000)),
            ("mul", "bf16", "f32", _values(["a", "b"], "bf16", 1000)),
            ("convert", "f32", "bf16", _values(["a"], "f32", 1000)),
            ("convert", "f32", "f8e4m3", _values(["a"], "f32", 500)),
            ("convert", "f8e5m2", "f32", _values(["a"], "f8e5m2", 500)),
            ("mul", "f8e4m3", "f32", _values(["a", "b"], "f8e4m3", 400)),
            ("convert", "f32", "fixed<16,8>", _values(["a"], "f32", 1000)),
            ("convert", "i32", "f32", _values(["a"], "i32", 2**31 - 1)),
        )
    ),
    Variant(
        "alu scale",
        "alu",
        _values(["a"], "i32", 10**6),
        {"op": "scale", "to": "i8", "immediates": {"b": 1234567, "c": 33}},
    ),
    Variant(
        "alu scale by streams",
        "alu",
        _values(["a", "b"], "i32", 2**30),
        {"op": "scale", "to": "i8", "immediates": {"c": 50}},
    ),
    Variant("alu scale beyond", "alu", _values(["a", "b", "c"], "i32", 80), {"op": "scale", "to": "i16"}),
    *(
        Variant(
            f"reduce_scalar {op} {value}",
            "reduce_scalar",
            _values(["val"], value, limit, 1),
            {"op": op},
            1,
            value,
        )
        for op, value, limit in (
            ("sum", "i32", 10**8),
            ("max", "i8", 127),
            ("min", "fixed<16,8>", 32767),
            ("max", "f32", 100),
        )
    ),
    *(
        Variant(
            f"reduce_scalar {op} {value}",
            "reduce_scalar",
            _long_fibers(value, limit),
            {"op": op, "value": value},
        )
        for op, value, limit in (
            ("sum", "bf16", 100),
            ("sum", "f32", 100),
            ("sum", "f8e4m3", 30),
            ("prod", "i32", 2),
            ("prod", "fixed<16,8>", 1000),
            ("prod", "bf16", 4),
            ("prod", "f32", 4),
        )
    ),
    *(
        Variant(
            f"running {op} {value}{', exclusive' * exclusive}",
            "running",
            _long_fibers(value, limit),
            {"op": op, "value": value, **({"exclusive": True} if exclusive else {})},
        )
        for op, value, limit in (
            ("sum", "i32", 10**8),
            ("max", "i8", 127),
            ("min", "fixed<16,8>", 32767),
            ("max", "f32", 100),
            ("min", "bf16", 100),
            ("sum", "fixed<16,8>", 3000),
            ("sum", "bf16", 100),
            ("sum", "f32", 100),
            ("sum", "f8e5m2", 30),
            ("prod", "i32", 2),
            ("prod", "fixed<8,7>", 127),
            ("prod", "bf16", 4),
            ("prod", "f32", 4),
        )
        for exclusive in (False, True)
    ),
    *(
        Variant(
            f"reduce_vector {op} {bits} {value}{''.join(f', {n} banks' for n in banks)}",
            "reduce_vector",
            _vectors(bits, value, limit),
            {"op": op, "bits": bits, **({"banks": banks[0]} if banks else {})},
            len(bits) + 1,
            value,
            slow=SPACED,
        )
        for op, bits, value, limit, *banks in (
            ("sum", [3], "i32", 1000),
            ("sum", [3], "i32", 1000, 5),
            ("sum", [6], "f32", 100, 3),
            ("max", [2, 1], "i8", 100, 4),
            ("sum", [6], "fixed<16,8>", 3000),
            ("max", [11], "i16", 1000),
            ("sum", [2, 2], "i32", 1000),
            ("min", [4, 3], "i8", 100),
            ("sum", [2], "f32", 100),
            ("sum", [3], "bf16", 100),
            ("sum", [1, 1], "bf16", 100),
            ("sum", [3], "f8e4m3", 30),
            ("max", [3], "f32", 100),
            ("prod", [3], "i32", 3),
            ("prod", [2], "f32", 4),
        )
    ),
    *(
        Variant(f"recur {value}", "recur", _long_pairs(value, limit), {"value": value})
        for value, limit in (
            ("i32", 2),
            ("i16", 3),
            ("fixed<16,8>", 300),
            ("bf16", 2),
            ("f32", 2),
            ("f8e4m3", 2),
        )
    ),
    *(
        Variant(f"last {value}", "last", _values(["val"], value, 1000, 1), value=value)
        for value in ("i32", "bf16", "f8e4m3")
    ),
    *(
        Variant(f"arg {op} {value}", "arg", _droppable(value), {"op": op}, value=value)
        for op, value in (
            ("max", "i32"),
            ("min", "i8"),
            ("max", "fixed<16,8>"),
            ("min", "bf16"),
            ("max", "f32"),
            ("max", "f8e4m3"),
        )
    ),
    Variant("arg min f32 in i8", "arg", _droppable("f32"), {"op": "min", "value": "f32"}, value="i8"),
    *(
        Variant(
            f"top_k {op} {gives} {k} {value}",
            "top_k",
            _ranked(value),
            {"op": op, "gives": gives, "k": k},
            value=value,
        )
        for op, gives, k, value in (
            ("max", "values", 3, "i32"),
            ("min", "places", 1, "i8"),
            ("max", "places", 4, "bf16"),
            ("min", "values", 2, "f32"),
        )
    ),
    *(
        Variant(
            f"recur_vector {bits} {value}{''.join(f', {n} banks' for n in banks)}",
            "recur_vector",
            _rescaled_vectors(bits, value, limit),
            {"bits": bits, **({"banks": banks[0]} if banks else {})},
            len(bits) + 1,
            value,
        )
        for bits, value, limit, *banks in (
            ([3], "i32", 100),
            ([2, 1], "i16", 10, 4),
            ([6], "f32", 100),
            ([2], "f32", 100, 3),
            ([1, 1], "bf16", 100),
            ([3], "f8e5m2", 4),
            ([7], "fixed<16,8>", 300),
        )
    ),
    Variant("drop_crd", "drop_crd", _hold("outer", "inner", least=1, empty=0)),
    *(
        Variant(f"drop_val {value}", "drop_val", _droppable(value), value=value)
        for value in ("i32", "bf16", "f8e4m3")
    ),
    Variant("drop_val f32 in i32", "drop_val", _droppable("f32"), {"value": "f32"}),
    Variant(
        "write_compressed",
        "write_compressed",
        _written_crd,
        {"pos": "pos", "crd": "crd"},
        memories={"pos": 40, "crd": 90},
    ),
    Variant("write_dense", "write_dense", _full_fibers, {"extent": "x"}),
    Variant(
        "write_val", "write_val", _values(["val"], "i16", 30000), {"vals": "vals"}, 1, "i16", {"vals": 90}
    ),
    Variant("write_at", "write_at", _placed(), {"vals": "vals"}, 1, "i16", {"vals": 90}),
    Variant("write_at, damaged", "write_at", _placed(90), {"vals": "vals"}, 1, "i16", {"vals": 90}),
)
