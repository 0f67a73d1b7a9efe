"""The scanners: what is before their *walk*, and the walk, each with the channels around it cut open."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from amaranth.hdl import Assume, Const, Mux, Signal, Value, ValueLike

from docs.rules import Rows, rows
from samhw.primitives.scan_compressed.component import ScanCompressed
from samhw.primitives.scan_dense.component import ScanDense
from samhw.primitives.scan_dia.component import ScanDia
from samhw.primitives.scan_ell.component import ScanEll
from samhw.primitives.scan_ragged.component import ScanRagged
from samhw.primitives.scan_singleton.component import ScanSingleton
from samhw.rtl.actor import Error
from samhw.rtl.token import TokenKind, stop_lo
from tests.formal.actors.words import always, late, reports, stable, stays, stored
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench
from tests.formal.part import Part
from tests.formal.rules import Head, Meaning

__all__ = ["ACTORS"]

_PLACES = 16
"""Of each memory."""

_WIDTH = 3
"""The room of a fiber of an ell level."""

_PUSHED = "push(crd=VAL(crd(c)), ref=VAL(ref(c)))"
"""What a walk does for each coordinate."""

_PUSHES = ("crd", "ref")


def _extent(at: Bench) -> Callable[[str], Value]:
    """N(x)."""
    return lambda index: at.component.extent


def _fetch(limit: int, room: int | None = None) -> Callable[[Bench], Meaning]:
    """From `limit` on, r is beyond a memory; a fiber may be longer than its room."""

    def read(at: Bench) -> Meaning:
        head = at.heads["ref"]
        is_fiber = at.component.i.ref.valid & (head.kind == TokenKind.VAL)
        counts: list[Value] = []

        def cnt(place: ValueLike) -> Value:
            counts.append(stored(at, "cnt")(place))
            return counts[-1]

        def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
            wrong = late(at.m, is_fiber & (head.payload >= limit))
            if room is not None:
                wrong |= late(at.m, is_fiber & (counts[0] > room), 3)
            return [reports(at, Error.RANGE) == wrong]

        names = {"pos": stored(at, "pos"), "cnt": cnt, "w": room, "N": _extent(at)}
        return Meaning(at, names, promises=promises)

    return read


def _in_lockstep(at: Bench, first: str, second: str) -> None:
    """Two channels that are filled and emptied together."""
    a, b = at.heads[first], at.heads[second]
    both_val = (a.kind == TokenKind.VAL) & (b.kind == TokenKind.VAL)
    ports = at.component.i
    at.m.d.comb += [
        Assume(both_val | ((a.kind != TokenKind.VAL) & (a.as_value() == b.as_value()))),
        Assume(getattr(ports, first).valid == getattr(ports, second).valid),
    ]


def _is_fiber(at: Bench, name: str) -> Value:
    """There is a head that stands for a fiber."""
    port = getattr(at.component.i, name)
    return port.valid & (port.payload.kind == TokenKind.VAL)


Known = Callable[[Bench], Mapping[str, Any]]
"""What the names of a scanner's fibers mean."""

Wrong = Callable[[Bench, Value, Value, Value], Value]
"""A `range` error in this cycle: of the number c of the coordinate at the heads, crd(c), and whether it is
pushed."""

Registers = Callable[[Bench, Value, Value], ValueLike]
"""How those of the scanner stand to c and n."""


def _walk(
    fibers: Rows,
    inputs: Sequence[str],
    outputs: tuple[str, str],
    known: Known,
    ahead: Registers,
    wrong: Wrong,
) -> Callable[[Bench], Meaning]:
    def read(at: Bench) -> Meaning:
        head = at.heads[inputs[0]]
        c, open_ = Signal(8), Signal()
        for name in inputs:
            stays(at, name)
        if len(inputs) == 2:
            _in_lockstep(at, *inputs)
        words = Meaning(at, {"c": c, **known(at)}).values(fibers)
        crd, ref = words["crd(c)"][:8], words["ref(c)"][:8]
        n = Mux(head.kind == TokenKind.EMPTY, 0, words["n"])
        # A list without fibers ends after a stop.
        at.m.d.comb += Assume(~open_ | (head.kind != TokenKind.STOP) | (stop_lo(head) == 0))
        inside = _is_fiber(at, inputs[0]) & (c < n)

        def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
            return [reports(at, Error.RANGE) == wrong(at, c, crd, happens[_PUSHED])]

        return Meaning(
            at,
            {"c": c, "open": open_, "n": n, "crd": lambda c: crd, "ref": lambda c: ref},
            columns={"head": Head(head, always(inputs))},
            ports=dict(zip(_PUSHES, outputs, strict=True)),
            same=(at.state["whole.walk.open"] == open_)
            & (at.state["whole.walk.first"] == (c == 0))
            & ((c == 0) | (inside & ~open_))
            & ahead(at, c, n),
            promises=promises,
        )

    return read


def _ordered(at: Bench) -> None:
    """Fibers do not end before they start."""
    start, end = at.heads["start"], at.heads["end"]
    at.m.d.comb += Assume((start.kind != TokenKind.VAL) | (start.payload <= end.payload))


def _stored(at: Bench) -> Mapping[str, Any]:
    _ordered(at)
    return {"crd": stored(at, "crd")}


def _counted(at: Bench) -> Mapping[str, Any]:
    _ordered(at)
    return {}


def _dense(at: Bench) -> Mapping[str, Any]:
    extent = stable(at.m, at.component.extent)
    # "`extent` must be stable from the cycle before the first token comes."
    some = Signal()
    at.m.d.sync += some.eq(1)
    at.m.d.comb += Assume(some | ~at.component.i.base.valid)
    return {"N": lambda index: extent}


def _single(at: Bench) -> Mapping[str, Any]:
    return {"crd": stored(at, "crd")}


def _diagonals(at: Bench) -> Mapping[str, Any]:
    rows = stable(at.m, at.component.rows)
    # Few, for the sake of the multiplication.
    at.m.d.comb += Assume(rows < 8)
    return {"off": stored(at, "off"), "N": lambda index: rows}


def _position_ahead(at: Bench, c: Value, n: Value) -> Value:
    """After the first coordinate, the next position and whether it is the last are made a cycle ahead."""
    position = (at.heads["start"].payload + c)[:8]
    is_last = at.state["whole.following_is_last"] == (c == n - 1)
    return (c == 0) | ((at.state["whole.following"] == position) & is_last)


def _never(at: Bench, c: Value, crd: Value, pushed: Value) -> Value:
    return Const(0)


def _wrong_stored(at: Bench, c: Value, crd: Value, pushed: Value) -> Value:
    """The place is beyond the memory, or what lies there beyond the extent: it is looked at when it comes."""
    s, e = at.heads["start"].payload, at.heads["end"].payload
    beyond = _is_fiber(at, "start") & (s != e) & ((s + c)[:8] >= _PLACES)
    return late(at.m, beyond) | _wrong_coordinate(at, crd, pushed)


def _wrong_single(at: Bench, c: Value, crd: Value, pushed: Value) -> Value:
    beyond = _is_fiber(at, "ref") & (at.heads["ref"].payload >= _PLACES)
    return late(at.m, beyond) | _wrong_coordinate(at, crd, pushed)


def _wrong_coordinate(at: Bench, crd: Value, pushed: Value) -> Value:
    return late(at.m, pushed & (crd >= stable(at.m, at.component.extent)), 2)


def _wrong_number(at: Bench, c: Value, crd: Value, pushed: Value) -> Value:
    s, e = at.heads["start"].payload, at.heads["end"].payload
    return late(at.m, _is_fiber(at, "start") & (s != e) & (c >= at.component.extent))


def _wrong_offset(at: Bench, c: Value, crd: Value, pushed: Value) -> Value:
    return late(at.m, _is_fiber(at, "row") & (at.heads["count"].payload != 0) & (c >= _PLACES))


def _number_ahead(at: Bench, c: Value, n: Value) -> Value:
    return _position_ahead(at, c, n) & ((c == 0) | (at.state["whole.next_number"] == c))


def _diagonal_ahead(at: Bench, c: Value, n: Value) -> Value:
    place = (at.heads["row"].payload + c * at.component.rows)[:8]
    is_last = at.state["whole.following_is_last"] == (c == n - 1)
    ahead = is_last & (at.state["whole.following"] == c) & (at.state["whole.next_place"] == place)
    return (c == 0) | ahead


def _dense_ahead(at: Bench, c: Value, n: Value) -> Value:
    return (at.state["whole.c"] == c) & ((c == 0) | (at.state["whole.c_is_last"] == (c == n - 1)))


def _nothing_ahead(at: Bench, c: Value, n: Value) -> Value:
    return Const(1)


def _keep(at: Bench) -> Meaning:
    a = at.heads["at"]
    _in_lockstep(at, "at", "place")
    last, some = Signal(8), Signal()
    kept = a.payload < at.component.extent
    # What does not increase leaves with an error that comes later; so the proof of the streams says. The walk
    # pushes no EMPTY.
    disordered = (a.kind == TokenKind.VAL) & kept & some & (a.payload <= last)
    at.m.d.comb += [Assume(~disordered), Assume(a.kind != TokenKind.EMPTY)]
    return Meaning(at, {"last": last, "some": some, "N": _extent(at)}, same=at.state["whole.first"] == ~some)


_WHOLE: Mapping[str, Callable[[], Any]] = {
    "scan_dense": partial(ScanDense, arch=SHORT),
    "scan_compressed": partial(ScanCompressed, arch=SHORT, pos_capacity=_PLACES, crd_capacity=_PLACES),
    "scan_singleton": partial(ScanSingleton, arch=SHORT, crd_capacity=_PLACES),
    "scan_ell": partial(ScanEll, arch=SHORT, width=_WIDTH, cnt_capacity=_PLACES, crd_capacity=_PLACES),
    "scan_ragged": partial(ScanRagged, arch=SHORT, pos_capacity=_PLACES),
    "scan_dia": partial(ScanDia, arch=SHORT, cnt_capacity=2, off_capacity=_PLACES),
}

_FIBER = ("start", "end")
_CHANNELS: Mapping[str, Sequence[str]] = {
    "scan_dense": ("base",),
    "scan_compressed": _FIBER,
    "scan_singleton": (),
    "scan_ell": _FIBER,
    "scan_ragged": _FIBER,
    "scan_dia": ("row", "count", "at", "place"),
}
"""Those inside."""


def _part(
    name: str,
    rule: Rows,
    inputs: Sequence[str],
    outputs: Sequence[str],
    read: Callable[[Bench], Meaning],
    latency: int,
    sooner: Mapping[str, int] = MappingProxyType({}),
) -> Actor:
    """An actor by its name: `walk of scan_dense`."""
    whole = name.rpartition(" of ")[2]
    make = partial(Part, _WHOLE[whole], _CHANNELS[whole], inputs, outputs, covers=True)
    return Actor(name, rule, make, read, latency, sooner)


_STORED = (SHORT.memory, {"ref": SHORT.step})
"""Latencies of a walk over stored coordinates."""

_MORE = SHORT.memory + SHORT.step


def _walk_of(
    kind: str,
    inputs: Sequence[str],
    known: Known,
    ahead: Registers,
    wrong: Wrong,
    latencies: tuple[int, Mapping[str, int]] = (SHORT.step, MappingProxyType({})),
    *,
    of: str = "",
    outputs: tuple[str, str] = _PUSHES,
) -> Actor:
    """Over stored coordinates it is that of scan_compressed, whose rule is asked."""
    read = _walk(rows(of or kind, "walk"), inputs, outputs, known, ahead, wrong)
    return _part(f"walk of {kind}", rows("walk"), inputs, outputs, read, *latencies)


def _fetch_of(
    kind: str, outputs: Sequence[str], read: Callable[[Bench], Meaning], latency: int, of: str = ""
) -> Actor:
    return _part(f"fetch of {kind}", rows(of or kind, "fetch"), ["ref"], outputs, read, latency)


ACTORS = (
    _part(
        "scale of scan_dense",
        rows("scan_dense", "scale"),
        ["ref"],
        ["base"],
        _fetch(1 << 8),
        SHORT.locate,
    ),
    _fetch_of("scan_compressed", _FIBER, _fetch(_PLACES - 1), SHORT.memory),
    _fetch_of("scan_ell", _FIBER, _fetch(_PLACES, _WIDTH), _MORE),
    _fetch_of("scan_ragged", _FIBER, _fetch(_PLACES - 1), SHORT.memory, "scan_compressed"),
    _fetch_of("scan_dia", ("row", "count"), _fetch(1 << 8), SHORT.memory),
    _walk_of("scan_dense", ["base"], _dense, _dense_ahead, _never),
    _walk_of("scan_compressed", _FIBER, _stored, _position_ahead, _wrong_stored, _STORED),
    _walk_of("scan_singleton", ["ref"], _single, _nothing_ahead, _wrong_single, _STORED),
    _walk_of("scan_ell", _FIBER, _stored, _position_ahead, _wrong_stored, _STORED, of="scan_compressed"),
    _walk_of("scan_ragged", _FIBER, _counted, _number_ahead, _wrong_number),
    _walk_of(
        "scan_dia",
        ("row", "count"),
        _diagonals,
        _diagonal_ahead,
        _wrong_offset,
        (_MORE, MappingProxyType({})),
        outputs=("at", "place"),
    ),
    _part("keep of scan_dia", rows("scan_dia", "keep"), ("at", "place"), _PUSHES, _keep, SHORT.step),
)
