"""The fetch of scanners: for each reference the two ends of its fiber, in streams of their own."""

from collections.abc import Callable
from typing import NamedTuple

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import data, stream, wiring

from samhw.graph import Arch
from samhw.rtl.access import Reading, reading
from samhw.rtl.actor import Primitive
from samhw.rtl.channel import Fifo
from samhw.rtl.firing import FiringTable
from samhw.rtl.logic import follows
from samhw.rtl.output import Output
from samhw.rtl.token import TokenKind, make_token, token_layout

__all__ = ["Fetch", "Pair", "fetch_ends", "fetch_pair"]


class Pair(NamedTuple):
    """Two internal channels that get a token each for every token of `ref`."""

    table: FiringTable
    first: Output
    second: Output
    firsts: wiring.PureInterface
    seconds: wiring.PureInterface
    from_zero: bool
    """A fiber starts at 0, and not at what the first channel says."""
    empty: Value
    """The fiber at the heads ends where it starts."""
    single: Value
    """It ends one place later."""
    together: bool
    """The two channels get a token in one cycle."""


class Fetch(NamedTuple):
    """Where fibers start and end, and what else is known of the actor."""

    ends: Pair
    range: Value


def _themselves(first: Output, second: Output) -> tuple[wiring.PureInterface, wiring.PureInterface]:
    return first.i, second.i


def fetch_pair(
    m: Module,
    scanner: Primitive,
    arch: Arch,
    *,
    latency: int,
    registers: int,
    from_zero: bool = False,
    sinks: Callable[[Output, Output], tuple[wiring.PureInterface, wiring.PureInterface]] = _themselves,
) -> Pair:
    """An actor that passes stops on in two channels, and for each VAL what `registers` cycles later is the
    `result` of the two outputs.

    Args:
        from_zero: of `Pair`.
        sinks: gives what takes the tokens for the two outputs, where they are made of what memories hold.
    """
    width = arch.index_bits
    m.submodules.first = first = Output(width, latency=latency, registers=registers, zeros=False)
    m.submodules.second = second = Output(width, latency=latency, registers=registers, zeros=False)
    ref = scanner.i.ref
    table = FiringTable(m, [ref], actor="fetch")
    token = make_token(ref.payload.kind, ref.payload.payload[:8])
    taking = sinks(first, second)
    table.row(takes=[ref], pushes=dict.fromkeys(taking, token))
    # Unless a word comes late, a token leaves the two in one cycle.
    together = taking == (first.i, second.i)

    depth = arch.internal_depth(latency)
    m.submodules.firsts = firsts = Fifo(token_layout(width), depth)
    wiring.connect(m, first.o, firsts.i)
    # The walk decides by the comparison. It stands before the channels where a register lies between it
    # and what the numbers come from, as a memory, and they come together.
    if together and registers < latency - 1:
        compared = data.StructLayout({"token": token_layout(width), "comparison": 2})
        early = 0b11 << compared["comparison"].offset
        m.submodules.seconds = channel = Fifo(compared, depth, early=early)
        seconds = _compared_in_front(m, first.o, second.o, channel, from_zero)
        comparison = channel.o.payload.comparison
    else:
        m.submodules.seconds = channel = Fifo(token_layout(width), depth)
        wiring.connect(m, second.o, channel.i)
        seconds = channel.o
        comparison = _compared(firsts.o.payload.payload, seconds.payload.payload, from_zero)
    empty, single = comparison
    return Pair(table, first, second, firsts.o, seconds, from_zero, empty, single, together)


def _compared(first: Value, second: Value, from_zero: bool) -> Value:
    """Whether a fiber is empty, and whether it has a single coordinate."""
    start = Const(0, len(first)) if from_zero else first
    return Cat(second == start, follows(second, start))


def _compared_in_front(
    m: Module, first: wiring.PureInterface, second: wiring.PureInterface, channel: Fifo, from_zero: bool
) -> wiring.PureInterface:
    """The stream of the second, whose comparison with the first goes through the channel beside it."""
    seconds = stream.Signature(second.token.shape()).create()
    m.d.comb += [
        channel.i.push.eq(second.push),
        channel.i.strobe.eq(second.strobe),
        channel.i.token.token.eq(second.token),
        channel.i.token.comparison.eq(_compared(first.token.payload, second.token.payload, from_zero)),
        second.ready.eq(channel.i.ready),
        seconds.valid.eq(channel.o.valid),
        seconds.payload.eq(channel.o.payload.token),
        channel.o.ready.eq(seconds.ready),
    ]
    return seconds


def fetch_ends(m: Module, scanner: Primitive, arch: Arch, pos_capacity: Value | int) -> Fetch:
    """The fetch of a scanner with the memory `pos`: VAL(r) gives pos[r] and pos[r + 1]."""
    fiber = scanner.i.ref.payload
    here, following = scanner.memory_ports("pos")
    found: list[Reading] = []

    def sinks(first: Output, second: Output) -> tuple[wiring.PureInterface, wiring.PureInterface]:
        found.append(reading(here, first, addr=fiber.payload))
        found.append(reading(following, second, addr=fiber.payload + 1))
        return found[0].i, found[1].i

    pair = fetch_pair(m, scanner, arch, latency=arch.memory, registers=1, sinks=sinks)
    for read, output in zip(found, (pair.first, pair.second), strict=True):
        m.d.comb += [*read.joins, output.result.eq(read.data)]
    beyond = Signal()
    m.d.sync += beyond.eq(
        scanner.i.ref.valid & (fiber.kind == TokenKind.VAL) & (fiber.payload >= pos_capacity - 1)
    )
    return Fetch(pair, beyond)
