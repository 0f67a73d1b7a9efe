"""An arbiter with its memory and accesses as records, and back."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from samhw.sim.compiled.engine_code import lines_addresses
from samhw.sim.compiled.records import NEVER, AccessRecord
from samhw.sim.oracle import entry_size
from samhw.sim.ports import Arbiter
from samhw.sim.worker import LineAccess, Queue, Worker

__all__ = ["LinesImage"]

Words = NDArray[np.int64]

KEPT = 1 << 12
"""Requests that there is room for at first besides those of a phase."""


class LinesImage:
    """The records of accesses to off-chip memory, and the memory.

    Attributes:
        graph: what the graph's record has of it.
    """

    def __init__(self, arbiter: Arbiter, channels: Mapping[Queue, int], phase: int):
        """
        Args:
            channels: address of each queue's record.
            phase: most firings in a phase.
        """
        self._arbiter = arbiter
        system = arbiter.system
        self._memory = [np.array(words, np.int64) for words in (system.oracle, system.dram, system.recorded)]
        serve, room = lines_addresses()
        self._accesses = {
            access.worker: _AccessImage(access, n, channels[access.queue], phase)
            for n, access in enumerate(arbiter.accesses)
        }
        self._table = np.array(list(self.addresses().values()), np.int64)
        self._next_asked = np.array([access.next_asked() for access in self._accesses.values()], np.int64)
        self._entry = entry_size(system.ports.beats)
        self._entries = np.empty(0, np.int64)
        oracle, dram, recorded = (words.ctypes.data for words in self._memory)
        self.graph = {
            "serve": serve,
            "line_room": room,
            "oracle": oracle,
            "dram": dram,
            "recorded": recorded,
            "line_cycles": system.lookahead,
            "stored": system.ports.lines,
            "accesses": self._table.ctypes.data,
            "access_count": len(self._table),
            "next_asked": self._next_asked.ctypes.data,
        }
        if system.entries is not None:
            room = 2 * phase * len(self._table)
            self._entries = np.empty(room * self._entry, np.int64)
            self.graph |= {"journal": self._entries.ctypes.data, "journal_room": room}

    def addresses(self) -> dict[Worker, int]:
        """The address of the record of each worker's access."""
        return {worker: access.address for worker, access in self._accesses.items()}

    def lengthen(self, phase: int, number: int) -> dict[str, int]:
        """Doubles the rows in which there is no room for another phase; gives what changes in the graph's
        record, which has this many entries of a log."""
        for access in self._accesses.values():
            access.lengthen(phase)
        room = len(self._entries) // self._entry
        if not room or number + phase * len(self._table) <= room:
            return {}
        self._entries = np.concatenate([self._entries, np.empty_like(self._entries)])
        return {"journal": self._entries.ctypes.data, "journal_room": 2 * room}

    def store(self, number: int) -> None:
        """Puts the memory back, and what accesses have done. They cannot go on from there.

        Args:
            number: the entries of the log.
        """
        system = self._arbiter.system
        for words, after in zip((system.oracle, system.dram), self._memory, strict=False):
            words[:] = after.tolist()
        if system.entries is not None:
            system.entries += self._entries[: number * self._entry].tolist()
        for access in self._accesses.values():
            access.store()


class _AccessImage:
    """The record of an access, and its rows."""

    def __init__(self, access: LineAccess, number: int, channel: int, phase: int):
        self.access = access
        beats, made, served = access.system.ports.beats, len(access.lines), access.served
        size = made + KEPT + phase
        self._rows = np.empty((3, size), np.int64)
        self._rows[0, :made], self._rows[2, :made] = access.lines, access.asked
        self._answered = np.empty(size * beats, np.int64)
        self._answered[: served * beats] = access.answered
        self._words = np.array(
            AccessRecord.words(
                number=number,
                channel=channel,
                base=0,
                size=size,
                found=made,
                timed=made,
                served=served,
                beats=beats,
                first=access.port.array.base,
                line_bytes=access.system.ports.line,
                master=access.port.array.master,
                write=int(access.port.write),
                waited=access.waited,
            ),
            np.int64,
        )
        self.address = self._words.ctypes.data
        self.record = AccessRecord.at(self.address)
        self._point_to_rows()

    def _point_to_rows(self) -> None:
        record = self.record
        record.lines, record.tokens, record.asked = (row.ctypes.data - 8 * record.base for row in self._rows)
        record.answered = self._answered.ctypes.data - 8 * record.base * record.beats

    def next_asked(self) -> int:
        """The cycle of its first request that is not served, or NEVER."""
        return self.access.asked[self.access.served] if self.access.served < self.record.timed else NEVER

    def lengthen(self, phase: int) -> None:
        """Doubles its rows if there is no room for another phase."""
        record = self.record
        if record.found + phase > record.base + record.size:
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)], axis=1)
            self._answered = np.concatenate([self._answered, np.empty_like(self._answered)])
            record.size *= 2
            self._point_to_rows()

    def store(self) -> None:
        """Puts back what statistics need, and the region's end."""
        record, access = self.record, self.access
        access.served, access.waited = record.served, record.waited
        if record.served:
            first = (record.served - 1 - record.base) * record.beats
            last = first if access.port.write else first + record.beats - 1
            access.latest = int(self._answered[last]) + 1
