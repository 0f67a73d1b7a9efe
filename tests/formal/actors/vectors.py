"""The actors of the vector reducers. All but *accumulate* are those of recur_vector too."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from amaranth.hdl import Assume, Cat, Const, Mux, Signal, Value, ValueLike

from samhw.primitives.bank_filler.component import BankFiller
from samhw.primitives.bitmap_walker.component import BitmapWalker
from samhw.primitives.row_emitter.component import RowEmitter
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.token import TokenKind, is_payload, stop_hi, stop_lo, stop_token
from tests.formal.actors.words import DONE, EMPTY, answered, changes, push, stays, take, value
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does, Reading, kinds
from tests.formal.page import table
from tests.formal.part import Named, Part

__all__ = ["ACTORS"]

_BANKS = 2


def _fetch(*, top: bool) -> Callable[[Bench], Reading]:
    def read(at: Bench) -> Reading:
        head = at.heads["in"]
        bank = Signal(range(_BANKS))
        drain = {name: at.given[f"whole.inside.drain__{name}"] for name in ("en", "addr")}
        drain_bank = at.given["whole.inside.drain_bank"]
        found = "whole.inside.bitmap.drain__data"
        data = at.state[found] if top else at.given[found]
        right = (drain["addr"] == head.payload[: len(drain["addr"])]) & (drain_bank == bank)
        word = value(answered(at.m, drain["en"] & right, data, 1))
        stop = head.kind == TokenKind.STOP

        def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
            return [drain["en"] == happens["clear that word"]]

        return Reading(
            columns=[
                ([], {"K−1": top, "< K−1": not top, "any": 1}),
                (["in"], kinds(head) | {"STOP(lo, hi), lo ≤ n": stop & (stop_lo(head) <= 1)}),
            ],
            firings={
                "take": take("in"),
                "push addr the STOP, word VAL(bitmap[0])": push(addr=head.as_value(), word=word),
                "push addr VAL(a), word VAL(bitmap[a])": push(addr=head.as_value(), word=word),
                "push addr the STOP, word EMPTY": push(addr=head.as_value(), word=EMPTY),
                "push DONE on both": push(addr=DONE, word=DONE),
                # By the memory, in a cycle in which the promise says that it is asked.
                "clear that word": Does(),
                "use the next bank": _next(bank),
            },
            same=at.state["whole.inside.drained"] == bank,
            promises=promises,
        )

    return read


def _next(bank: Signal) -> Does:
    return changes(bank.eq(Mux(bank == _BANKS - 1, 0, bank + 1)))


def _iterate(*, top: bool) -> Callable[[Bench], Reading]:
    def read(at: Bench) -> Reading:
        addr, word = at.heads["addr"], at.heads["word"]
        for name in ("addr", "word"):
            stays(at, name)
        # *fetch* pushes both together: a word with a STOP that flushes a bank, or with each address.
        has_word = (stop_lo(addr) <= 1) & top
        with_stop = Mux(has_word, word.kind == TokenKind.VAL, word.kind == TokenKind.EMPTY)
        stop, done = addr.kind == TokenKind.STOP, addr.kind == TokenKind.DONE
        both_val = (addr.kind == TokenKind.VAL) & (word.kind == TokenKind.VAL) & (not top)
        paired = (stop & with_stop) | (done & (word.kind == TokenKind.DONE)) | both_val
        there = at.component.i.addr.valid & at.component.i.word.valid
        at.m.d.comb += Assume(paired)
        bits = len(word.payload)
        w, v, least = Signal(bits), Signal(bits), Signal(range(bits))
        gone = at.state["whole.inside.gone"]
        at.m.d.comb += v.eq(word.payload & ~w)
        for bit in reversed(range(bits)):
            with at.m.If(v[bit]):
                at.m.d.comb += least.eq(bit)
        one = any_of(v == 1 << bit for bit in range(bits))
        more = v.any() & ~one
        base = Mux(addr.kind == TokenKind.VAL, addr.payload * 32, 0)
        found = value((base + least)[:8])
        return Reading(
            columns=[
                (["addr"], kinds(addr) | {"any": 1}),
                (["word"], kinds(word)),
                (
                    [],
                    {
                        "": 1,
                        "v has more than one bit, or addr is a STOP and v ≠ 0": more | (stop & v.any()),
                        "v has one bit": one,
                        "v = 0": ~v.any(),
                    },
                ),
            ],
            firings={
                "take both": take("addr", "word"),
                "push VAL(base + i), i the least bit of v": push(out=found),
                "push VAL(base + i)": push(out=found),
                "w := w with bit i": changes(w.bit_select(least, 1).eq(1)),
                "w := 0": changes(w.eq(0)),
                "push the STOP": push(out=addr.as_value()),
                "push DONE": push(out=DONE),
            },
            # Of bits that the word lacks, it does not matter whether they are gone.
            same=Mux(
                w.any(),
                there & (word.kind == TokenKind.VAL) & ((word.payload & ~gone) == v),
                gone == 0,
            ),
        )

    return read


_WIDTHS = (1, 2, 2)
"""Of the kept coordinates, innermost first."""

_N = len(_WIDTHS)
_STREAMS = {"val": 0, **{f"crd{s}": s for s in range(_N)}}
"""By output its number, counted from the inside."""


def _coordinates(addr: Value) -> list[Value]:
    return [addr[sum(_WIDTHS[:s]) : sum(_WIDTHS[: s + 1])] for s in range(_N)]


def _emit(at: Bench) -> Reading:
    head, n = at.heads["addr"], _N
    addr = head.payload
    outer = _coordinates(addr)
    is_set, some, bank = Signal(), Signal(), Signal(range(_BANKS))
    last = [Signal(width, name=f"last{s}") for s, width in enumerate(_WIDTHS)]
    fresh, greatest = Signal(range(n)), Signal(range(n))
    for s in range(1, n):
        with at.m.If(outer[s] != last[s]):
            at.m.d.comb += greatest.eq(s)
    remember = [last[s].eq(outer[s]) for s in range(1, n)]
    lo, hi = stop_lo(head), stop_hi(head)
    # After the last stop no row is open.
    at.m.d.comb += Assume((head.kind != TokenKind.DONE) | ~is_set)
    drain = at.component.drain
    word = answered(at.m, drain.en & (drain.addr == addr[: len(drain.addr)]), drain.data, 1)
    reads = "push crd0 VAL, val VAL(bank[addr]), and clear present there"
    due = (
        "push crd<s> VAL for each s ≥ 1 that is due: all if `last` is none, those with s ≤ fresh if "
        "`fresh` > 0, else none"
    )
    ends = (
        "push on stream s: STOP(x, hi−1−s), x = 0 if something was emitted since the last such STOP, or "
        "s = n−1"
    )

    def on_each(token: Callable[[int], ValueLike]) -> dict[str, tuple[ValueLike, ValueLike]]:
        return {name: (Const(1), token(s)) for name, s in _STREAMS.items()}

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        return [drain.en == happens[reads], at.component.drain_bank == bank]

    return Reading(
        columns=[
            (["addr"], kinds(head) | {"VAL(addr)": head.kind == TokenKind.VAL}),
            (
                [],
                {
                    "": 1,
                    "`last` is set and differs from addr in some outer coordinate; m ≥ 1 the greatest level "
                    "that differs": is_set & any_of(outer[s] != last[s] for s in range(1, n)),
                    "lo ≤ n": lo <= n,
                    "lo ≥ n+1": lo >= n + 1,
                },
            ),
        ],
        firings={
            "take": take("addr"),
            "push STOP(0, m−1−s) on each stream s < m": Does(
                pushes={name: (greatest > s, stop_token(0, greatest - 1 - s)) for name, s in _STREAMS.items()}
            ),
            "last := the outer coordinates of addr, `fresh` := m": changes(*remember, fresh.eq(greatest)),
            reads: Does(
                pushes={"crd0": (Const(1), value(outer[0])), "val": (Const(1), value(word))},
                changes=[some.eq(1)],
            ),
            due: Does(pushes={f"crd{s}": (~is_set | (fresh >= s), value(outer[s])) for s in range(1, n)}),
            "last := the outer coordinates": changes(*remember, is_set.eq(1)),
            "fresh := 0": changes(fresh.eq(0)),
            "push VAL(0) on `bank`": Does(
                pushes={"bank": (Const(1), value(0))},
                changes=[bank.eq(Mux(bank == _BANKS - 1, 0, bank + 1)), some.eq(0)],
            ),
            ends: Does(
                pushes=on_each(lambda s: stop_token(Mux(some, 0, 0 if s == n - 1 else n - 1 - s), hi - 1 - s))
            ),
            # Said with the row above.
            "else x = n−1−s": Does(),
            "last := none": changes(is_set.eq(0)),
            "push on stream s STOP(lo−1−s, hi−1−s)": Does(
                pushes=on_each(lambda s: stop_token(lo - 1 - s, hi - 1 - s))
            ),
            "push DONE on all outputs (not on `bank`)": Does(pushes=on_each(lambda s: DONE)),
        },
        same=(at.state["inside.emitted"] == is_set)
        & (some == is_set)
        & (at.state["inside.fresh"] == fresh)
        & (fresh < n)
        & (at.component.drain_bank == bank)
        & all_of(~is_set | (at.state[f"inside.last{s}"] == last[s]) for s in range(1, n)),
        promises=promises,
    )


def _accumulate(at: Bench) -> Reading:
    """Of the coordinates and one value stream or two."""
    fill, n = at.component, _N
    names = [name for name in at.heads if name != "free"]
    heads = [at.heads[name] for name in names]
    crds, values, first = heads[:n], heads[n:], heads[0]
    bank = Signal(range(_BANKS))
    same = all_of(head.as_value() == first.as_value() for head in heads)
    stops = same & (first.kind == TokenKind.STOP)
    lo, hi = stop_lo(first), stop_hi(first)
    words = {
        "all payloads": all_of(map(is_payload, heads)),
        "all STOP(lo, hi), hi < n": stops & (hi < n),
        "all STOP(lo, hi), hi ≥ n, lo ≤ n": stops & (hi >= n) & (lo <= n),
        "all STOP(lo, hi), lo ≥ n+1": stops & (lo >= n + 1),
        "all DONE": same & (first.kind == TokenKind.DONE),
    }
    accumulates = "bank[addr] := val if not present, else op(bank[addr], val)"
    marks = "set present and the K bitmap bits. A coordinate ≥ 2^b is a `range` error"
    addr = Cat(crd.payload[:width] for crd, width in zip(crds, _WIDTHS, strict=True))
    operand = Cat(each.payload for each in values)
    wide = any_of(crd.payload >= 1 << width for crd, width in zip(crds, _WIDTHS, strict=True))

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        update = happens[accumulates]
        right = (
            (fill.update == update)
            & (~update | ((fill.addr == addr) & (fill.operand == operand)))
            & (fill.beyond == (update & wide))
        )
        # What is updated with an error means nothing.
        return [fill.error.as_value().any() | right]

    return Reading(
        columns=[(names, words)],
        firings={
            "take": take(*names),
            "take, and take one token of `bank`": take(*names, "free"),
            # What waits has the key of an update less than L₊ cycles ago.
            accumulates: Does(waits=fill.pending),
            marks: Does(),
            "push nothing": Does(),
            **dict.fromkeys(("push flush STOP(lo, hi)", "push flush DONE"), push(flush=first.as_value())),
            "use the next bank": _next(bank),
        },
        same=fill.bank == bank,
        promises=promises,
    )


_STEP = 2
"""L₊."""


def _filler(*values: str) -> Named:
    fill = BankFiller(
        arch=SHORT,
        values=values,
        val_width=8,
        bits=_WIDTHS,
        addr_width=sum(_WIDTHS),
        banks=_BANKS,
        latency=_STEP,
    )
    inputs = {name: getattr(fill.i, name) for name in (*(f"crd{s}" for s in range(_N)), *values)}
    others = ("pending", "update", "addr", "operand", "beyond", "bank")
    return Named(fill, inputs | {"free": fill.free}, {"flush": fill.flush}, others)


def _walker(**shape: int) -> Named:
    walker = BitmapWalker(kept=1, banks=_BANKS, arch=SHORT, **shape)
    others = ("bank", "mark", "mark_addr", "sweep", "sweep_addr")
    return Named(walker, {"in": walker.i}, {"out": walker.o}, others)


def _part(level: int, width: int, inputs: Sequence[str], outputs: Sequence[str]) -> Part:
    """Of the two walkers of an address of eight bits, by the level; the words have this many bits."""
    make = partial(_walker, level=level, levels=2, addr_width=8)
    return Part(make, ["addr", "word"], inputs, outputs, widths={"word": width})


_WALKERS = ((0, 32), (1, 8))


def _emitter() -> Named:
    emit = RowEmitter(arch=SHORT, value_width=8, bits=_WIDTHS, addr_width=sum(_WIDTHS), banks=_BANKS)
    outputs = {name: getattr(emit.o, name) for name in _STREAMS} | {"bank": emit.bank}
    return Named(emit, {"addr": emit.i}, outputs, ("drain", "drain_bank"))


ACTORS = (
    *(
        Actor(
            f"accumulate of {kind}",
            table("reduce_vector", "accumulate"),
            partial(_filler, *values),
            _accumulate,
            latency=_STEP + 1,
        )
        for kind, values in (("reduce_vector", ["val"]), ("recur_vector", ["factor", "val"]))
    ),
    *(
        Actor(
            f"fetch{level} of reduce_vector",
            table("reduce_vector", "fetch k"),
            partial(_part, level, width, ["in"], ["addr", "word"]),
            _fetch(top=level == 1),
            latency=SHORT.memory,
        )
        for level, width in _WALKERS
    ),
    *(
        Actor(
            f"iterate{level} of reduce_vector",
            table("reduce_vector", "iterate k"),
            partial(_part, level, width, ["addr", "word"], ["out"]),
            _iterate(top=level == 1),
        )
        for level, width in _WALKERS
    ),
    Actor(
        "emit of reduce_vector",
        table("reduce_vector", "emit"),
        _emitter,
        _emit,
        latency=SHORT.memory,
        sooner=dict.fromkeys([*(f"crd{s}" for s in range(_N)), "bank"], SHORT.step),
    ),
)
