"""Sessions with simulated RTL, which reach the memories off its chip past the design."""

from collections.abc import Mapping
from pathlib import Path

from numpy.typing import ArrayLike

from samhw.graph import PLAIN_HOST, Arch, Design, HostOptions
from samhw.graph.numerics import Words
from samhw.graph.off_chip import OffChipLayout, PlacedArray
from samhw.graph.off_chip_memory import OffChipMemory, SdramMemory
from samhw.targets.running.images import packed, unpacked
from samhw.targets.running.port import Harness
from samhw.targets.running.session import LIMIT, HardwareResult, PortSession

__all__ = ["HarnessSession", "past_design"]


def past_design(layout: OffChipLayout | None) -> Mapping[str, PlacedArray]:
    """The arrays that no host's port reaches, by name: a simulation loads them past the design."""
    return {} if layout is None or layout.chip else layout.arrays


class HarnessSession(PortSession):
    """A process that runs a design by the commands of templates/harness.cpp again and again.

    Args:
        program: of that process.
        layout: what of the tensors lies off the chip.
    """

    port: Harness

    def __init__(
        self,
        design: Design,
        arch: Arch,
        program: Path,
        host: HostOptions = PLAIN_HOST,
        layout: OffChipLayout | None = None,
    ):
        self._past = past_design(layout)
        super().__init__(design, arch, Harness(program), host, layout)

    def run(
        self,
        memories: Mapping[str, ArrayLike],
        extents: Mapping[str, int],
        *,
        buffers: bool = False,
        limit: int = LIMIT,
        memory: OffChipMemory | None = None,
        memory_log: Path | None = None,
    ) -> HardwareResult:
        """As of `Session`, with more to choose.

        Args:
            memories, extents, buffers, limit: as of `Session.run`.
            memory: what the memories off the chip are; of its ports, the build has those of its layout.
            memory_log: a file that takes the log of the run.

        Raises `InputError` and `RunError` as `Session.run` does.
        """
        if memory is not None and not isinstance(memory, SdramMemory):
            self.port.memory(memory)
        result = super().run(memories, extents, buffers=buffers, limit=limit)
        if memory_log is not None and memory is not None:
            memory_log.write_text(self.port.memory_log(memory), encoding="utf-8")
        return result

    def write(self, memory: str, words: ArrayLike) -> None:
        if (placed := self._past.get(memory)) is None:
            super().write(memory, words)
        else:
            self.port.load_memory(placed.master, placed.base, packed(placed, words))

    def read(self, memory: str, count: int) -> Words:
        if (placed := self._past.get(memory)) is None:
            return super().read(memory, count)
        size = -(-count // placed.words) * placed.place_bytes
        return unpacked(placed, self.port.read_memory(placed.master, placed.base, size))[:count]
