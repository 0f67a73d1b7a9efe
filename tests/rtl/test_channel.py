"""Channel, against a queue.

What is strobed in t is at the output from t + 1 on; a slot is free again in the cycle after the pop.
"""

from collections import deque
from random import Random

import pytest
from amaranth.sim import Simulator, SimulatorContext

from samhw.rtl.channel import Fifo


@pytest.mark.parametrize("latency", [1, 2, 4])
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 32, 33, 40])
def test_against_a_queue(depth, latency):
    channel = Fifo(16, depth)
    random = Random(depth * 8 + latency)

    async def bench(ctx: SimulatorContext) -> None:
        stored: deque[int] = deque()
        late = deque([None] * (latency - 1))
        popped = False
        taken = fullest = 0
        for cycle in range(600):
            # Long stretches in which one side is faster, so that it fills and runs empty.
            eager = (cycle // 100) % 3
            ctx.set(channel.o.ready, random.random() < (0.2, 0.9, 1)[eager])
            assert ctx.get(channel.i.ready) == (taken < depth)
            assert ctx.get(channel.full) == (taken == depth)
            push = taken < depth and random.random() < (0.9, 0.3, 1)[eager]
            late.append(random.randrange(1 << 16) if push else None)
            strobed = late.popleft()
            ctx.set(channel.i.push, push)
            ctx.set(channel.i.strobe, strobed is not None)
            ctx.set(channel.i.token, 0xDEAD if strobed is None else strobed)
            assert ctx.get(channel.o.valid) == bool(stored)
            assert ctx.get(channel.empty) == (not stored)
            if stored:
                assert ctx.get(channel.o.payload) == stored[0]
            popped = bool(stored) and ctx.get(channel.o.ready)
            await ctx.tick()
            if popped:
                stored.popleft()
            if strobed is not None:
                stored.append(strobed)
            taken += push - popped
            fullest = max(fullest, taken)
        assert fullest == depth

    simulator = Simulator(channel)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("depth", [1, 3, 40])
def test_bits_that_are_not_stored(depth: int) -> None:
    """Above those that are kept come zeros, or copies of the highest."""
    for is_signed, given in ((False, 0x005B), (True, 0xFFDB)):
        channel = Fifo(16, depth, kept=0b0111_1011, early=0b11, is_signed=is_signed)

        async def bench(ctx: SimulatorContext, channel: Fifo = channel, given: int = given) -> None:
            for token, wanted in ((0x00DF, given), (0xFFA4, 0x0020)):
                ctx.set(channel.i.push, 1)
                ctx.set(channel.i.strobe, 1)
                ctx.set(channel.i.token, token)
                await ctx.tick()
                ctx.set(channel.i.push, 0)
                ctx.set(channel.i.strobe, 0)
                assert ctx.get(channel.o.payload) == wanted
                ctx.set(channel.o.ready, 1)
                await ctx.tick()
                ctx.set(channel.o.ready, 0)

        simulator = Simulator(channel)
        simulator.add_clock(1e-6)
        simulator.add_testbench(bench)
        simulator.run()
