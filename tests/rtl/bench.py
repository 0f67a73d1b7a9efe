"""A bench for one component: sources at its inputs, a channel and a sink at each output, and its
memories.

Cycles count from 0, the first cycle in which a source may offer a token. Tokens are written as text
(tests/support/streams.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator, SimulatorContext

from samhw.graph import DONE, Kind, Token
from samhw.rtl.access import MemoryReadSignature, MemoryWriteSignature
from samhw.rtl.actor import Error, Primitive
from samhw.rtl.channel import Fifo
from tests.support.streams import Timed, tokens
from tests.support.worked import WORKED

ARCH = WORKED
"""The latencies that the cycles in these tests are worked out for."""

_GARBAGE = [Token(Kind(code), payload) for payload in (0, 16, 17, 1, 200) for code in (1, 0, 2, 3)]
"""What lies at a head that is not valid, which must not matter."""

ASAP = 0
"""As the time of a token: as soon as the channels let it."""


@dataclass
class Offer:
    """What a source offers: token k is at the head from cycle `times[k]` on, or later if token k - 1 is still
    there."""

    tokens: Sequence[Token]
    times: Sequence[int] = ()

    def time(self, k: int) -> int:
        return self.times[k] if k < len(self.times) else ASAP


@dataclass
class Run:
    """What was seen."""

    pops: dict[str, Timed] = field(default_factory=dict)
    """The tokens that each sink popped."""
    takes: dict[str, list[int]] = field(default_factory=dict)
    """The cycles in which each input lost its head."""
    errors: list[tuple[int, Error]] = field(default_factory=list)
    """The cycles in which `error` was not zero."""
    fired: list[int] = field(default_factory=list)
    """The cycles in which some actor fired."""
    committed: list[int] = field(default_factory=list)
    """The cycles in which a writer committed."""
    memories: dict[str, list[int]] = field(default_factory=dict)
    """The final words of the memories, by the member's name."""

    def tokens(self, port: str) -> list[Token]:
        """Without the times."""
        return [t for _, t in self.pops[port]]

    @property
    def error(self) -> Error:
        """All the errors that were reported."""
        result = Error(0)
        for _, error in self.errors:
            result |= error
        return result


class Harness(wiring.Component):
    """A component with a channel at each output and memories at its memory ports. Inputs and outputs are
    streams.

    Args:
        depths: tokens of each output's channel, where it is not `depth`.
        memories: the words of each memory, by the member's name; ports of the same words share nothing.
    """

    def __init__(
        self,
        component: Primitive,
        *,
        depth: int = 8,
        depths: Mapping[str, int] | None = None,
        memories: Mapping[str, Sequence[int]] | None = None,
    ):
        self.component = component
        self.inputs = {
            name: getattr(component.i, name).payload.shape() for name in component.i.signature.members
        }
        self.outputs = {
            name: getattr(component.o, name).token.shape() for name in component.o.signature.members
        }
        self.depths = dict.fromkeys(self.outputs, depth) | dict(depths or {})
        self.memories: dict[str, memory.MemoryData] = {}
        self.controls = []
        members = {
            "i": Out(wiring.Signature({name: In(stream.Signature(s)) for name, s in self.inputs.items()})),
            "o": Out(wiring.Signature({name: Out(stream.Signature(s)) for name, s in self.outputs.items()})),
        }
        for name, member in component.signature.members.items():
            if name in ("i", "o"):
                continue
            if member.is_port:
                members[name] = member
                self.controls.append(name)
            else:
                port = getattr(component, name)
                words = list((memories or {}).get(name, []))
                self.memories[name] = memory.MemoryData(
                    shape=port.data.shape(), depth=max(1 << len(port.addr), len(words)), init=words
                )
        super().__init__(members)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.component = component = self.component
        for name in self.inputs:
            wiring.connect(m, wiring.flipped(getattr(self.i, name)), getattr(component.i, name))
        for name, shape in self.outputs.items():
            m.submodules[f"channel_{name}"] = channel = Fifo(shape, self.depths[name])
            wiring.connect(m, getattr(component.o, name), channel.i)
            wiring.connect(m, channel.o, wiring.flipped(getattr(self.o, name)))
        for name in self.controls:
            inner, outer = getattr(component, name), getattr(self, name)
            flow = self.signature.members[name].flow
            m.d.comb += inner.eq(outer) if flow == In else outer.eq(inner)
        for name, words in self.memories.items():
            m.submodules[name] = store = memory.Memory(words)
            inner = getattr(component, name)
            if isinstance(component.signature.members[name].signature, MemoryReadSignature):
                port = store.read_port()
                m.d.comb += [port.addr.eq(inner.addr), port.en.eq(inner.en), inner.data.eq(port.data)]
            else:
                assert isinstance(component.signature.members[name].signature, MemoryWriteSignature)
                port = store.write_port()
                m.d.comb += [port.addr.eq(inner.addr), port.en.eq(inner.en), port.data.eq(inner.data)]
        return m


def run(
    component: Primitive | Harness,
    offers: Mapping[str, Offer | str | Sequence[Token]] | None = None,
    *,
    pops: Mapping[str, Sequence[int]] | None = None,
    controls: Mapping[str, int] | None = None,
    pulses: Mapping[str, Iterable[int]] | None = None,
    cycles: int = 200,
    **options: Any,
) -> Run:
    """Simulates until every source is empty and a DONE has come out for each that went in, at most for
    `cycles`, which count from when the component is not `busy` any more.

    Args:
        offers: what the source of each input offers; a text or a list is offered as fast as it is taken.
        pops: the cycles from which the sink of an output may pop token k; ASAP where there is none.
        controls: inputs such as `extent` that stay as they are, from before cycle 0.
        pulses: the cycles in which an input such as `start` or `stall` is high.
        options: those of `Harness`.
    """
    harness = component if isinstance(component, Harness) else Harness(component, **options)
    sources = {name: _offer(offer) for name, offer in (offers or {}).items()}
    high = {name: frozenset(times) for name, times in (pulses or {}).items()}
    result = Run(pops={name: [] for name in harness.outputs}, takes={name: [] for name in sources})

    async def bench(ctx: SimulatorContext) -> None:
        for name, value in (controls or {}).items():
            ctx.set(getattr(harness, name), value)
        await ctx.tick()
        while "busy" in harness.controls and ctx.get(harness.busy):
            await ctx.tick()
        for cycle in range(cycles):
            for name, times in high.items():
                ctx.set(getattr(harness, name), cycle in times)
            for name, source in sources.items():
                _drive(ctx, getattr(harness.i, name), source, len(result.takes[name]), cycle)
            for name, popped in result.pops.items():
                earliest = (pops or {}).get(name, ())
                ready = len(popped) >= len(earliest) or cycle >= earliest[len(popped)]
                ctx.set(getattr(harness.o, name).ready, ready)
            _observe(ctx, harness, cycle, result)
            if _finished(result, sources, high, cycle):
                break
            await ctx.tick()
        await ctx.tick()
        for name, words in harness.memories.items():
            result.memories[name] = [ctx.get(words[k]) for k in range(words.depth)]

    simulator = Simulator(harness)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return result


def _offer(offer: Offer | str | Sequence[Token]) -> Offer:
    if isinstance(offer, str):
        return Offer(tokens(offer))
    return offer if isinstance(offer, Offer) else Offer(offer)


def _drive(ctx: SimulatorContext, port: Any, source: Offer, k: int, cycle: int) -> None:
    valid = k < len(source.tokens) and cycle >= source.time(k)
    ctx.set(port.valid, valid)
    shown = source.tokens[k] if valid else _GARBAGE[cycle % len(_GARBAGE)]
    word = shown.kind | shown.payload << 2
    if shown.kind & 1:  # What lies above the levels of a stop, and of DONE, means nothing.
        word |= -1 << 10 & (1 << len(port.payload.as_value())) - 1
    ctx.set(port.payload.as_value(), word)


def _observe(ctx: SimulatorContext, harness: Harness, cycle: int, result: Run) -> None:
    for name, taken in result.takes.items():
        port = getattr(harness.i, name)
        if ctx.get(port.valid) and ctx.get(port.ready):
            taken.append(cycle)
    for name, popped in result.pops.items():
        port = getattr(harness.o, name)
        if ctx.get(port.valid) and ctx.get(port.ready):
            word = ctx.get(port.payload.as_value())
            payload = word >> 2 if not word & 1 else word >> 2 & 0xFF
            popped.append((cycle, Token(Kind(word & 3), payload)))
    if ctx.get(harness.fired):
        result.fired.append(cycle)
    if error := ctx.get(harness.error):
        result.errors.append((cycle, Error(error)))
    if "committed" in harness.controls and ctx.get(harness.committed):
        result.committed.append(cycle)


def _finished(
    result: Run, sources: Mapping[str, Offer], high: Mapping[str, frozenset[int]], cycle: int
) -> bool:
    if any(len(result.takes[name]) < len(source.tokens) for name, source in sources.items()):
        return False
    runs = max(
        [sum(t.kind is DONE for t in s.tokens) for s in sources.values()] or [len(high.get("start", ()))]
    )
    ended = all(sum(t.kind is DONE for _, t in popped) >= runs for popped in result.pops.values())
    return ended and all(cycle >= time for times in high.values() for time in times)
