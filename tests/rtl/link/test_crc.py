"""The CRC of frames, against zlib's."""

import zlib
from random import Random

from amaranth.sim import Simulator, SimulatorContext

from samhw.rtl.link.frames import Crc


def test_against_zlib():
    crc = Crc()
    random = Random(0)

    async def bench(ctx: SimulatorContext) -> None:
        for length in (0, 1, 7, 8, 30):
            content = random.randbytes(length)
            ctx.set(crc.start, 1)
            await ctx.tick()
            ctx.set(crc.start, 0)
            expected = zlib.crc32(content)
            for place, byte in enumerate(content + expected.to_bytes(4, "little")):
                await ctx.tick()
                assert not ctx.get(crc.matches)
                if place == length:
                    assert ctx.get(crc.crc) == expected
                ctx.set(crc.data, byte)
                ctx.set(crc.valid, 1)
                await ctx.tick()
                ctx.set(crc.valid, 0)
                for _ in range(8):
                    assert ctx.get(crc.busy)
                    await ctx.tick()
                assert not ctx.get(crc.busy)
            await ctx.tick()
            assert ctx.get(crc.matches)

    simulator = Simulator(crc)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
