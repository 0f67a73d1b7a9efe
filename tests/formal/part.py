"""Actors that are not primitives of their own: parts of one, with the channels around them cut open."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

from amaranth.hdl import Const, Elaboratable, Fragment, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.actor import Error, error_bits
from samhw.rtl.channel import Fifo, PushSignature
from samhw.rtl.token import token_layout

__all__ = ["Named", "Part", "join_ports"]


class Named(wiring.Component):
    """A component inside of a primitive, with names for its inputs and outputs.

    Args:
        inside: the component; its outputs `fired` and `protocol` tell what those of a primitive do.
        inputs, outputs: its interfaces, by name.
        others: its further ports.
    """

    def __init__(
        self,
        inside: Any,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        others: Sequence[str] = (),
    ):
        self.inside = inside
        self.inputs, self.outputs, self.others = inputs, outputs, others
        members = inside.signature.members
        consumed = {name: In(stream.Signature(port.payload.shape())) for name, port in inputs.items()}
        pushed = {name: Out(PushSignature(port.token.shape())) for name, port in outputs.items()}
        ports = {"i": Out(wiring.Signature(consumed)), "o": Out(wiring.Signature(pushed))}
        told = {"error": Out(Error), "fired": Out(1)}
        super().__init__(ports | told | {name: members[name] for name in others})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.inside = inside = self.inside
        for name, port in self.inputs.items():
            wiring.connect(m, wiring.flipped(getattr(self.i, name)), port)
        for name, port in self.outputs.items():
            wiring.connect(m, port, wiring.flipped(getattr(self.o, name)))
        join_ports(m, self, inside, self.others)
        m.d.comb += [
            self.fired.eq(inside.fired),
            self.error.eq(error_bits(protocol=inside.protocol)),
        ]
        return m


def join_ports(m: Module, outer: Any, inner: Any, names: Iterable[str]) -> None:
    """Further ports of a component, with those of the one around it."""
    for name in names:
        member = outer.signature.members[name]
        ours, theirs = getattr(outer, name), getattr(inner, name)
        if not member.is_port:
            wiring.connect(m, theirs, wiring.flipped(ours))
        else:
            m.d.comb += theirs.eq(ours) if member.flow == In else ours.eq(theirs)


class Part(wiring.Component):
    """An actor. Nothing comes to the others, and they have no room.

    Args:
        make: makes the component.
        channels: names of those inside, in the order in which they are made.
        inputs, outputs: those of the actor: ports of the component, or channels.
        widths: of the payloads that have not eight bits.
        covers: the actor's rows cover all heads, and a `protocol` error tells of something else.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        channels: Sequence[str],
        inputs: Sequence[str],
        outputs: Sequence[str],
        *,
        widths: Mapping[str, int] = MappingProxyType({}),
        covers: bool = False,
    ):
        self.whole: Any = make()
        self.channels = channels
        if covers:
            self.protocol = Const(0)
        tokens = {name: token_layout(widths.get(name, 8)) for name in (*inputs, *outputs)}
        members = self.whole.signature.members
        self.others = {name: m for name, m in members.items() if name not in ("i", "o", "error", "fired")}
        consumed = wiring.Signature({name: In(stream.Signature(tokens[name])) for name in inputs})
        pushed = wiring.Signature({name: Out(PushSignature(tokens[name])) for name in outputs})
        ports = {"i": Out(consumed), "o": Out(pushed), "error": Out(Error), "fired": Out(1)}
        super().__init__({**ports, **self.others})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        opened: list[Fifo] = []

        def open_(channel: Fifo, platform: object) -> Elaboratable:
            opened.append(channel)
            return Module()

        with patch.object(Fifo, "elaborate", open_):
            m.submodules.whole = Fragment.get(self.whole, None)
        inside = dict(zip(self.channels, opened, strict=True))
        whole = self.whole
        heads = {name: getattr(whole.i, name) for name in whole.i.signature.members}
        ends = {name: getattr(whole.o, name) for name in whole.o.signature.members}
        for name, head in [*heads.items(), *((name, channel.o) for name, channel in inside.items())]:
            self._feed(m, name, head)
        for name, end in [*ends.items(), *((name, channel.i) for name, channel in inside.items())]:
            self._drain(m, name, end)
        join_ports(m, self, whole, self.others)
        m.d.comb += [self.error.eq(whole.error), self.fired.eq(whole.fired)]
        return m

    def _feed(self, m: Module, name: str, head: Any) -> None:
        if name in self.i.signature.members:
            ours = getattr(self.i, name)
            m.d.comb += [
                head.valid.eq(ours.valid),
                head.payload.eq(ours.payload),
                ours.ready.eq(head.ready),
            ]

    def _drain(self, m: Module, name: str, end: Any) -> None:
        if name in self.o.signature.members:
            ours = getattr(self.o, name)
            m.d.comb += [
                end.ready.eq(ours.ready),
                ours.push.eq(end.push),
                ours.strobe.eq(end.strobe),
                ours.token.eq(end.token),
            ]
