"""The scanners: what is before their *walk*, and the walk, each with the channels around it cut open."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from amaranth.hdl import Assume, Const, Mux, Signal, Value, ValueLike

from samhw.primitives.scan_compressed.component import ScanCompressed
from samhw.primitives.scan_dense.component import ScanDense
from samhw.primitives.scan_dia.component import ScanDia
from samhw.primitives.scan_ell.component import ScanEll
from samhw.primitives.scan_ragged.component import ScanRagged
from samhw.primitives.scan_singleton.component import ScanSingleton
from samhw.rtl.actor import Error
from samhw.rtl.token import TokenKind, stop_hi, stop_lo, stop_token
from tests.formal.actors.words import (
    DONE,
    always,
    answered,
    changes,
    late,
    push,
    reports,
    stable,
    stays,
    take,
    value,
)
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does, Reading, kinds
from tests.formal.page import Rows, definitions, prose, table
from tests.formal.part import Part

__all__ = ["ACTORS"]

_PLACES = 16
"""Of each memory."""

_WIDTH = 3
"""The room of a fiber of an ell level."""

_PASSED = "any other token"


def _read(at: Bench, memory: str, place: Value) -> Value:
    """What a memory has at a place."""
    port = getattr(at.component, f"mem_{memory}")
    return answered(at.m, port.en & (port.addr == place[: len(port.addr)]), port.data, 1)


Pushed = tuple[str, Mapping[str, Value]]
"""The text of the page for VAL(r), and what is pushed where."""


def _fetch(
    pushes: Callable[[Bench, Value], Pushed], limit: int, room: int | None = None
) -> Callable[[Bench], Reading]:
    """From `limit` on, r is beyond a memory; a fiber may be longer than its room."""

    def read(at: Bench) -> Reading:
        head = at.heads["ref"]
        text, words = pushes(at, head.payload)
        ends = dict.fromkeys(words, head.as_value())
        passed = "take, push it on both" if len(words) == 2 else "take, push it"
        tokens = {name: value(word) for name, word in words.items()}
        is_fiber = at.component.i.ref.valid & (head.kind == TokenKind.VAL)
        takes = always(["ref"])

        def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
            wrong = late(at.m, is_fiber & (head.payload >= limit))
            if room is not None:
                count = (words["end"] - words["start"])[:8]
                wrong |= late(at.m, is_fiber & (count > room), 3)
            return [reports(at, Error.RANGE) == wrong]

        return Reading(
            columns=[(["ref"], kinds(head) | {_PASSED: 1})],
            firings={
                text: Does(takes=takes, pushes=push(**tokens).pushes),
                passed: Does(takes=takes, pushes=push(**ends).pushes),
            },
            promises=promises,
        )

    return read


def _scale(at: Bench, r: Value) -> Pushed:
    return "take, push VAL(r · N(x))", {"base": (r * at.component.extent)[:8]}


def _fetch_ends(at: Bench, r: Value) -> Pushed:
    start = _read(at, "pos", r)
    end = _read(at, "pos_next", (r + 1)[:8])
    return "take, push VAL(pos[r]) and VAL(pos[r+1])", {"start": start, "end": end}


def _fetch_room(at: Bench, r: Value) -> Pushed:
    start = (r * _WIDTH)[:8]
    end = (start + _read(at, "cnt", r))[:8]
    return "take, push VAL(r · w) and VAL(r · w + cnt[r])", {"start": start, "end": end}


def _fetch_row(at: Bench, r: Value) -> Pushed:
    return "take, push VAL(r) and VAL(cnt[0])", {"row": r, "count": _read(at, "cnt", Const(0, 8))}


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


Words = Callable[[Bench, Value], Mapping[str, Value]]
"""What the expressions of the page mean, by the coordinate's number c."""

Wrong = Callable[[Bench, Value, Value, Value], Value]
"""A `range` error in this cycle: of the number c of the coordinate at the heads, crd(c), and whether it is
pushed."""

Registers = Callable[[Bench, Value, Value], ValueLike]
"""How those of the scanner stand to c and n."""


def _walk(
    page: str,
    inputs: Sequence[str],
    outputs: tuple[str, str],
    words: Words,
    ahead: Registers,
    wrong: Wrong,
) -> Callable[[Bench], Reading]:
    def read(at: Bench) -> Reading:
        head = at.heads[inputs[0]]
        c, open_ = Signal(8), Signal()
        for name in inputs:
            stays(at, name)
        if len(inputs) == 2:
            _in_lockstep(at, *inputs)
        known = words(at, c)
        count, crd, ref = (known[text] for text in definitions(page))
        n = Mux(head.kind == TokenKind.EMPTY, 0, count)
        lo, hi = stop_lo(head), stop_hi(head)
        # A list without fibers ends after a stop.
        at.m.d.comb += Assume(~open_ | (head.kind != TokenKind.STOP) | (lo == 0))
        conditions = {
            "": 1,
            "`open`": open_,
            "`open`, c = 0, n > 0": open_ & (c == 0) & (n > 0),
            "`open`, c = 0, n = 0": open_ & (c == 0) & (n == 0),
            "n = 0": n == 0,
            "c < n - 1": c < n - 1,
            "c = n - 1": c == n - 1,
            "lo = 0, `open`": (lo == 0) & open_,
            "lo = 0": lo == 0,
            "lo ≥ 1": lo >= 1,
        }

        def both(token: ValueLike) -> Does:
            return push(**dict.fromkeys(outputs, token))

        inside = _is_fiber(at, inputs[0]) & (c < n)
        pushes = "push crd VAL(crd(c)), ref VAL(ref(c))"
        return Reading(
            columns=[(inputs, kinds(head)), ([], conditions)],
            firings={
                "take": take(*inputs),
                "push nothing": Does(),
                pushes: push(**dict(zip(outputs, (value(crd), value(ref)), strict=True))),
                "push S0": both(stop_token(0, 0)),
                "push S0 (open stays true: now for this fiber)": both(stop_token(0, 0)),
                "push STOP(0, hi+1)": both(stop_token(0, hi + 1)),
                "push STOP(1, hi+1)": both(stop_token(1, hi + 1)),
                "push STOP(lo+1, hi+1)": both(stop_token(lo + 1, hi + 1)),
                "push DONE": both(DONE),
                "c := c + 1": changes(c.eq(c + 1)),
                "c := 0": changes(c.eq(0)),
                "open := true": changes(open_.eq(1)),
                "open := false": changes(open_.eq(0)),
            },
            same=(at.state["whole.walk.open"] == open_)
            & (at.state["whole.walk.first"] == (c == 0))
            & ((c == 0) | (inside & ~open_))
            & ahead(at, c, n),
            promises=lambda happens: [reports(at, Error.RANGE) == wrong(at, c, crd, happens[pushes])],
        )

    return read


def _between(at: Bench, start: str, end: str) -> Value:
    """e − s, of fibers that do not end before they start."""
    s, e = at.heads[start].payload, at.heads[end].payload
    at.m.d.comb += Assume((at.heads[start].kind != TokenKind.VAL) | (s <= e))
    return (e - s)[:8]


def _stored(at: Bench, c: Value) -> Mapping[str, Value]:
    position = (at.heads["start"].payload + c)[:8]
    return {
        "e − s": _between(at, "start", "end"),
        "crd[s + c]": _read(at, "crd", position),
        "s + c": position,
    }


def _counted(at: Bench, c: Value) -> Mapping[str, Value]:
    position = (at.heads["start"].payload + c)[:8]
    return {"e − s": _between(at, "start", "end"), "c": c, "s + c": position}


def _dense(at: Bench, c: Value) -> Mapping[str, Value]:
    extent = stable(at.m, at.component.extent)
    # "`extent` must be stable from the cycle before the first token comes."
    some = Signal()
    at.m.d.sync += some.eq(1)
    at.m.d.comb += Assume(some | ~at.component.i.base.valid)
    return {"N(x)": extent, "c": c, "b + c": (at.heads["base"].payload + c)[:8]}


def _single(at: Bench, c: Value) -> Mapping[str, Value]:
    r = at.heads["ref"].payload
    return {"1": Const(1, 8), "crd[r]": _read(at, "crd", r), "r": r}


def _diagonals(at: Bench, c: Value) -> Mapping[str, Value]:
    r = at.heads["row"].payload
    rows = stable(at.m, at.component.rows)
    # Few, for the sake of the multiplication.
    at.m.d.comb += Assume(rows < 8)
    return {
        "k": at.heads["count"].payload,
        "r + off[c]": (r + _read(at, "off", c))[:8],
        "r + c · N(y)": (r + c * rows)[:8],
    }


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


_UNNAMED = "whole.$signal"
"""The register `following` of scan_ragged and scan_dia themselves, which Amaranth gives no name."""


def _number_ahead(at: Bench, c: Value, n: Value) -> Value:
    return _position_ahead(at, c, n) & ((c == 0) | (at.state[_UNNAMED] == c))


def _diagonal_ahead(at: Bench, c: Value, n: Value) -> Value:
    place = (at.heads["row"].payload + c * at.component.rows)[:8]
    is_last = at.state["whole.following_is_last"] == (c == n - 1)
    ahead = is_last & (at.state["whole.following"] == c) & (at.state[_UNNAMED] == place)
    return (c == 0) | ahead


def _dense_ahead(at: Bench, c: Value, n: Value) -> Value:
    return (at.state["whole.c"] == c) & ((c == 0) | (at.state["whole.c_is_last"] == (c == n - 1)))


def _nothing_ahead(at: Bench, c: Value, n: Value) -> Value:
    return Const(1)


def _keep(at: Bench) -> Reading:
    a, place = at.heads["at"], at.heads["place"]
    _in_lockstep(at, "at", "place")
    last, some = Signal(8), Signal()
    kept = a.payload < at.component.extent
    # What does not increase leaves with an error that comes later; so the proof of the streams says. The walk
    # pushes no EMPTY.
    disordered = (a.kind == TokenKind.VAL) & kept & some & (a.payload <= last)
    at.m.d.comb += [Assume(~disordered), Assume(a.kind != TokenKind.EMPTY)]
    return Reading(
        columns=[
            (["at", "place"], kinds(a)),
            (
                [],
                {
                    "": 1,
                    "a < N(x), not (`some` and a ≤ `last`)": kept & ~(some & (a.payload <= last)),
                    "a ≥ N(x)": ~kept,
                },
            ),
        ],
        firings={
            "take both": take("at", "place"),
            "push both": push(crd=a.as_value(), ref=place.as_value()),
            "push nothing": Does(),
            "`last` := a, `some` := true": changes(last.eq(a.payload), some.eq(1)),
            "`some` := false": changes(some.eq(0)),
        },
        same=at.state["whole.first"] == ~some,
    )


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
    rows: Rows,
    inputs: Sequence[str],
    outputs: Sequence[str],
    read: Callable[[Bench], Reading],
    latency: int,
    sooner: Mapping[str, int] = MappingProxyType({}),
) -> Actor:
    """An actor by its name: `walk of scan_dense`."""
    whole = name.rpartition(" of ")[2]
    make = partial(Part, _WHOLE[whole], _CHANNELS[whole], inputs, outputs, covers=True)
    return Actor(name, rows, make, read, latency, sooner)


_PUSHES = ("crd", "ref")
_STORED = (SHORT.memory, {"ref": SHORT.step})
"""Latencies of a walk over stored coordinates."""

_MORE = SHORT.memory + SHORT.step


def _walk_of(
    kind: str,
    inputs: Sequence[str],
    words: Words,
    ahead: Registers,
    wrong: Wrong,
    latencies: tuple[int, Mapping[str, int]] = (SHORT.step, MappingProxyType({})),
    *,
    page: str = "",
    outputs: tuple[str, str] = _PUSHES,
) -> Actor:
    """Over stored coordinates it is that of scan_compressed, whose page is asked."""
    read = _walk(page or kind, inputs, outputs, words, ahead, wrong)
    return _part(f"walk of {kind}", table("Walking a fiber"), inputs, outputs, read, *latencies)


def _fetch_of(
    kind: str, outputs: Sequence[str], read: Callable[[Bench], Reading], latency: int, page: str = ""
) -> Actor:
    return _part(f"fetch of {kind}", prose(page or kind, "fetch"), ["ref"], outputs, read, latency)


ACTORS = (
    _part(
        "scale of scan_dense",
        prose("scan_dense", "scale"),
        ["ref"],
        ["base"],
        _fetch(_scale, 1 << 8),
        SHORT.locate,
    ),
    _fetch_of("scan_compressed", _FIBER, _fetch(_fetch_ends, _PLACES - 1), SHORT.memory),
    _fetch_of("scan_ell", _FIBER, _fetch(_fetch_room, _PLACES, _WIDTH), _MORE),
    _fetch_of("scan_ragged", _FIBER, _fetch(_fetch_ends, _PLACES - 1), SHORT.memory, "scan_compressed"),
    _fetch_of("scan_dia", ("row", "count"), _fetch(_fetch_row, 1 << 8), SHORT.memory),
    _walk_of("scan_dense", ["base"], _dense, _dense_ahead, _never),
    _walk_of("scan_compressed", _FIBER, _stored, _position_ahead, _wrong_stored, _STORED),
    _walk_of("scan_singleton", ["ref"], _single, _nothing_ahead, _wrong_single, _STORED),
    _walk_of("scan_ell", _FIBER, _stored, _position_ahead, _wrong_stored, _STORED, page="scan_compressed"),
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
    _part("keep of scan_dia", table("scan_dia"), ("at", "place"), _PUSHES, _keep, SHORT.step),
)
