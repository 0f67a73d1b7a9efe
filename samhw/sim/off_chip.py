"""Off-chip memory during a run (docs/memory.md): where memories lie, and what holds them."""

from samhw.errors import InputError
from samhw.graph import Arch, Design, OffChip, OffChipLayout
from samhw.graph.off_chip_memory import RecordedMemory, write_log
from samhw.sim.dram import clear_counts
from samhw.sim.oracle import ORIGIN, WRONG, logged, lookahead, oracle_words

__all__ = ["MemorySystem"]


class MemorySystem:
    """A memory with what a design has in it. It goes on from run to run, as regions do.

    Attributes:
        layout: where arrays lie.
        oracle: the record of the memory (oracle.py), with that of its DRAM and the log that it is from.
        lookahead: the fewest cycles from a request to what comes of it.
        entries: the log of the run, in words, if somebody wants it; else None.

    Raises:
        InputError: if the design lacks an array that is to lie off chip, or for a log that does not fit.
    """

    def __init__(self, design: Design, arch: Arch, off_chip: OffChip):
        self.off_chip = off_chip
        self.memory = off_chip.memory
        self.ports = off_chip.memory.ports
        self.layout = OffChipLayout(design, arch, self.ports, off_chip.arrays)
        self.oracle, self.dram, self.recorded = oracle_words(off_chip.memory)
        self.lookahead = lookahead(off_chip.memory)
        self.entries: list[int] | None = None if off_chip.log is None else []

    @property
    def has_dram(self) -> bool:
        """Whether it is a DRAM."""
        return len(self.dram) > 1

    def begin(self) -> None:
        """Counts from zero again."""
        if self.has_dram:
            clear_counts(self.dram)

    def end(self, cycles: int) -> None:
        """A run has taken that many cycles; cycle 0 of the next is the one after."""
        self.oracle[ORIGIN] += cycles + 1

    def check(self) -> None:
        """Raises `InputError` if the run has asked for something else than that which a log is of."""
        if self.oracle[WRONG]:
            assert isinstance(self.memory, RecordedMemory)
            raise InputError(
                f"Request {self.oracle[WRONG]} of this run is not that in {self.memory.path}; give the log, "
                "the ports and the places of one run."
            )

    def write_log(self) -> None:
        """Writes the log of the run, if somebody wants it."""
        if self.off_chip.log is not None and self.entries is not None:
            write_log(self.off_chip.log, self.memory, logged(self.entries, self.ports.beats))
