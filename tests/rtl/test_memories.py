"""Tensor memories by themselves: who reads and writes them, and when."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from amaranth.sim import Simulator, SimulatorContext

from samhw.graph import Memory, MemoryRole, block_rams
from samhw.graph.address_map import Window
from samhw.rtl.memories import TensorMemory

BETWEEN_RUNS = 0b1000


PLACES = (8, 64)
"""Of the larger memory, two reads share a copy."""


def tensor(role: MemoryRole, *readers: int, places: int = 8) -> TensorMemory:
    """With three regions, of which the first one writes."""
    memory = Memory("T.vals", "T", "vals", role, places)
    return TensorMemory(
        Window(memory, 0, 4 * places, places, 16),
        regions=3,
        readers=[frozenset({region}) for region in readers],
        writers=[] if role is MemoryRole.INPUT else [frozenset({0})],
    )


def simulate(unit: TensorMemory, bench: Callable[[SimulatorContext], Awaitable[None]]) -> None:
    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


async def write(ctx: SimulatorContext, port: Any, addr: int, data: int) -> None:
    for name, value in {"addr": addr, "data": data, "en": 1}.items():
        ctx.set(getattr(port, name), value)
    await ctx.tick()
    ctx.set(port.en, 0)


async def read(ctx: SimulatorContext, ports: list[Any], addrs: list[int]) -> list[int]:
    """All ports at once."""
    for port, addr in zip(ports, addrs, strict=True):
        ctx.set(port.addr, addr)
        ctx.set(port.en, 1)
    await ctx.tick()
    for port in ports:
        ctx.set(port.addr, 0)
        ctx.set(port.en, 0)
    await ctx.tick()
    return [ctx.get(port.data) for port in ports]


@pytest.mark.parametrize("places", PLACES)
def test_a_buffer_is_written_in_one_region_and_read_in_the_others(places: int):
    unit = tensor(MemoryRole.BUFFER, 1, 2, 2, places=places)

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(unit.turn, 0b001)
        for addr in range(8):
            await write(ctx, unit.writes[0], addr, 100 + addr)
        early, *late = unit.reads
        # While it is written nobody reads it.
        assert await read(ctx, [early, *late, unit.host], [7, 7, 7, 7]) == [0] * 4
        ctx.set(unit.turn, 0b010)
        await write(ctx, unit.writes[0], 3, 0)
        assert await read(ctx, [early], [3]) == [103]
        # Those whose turn it is not do not disturb the others.
        assert (await read(ctx, [early, *late, unit.host], [6, 2, 4, 5]))[0] == 106
        await read(ctx, [*late, unit.host], [2, 4, 5])
        assert ctx.get(early.data) == 106
        ctx.set(unit.turn, 0b100)
        await write(ctx, unit.writes[0], 3, 0)
        assert await read(ctx, late, [3, 4]) == [103, 104]
        assert (await read(ctx, [*late, early, unit.host], [5, 1, 7, 7]))[:2] == [105, 101]
        ctx.set(unit.turn, BETWEEN_RUNS)
        await write(ctx, unit.writes[0], 3, 0)
        assert (await read(ctx, [unit.host, early, *late], [3, 1, 1, 1]))[0] == 103

    simulate(unit, bench)


@pytest.mark.parametrize("places", PLACES)
def test_an_input_is_written_between_runs_and_read_in_all_regions(places: int):
    unit = tensor(MemoryRole.INPUT, 0, 2, places=places)

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(unit.turn, BETWEEN_RUNS)
        await write(ctx, unit.host, 5, 50)
        await write(ctx, unit.host, 6, 60)
        assert await read(ctx, list(unit.reads), [5, 6]) == [0, 0]
        for region, reader in ((0b001, 0), (0b100, 1)):
            ctx.set(unit.turn, region)
            await write(ctx, unit.host, 5, 0)
            assert await read(ctx, [unit.reads[reader]], [5]) == [50]
            assert await read(ctx, [unit.reads[reader]], [6]) == [60]

    simulate(unit, bench)


def test_an_output_is_written_in_its_region_and_read_between_runs():
    unit = tensor(MemoryRole.OUTPUT)

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(unit.turn, 0b001)
        await write(ctx, unit.writes[0], 5, 50)
        assert await read(ctx, [unit.host], [5]) == [0]
        for region in (0b010, 0b100, BETWEEN_RUNS):
            ctx.set(unit.turn, region)
            await write(ctx, unit.writes[0], 5, 0)
        assert await read(ctx, [unit.host], [5]) == [50]

    simulate(unit, bench)


@pytest.mark.parametrize(
    ("role", "readers", "ports"),
    [
        (MemoryRole.INPUT, (0, 0), 2),
        (MemoryRole.INPUT, (0, 1, 2), 1),
        (MemoryRole.BUFFER, (1, 2, 2), 2),
        (MemoryRole.BUFFER, (), 1),
        (MemoryRole.OUTPUT, (), 1),
    ],
)
def test_what_reads_at_different_times_shares_a_port(role: MemoryRole, readers: tuple[int, ...], ports: int):
    assert len(tensor(role, *readers).elaborate(None).submodules.words.read_ports) == ports


def test_a_pool_has_a_writer_for_some_regions_and_another_one_for_others():
    unit = TensorMemory(
        Window(Memory("T.vals", "T", "vals", MemoryRole.BUFFER, 8), 0, 32, 8, 16),
        regions=3,
        readers=[frozenset({1, 2}), frozenset({0})],
        writers=[frozenset({0, 2}), frozenset({1})],
    )

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(unit.turn, 0b001)
        await write(ctx, unit.writes[0], 1, 11)
        await write(ctx, unit.writes[1], 2, 12)
        ctx.set(unit.turn, 0b010)
        await write(ctx, unit.writes[0], 3, 13)
        await write(ctx, unit.writes[1], 4, 14)
        ctx.set(unit.turn, 0b100)
        await write(ctx, unit.writes[0], 5, 15)
        ctx.set(unit.turn, BETWEEN_RUNS)
        assert [(await read(ctx, [unit.host], [place]))[0] for place in range(6)] == [0, 11, 0, 0, 14, 15]

    simulate(unit, bench)
    assert len(unit.elaborate(None).submodules.words.read_ports) == 1


def test_two_reads_share_a_copy():
    unit = tensor(MemoryRole.INPUT, 0, 0, 0, places=64)
    copies = unit.elaborate(None).submodules
    assert [len(words.read_ports) for words in (copies.words_0, copies.words_1)] == [2, 1]

    async def bench(ctx: SimulatorContext) -> None:
        ctx.set(unit.turn, BETWEEN_RUNS)
        for addr in (3, 40, 63):
            await write(ctx, unit.host, addr, 2 * addr)
        ctx.set(unit.turn, 0b001)
        assert await read(ctx, list(unit.reads), [3, 40, 63]) == [6, 80, 126]
        assert await read(ctx, list(unit.reads), [63, 63, 3]) == [126, 126, 6]

    simulate(unit, bench)


@pytest.mark.parametrize(
    ("places", "width", "reads", "blocks"),
    [
        (2048, 32, 1, 4),
        (2048, 32, 2, 4),
        (2048, 32, 3, 8),
        (512, 32, 2, 2),
        (1024, 16, 2, 1),
        (65, 10, 2, 1),
        (5000, 11, 1, 5),
    ],
)
def test_block_rams_are_as_many_as_yosys_makes(places: int, width: int, reads: int, blocks: int) -> None:
    """Of an ECP5."""
    assert block_rams(places, width, reads) == blocks
