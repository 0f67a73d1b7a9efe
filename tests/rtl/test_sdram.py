"""The adapter of an SDRAM against a controller that takes its time at random, and what makes a chip ready
against the data sheet; by docs/memory.md, "SDRAM"."""

from collections import deque
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

import pytest
from amaranth.sim import Simulator

from samhw.graph.off_chip_numbers import SdramChip
from samhw.rtl.axi4 import Axi4Signature
from samhw.rtl.host_port import FarSignature, HostPort, Response
from samhw.rtl.sdram.native import HostWords, LineBursts, NativeSignature
from samhw.rtl.sdram.sdram import Initialiser

LINE, BEAT, WORD = 16, 4, 2
LINES = 8


class Done(NamedTuple):
    """A request as the adapter did it."""

    write: bool
    line: int
    offered: int
    accepted: int
    answers: list[int]
    data: list[int]


def run(dut: Any, bench: Any) -> None:
    """Runs a testbench of a component."""
    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


class Controller:
    """A controller that carries commands out in order, some cycles after it has taken them.

    Attributes:
        words: what it holds.
        commands, fetches, reads: the cycles in which it took a command, fetched a word, gave one.
    """

    def __init__(self, rng: Random, readiness: float):
        self.rng, self.readiness = rng, readiness
        self.words: dict[int, int] = {}
        self.waiting: deque[tuple[bool, int, int]] = deque()
        self.commands: list[int] = []
        self.fetches: list[int] = []
        self.reads: list[int] = []
        self.free = 0

    def drive(self, ctx: Any, native: Any, cycle: int) -> None:
        """Sets the inputs of a cycle."""
        due = bool(self.waiting) and self.waiting[0][2] <= cycle
        write, address, _ = self.waiting[0] if due else (False, 0, 0)
        ctx.set(native.cmd_ready, len(self.waiting) < LINES and self.rng.random() < self.readiness)
        ctx.set(native.wdata_ready, due and write)
        ctx.set(native.rdata_valid, due and not write)
        ctx.set(native.rdata_data, self.words.get(address, 0) if due else 0xDEAD)

    def look(self, ctx: Any, native: Any, cycle: int) -> None:
        """Takes what has settled in it."""
        if self.waiting and self.waiting[0][2] <= cycle:
            write, address, _ = self.waiting.popleft()
            (self.fetches if write else self.reads).append(cycle)
            if write:
                data, mask = ctx.get(native.wdata_data), ctx.get(native.wdata_we)
                kept = sum(0xFF << 8 * byte for byte in range(WORD) if mask >> byte & 1)
                self.words[address] = self.words.get(address, 0) & ~kept | data & kept
        if ctx.get(native.cmd_valid) and ctx.get(native.cmd_ready):
            self.commands.append(cycle)
            # The earliest that LiteDRAM can is two cycles later.
            self.free = max(self.free, cycle + 2) + int(self.rng.random() < 0.2) * self.rng.randrange(9)
            self.waiting.append((bool(ctx.get(native.cmd_we)), ctx.get(native.cmd_addr), self.free))


async def requests(ctx: Any, dut: LineBursts, controller: Controller, wanted: Any) -> list[Done]:
    """Makes requests one after the other, as the master does, and waits for all answers."""
    axi = dut.axi
    done: list[Done] = []
    left = deque(wanted)
    now: Any = None
    beat, addressed, sending, cycle = 0, False, False, 0
    while left or now or any(not d.answers or len(d.answers) < (1 if d.write else 4) for d in done):
        if now is None and left:
            now, beat, addressed = (*left.popleft(), cycle), 0, False
        write, line, data, strobes, offered = now or (False, 0, [], [], 0)
        ctx.set(axi.arvalid, now is not None and not write)
        ctx.set(axi.awvalid, now is not None and write and not addressed)
        # Data may come late, as AXI allows, but then they stay.
        sends = now is not None and write and cycle > offered and beat < 4
        sends = sends and (sending or controller.rng.random() < controller.readiness)
        ctx.set(axi.wvalid, sends)
        for channel in ("ar", "aw"):
            ctx.set(getattr(axi, f"{channel}addr"), line * LINE)
            ctx.set(getattr(axi, f"{channel}id"), line % 4)
        if sends:
            ctx.set(axi.wdata, data[beat])
            ctx.set(axi.wstrb, strobes[beat])
        controller.drive(ctx, dut.native, cycle)
        for answered, kind in ((ctx.get(axi.rvalid), False), (ctx.get(axi.bvalid), True)):
            if answered:
                one = next(d for d in done if d.write is kind and len(d.answers) < (1 if kind else 4))
                assert ctx.get(axi.bid if kind else axi.rid) == one.line % 4
                one.answers.append(cycle)
                if not kind:
                    one.data.append(ctx.get(axi.rdata))
                    assert ctx.get(axi.rlast) == (len(one.answers) == 4)
        addressed = addressed or bool(ctx.get(axi.awvalid) and ctx.get(axi.awready))
        beat += int(ctx.get(axi.wvalid) and ctx.get(axi.wready))
        sending = sends and not ctx.get(axi.wready)
        ends = ctx.get(axi.arready) if not write else addressed and beat == 4
        controller.look(ctx, dut.native, cycle)
        if now is not None and ends:
            done.append(Done(write, line, offered, cycle, [], []))
            now = None
        await ctx.tick()
        cycle += 1
        assert cycle < 20_000
    return done


@pytest.mark.parametrize("readiness", [1.0, 0.5])
def test_lines(readiness: float) -> None:
    rng = Random(3)
    wanted = []
    for _ in range(60):
        data = [rng.randrange(1 << 32) for _ in range(4)]
        strobes = [rng.choice((0xF, 0xF, 0, rng.randrange(16))) for _ in range(4)]
        wanted.append((rng.random() < 0.5, rng.randrange(4), data, strobes))
    dut = LineBursts(Axi4Signature(8, 2, BEAT), LINE, NativeSignature(7, WORD))
    controller = Controller(rng, readiness)
    found: list[Done] = []

    async def bench(ctx: Any) -> None:
        found.extend(await requests(ctx, dut, controller, wanted))

    run(dut, bench)
    held: dict[int, list[int]] = {line: [0] * LINE for line in range(4)}
    commands, reads, fetches = iter(controller.commands), iter(controller.reads), iter(controller.fetches)
    free = 0
    for (write, line, data, strobes), one in zip(wanted, found, strict=True):
        assert (one.write, one.line) == (write, line)
        own = [next(commands) for _ in range(LINE // WORD)]
        if write:
            assert one.accepted == own[-1]
            assert one.answers == [[next(fetches) for _ in own][-1]]
            for place in range(LINE):
                if strobes[place // BEAT] >> place % BEAT & 1:
                    held[line][place] = data[place // BEAT] >> 8 * (place % BEAT) & 0xFF
        else:
            assert one.accepted == max(one.offered, free)
            assert own[0] > one.accepted
            assert one.answers == [next(reads) for _ in own][1::2]
            assert one.data == [
                int.from_bytes(held[line][k : k + BEAT], "little") for k in range(0, LINE, BEAT)
            ]
        free = own[-1]
    assert controller.words == {
        line * LINE // WORD + k: int.from_bytes(held[line][k * WORD : k * WORD + WORD], "little")
        for line in range(4)
        for k in range(LINE // WORD)
        if line * LINE // WORD + k in controller.words
    }


def test_words_of_a_host() -> None:
    dut = HostWords(FarSignature(8), NativeSignature(7, WORD))
    controller = Controller(Random(1), 0.5)
    rng = Random(2)
    held: dict[int, int] = {}

    async def bench(ctx: Any) -> None:
        cycle = 0
        for _ in range(40):
            write, place, data = rng.random() < 0.5, rng.randrange(64), rng.randrange(1 << 32)
            for member, value in (("ask", 1), ("write", write), ("addr", 4 * place), ("data", data)):
                ctx.set(getattr(dut.host, member), value)
            done = False
            while not done:
                controller.drive(ctx, dut.native, cycle)
                done = bool(ctx.get(dut.host.done))
                answer = ctx.get(dut.host.answer)
                controller.look(ctx, dut.native, cycle)
                await ctx.tick()
                cycle += 1
            if write:
                held[place] = data
            else:
                assert answer == held.get(place, 0)
            if rng.random() < 0.5:
                ctx.set(dut.host.ask, 0)
                controller.drive(ctx, dut.native, cycle)
                await ctx.tick()
                cycle += 1

    run(dut, bench)
    assert not controller.waiting


def test_the_upper_half_of_a_port() -> None:
    """Whole words at whole addresses go there while it is open; all else is refused, and the lower half is
    where it was."""
    dut = HostPort(8, far=True)
    seen: list[tuple[int, int, int]] = []

    async def port(ctx: Any, write: bool, address: int, data: int = 0, strobes: int = 0xF) -> tuple[Any, int]:
        """The response of an access, and the word read. A far access takes seven cycles."""
        axi = dut.axi
        pins = {"araddr": address, "arvalid": 1, "rready": 1}
        if write:
            pins = {"awaddr": address, "awvalid": 1, "wdata": data, "wstrb": strobes}
            pins |= {"wvalid": 1, "bready": 1}
        for name, value in pins.items():
            ctx.set(getattr(axi, name), value)
        asked = 0
        for _ in range(40):
            asked = asked + 1 if ctx.get(dut.far.ask) else 0
            ctx.set(dut.far.done, asked == 7)
            ctx.set(dut.far.answer, 0x1234 + ctx.get(dut.far.addr) if asked == 7 else 0)
            if asked == 7:
                seen.append((ctx.get(dut.far.write), ctx.get(dut.far.addr), ctx.get(dut.far.data)))
            taken = [n for n in ("aw", "w", "ar") if ctx.get(getattr(axi, f"{n}ready"))]
            valid = ctx.get(axi.bvalid if write else axi.rvalid)
            found = ctx.get(axi.bresp if write else axi.rresp), ctx.get(axi.rdata)
            await ctx.tick()
            for name in taken:
                ctx.set(getattr(axi, f"{name}valid"), 0)
            if valid:
                return found
        raise AssertionError("no answer")

    async def bench(ctx: Any) -> None:
        okay, refused = Response.OKAY, Response.SLVERR
        ctx.set(dut.open, 1)
        assert (await port(ctx, True, 0x84, 77))[0] == okay
        assert await port(ctx, False, 0x88) == (okay, 0x123C)
        assert seen == [(1, 4, 77), (0, 8, 77)]
        assert (await port(ctx, True, 0x84, 77, strobes=3))[0] == refused
        assert (await port(ctx, True, 0x85, 77))[0] == refused
        assert (await port(ctx, False, 0x86))[0] == refused
        assert (await port(ctx, True, 0x04, 77))[0] == refused  # Nobody takes it here.
        ctx.set(dut.open, 0)
        assert (await port(ctx, True, 0x84, 78))[0] == refused
        assert (await port(ctx, False, 0x88))[0] == refused
        assert len(seen) == 2

    run(dut, bench)


def test_a_chip_is_made_ready() -> None:
    """The commands at 50 MHz: 200 µs, and then what the data sheet wants, with the least times between."""
    dut = Initialiser(SdramChip())
    found: list[tuple[int, int, int]] = []
    ready = 0

    async def bench(ctx: Any) -> None:
        nonlocal ready
        for cycle in range(11_000):
            if ctx.get(dut.command) != 0b111:
                found.append((cycle, ctx.get(dut.command), ctx.get(dut.a)))
            if ctx.get(dut.ready) and not ready:
                ready = cycle
            await ctx.tick()

    run(dut, bench)
    cycles, commands, addresses = zip(*found, strict=True)
    precharge, refresh, mode = 0b010, 0b001, 0b000
    assert list(commands) == [precharge, *[refresh] * 8, mode]
    assert addresses[0] & 1 << 10
    assert addresses[-1] == 0x20
    assert cycles[0] >= 10_000
    gaps = [b - a for a, b in pairwise(cycles)]
    assert gaps[0] >= 1
    assert min(gaps[1:]) >= 4
    assert ready >= cycles[-1] + 2
