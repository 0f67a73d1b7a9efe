"""The contract of a primitive's streams: grammatical streams in, grammatical streams out, or an error."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from amaranth.hdl import Assert, Assume, Cat, Cover, Elaboratable, Fragment, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.actor import Error, Primitive
from samhw.rtl.channel import PushSignature
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.token import is_payload, same_token
from tests.formal.grammar import Grammar, Reader
from tests.formal.inside import registers

__all__ = ["Case", "Invariant", "StreamContract"]

_NOTICED = 2
"""Cycles after a token that is wrong in which its error may still come. A run ends later (`RunControl`)."""

Invariant = Callable[[Mapping[str, Reader], Mapping[str, Reader], Mapping[str, Signal]], Value]
"""From the readers of inputs and outputs, by port, and the registers inside: what an induction needs beside
the promises."""


@dataclass(frozen=True)
class Case:
    """A primitive, and what is said of its streams.

    Attributes:
        make: makes the component.
        inputs, outputs: the grammar of each port.
        lockstep: outputs that get a payload together, and the same stops.
        quick, deep: cycles of a bounded check.
        invariant: with it, an induction closes.
    """

    name: str
    make: Callable[[], Primitive]
    inputs: Mapping[str, Grammar]
    outputs: Mapping[str, Grammar]
    lockstep: Sequence[str] = ()
    quick: int = 9
    deep: int = 16
    invariant: Invariant | None = None

    def contract(self) -> "StreamContract":
        return StreamContract(self)


class StreamContract(wiring.Component):
    """The component, with all that surrounds it free: heads come when they like, channels have room when they
    like, and memories hold anything.

    Members:
        i_<port>: the heads; grammatical, and there until they are taken.
        o_<port>: the pushes.
        error, and those of the component.
    """

    def __init__(self, case: Case):
        self.case = case
        self.component = component = case.make()
        heads = {name: getattr(component.i, name).payload.shape() for name in case.inputs}
        pushes = {name: getattr(component.o, name).token.shape() for name in case.outputs}
        self.others = {
            name: member
            for name, member in component.signature.members.items()
            if name not in ("i", "o", "error", "fired")
        }
        super().__init__(
            {f"i_{name}": In(stream.Signature(shape)) for name, shape in heads.items()}
            | {f"o_{name}": Out(PushSignature(shape)) for name, shape in pushes.items()}
            | {**self.others, "error": Out(Error), "fired": Out(1)}
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        component = self.component
        m.submodules.component = fragment = Fragment.get(component, None)
        m.d.comb += [self.error.eq(component.error), self.fired.eq(component.fired)]
        for name, member in self.others.items():
            self._surround(m, name, member)
        inputs = {name: self._head(m, name, grammar) for name, grammar in self.case.inputs.items()}
        outputs = {name: self._push(m, name, grammar) for name, grammar in self.case.outputs.items()}

        failed = Signal()
        wrong = Signal(_NOTICED)
        now = Cat(self.error).any()
        illegal = (
            any_of(getattr(self, f"o_{name}").strobe & ~reader.legal for name, reader in outputs.items())
            | ~self._in_lockstep()
        )
        history = Cat(illegal, wrong)
        m.d.sync += [failed.eq(failed | now), wrong.eq(history)]
        good = ~failed & ~now
        m.d.comb += Assert(~(good & history[-1]))
        m.d.comb += Cover(good & all_of(reader.ended for reader in outputs.values()) & ~history.any())
        if self.case.invariant is not None:
            m.d.comb += Assert(
                failed | wrong.any() | self.case.invariant(inputs, outputs, registers(fragment))
            )
        return m

    def _in_lockstep(self) -> Value:
        ports = [getattr(self, f"o_{name}") for name in self.case.lockstep]
        return all_of(
            (a.strobe == b.strobe)
            & (~a.strobe | (is_payload(a.token) & is_payload(b.token)) | same_token(a.token, b.token))
            for a, b in pairwise(ports)
        )

    def _surround(self, m: Module, name: str, member: wiring.Member) -> None:
        inner, outer = getattr(self.component, name), getattr(self, name)
        if not member.is_port:
            wiring.connect(m, inner, wiring.flipped(outer))
            return
        if member.flow == Out:
            m.d.comb += outer.eq(inner)
            return
        m.d.comb += inner.eq(outer)
        # An extent, which the host has written.
        before = Signal.like(inner)
        begun = Signal()
        m.d.sync += [before.eq(outer), begun.eq(1)]
        m.d.comb += Assume(~begun | (outer == before))

    def _head(self, m: Module, name: str, grammar: Grammar) -> Reader:
        head = getattr(self, f"i_{name}")
        wiring.connect(m, wiring.flipped(head), getattr(self.component.i, name))
        reader = Reader(m, f"i_{name}", grammar, head.payload, head.valid & head.ready)
        waits = Signal(name=f"i_{name}_waits")
        before = Signal.like(head.payload, name=f"i_{name}_before")
        m.d.sync += [waits.eq(head.valid & ~head.ready), before.eq(head.payload)]
        m.d.comb += [
            Assume(~head.valid | reader.legal),
            Assume(~waits | (head.valid & (head.payload == before))),
        ]
        return reader

    def _push(self, m: Module, name: str, grammar: Grammar) -> Reader:
        port = getattr(self, f"o_{name}")
        wiring.connect(m, getattr(self.component.o, name), wiring.flipped(port))
        m.d.comb += Assert(port.ready | ~port.push)
        return Reader(m, f"o_{name}", grammar, port.token, port.strobe)
