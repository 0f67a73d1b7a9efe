"""Ports, arbiter and master of memory off the chip, with cycles worked out by hand from docs/memory.md."""

from collections.abc import Iterator
from typing import Any

import pytest
from amaranth.sim import Simulator, SimulatorContext

from samhw.errors import InputError
from samhw.graph import Design, OffChipLayout, Ports
from samhw.rtl.axi4 import Axi4Signature
from samhw.rtl.off_chip.geometry import Geometry
from samhw.rtl.off_chip.master import RequestArbiter, Sender
from samhw.rtl.off_chip.read_port import ReadPort
from samhw.rtl.off_chip.write_port import WritePort
from samhw.rtl.token import TokenKind
from samhw.rtl.top import Top
from tests.support.top_graphs import copy_graph
from tests.support.worked import WORKED


def geometry(**more):
    """Words of 2 bytes, two in a beat and four in a line."""
    numbers = {"line": 8, "beat": 4, "lines": 4, "ahead": 1, "queue": 4}
    array = {"places": 40, "place": 2, "words": 1, "word": 2, "width": 16}
    return Geometry(**(numbers | array | more))


def run(component, *benches) -> None:
    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    for bench in benches:
        simulator.add_testbench(bench)
    simulator.run()


def read(port: ReadPort, tokens, beats, cycles):
    """(requests, told, data): what a port asks for and gives, with the cycles in which it does.

    Args:
        tokens: (kind, place): offered from cycle 0 on, as fast as they are taken; after a DONE, which ends a
            region, when that has been told.
        beats: the data that come in each cycle.
    """
    made, lines, told, data = [], [], [], []

    async def bench(ctx: SimulatorContext) -> None:
        left: Iterator[tuple[TokenKind, int]] = iter(tokens)
        token = next(left, None)
        asked = None
        ends = False
        ctx.set(port.node.told.ready, 1)
        for cycle in range(cycles):
            push = token is not None and not ends and ctx.get(port.node.ask.ready)
            ctx.set(port.node.ask.push, push)
            ctx.set(port.node.ask.strobe, push)
            if push:
                assert token is not None
                kind, place = token
                ends = kind is TokenKind.DONE
                reads = kind is TokenKind.VAL
                ctx.set(port.node.ask.token, {"kind": kind, "reads": reads, "payload": place, "note": cycle})
                token = next(left, None)
            ctx.set(port.beat_valid, cycle in beats)
            ctx.set(port.beat_data, beats.get(cycle, 0))
            ctx.set(port.requests.line.ready, 1)
            if asked is not None:
                data.append((asked, ctx.get(port.node.data)))
                asked = None
            if ctx.get(port.requests.made):
                made.append(cycle)
            if ctx.get(port.requests.line.valid):
                lines.append(ctx.get(port.requests.line.payload))
            if ctx.get(port.node.told.valid):
                told.append(cycle)
                ends = ends and ctx.get(port.node.told.payload.kind) != TokenKind.DONE
                asked = cycle if ctx.get(port.node.told.payload.reads) else None
            await ctx.tick()
        assert ctx.get(port.settled)

    run(port, bench)
    return list(zip(made, lines, strict=True)), told, data


VAL, DONE = TokenKind.VAL, TokenKind.DONE


def test_a_stream_is_read_ahead():
    # The first word misses in 1 and asks for line 0, which follows line -1; the next one hits, and asks for
    # line 1. The fifth one finds `wait` full until the cycle after the first has been delivered. Line 2 is
    # read in vain. DONE frees all storage, and all begins anew.
    again = [(VAL, 0), (VAL, 1), (VAL, 4), (DONE, 0)]
    tokens = [(VAL, 0), (VAL, 1), (VAL, 2), (VAL, 3), (VAL, 4), (DONE, 0), *again]
    beats = {5: 0x0001_0000, 6: 0x0003_0002, 7: 0x0005_0004, 8: 0x0007_0006, 9: 0x0009_0008, 10: 0}
    beats |= {18: 0x0001_0000, 19: 0, 20: 0x0005_0004, 21: 0, 22: 0, 23: 0}
    requests, told, data = read(ReadPort(geometry(), 6, 8), tokens, beats, 26)
    assert requests == [(1, 0), (2, 1), (7, 2), (13, 0), (14, 1), (15, 2)]
    # A beat of cycle c, which takes `answer` - 1 cycles to get here, serves from the next one on.
    assert told == [6, 7, 8, 9, 10, 11, 19, 20, 21, 22]
    assert data == [(6, 0), (7, 1), (8, 2), (9, 3), (10, 4), (19, 0), (20, 1), (21, 4)]


def test_a_line_after_those_read_ahead_is_a_jump():
    # Line 1 is read ahead. Line 2 then follows it, but not line 0, from which it is two lines away.
    tokens = [(VAL, 0), (VAL, 1), (VAL, 8), (VAL, 9), (DONE, 0)]
    beats = {5: 0x0001_0000, 6: 0, 7: 0, 8: 0, 9: 0x0009_0008, 10: 0}
    requests, told, data = read(ReadPort(geometry(), 6, 8), tokens, beats, 16)
    assert requests == [(1, 0), (2, 1), (3, 2)]
    assert told == [6, 7, 10, 11, 12]
    assert data == [(6, 0), (7, 1), (10, 8), (11, 9)]


def test_no_line_after_the_last_is_read_ahead():
    tokens = [(VAL, 32), (VAL, 36), (VAL, 37), (DONE, 0)]
    beats = {6: 0x0021_0020, 7: 0, 8: 0x0025_0024, 9: 0}
    requests, told, data = read(ReadPort(geometry(), 6, 8), tokens, beats, 16)
    assert requests == [(1, 8), (2, 9)]
    assert told == [7, 9, 10, 11]
    assert data == [(7, 0x20), (9, 0x24), (10, 0x25)]


def test_a_jump_is_not_followed_and_done_forgets():
    tokens = [(VAL, 8), (VAL, 9), (VAL, 8), (DONE, 0), (VAL, 8), (DONE, 0)]
    beats = {6: 0x000B_000A, 7: 0, 16: 0x000D_000C, 17: 0}
    requests, told, data = read(ReadPort(geometry(queue=8), 6, 8), tokens, beats, 22)
    assert requests == [(1, 2), (12, 2)]
    assert told == [7, 8, 9, 10, 17, 18]
    assert data == [(7, 10), (8, 11), (9, 10), (17, 12)]


def test_storage_is_waited_for():
    # Two lines of room, and no look ahead: the third miss waits until the token of the second is delivered.
    tokens = [(VAL, 0), (VAL, 8), (VAL, 16), (DONE, 0)]
    beats = {6: 1, 7: 0, 10: 2, 11: 0, 14: 3, 15: 0}
    requests, told, data = read(ReadPort(geometry(lines=2, ahead=0), 6, 8), tokens, beats, 20)
    assert requests == [(1, 0), (2, 2), (12, 4)]
    assert told == [7, 11, 15, 16]
    assert [word for _, word in data] == [1, 2, 3]


def test_a_place_of_several_beats():
    # A block of four words of 4 bytes takes four beats: two lines, of which the second follows the first.
    block = geometry(places=4, place=16, words=4, word=4, width=4 * 20, lines=4)
    beats = dict(enumerate([0x11, 0x22, 0x33, 0x44], start=8)) | {12: 0, 13: 0}
    requests, told, data = read(ReadPort(block, 2, 8), [(VAL, 1), (DONE, 0)], beats, 20)
    assert requests == [(1, 2), (3, 3), (4, 4)]
    assert told == [12, 13]
    assert data == [(12, 0x11 | 0x22 << 20 | 0x33 << 40 | 0x44 << 60)]


def write(port: WritePort, puts, answers, cycles, *, begins=False):
    """(requests, lines): when a port asks for lines to be written, and these lines: (number, [(data,
    strobes)] by beat).

    Args:
        puts: (place, value), offered from cycle 1 on; its region starts in cycle 0.
        answers: the cycles in which an answer gets here.
    """
    made: list[int] = []
    lines: list[tuple[Any, list[Any]]] = []
    over: list[int] = []

    async def node(ctx: SimulatorContext) -> None:
        left = iter([*puts, None])
        for cycle in range(cycles):
            ctx.set(port.start, cycle == 0)
            ctx.set(port.begin, begins and cycle == 0)
            push = cycle > 0 and not over and ctx.get(port.node.ready)
            put = next(left) if push else None
            over.extend([cycle] * (push and put is None))
            ctx.set(port.node.done, push and put is None)
            ctx.set(port.node.en, put is not None)
            if put is not None:
                ctx.set(port.node.addr, put[0])
                ctx.set(port.node.data, put[1])
            ctx.set(port.answered, cycle in answers)
            if ctx.get(port.requests.made):
                made.append(cycle)
            # Until all are answered; an answer counts from the next cycle on.
            assert ctx.get(port.settled) == (cycle > max(answers)) or cycle == 0
            await ctx.tick()

    async def master(ctx: SimulatorContext) -> None:
        for _ in answers:
            ctx.set(port.requests.line.ready, 1)
            while not ctx.get(port.requests.line.valid):
                await ctx.tick()
            beats: list[Any] = []
            lines.append((ctx.get(port.requests.line.payload), beats))
            await ctx.tick()
            ctx.set(port.requests.line.ready, 0)
            for beat in range(port.geometry.beats):
                ctx.set(port.beat, beat)
                await ctx.tick()
                beats.append((ctx.get(port.data), ctx.get(port.strobes)))
            assert ctx.get(port.pending)
            ctx.set(port.sent, 1)
            await ctx.tick()
            ctx.set(port.sent, 0)

    run(port, node, master)
    return made, lines


def test_a_write_port_gathers_lines():
    puts = [(1, 0xAAAA), (2, 0xBBBB), (9, 0xCCCC)]
    requests, lines = write(WritePort(geometry(), 6), puts, [16, 17], 20, begins=True)
    # It fires in 1 (place 0), 2, 3; in 4 it ends line 0, in 5 it opens line 2; in 6 it ends that, on DONE.
    assert requests == [4, 6]
    words = [
        (number, [(data >> 16 * n & 0xFFFF) if strobes >> 2 * n & 1 else None for n in (0, 1)])
        for number, beats in lines
        for data, strobes in beats
    ]
    assert words == [(0, [0, 0xAAAA]), (0, [0xBBBB, None]), (2, [None, 0xCCCC]), (2, [None, None])]


def test_a_place_of_several_beats_is_written():
    # A block of three words of 20 bits takes four beats, of which the last is padding: two lines. Place 1
    # comes in 2: its beats are written in 2, 3, 4 and 5, and each second one asks for its line. Place 3 waits
    # for storage: number 2 until the cycle after the answer to 0 has come, number 3 likewise.
    block = geometry(places=4, place=16, words=3, word=4, width=3 * 20, lines=2, ahead=0)
    puts = [
        (place, sum((word + place) << 20 * n for n, word in enumerate((0x10, 0x20, 0xABCD0))))
        for place in (1, 3)
    ]
    requests, lines = write(WritePort(block, 2), puts, [12, 16, 30, 31], 36)
    assert requests == [3, 5, 14, 18]
    assert [number for number, _ in lines] == [2, 3, 6, 7]
    assert {strobes for _, beats in lines for _, strobes in beats} == {0xF}
    words = [data for _, beats in lines for data, _ in beats]
    assert words[:3] + words[4:7] == [0x11, 0x21, 0xABCD1, 0x13, 0x23, 0xABCD3]


def test_requests_are_ordered_by_cycle_and_port():
    arbiter = RequestArbiter(3, 4, early=0)
    made = {0: 0b110, 1: 0b001, 2: 0b111}
    found = []

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(arbiter.o.ready, 1)
        for cycle in range(10):
            ctx.set(arbiter.made, made.get(cycle, 0))
            if ctx.get(arbiter.o.valid):
                found.append((cycle, ctx.get(arbiter.o.payload)))
            await ctx.tick()

    run(arbiter, bench)
    assert found == [(1, 1), (2, 2), (3, 0), (4, 0), (5, 1), (6, 2)]


def test_a_write_is_accepted_with_its_last_beat():
    # Taken in 0, offered in 1, with beats from 2 on; the second one is accepted in 5, and AW in 4.
    sender = Sender(Axi4Signature(32, 2, 4), 3, 8, 29, 2)
    seen = []

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(sender.i.valid, 1)
        ctx.set(sender.i.port, 2)
        ctx.set(sender.i.line, 5)
        for cycle in range(8):
            ctx.set(sender.i.write, cycle == 0)
            axi = sender.axi
            ctx.set(axi.awready, cycle == 4)
            ctx.set(axi.wready, cycle in (2, 5))
            ctx.set(axi.arready, cycle == 6)
            pins = (axi.awvalid, axi.wvalid, axi.wlast, axi.arvalid, sender.beat, sender.sent, sender.i.ready)
            seen.append("".join(str(ctx.get(pin)) for pin in pins))
            if cycle == 1:
                assert (ctx.get(axi.awaddr), ctx.get(axi.awlen), ctx.get(axi.awid)) == (40, 1, 2)
            await ctx.tick()

    run(sender, bench)
    assert seen == [
        "0000001",
        "1000000",
        "1100100",
        "1110100",
        "1110100",
        "0110011",
        "0001001",
        "0001000",
    ]


def test_what_the_hardware_cannot_have_is_refused():
    design = Design.of(copy_graph())
    with pytest.raises(InputError, match="offers a request 2 cycles after"):
        Top(design, WORKED, layout=OffChipLayout(design, WORKED, Ports(offer=1)))
