"""An arbiter with its memory and the ports of actors as records, and back."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from samhw.sim.compiled.engine_code import lines_addresses
from samhw.sim.compiled.off_chip.records import AccessRecord, PortRecord
from samhw.sim.compiled.records import NEVER
from samhw.sim.dram import least_cycles
from samhw.sim.port_rule import (
    AHEAD,
    CYCLE,
    DATA,
    DONE,
    LAST_DATA,
    LINE_SIZE,
    NOBODY,
    PLACES,
    PORT,
    READS,
    RECENT,
    REQUESTS,
    USE,
    USE_SIZE,
    WAITED,
    WORDS,
    WRITE,
    buffer_of,
    end_of_buffer,
    port_starts,
)
from samhw.sim.ports import Arbiter
from samhw.sim.worker import MemoryAccess, Worker

__all__ = ["LinesImage"]

Words = NDArray[np.int64]

KEPT = 1 << 12
"""Requests that there is room for at first besides those of a phase."""


class LinesImage:
    """The records of accesses to off-chip memory, and the memory.

    Attributes:
        graph: what the graph's record has of it.
    """

    def __init__(self, arbiter: Arbiter, places: Mapping[Worker, int], history: int, phase: int):
        """
        Args:
            places: address of each actor's record.
            history: firings of an actor that rows have words for besides those of a phase.
            phase: most firings in a phase.
        """
        self._arbiter = arbiter
        self._memory = np.array(arbiter.memory.words, np.int64)
        note, serve, room = lines_addresses()
        self._accesses = {
            access.worker: _AccessImage(access, places[access.worker], note, history, phase)
            for access in arbiter.accesses
        }
        self._table = np.array(list(self.addresses().values()), np.int64)
        self.graph = {
            "serve": serve,
            "line_room": room,
            "memory": self._memory.ctypes.data,
            "line_cycles": least_cycles(arbiter.memory.words),
            "accesses": self._table.ctypes.data,
            "access_count": len(self._table),
        }

    def addresses(self) -> dict[Worker, int]:
        """The address of the record of each worker's access."""
        return {worker: access.address for worker, access in self._accesses.items()}

    def lengthen(self, phase: int) -> None:
        """Doubles the rows of ports in which there is no room for another phase."""
        for access in self._accesses.values():
            for port in access.ports:
                port.lengthen(phase)

    def store(self) -> None:
        """Puts the memory back, and what ports have done. They cannot go on from there."""
        self._arbiter.memory.words[:] = self._memory.tolist()
        for worker, access in self._accesses.items():
            worker.held = access.record.held
            for port in access.ports:
                port.store(access.words.words, access.rule)


class _AccessImage:
    """The record of an access, and those of its ports."""

    def __init__(self, access: MemoryAccess, actor: int, note: int, history: int, phase: int):
        self.words = access
        rule = list(access.words)
        # Who waits to be served says so again.
        rule[CYCLE] = NOBODY
        worker = access.worker
        starts = port_starts(access.words)
        self.ports = [_PortImage(rule, at, worker, history, phase) for at in starts]
        self.rule = np.array(rule, np.int64)
        addresses = [port.address for port in self.ports]
        carried = list(_carried(access, starts))
        self._tables = np.array([*addresses, *(n for pair in carried for n in pair)], np.int64)
        self._words = np.array(
            AccessRecord.words(
                rule=self.rule.ctypes.data,
                actor=actor,
                ports=self._tables.ctypes.data,
                port_count=len(addresses),
                carried=self._tables.ctypes.data + 8 * len(addresses),
                carried_count=len(carried),
                note=note,
                asks_in=NEVER,
                held=worker.held,
            ),
            np.int64,
        )
        self.address = self._words.ctypes.data
        self.record = AccessRecord.at(self.address)


def _carried(access: MemoryAccess, starts: list[int]) -> list[tuple[int, int]]:
    """Of each channel whose tokens carry data, its number and that of the port."""
    queues = [(output, queue) for output, queues in enumerate(access.worker.outputs) for queue in queues]
    reads = [(q, access.carried[output]) for q, (output, _) in enumerate(queues)]
    return [(q, starts.index(access.words[USE + USE_SIZE * n + PORT])) for q, n in reads if n >= 0]


class _PortImage:
    """The record of a port, and its rows."""

    def __init__(self, rule: list[int], at: int, worker: Worker, history: int, phase: int):
        old = _requests_in(rule, at)
        size = len(old) + KEPT + phase * rule[at + PLACES]
        self._rows = np.empty((3, size), np.int64)
        self._rows[2, : len(old)] = old
        self._upto = np.full(history + phase + 1, len(old), np.int64)
        self._words = np.array(
            PortRecord.words(
                begin=at,
                upto=self._upto.ctypes.data - 8 * (worker.firings - history),
                base=0,
                size=size,
                places=rule[at + PLACES],
                found=len(old),
                timed=len(old),
                served=len(old),
                write=rule[at + WRITE],
                waited=rule[at + WAITED],
                last_done=rule[at + DONE],
            ),
            np.int64,
        )
        self.address = self._words.ctypes.data
        self.record = PortRecord.at(self.address)
        self._point_to_rows()

    def _point_to_rows(self) -> None:
        self.record.lines, self.record.asked, self.record.done = (
            row.ctypes.data - 8 * self.record.base for row in self._rows
        )

    def lengthen(self, phase: int) -> None:
        """Doubles its rows if there is no room for another phase."""
        record = self.record
        if record.found + phase * record.places > record.base + record.size:
            rows = np.empty((3, 2 * record.size), np.int64)
            rows[:, : record.size] = self._rows
            self._rows = rows
            record.size *= 2
            self._point_to_rows()

    def store(self, words: list[int], rule: Words) -> None:
        """Puts what it has done into the words of its access."""
        record = self.record
        at = record.begin
        words[at + WORDS], words[at + AHEAD] = int(rule[at + WORDS]), int(rule[at + AHEAD])
        words[at + REQUESTS] = int(rule[at + REQUESTS]) - (record.found - record.served)
        words[at + WAITED] = record.waited
        if record.write:
            words[at + DONE] = record.last_done


def _requests_in(rule: list[int], at: int) -> list[int]:
    """The cycles in which the last requests of the port at `at` are done, as many as there are places.

    Those before are done. Where the rule has such a cycle it gets one more than the request's place in the
    list, and 0 for one that is done.
    """
    places, made = rule[at + PLACES], rule[at + REQUESTS]
    recent = [rule[at + RECENT + n % places] if n >= 0 else 0 for n in range(made - places, made)]
    lines = range(buffer_of(rule, at), end_of_buffer(rule, at), LINE_SIZE)
    uses = [USE + USE_SIZE * n for n in range(rule[READS])]
    data = [use + DATA for use in uses if rule[use + PORT] == at]
    for place in (at + LAST_DATA, *(line + 1 for line in lines), *data):
        # Less than 0 is a line that the next firing asks for.
        if rule[place] > 0:
            rule[place] = recent.index(rule[place]) + 1 if rule[place] in recent else 0
    return recent
