"""The fetch of scanners: for each reference the two ends of its fiber, in streams of their own."""

from typing import NamedTuple

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.rtl.actor import Primitive
from samhw.rtl.channel import Fifo
from samhw.rtl.firing import FiringTable
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


class Fetch(NamedTuple):
    """Where fibers start and end, and what else is known of the actor."""

    starts: wiring.PureInterface
    ends: wiring.PureInterface
    fired: Value
    range: Value


def fetch_pair(m: Module, scanner: Primitive, arch: Arch, *, latency: int, registers: int) -> Pair:
    """An actor that passes stops on in two channels, and for each VAL what `registers` cycles later is the
    `result` of the two outputs."""
    width = arch.index_bits
    m.submodules.first = first = Output(width, latency=latency, registers=registers)
    m.submodules.second = second = Output(width, latency=latency, registers=registers)
    m.submodules.firsts = firsts = Fifo(token_layout(width), arch.internal_depth(latency))
    m.submodules.seconds = seconds = Fifo(token_layout(width), arch.internal_depth(latency))
    wiring.connect(m, first.o, firsts.i)
    wiring.connect(m, second.o, seconds.i)
    ref = scanner.i.ref
    table = FiringTable(m, [ref])
    token = make_token(ref.payload.kind, ref.payload.payload[:8])
    table.row(takes=[ref], pushes={first.i: token, second.i: token})
    return Pair(table, first, second, firsts.o, seconds.o)


def fetch_ends(m: Module, scanner: Primitive, arch: Arch, pos_capacity: int) -> Fetch:
    """The fetch of a scanner with the memory `pos`: VAL(r) gives pos[r] and pos[r + 1]."""
    pair = fetch_pair(m, scanner, arch, latency=arch.memory, registers=1)
    fiber = scanner.i.ref.payload
    here, following = scanner.memory_ports("pos")
    beyond = Signal()
    m.d.comb += [
        here.addr.eq(fiber.payload),
        here.en.eq(1),
        pair.first.result.eq(here.data),
        following.addr.eq(fiber.payload + 1),
        following.en.eq(1),
        pair.second.result.eq(following.data),
    ]
    m.d.sync += beyond.eq(
        scanner.i.ref.valid & (fiber.kind == TokenKind.VAL) & (fiber.payload >= pos_capacity - 1)
    )
    return Fetch(pair.firsts, pair.seconds, pair.table.fired, beyond)
