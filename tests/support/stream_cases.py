"""Random cases of every primitive: well-formed inputs, and what they mean in plain nested lists."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from samhw.graph import Node, Token, make
from samhw.graph.numerics import (
    ALL_OPERATIONS,
    REDUCTIONS,
    WIDENING,
    Integer,
    ValueType,
    operation,
    recurrence_word,
    reduce_words,
    start_word,
    value_type,
)
from tests.support.lanes import distributed
from tests.support.nested import Nested, to_stream
from tests.support.strategies.streams import coordinates, like, payloads, structures

VALUE_LIMIT = 100
COORDINATE_LIMIT = 40
Draw = Callable[[st.SearchStrategy], Any]


@dataclass
class Case:
    """A node, its inputs by port as structures, and the outputs or written memories that must come out."""

    node: Node
    inputs: Mapping[str, Nested]
    expected: Mapping[str, Nested] = field(default_factory=dict)
    memories: Mapping[str, np.ndarray] = field(default_factory=dict)
    extents: Mapping[str, int] = field(default_factory=dict)
    written: Mapping[str, list[int]] = field(default_factory=dict)
    value: str = "i32"
    increasing: bool = True
    """Inside of a fiber the coordinates that come out increase."""

    def streams(self) -> dict[str, list[Token]]:
        """The tokens of each input."""
        return {p.name: to_stream(self.inputs[p.name], p.stream.depth) for p in self.node.inputs}


def leaves(structure: Nested, depth: int) -> list:
    """The items at a depth, in order."""
    return [structure] if depth == 0 else [leaf for item in structure for leaf in leaves(item, depth - 1)]


def at_depth(structure: Nested, depth: int, change: Callable[[Any], Any]) -> Nested:
    """The structure with each item at that depth replaced."""
    return change(structure) if depth == 0 else [at_depth(item, depth - 1, change) for item in structure]


def zip_at(depth: int, change: Callable[..., Any], *parts: Nested) -> Nested:
    """Items at that depth of structures of one shape, combined."""
    if depth == 0:
        return change(*parts)
    return [zip_at(depth - 1, change, *items) for items in zip(*parts, strict=True)]


def word(value: int) -> int:
    """The i32 word of a value."""
    return value & 0xFFFFFFFF


fibers = st.sets(st.integers(0, COORDINATE_LIMIT - 1), max_size=4).map(sorted)
values = st.integers(-VALUE_LIMIT, VALUE_LIMIT).map(word)
depths = st.integers(0, 3)
some_depths = st.integers(1, 3)


def root() -> st.SearchStrategy[Case]:
    return st.just(Case(make("root", "n", 0), {}, {"out": 0}))


@st.composite
def step_ref(draw: Draw) -> Case:
    steps, offset = draw(st.integers(1, 5)), draw(st.integers(-3, 3))
    at, extent = draw(st.integers(0, steps - 1)), draw(st.integers(1, 5))
    bounded, down = draw(st.booleans()), draw(st.booleans())
    named = {**({"extent": "i"} if bounded else {}), **({"down": "d"} if down else {})}
    places = range(steps)[::-1] if down else range(steps)
    place = places[at] + offset
    return Case(
        make("step_ref", "n", 0, repeat="t", offset=offset, **named),
        {},
        {"ref": place if place in range(extent if bounded else 1) else None},
        extents={"t": at, "i": extent, "d": steps},
    )


@st.composite
def scan_dense(draw: Draw) -> Case:
    d = draw(depths)
    extent = draw(st.integers(0, 4))
    refs = draw(structures(d, payloads(9, empty=True)))

    def fiber(r: int | None) -> list[int]:
        return [] if r is None else list(range(extent))

    def below(r: int | None) -> list[int]:
        return [] if r is None else [r * extent + c for c in range(extent)]

    return Case(
        make("scan_dense", "n", d, extent="i"),
        {"ref": refs},
        {"crd": at_depth(refs, d, fiber), "ref": at_depth(refs, d, below)},
        extents={"i": extent},
    )


@st.composite
def scan_compressed(draw: Draw) -> Case:
    d = draw(depths)
    stored = draw(st.lists(fibers, min_size=1, max_size=6))
    pos = np.cumsum([0, *map(len, stored)])
    refs = draw(structures(d, payloads(len(stored), empty=True)))

    def fiber(r: int | None) -> list[int]:
        return [] if r is None else stored[r]

    def below(r: int | None) -> list[int]:
        return [] if r is None else list(range(pos[r], pos[r + 1]))

    return Case(
        make("scan_compressed", "n", d, pos="p", crd="c", extent="i"),
        {"ref": refs},
        {"crd": at_depth(refs, d, fiber), "ref": at_depth(refs, d, below)},
        {"p": pos, "c": np.array(leaves(stored, 2), np.int64)},
        {"i": COORDINATE_LIMIT},
    )


@st.composite
def scan_singleton(draw: Draw) -> Case:
    d = draw(depths)
    crd = draw(st.lists(st.integers(0, COORDINATE_LIMIT - 1), min_size=1, max_size=6))
    refs = draw(structures(d, payloads(len(crd), empty=True)))
    return Case(
        make("scan_singleton", "n", d, crd="c", extent="i"),
        {"ref": refs},
        {
            "crd": at_depth(refs, d, lambda r: [] if r is None else [crd[r]]),
            "ref": at_depth(refs, d, lambda r: [] if r is None else [r]),
        },
        {"c": np.array(crd)},
        {"i": COORDINATE_LIMIT},
        increasing=False,
    )


@st.composite
def scan_ell(draw: Draw) -> Case:
    d, width = draw(depths), draw(st.integers(1, 5))
    stored = draw(st.lists(fibers.map(lambda fiber: fiber[:width]), min_size=1, max_size=6))
    refs = draw(structures(d, payloads(len(stored), empty=True)))
    padded = [[*fiber, *[0] * (width - len(fiber))] for fiber in stored]
    return Case(
        make("scan_ell", "n", d, cnt="n", crd="c", width=width, extent="i"),
        {"ref": refs},
        {
            "crd": at_depth(refs, d, lambda r: [] if r is None else stored[r]),
            "ref": at_depth(
                refs, d, lambda r: [] if r is None else [r * width + c for c in range(len(stored[r]))]
            ),
        },
        {"n": np.array([*map(len, stored)]), "c": np.array(leaves(padded, 2), np.int64)},
        {"i": COORDINATE_LIMIT},
    )


@st.composite
def scan_ragged(draw: Draw) -> Case:
    d = draw(depths)
    pos = np.cumsum([0, *draw(st.lists(st.integers(0, 4), min_size=1, max_size=6))]).tolist()
    refs = draw(structures(d, payloads(len(pos) - 1, empty=True)))
    return Case(
        make("scan_ragged", "n", d, pos="p", extent="i"),
        {"ref": refs},
        {
            "crd": at_depth(refs, d, lambda r: [] if r is None else [*range(pos[r + 1] - pos[r])]),
            "ref": at_depth(refs, d, lambda r: [] if r is None else [*range(pos[r], pos[r + 1])]),
        },
        {"p": np.array(pos)},
        {"i": 4},
    )


@st.composite
def scan_dia(draw: Draw) -> Case:
    d, rows, extent = draw(depths), draw(st.integers(1, 9)), draw(st.integers(1, 9))
    off = draw(st.sets(st.integers(1 - rows, extent - 1), max_size=5).map(sorted))
    refs = draw(structures(d, payloads(rows, empty=True)))

    def on_diagonals(r: int | None) -> list[int]:
        return [] if r is None else [n for n, o in enumerate(off) if 0 <= r + o < extent]

    return Case(
        make("scan_dia", "n", d, cnt="n", off="o", rows="j", extent="i"),
        {"ref": refs},
        {
            "crd": at_depth(refs, d, lambda r: [r + off[n] for n in on_diagonals(r)]),
            "ref": at_depth(refs, d, lambda r: [r + n * rows for n in on_diagonals(r)]),
        },
        {"n": np.array([len(off)]), "o": np.array([*map(word, off), 0])},
        {"i": extent, "j": rows},
    )


@st.composite
def repeat(draw: Draw) -> Case:
    d = draw(depths)
    outer = draw(structures(d, payloads(99, empty=True)))
    inner = draw(like(outer, d, fibers))
    return Case(
        make("repeat", "n", d, payload=draw(st.sampled_from(["ref", "val"]))),
        {"ref": outer, "crd": inner},
        {"ref": zip_at(d, lambda h, fiber: [h] * len(fiber), outer, inner)},
    )


@st.composite
def crd_hold(draw: Draw) -> Case:
    d = draw(some_depths)
    outer = draw(coordinates(d, COORDINATE_LIMIT))
    inner = draw(like(outer, d, fibers))
    return Case(
        make("crd_hold", "n", d),
        {"outer": outer, "inner": inner},
        {"crd": zip_at(d, lambda h, fiber: [h] * len(fiber), outer, inner)},
        increasing=False,
    )


@st.composite
def locate(draw: Draw) -> Case:
    d = draw(depths)
    outer = draw(structures(d, payloads(9, empty=True)))
    inner = draw(like(outer, d, fibers))
    extent = COORDINATE_LIMIT

    def below(r: int | None, fiber: list[int]) -> list[int | None]:
        return [None if r is None else r * extent + x for x in fiber]

    return Case(
        make("locate", "n", d, extent="i"),
        {"ref": outer, "crd": inner},
        {"ref": zip_at(d, below, outer, inner)},
        extents={"i": extent},
    )


def _join(draw: Draw, kind: str, merge: Callable[[tuple[dict, ...]], list[int]]) -> Case:
    d = draw(some_depths)
    n = draw(st.integers(2, 4))
    skeleton = draw(structures(d - 1, st.none()))
    fiber = st.dictionaries(st.integers(0, 7), payloads(99, empty=True), max_size=5)
    sides = [draw(like(skeleton, d - 1, fiber)) for _ in range(n)]
    inputs, expected = {}, {"crd": zip_at(d - 1, lambda *maps: merge(maps), *sides)}
    for i, side in enumerate(sides):
        inputs[f"crd{i}"] = at_depth(side, d - 1, sorted)
        inputs[f"ref{i}"] = at_depth(side, d - 1, lambda m: [m[c] for c in sorted(m)])
        expected[f"ref{i}"] = zip_at(d - 1, lambda *maps, i=i: [maps[i].get(c) for c in merge(maps)], *sides)
    kinds = draw(st.lists(st.sampled_from(["crd", "ref", "val"]), min_size=n, max_size=n))
    return Case(make(kind, "n", d, inputs=n, payloads=kinds), inputs, expected)


@st.composite
def pick(draw: Draw) -> Case:
    d = draw(depths)
    at = draw(structures(d, payloads(7, empty=True)))
    ref = draw(like(at, d, payloads(9, empty=True)))
    crd = draw(st.lists(st.integers(0, COORDINATE_LIMIT - 1), min_size=10, max_size=10))
    extent = COORDINATE_LIMIT

    def found(p: int | None, r: int | None) -> int | None:
        return None if p is None or r is None else r * extent + crd[p]

    return Case(
        make("pick", "n", d, crd="c", extent="i"),
        {"at": at, "ref": ref},
        {"ref": zip_at(d, found, at, ref)},
        memories={"c": np.array(crd)},
        extents={"i": extent},
    )


@st.composite
def shift(draw: Draw) -> Case:
    d = draw(some_depths)
    extent = draw(st.sampled_from([0, 1, 9, (1 << 32) - COORDINATE_LIMIT]))
    crd = draw(coordinates(d, COORDINATE_LIMIT))
    return Case(
        make("shift", "n", d, extent="i"),
        {"crd": crd},
        {"crd": at_depth(crd, d, lambda c: c + extent)},
        extents={"i": extent},
    )


@st.composite
def scatter(draw: Draw) -> Case:
    d = draw(some_depths)
    lanes = draw(st.integers(2, 4))
    refs = draw(structures(d, payloads(99, empty=True)))
    node = make("scatter", "n", d, lanes=lanes, payload=draw(st.sampled_from(["crd", "ref", "val"])))
    parts = distributed(refs, d, lanes)
    return Case(
        node, {"ref": refs}, {f"ref{lane}": part for lane, part in enumerate(parts)}, increasing=False
    )


@st.composite
def gather(draw: Draw) -> Case:
    d = draw(st.integers(1, 4))
    lanes, levels = draw(st.integers(2, 4)), draw(st.integers(0, d - 1))
    refs = draw(structures(d, payloads(99, empty=True)))
    payload = draw(st.sampled_from(["crd", "ref", "val"]))
    node = make("gather", "n", d, lanes=lanes, levels=levels, payload=payload)
    parts = distributed(refs, d - levels, lanes)
    return Case(
        node, {f"ref{lane}": part for lane, part in enumerate(parts)}, {"ref": refs}, increasing=False
    )


@st.composite
def intersect(draw: Draw) -> Case:
    return _join(draw, "intersect", lambda maps: sorted(set.intersection(*map(set, maps))))


@st.composite
def union(draw: Draw) -> Case:
    return _join(draw, "union", lambda maps: sorted(set.union(*map(set, maps))))


@st.composite
def array(draw: Draw) -> Case:
    d = draw(depths)
    vals = draw(st.lists(values, min_size=1, max_size=6))
    refs = draw(structures(d, payloads(len(vals), empty=True)))
    return Case(
        make("array", "n", d, vals="v"),
        {"ref": refs},
        {"val": at_depth(refs, d, lambda r: 0 if r is None else vals[r])},
        {"v": np.array(vals)},
    )


VALUES = ("i8", "i16", "i32", "fixed<16,8>", "fixed<24,12>", "f8e4m3", "f8e5m2", "bf16", "f32")
SMALL = {"i8": 7, "i16": 100}
"""Numbers whose products, and sums of a few, the type can hold."""
WIDER = {"i8": "i32", "i16": "i32", "f8e4m3": "f32", "f8e5m2": "bf16", "bf16": "f32"}


def numbers(kind: str) -> st.SearchStrategy[int]:
    """Words of small numbers, so that no integer overflows."""
    limit = SMALL.get(kind, VALUE_LIMIT)
    return st.integers(-limit, limit).map(lambda x: int(value_type(kind).encode(x)))


def any_words(kind: str) -> st.SearchStrategy[int]:
    """Any words where the type takes any, else those of small numbers."""
    if kind.startswith("i"):
        return numbers(kind)
    return numbers(kind) | st.integers(0, (1 << value_type(kind).width) - 1)


@st.composite
def typed_params(draw: Draw) -> tuple[str, dict[str, str]]:
    """A value type, as the graph's or as the node's own: (the graph's type, params)."""
    kind = draw(st.sampled_from(VALUES))
    return (kind, {}) if draw(st.booleans()) else (draw(st.sampled_from(VALUES)), {"value": kind})


@st.composite
def alu(draw: Draw) -> Case:
    d = draw(depths)
    graph, params = draw(typed_params())
    source = target = params.get("value", graph)
    words = any_words(source)
    immediates: dict[str, float] = {}
    op = draw(st.sampled_from([*value_type(source).operations, "convert", "scale", "mul"]))
    if op == "convert":
        target = draw(st.sampled_from(VALUES))
        words = numbers(source)
    elif op == "scale":
        source, target = "i32", draw(st.sampled_from(["i8", "i16", "i32"]))
        words = st.integers(0, (1 << 32) - 1)
        immediates = {"b": draw(st.integers(0, 2**31 - 1)), "c": draw(st.integers(0, 62))}
    elif op in WIDENING and source in WIDER and draw(st.booleans()):
        target, words = WIDER[source], st.integers(0, (1 << value_type(source).width) - 1)
    operands = "abc"[: ALL_OPERATIONS[op]]
    for name in operands[1:] if op != "scale" else ():
        if draw(st.booleans()):
            immediates[name] = draw(st.integers(-3, 3))
    params |= {"op": op, "value": source} | ({"to": target} if target != source else {})
    definition = operation(op, value_type(source), value_type(target))
    fixed = {name: int(value_type(source).encode(x)) for name, x in immediates.items()}
    first = draw(structures(d, st.none() | words))
    inputs = {"a": first} | {
        name: draw(like(first, d, st.none() | words)) for name in operands[1:] if name not in fixed
    }

    def apply(*heads: int | None) -> int:
        payloads = {name: head or 0 for name, head in zip(inputs, heads, strict=True)} | fixed
        return int(definition.apply(*(np.array(payloads[name]) for name in operands)))

    node = make("alu", "n", d, **params, **({"immediates": immediates} if immediates else {}))
    return Case(node, inputs, {"val": zip_at(d, apply, *inputs.values())}, value=graph)


@st.composite
def matmul(draw: Draw) -> Case:
    """Of single values: blocks do not fit the streams of these cases."""
    d = draw(depths)
    graph, params = draw(typed_params())
    definition = operation("mul", value_type(params.get("value", graph)))
    words = any_words(params.get("value", graph))
    a = draw(structures(d, st.none() | words))
    b = draw(like(a, d, st.none() | words))

    def apply(*heads: int | None) -> int:
        return int(definition.apply(*(np.array(head or 0) for head in heads)))

    node = make("matmul", "n", d, shape=[], over=[], a=[], b=[], **params)
    return Case(node, {"a": a, "b": b}, {"val": zip_at(d, apply, a, b)}, value=graph)


@st.composite
def fold(draw: Draw) -> Case:
    """Of single values, as `matmul`."""
    d = draw(depths)
    graph, params = draw(typed_params())
    val = draw(structures(d, st.none() | any_words(params.get("value", graph))))
    node = make("fold", "n", d, op=draw(st.sampled_from(sorted(REDUCTIONS))), shape=[], over=[], **params)
    return Case(node, {"block": val}, {"val": at_depth(val, d, lambda x: x or 0)}, value=graph)


def reduced_words(kind: str, op: str) -> st.SearchStrategy[int]:
    """Words of which no reduction overflows: of integers, products of units."""
    if op == "prod" and isinstance(value_type(kind), Integer):
        return st.sampled_from(value_type(kind).encode([-1, 0, 1, 1]).tolist())
    return any_words(kind)


@st.composite
def reduce_scalar(draw: Draw) -> Case:
    d = draw(some_depths)
    graph, params = draw(typed_params())
    kind = params.get("value", graph)
    op = draw(st.sampled_from(sorted(REDUCTIONS)))
    val = draw(structures(d, st.none() | reduced_words(kind, op)))

    def total(fiber: list) -> int:
        return reduce_words(value_type(kind), op, [x or 0 for x in fiber])

    node = make("reduce_scalar", "n", d, op=op, **params)
    return Case(node, {"val": val}, {"val": at_depth(val, d - 1, total)}, value=graph)


@st.composite
def running(draw: Draw) -> Case:
    d = draw(some_depths)
    graph, params = draw(typed_params())
    kind = params.get("value", graph)
    op = draw(st.sampled_from(sorted(REDUCTIONS)))
    words = st.none() | reduced_words(kind, op)
    # Fibers of some blocks, too.
    most = 18 if kind == "i8" else 40
    val = draw(st.lists(words, max_size=most) if d == 1 else structures(d, words))
    exclusive = draw(st.sampled_from((None, False, True)))
    if exclusive is not None:
        params["exclusive"] = exclusive

    def parts(fiber: list) -> list[int]:
        words = [x or 0 for x in fiber]
        totals = [reduce_words(value_type(kind), op, words[: n + 1]) for n in range(len(words))]
        return [start_word(value_type(kind), op), *totals][: len(words)] if exclusive else totals

    node = make("running", "n", d, op=op, **params)
    return Case(node, {"val": val}, {"val": at_depth(val, d - 1, parts)}, value=graph)


@st.composite
def recur(draw: Draw) -> Case:
    d = draw(some_depths)
    graph, params = draw(typed_params())
    kind = value_type(params.get("value", graph))
    words = st.none() | reduced_words(kind.name, "prod")
    # Fibers of some blocks, too.
    val = draw(st.lists(words, max_size=50) if d == 1 else structures(d, words))
    factor = draw(like(val, d, words))

    def parts(factors: list, values: list) -> list[int]:
        r, x = ([word or 0 for word in fiber] for fiber in (factors, values))
        return [recurrence_word(kind, r[: n + 1], x[: n + 1]) for n in range(len(x))]

    node = make("recur", "n", d, **params)
    return Case(node, {"factor": factor, "val": val}, {"val": zip_at(d - 1, parts, factor, val)}, value=graph)


def _tree(bits: list[int], leaf: st.SearchStrategy[int]) -> st.SearchStrategy[dict]:
    """Nested dicts of coordinates, outermost first, with a value at each leaf; empty dicts among them."""
    tree: st.SearchStrategy = st.none() | leaf
    for width in bits:
        tree = st.dictionaries(st.integers(0, (1 << width) - 1), tree, max_size=4)
    return tree


def _points(tree: dict, levels: int, above: tuple[int, ...] = ()) -> Nested:
    """The tree as nested lists of (coordinates from the innermost out, value)."""
    if levels == 0:
        return above, tree
    return [_points(tree[c], levels - 1, (c, *above)) for c in sorted(tree)]


@st.composite
def last(draw: Draw) -> Case:
    d = draw(some_depths)
    graph, params = draw(typed_params())
    kind = params.get("value", graph)
    val = draw(structures(d, st.none() | any_words(kind)))
    expected = at_depth(val, d - 1, lambda fiber: (fiber[-1] or 0) if fiber else 0)
    return Case(make("last", "n", d, **params), {"val": val}, {"val": expected}, value=graph)


@st.composite
def arg(draw: Draw) -> Case:
    d = draw(some_depths)
    crd = draw(coordinates(d, COORDINATE_LIMIT))
    graph, params = draw(typed_params())
    kind = value_type(params.get("value", graph))
    # Ties, zeros of both signs and NaN among them.
    edges = [0, 1, 1 << kind.width - 1, (1 << kind.width) - 1, (1 << kind.width - 1) - 1]
    val = draw(like(crd, d, st.none() | any_words(kind.name) | st.sampled_from(edges)))
    op = draw(st.sampled_from(("max", "min")))

    def best(crds: list[int], words: list[int | None]) -> int:
        values = np.array([_value(kind, word or 0) for word in words])
        return crds[int(values.argmax() if op == "max" else values.argmin())] if crds else 0

    node = make("arg", "n", d, op=op, **params)
    return Case(node, {"crd": crd, "val": val}, {"val": zip_at(d - 1, best, crd, val)}, value=graph)


@st.composite
def top_k(draw: Draw) -> Case:
    d = draw(some_depths)
    crd = draw(coordinates(d, COORDINATE_LIMIT))
    graph, params = draw(typed_params())
    kind = value_type(params.get("value", graph))
    edges = [0, 1, 1 << kind.width - 1, (1 << kind.width) - 1, (1 << kind.width - 1) - 1]
    val = draw(like(crd, d, st.none() | any_words(kind.name) | st.sampled_from(edges)))
    op, gives = draw(st.sampled_from(("max", "min"))), draw(st.sampled_from(("values", "places")))
    k = draw(st.integers(1, 6))
    # Ranks in any number, some beyond what is kept.
    rank = draw(like(crd, d - 1, st.integers(0, 7).map(lambda n: list(range(n)))))

    def in_order(crds: list[int], words: list[int | None], ranks: list[int]) -> list[int]:
        def key(pair: tuple[int, int]) -> tuple[bool, float, int]:
            value = _value(kind, pair[1])
            is_nan = value != value
            return not is_nan, 0 if is_nan else -value if op == "max" else value, pair[0]

        found = sorted(zip(crds, (word or 0 for word in words), strict=True), key=key)[:k]
        shown = [pair[gives == "values"] for pair in found]
        return [shown[n] if n < len(shown) else 0 for n in ranks]

    node = make("top_k", "n", d, op=op, gives=gives, k=k, **params)
    expected = zip_at(d - 1, in_order, crd, val, rank)
    return Case(node, {"crd": crd, "val": val, "rank": rank}, {"val": expected}, value=graph)


def _value(kind: ValueType, word: int) -> float:
    """The value of a word; subnormals are zeros."""
    return 0.0 if kind.is_zero(word) else float(kind.decode(word))


@st.composite
def reduce_vector(draw: Draw, rescales: bool = False) -> Case:
    n = draw(st.integers(1, 3))
    bits = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    if n == 1 and draw(st.booleans()):
        bits = [draw(st.integers(5, 11))]
    outer = draw(st.integers(0, 2))
    op = "prod" if rescales else draw(st.sampled_from(sorted(REDUCTIONS)))
    graph, params = draw(typed_params())
    if banks := draw(st.sampled_from((None, 2, 3, 5, 8))):
        params["banks"] = banks
    kind = params.get("value", graph)
    step = value_type(kind).scalar
    summands = st.lists(_tree(bits, reduced_words(kind, op)).map(lambda tree: _points(tree, n)), max_size=4)
    points = draw(structures(outer, summands))
    d = outer + 1 + n
    if rescales:
        # A value becomes a pair of it and its factor.
        words = st.none() | reduced_words(kind, op)
        points = at_depth(points, d, lambda point: (point[0], point[1], draw(words)))

    def combined(sum: int, val: int, factor: int | None = None) -> int:
        if not rescales:
            return step(REDUCTIONS[op])(sum, val)
        return step("add")(step("mul")(sum, factor or 0), val)

    def totals(summands: list) -> dict[tuple[int, ...], int]:
        sums: dict[tuple[int, ...], int] = {}
        for crds, val, *factor in leaves(summands, n + 1):
            sums[crds] = combined(sums[crds], val or 0, *factor) if crds in sums else val or 0
        return sums

    def grouped(keys: list[tuple[int, ...]], level: int, show: Callable[[tuple[int, ...]], int]) -> Nested:
        """Keys as lists nested by their coordinates, from the outermost (n - 1) down to `level`."""

        def nest(keys: list[tuple[int, ...]], at: int) -> Nested:
            distinct = sorted({key[at] for key in keys})
            if at == level:
                return [show(next(k for k in keys if k[at] == c)) for c in distinct]
            return [nest([k for k in keys if k[at] == c], at - 1) for c in distinct]

        return nest(keys, n - 1)

    def coordinate(m: int) -> Callable[[Any], int]:
        return lambda point: point[0][m]

    def coordinates_of_totals(m: int) -> Callable[[list], Nested]:
        return lambda part: grouped(list(totals(part)), m, lambda k: k[m])

    inputs = {f"crd{m}": at_depth(points, d, coordinate(m)) for m in range(n)}
    inputs["val"] = at_depth(points, d, lambda point: point[1])
    expected = {f"crd{m}": at_depth(points, outer, coordinates_of_totals(m)) for m in range(n)}
    expected["val"] = at_depth(
        points, outer, lambda part: grouped(list(totals(part)), 0, lambda k: totals(part)[k])
    )
    if rescales:
        inputs["factor"] = at_depth(points, d, lambda point: point[2])
        return Case(make("recur_vector", "n", d, bits=bits, **params), inputs, expected, value=graph)
    return Case(make("reduce_vector", "n", d, op=op, bits=bits, **params), inputs, expected, value=graph)


def recur_vector() -> st.SearchStrategy[Case]:
    """As the vector reducer, with a factor for each value."""
    return reduce_vector(rescales=True)


@st.composite
def drop_crd(draw: Draw) -> Case:
    d = draw(some_depths)
    outer = draw(coordinates(d, COORDINATE_LIMIT))
    inner = draw(like(outer, d, fibers))

    def keep(crds: list[int], below: list[list[int]]) -> list[tuple[int, list[int]]]:
        return [(c, fiber) for c, fiber in zip(crds, below, strict=True) if fiber]

    kept = zip_at(d - 1, keep, outer, inner)
    return Case(
        make("drop_crd", "n", d),
        {"outer": outer, "inner": inner},
        {"outer": at_depth(kept, d, lambda pair: pair[0]), "inner": at_depth(kept, d, lambda pair: pair[1])},
    )


@st.composite
def drop_val(draw: Draw) -> Case:
    d = draw(some_depths)
    crd = draw(coordinates(d, COORDINATE_LIMIT))
    graph, params = draw(typed_params())
    kind = value_type(params.get("value", graph))
    # Zeros, subnormals and what is next to them, of both signs.
    edges = [0, 1, 127, 128, 1 << 23, (1 << 23) - 1, 1 << kind.width - 1, (1 << kind.width) - 1]
    val = draw(like(crd, d, st.none() | st.sampled_from([x & (1 << kind.width) - 1 for x in edges])))

    def keep(crds: list[int], vals: list[int | None]) -> list[tuple[int, int]]:
        return [(c, v) for c, v in zip(crds, vals, strict=True) if v is not None and kind.decode(v) != 0]

    kept = zip_at(d - 1, keep, crd, val)
    return Case(
        make("drop_val", "n", d, **params),
        {"crd": crd, "val": val},
        {"crd": at_depth(kept, d, lambda pair: pair[0]), "val": at_depth(kept, d, lambda pair: pair[1])},
        value=graph,
    )


@st.composite
def write_compressed(draw: Draw) -> Case:
    d = draw(some_depths)
    crd = draw(coordinates(d, COORDINATE_LIMIT))
    written = leaves(crd, d - 1)
    pos = [0, *(int(p) for p in np.cumsum([len(fiber) for fiber in written]))]
    return Case(
        make("write_compressed", "n", d, pos="p", crd="c"),
        {"crd": crd},
        memories={"p": np.zeros(len(pos), np.int64), "c": np.zeros(pos[-1], np.int64)},
        written={"p": pos, "c": leaves(crd, d)},
    )


@st.composite
def write_dense(draw: Draw) -> Case:
    d = draw(some_depths)
    extent = draw(st.integers(0, 4))
    crd = draw(structures(d - 1, st.just(list(range(extent)))))
    return Case(make("write_dense", "n", d, extent="i"), {"crd": crd}, extents={"i": extent})


@st.composite
def write_val(draw: Draw) -> Case:
    d = draw(depths)
    val = draw(structures(d, st.none() | values))
    written = [0 if x is None else x for x in leaves(val, d)]
    return Case(
        make("write_val", "n", d, vals="v"),
        {"val": val},
        memories={"v": np.zeros(len(written), np.int64)},
        written={"v": written},
    )


@st.composite
def write_at(draw: Draw) -> Case:
    d = draw(depths)
    val = draw(structures(d, st.none() | values))
    words = [0 if x is None else x for x in leaves(val, d)]
    places = draw(st.permutations(range(len(words) + 2)))[: len(words)]
    stored = dict(zip(places, words, strict=True))
    left = iter(places)
    written = [stored.get(place, 0) for place in range(max(places, default=-1) + 1)]
    return Case(
        make("write_at", "n", d, vals="v"),
        {"ref": at_depth(val, d, lambda _: next(left)), "val": val},
        memories={"v": np.zeros(len(words) + 2, np.int64)},
        written={"v": written},
    )


CASES: dict[str, Callable[[], st.SearchStrategy[Case]]] = {
    strategy.__name__: strategy
    for strategy in (
        root,
        step_ref,
        scan_dense,
        scan_compressed,
        scan_singleton,
        scan_ell,
        scan_ragged,
        scan_dia,
        repeat,
        crd_hold,
        locate,
        pick,
        shift,
        scatter,
        gather,
        intersect,
        union,
        array,
        alu,
        matmul,
        fold,
        reduce_scalar,
        running,
        recur,
        last,
        arg,
        top_k,
        reduce_vector,
        recur_vector,
        drop_crd,
        drop_val,
        write_compressed,
        write_dense,
        write_val,
        write_at,
    )
}


@dataclass
class Timing:
    """How sources, sinks and channels behave."""

    ready: Mapping[str, list[int]]
    sinks: Mapping[str, list[int]]
    input_depths: Mapping[str, int]
    output_depths: Mapping[str, int]


@st.composite
def timings(draw: Draw, case: Case) -> Timing:
    """Random ready times: bursts, gaps, or everything at once."""
    gaps = st.lists(st.sampled_from([0, 0, 0, 1, 2, 9]), max_size=12)

    def cycles() -> list[int]:
        return [int(c) for c in np.cumsum(draw(gaps))]

    inputs, outputs = case.node.inputs, case.node.outputs
    sizes = st.integers(1, 6)
    return Timing(
        ready={port.name: cycles() for port in inputs},
        sinks={port.name: cycles() for port in outputs},
        input_depths={port.name: draw(sizes) for port in inputs},
        output_depths={port.name: draw(sizes) for port in outputs},
    )


def timed(tokens: list[Token], ready: list[int]) -> list[tuple[int, Token]]:
    """Tokens with their ready cycles; those beyond the list come without delay."""
    return [(ready[k] if k < len(ready) else 0, token) for k, token in enumerate(tokens)]
