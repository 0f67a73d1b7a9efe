"""Off-chip memory during a run (docs/memory.md): where memories lie, and what holds them."""

from dataclasses import dataclass

from samhw.errors import InputError
from samhw.graph import Arch, Design, Dram, Memory, OffChip
from samhw.sim.dram import ORIGIN, Counts, clear_counts, dram_counts, dram_words

__all__ = ["MemorySystem", "PlacedMemory"]


@dataclass(frozen=True)
class PlacedMemory:
    """A memory of the design off chip: its first line, and the places and words of a line."""

    first: int
    places: int
    words: int


class MemorySystem:
    """A DRAM with the memories that a design has in it. It goes on from run to run, as regions do.

    Attributes:
        words: the DRAM's record (dram.py).
        arrays: the memories off chip, by name.

    Raises:
        InputError: if the design lacks a tensor that is to lie off chip.
    """

    def __init__(self, design: Design, arch: Arch, off_chip: OffChip):
        self.dram: Dram = off_chip.dram
        self.words = dram_words(self.dram)
        tensors = {memory.tensor for memory in design.memories}
        if unknown := sorted(set(off_chip.tensors or ()) - tensors):
            raise InputError(
                f"There is no tensor {unknown[0]!r} in {design.name} to place off chip; "
                f"it stores {', '.join(sorted(tensors))}."
            )
        self.arrays: dict[str, PlacedMemory] = {}
        line = 0
        for memory in design.memories:
            if off_chip.holds(memory.tensor):
                places = self.dram.burst_bytes // _place_bytes(design, memory, arch)
                self.arrays[memory.name] = PlacedMemory(line, places, places * memory.payload().words)
                line += -(-memory.capacity // places)

    def begin(self) -> None:
        """Counts from zero again."""
        clear_counts(self.words)

    def end(self, cycles: int) -> None:
        """A run has taken that many cycles; cycle 0 of the next is the one after."""
        self.words[ORIGIN] += cycles + 1

    @property
    def counts(self) -> list[Counts]:
        """What each channel has done in this run."""
        return dram_counts(self.words)


def _place_bytes(design: Design, memory: Memory, arch: Arch) -> int:
    """The bytes that a place of a memory takes: a power of two."""
    octets = -(-design.stored(memory).width(arch.index_bits) // 8)
    return 1 << (octets - 1).bit_length()
