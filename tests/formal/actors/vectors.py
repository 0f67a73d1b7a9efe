"""The actors of the vector reducers. All but *accumulate* are those of recur_vector too."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from amaranth.hdl import Assume, Cat, Mux, Signal, Value, ValueLike

from docs.rules import rows
from samhw.primitives.bank_filler.component import BankFiller
from samhw.primitives.bitmap_walker.component import BitmapWalker
from samhw.primitives.row_emitter.component import RowEmitter
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.token import TokenKind, is_payload, stop_lo
from tests.formal.actors.words import always, answered, stays
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does
from tests.formal.part import Named, Part
from tests.formal.rules import Head, Meaning

__all__ = ["ACTORS"]

_BANKS = 2


def _fetch(*, top: bool) -> Callable[[Bench], Meaning]:
    def read(at: Bench) -> Meaning:
        bank = Signal(range(_BANKS))
        drain = {name: at.given[f"whole.inside.drain__{name}"] for name in ("en", "addr")}
        drain_bank = at.given["whole.inside.drain_bank"]
        found = "whole.inside.bitmap.drain__data"
        data = at.state[found] if top else at.given[found]

        def bitmap(place: ValueLike) -> Value:
            right = (drain["addr"] == Value.cast(place)[: len(drain["addr"])]) & (drain_bank == bank)
            return answered(at.m, drain["en"] & right, data, 1)

        def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
            return [drain["en"] == happens["clear_word()"]]

        names = {
            "k": int(top),
            "K": 2,
            "n": 1,
            "bitmap": bitmap,
            # By the memory, in a cycle in which the promise says that it is asked.
            "clear_word": Does,
            "use_next_bank": lambda: _next(bank),
        }
        return Meaning(at, names, same=at.state["whole.inside.drained"] == bank, promises=promises)

    return read


def _next(bank: Signal) -> Does:
    return Does(changes=[bank.eq(Mux(bank == _BANKS - 1, 0, bank + 1))])


def _iterate(*, top: bool) -> Callable[[Bench], Meaning]:
    def read(at: Bench) -> Meaning:
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
        names = {
            "w": w,
            "v": v,
            "base": Mux(addr.kind == TokenKind.VAL, addr.payload * 32, 0),
            "many": lambda v: v.any() & ~one,
            "one": lambda v: one,
            "least": lambda v: least,
            "is_stop": lambda head: stop,
        }
        # Of bits that the word lacks, it does not matter whether they are gone.
        at_word = there & (word.kind == TokenKind.VAL) & (word.payload & ~gone == v)
        return Meaning(at, names, same=Mux(w.any(), at_word, gone == 0))

    return read


_WIDTHS = (1, 2, 2)
"""Of the kept coordinates, innermost first."""

_N = len(_WIDTHS)
_STREAMS = {"val": 0, **{f"crd{s}": s for s in range(_N)}}
"""By output its number, counted from the inside."""


def _coordinates(addr: Value) -> list[Value]:
    return [addr[sum(_WIDTHS[:s]) : sum(_WIDTHS[: s + 1])] for s in range(_N)]


def _emit(at: Bench) -> Meaning:
    head, n = at.heads["addr"], _N
    is_set, some, bank = Signal(), Signal(), Signal(range(_BANKS))
    last = [Signal(width, name=f"last{s}") for s, width in enumerate(_WIDTHS)]
    fresh, greatest = Signal(range(n)), Signal(range(n))
    for s in range(1, n):
        with at.m.If(_coordinates(head.payload)[s] != last[s]):
            at.m.d.comb += greatest.eq(s)
    # After the last stop no row is open.
    at.m.d.comb += Assume((head.kind != TokenKind.DONE) | ~is_set)
    drain = at.component.drain

    def stored(place: Value) -> Value:
        return answered(at.m, drain.en & (drain.addr == place[: len(drain.addr)]), drain.data, 1)

    def remember(addr: Value) -> Does:
        return Does(changes=[last[s].eq(_coordinates(addr)[s]) for s in range(1, n)])

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        return [drain.en == happens["clear_present()"], at.component.drain_bank == bank]

    return Meaning(
        at,
        {
            "n": n,
            "m": greatest,
            "last_set": is_set,
            "some": some,
            "fresh": fresh,
            "remember": remember,
            "outer": lambda addr, s: _coordinates(addr)[s],
            "bank": stored,
            # By the memory, in a cycle in which the promise says that it is asked.
            "clear_present": Does,
            "use_next_bank": lambda: _next(bank),
        },
        streams=_STREAMS,
        same=(at.state["inside.emitted"] == is_set)
        & (some == is_set)
        & (at.state["inside.fresh"] == fresh)
        & (fresh < n)
        & (at.component.drain_bank == bank)
        & all_of(~is_set | (at.state[f"inside.last{s}"] == last[s]) for s in range(1, n)),
        promises=promises,
    )


def _accumulate(at: Bench) -> Meaning:
    """Of the coordinates and one value stream or two."""
    fill, n = at.component, _N
    names = [name for name in at.heads if name != "free"]
    heads = [at.heads[name] for name in names]
    crds, values, first = heads[:n], heads[n:], heads[0]
    bank = Signal(range(_BANKS))
    addr = Cat(crd.payload[:width] for crd, width in zip(crds, _WIDTHS, strict=True))
    operand = Cat(each.payload for each in values)
    wide = any_of(crd.payload >= 1 << width for crd, width in zip(crds, _WIDTHS, strict=True))

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        update = happens["update(addr)"]
        right = (
            (fill.update == update)
            & (~update | ((fill.addr == addr) & (fill.operand == operand)))
            & (fill.beyond == (update & wide))
        )
        # What is updated with an error means nothing.
        return [fill.error.as_value().any() | right]

    return Meaning(
        at,
        {
            "n": n,
            "addr": addr,
            "all_payload": all_of(map(is_payload, heads)),
            "equal": all_of(head.as_value() == first.as_value() for head in heads),
            # What waits has the key of an update less than L₊ cycles ago.
            "update": lambda addr: Does(waits=fill.pending),
            "use_next_bank": lambda: _next(bank),
        },
        columns={"heads": Head(first, always(names))},
        takes=always(names),
        ports={"bank": "free"},
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
            rows("reduce_vector", "accumulate"),
            partial(_filler, *values),
            _accumulate,
            latency=_STEP + 1,
        )
        for kind, values in (("reduce_vector", ["val"]), ("recur_vector", ["factor", "val"]))
    ),
    *(
        Actor(
            f"fetch{level} of reduce_vector",
            rows("reduce_vector", "fetch"),
            partial(_part, level, width, ["in"], ["addr", "word"]),
            _fetch(top=level == 1),
            latency=SHORT.memory,
        )
        for level, width in _WALKERS
    ),
    *(
        Actor(
            f"iterate{level} of reduce_vector",
            rows("reduce_vector", "iterate"),
            partial(_part, level, width, ["addr", "word"], ["out"]),
            _iterate(top=level == 1),
        )
        for level, width in _WALKERS
    ),
    Actor(
        "emit of reduce_vector",
        rows("reduce_vector", "emit"),
        _emitter,
        _emit,
        latency=SHORT.memory,
        sooner=dict.fromkeys([*(f"crd{s}" for s in range(_N)), "bank"], SHORT.step),
    ),
)
