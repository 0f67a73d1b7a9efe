"""A master of AXI4 in Amaranth's simulator, written from docs/host_port.md: each channel at its own pace."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from amaranth.sim import SimulatorContext

__all__ = ["FIXED", "INCR", "WRAP", "Burst", "Master"]

FIXED, INCR, WRAP = 0, 1, 2


@dataclass
class Burst:
    """A burst. Of a read, `words` has as many entries as it has beats."""

    addr: int
    words: Sequence[int]
    id: int = 0
    size: int = 2
    burst: int = INCR
    strobes: Sequence[int] = ()
    """Of each beat of a write; by default all bytes."""
    answers: list[tuple[int, int]] = field(default_factory=list)
    """What came: the word, 0 for a write, and the response."""
    cycles: list[int] = field(default_factory=list)
    """Those in which the answers came."""

    @property
    def address(self) -> dict[str, int]:
        """The pins of its address."""
        return {
            "id": self.id,
            "addr": self.addr,
            "len": len(self.words) - 1,
            "size": self.size,
            "burst": self.burst,
        }

    def beats(self) -> Iterator[dict[str, int]]:
        """The pins of its data."""
        strobes = self.strobes or [15] * len(self.words)
        for place, (word, strobe) in enumerate(zip(self.words, strobes, strict=True)):
            yield {"data": word, "strb": strobe, "last": int(place == len(self.words) - 1)}


class Master:
    """Sends bursts and takes their answers, which must come in order and stay until they are taken.

    Args:
        axi: the pins: those of a port, or of a top, whose names begin with `prefix`.
        pace: of each channel, the share of cycles in which the master is ready to go on; by default all.
    """

    def __init__(self, axi: object, *, prefix: str = "", seed: int = 0, pace: dict[str, float] | None = None):
        self.axi = axi
        self.prefix = prefix
        self.random = Random(seed)
        self.pace = pace or {}
        self.cycle = 0

    def pin(self, name: str) -> Any:
        return getattr(self.axi, self.prefix + name)

    async def transfer(
        self, ctx: SimulatorContext, writes: Iterable[Burst] = (), reads: Iterable[Burst] = ()
    ) -> int:
        """Does all of these side by side; gives the cycles that it takes."""
        writes, reads = list(writes), list(reads)
        sources = {
            "aw": [burst.address for burst in writes],
            "w": [beat for burst in writes for beat in burst.beats()],
            "ar": [burst.address for burst in reads],
        }
        sinks = {
            "b": [(burst, True) for burst in writes],
            "r": [(b, place == len(b.words) - 1) for b in reads for place in range(len(b.words))],
        }
        offered: dict[str, bool] = {}
        stands: dict[str, tuple[int, ...]] = {}
        begin = self.cycle
        while any(sources.values()) or any(sinks.values()):
            for channel, queue in sources.items():
                # What is offered stays until it is taken.
                offered[channel] = bool(queue) and (offered.get(channel, False) or self._goes(channel))
                ctx.set(self.pin(f"{channel}valid"), offered[channel])
                for name, value in queue[0].items() if offered[channel] else ():
                    ctx.set(self.pin(channel + name), value)
            for channel, expected in sinks.items():
                ctx.set(self.pin(f"{channel}ready"), bool(expected) and self._goes(channel))
            await ctx.delay(0)
            for channel, queue in sources.items():
                if offered[channel] and ctx.get(self.pin(f"{channel}ready")):
                    queue.pop(0)
                    offered[channel] = False
            for channel, expected in sinks.items():
                self._take(ctx, channel, expected, stands)
            await ctx.tick()
            self.cycle += 1
            assert self.cycle - begin < 100_000, "the port does not go on"
        for channel in sources:
            ctx.set(self.pin(f"{channel}valid"), 0)
        for channel in sinks:
            ctx.set(self.pin(f"{channel}ready"), 0)
        return self.cycle - begin

    def _goes(self, channel: str) -> bool:
        return self.random.random() < self.pace.get(channel, 1)

    def _take(
        self,
        ctx: SimulatorContext,
        channel: str,
        expected: list[tuple[Burst, bool]],
        stands: dict[str, tuple[int, ...]],
    ) -> None:
        if not ctx.get(self.pin(f"{channel}valid")):
            assert channel not in stands, "an answer stays until it is taken"
            return
        names = ("id", "resp", "data", "last") if channel == "r" else ("id", "resp")
        found = tuple(int(_plain(ctx.get(self.pin(channel + name)))) for name in names)
        assert stands.pop(channel, found) == found, "an answer stays as it is"
        if not ctx.get(self.pin(f"{channel}ready")):
            stands[channel] = found
            return
        burst, last = expected.pop(0)
        assert found[0] == burst.id, "answers come in order"
        if channel == "r":
            assert found[3] == last
        burst.answers.append((found[2] if channel == "r" else 0, found[1]))
        burst.cycles.append(self.cycle)


def _plain(value: Any) -> int:
    return int(getattr(value, "value", value))
