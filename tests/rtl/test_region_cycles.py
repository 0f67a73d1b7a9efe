"""The cycles of regions in a memory, against a count of their own."""

import random
from collections import Counter

import pytest
from amaranth.sim import Simulator, SimulatorContext

from samhw.rtl.region_cycles import RegionCycles

LATE = 2
"""Cycles until a cycle is counted."""


def stays(random_: random.Random, regions: int, *, again: bool) -> list[int]:
    """The regions of a run, cycle by cycle: in the order in which they first come, some of them cut off."""
    first = [region for region in range(random_.randint(1, regions)) for _ in range(random_.randint(2, 5))]
    if not again:
        return first
    known = sorted({*first})
    further = [region for region in random_.choices(known, k=6) for _ in range(random_.randint(2, 5))]
    return first + further


@pytest.mark.parametrize("again", [False, True], ids=["once", "again"])
@pytest.mark.parametrize("regions", [2, 3, 8, 13])
def test_every_region_has_the_cycles_that_counted(regions: int, again: bool) -> None:
    """In runs one after another; regions are asked for at random meanwhile, and all of them after each."""
    random_ = random.Random(regions)
    unit = RegionCycles(regions, again=again)

    async def bench(ctx: SimulatorContext) -> None:
        for _ in range(12):
            ctx.set(unit.clear, 1)
            await ctx.tick()
            ctx.set(unit.clear, 0)
            seen: list[Counter[int]] = [Counter()]
            for number in stays(random_, regions, again=again):
                counts = random_.random() < 0.9
                ctx.set(unit.number, number)
                ctx.set(unit.counts, counts)
                asked = random_.randrange(regions)
                ctx.set(unit.asked, asked)
                await ctx.tick()
                seen.append(seen[-1] + Counter([number] * counts))
                known = seen[-1 - LATE] if len(seen) > LATE else Counter()
                assert ctx.get(unit.spent) == known[asked]
            ctx.set(unit.counts, 0)
            await ctx.tick().repeat(LATE)
            for region in range(regions):
                ctx.set(unit.asked, region)
                await ctx.tick()
                assert ctx.get(unit.spent) == seen[-1][region]

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
