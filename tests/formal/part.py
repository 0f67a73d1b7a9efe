"""One actor of a component that has several: the channels inside are cut open."""

from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

from amaranth.hdl import Const, Elaboratable, Fragment, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.actor import Error
from samhw.rtl.channel import Fifo, PushSignature
from samhw.rtl.token import token_layout

__all__ = ["Part"]


class Part(wiring.Component):
    """An actor. Nothing comes to the others, and they have no room.

    Args:
        make: makes the component.
        channels: names of those inside, in the order in which they are made.
        inputs, outputs: those of the actor: ports of the component, or channels.
        covers: the actor's rows cover all heads, and a `protocol` error tells of something else.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        channels: Sequence[str],
        inputs: Sequence[str],
        outputs: Sequence[str],
        *,
        covers: bool = False,
    ):
        self.whole: Any = make()
        self.channels = channels
        if covers:
            self.protocol = Const(0)
        token = token_layout(8)
        members = self.whole.signature.members
        self.others = {name: m for name, m in members.items() if name not in ("i", "o", "error", "fired")}
        consumed = wiring.Signature({name: In(stream.Signature(token)) for name in inputs})
        pushed = wiring.Signature({name: Out(PushSignature(token)) for name in outputs})
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
        for name, member in self.others.items():
            ours, theirs = getattr(self, name), getattr(whole, name)
            if not member.is_port:
                wiring.connect(m, theirs, wiring.flipped(ours))
            else:
                m.d.comb += theirs.eq(ours) if member.flow == In else ours.eq(theirs)
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
