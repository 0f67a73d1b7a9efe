"""drop_crd: removes outer coordinates whose inner fiber is empty."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Self

from amaranth.hdl import Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import data, wiring

from samhw.graph import Arch
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.site import Site
from samhw.rtl.token import (
    TokenKind,
    is_s0,
    make_token,
    outer_is_stop_below,
    stop_hi,
    stop_lo,
    stop_token,
    token_layout,
)

__all__ = ["DropCrd"]


class DropCrd(Primitive):
    """In and out `outer` and `inner`, both coordinates."""

    def __init__(self, *, arch: Arch):
        self.arch = arch
        index = token_layout(arch.index_bits)
        super().__init__({"outer": index, "inner": index}, {"outer": index, "inner": index})

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        width, step = self.arch.index_bits, self.arch.step
        m.submodules.outer_out = outer_out = Output(width, latency=step, zeros=False)
        m.submodules.inner_out = inner_out = Output(width, latency=step, zeros=False)
        wiring.connect(m, outer_out.o, wiring.flipped(self.o.outer))
        wiring.connect(m, inner_out.o, wiring.flipped(self.o.inner))
        outer, inner = self.i.outer.payload, self.i.inner.payload

        have = Signal()  # the outer coordinate of this fiber has been passed on
        gone = Signal()  # the outer coordinate of an empty last fiber has been taken
        both = [self.i.outer, self.i.inner]
        table = FiringTable(m, both)
        last = _Emitted(m, table, inner, inner_out, width)
        pending, pend, emitting = last.pending, last.pend, last.row
        m.d.comb += [outer_out.result.eq(outer.payload), inner_out.result.eq(last.leaving.payload)]
        outer_push = {outer_out.i: make_token(outer.kind, outer.payload[:8])}
        outer_is_val = outer.kind == TokenKind.VAL
        outer_ends, agree = outer.kind == TokenKind.STOP, outer_is_stop_below(outer, inner)
        with m.Switch(inner.kind):
            with m.Case(TokenKind.VAL):
                with m.If(have), emitting([self.i.inner]):
                    pass
                with m.Elif(outer_is_val), emitting(both, outer_push):
                    m.d.sync += have.eq(1)
            with m.Case(TokenKind.STOP):
                with m.If(is_s0(inner)):
                    with m.If(have), emitting([self.i.inner]):
                        m.d.sync += have.eq(0)
                    with m.Elif(outer_is_val):
                        table.row(takes=both)
                with m.Elif((stop_lo(inner) == 0) & ~have):
                    with m.If(~gone):
                        with m.If(outer_is_val), table.row(needs=[self.i.inner], takes=[self.i.outer]):
                            m.d.sync += gone.eq(1)
                    with m.Elif(outer_ends & (pending & is_s0(pend))):
                        with table.row(agree=agree, takes=both, pushes=outer_push):
                            m.d.sync += [pend.eq(inner), gone.eq(0)]
                    with m.Elif(outer_ends):
                        m.d.comb += last.emitted.eq(stop_token(1, stop_hi(inner)))
                        with emitting(both, outer_push, agree):
                            m.d.sync += gone.eq(0)
                with m.Elif(outer_ends), emitting(both, outer_push, agree):
                    m.d.sync += have.eq(0)
            with m.Case(TokenKind.DONE):
                with m.If(pending), table.row(needs=[self.i.inner], pushes=last.push()):
                    m.d.sync += pending.eq(0)
                with m.Elif(outer.kind == TokenKind.DONE):
                    table.row(takes=both, pushes=outer_push | last.push())
        m.d.comb += [self.fired.eq(table.fired), self.error.eq(error_bits(protocol=table.protocol))]
        return m


class _Emitted:
    """What is emitted on inner: S0 is held back until it is known what follows it.

    Attributes:
        pend: the token that is held back, if `pending`.
        emitted: a token, which is that at the inner head unless a row says otherwise.
        leaving: the token that is pushed, if one is.
    """

    def __init__(self, m: Module, table: FiringTable, inner: data.View, out: Output, width: int):
        self.m = m
        self.table = table
        self.out = out
        self.pending = Signal()
        self.pend = Signal(token_layout(width), reset_less=True)
        self.emitted = Signal(token_layout(width))
        self.leaving = Signal(token_layout(width))
        self._is_s0 = is_s0(self.emitted)
        m.d.comb += [
            self.emitted.eq(inner),
            self.leaving.eq(Mux(self.pending, self.pend, self.emitted)),
        ]

    def push(self) -> dict[wiring.PureInterface, Value]:
        """The push of what leaves."""
        return {self.out.i: make_token(self.leaving.kind, self.leaving.payload[:8])}

    @contextmanager
    def row(
        self,
        takes: Sequence[wiring.PureInterface],
        pushes: Mapping[wiring.PureInterface, Value] = {},
        agree: Value | None = None,
    ) -> Iterator[None]:
        """A row that emits."""
        when = {self.out.i: self.pending | ~self._is_s0}
        with self.table.row(agree=agree, takes=takes, pushes={**pushes, **self.push()}, pushes_if=when):
            with self.m.If(self.pending | self._is_s0):
                self.m.d.sync += [self.pending.eq(1), self.pend.eq(self.emitted)]
            yield
