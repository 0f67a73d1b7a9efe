"""Off-chip memory in the compiled engine: the records of accesses, and the arbiter that serves them.

An actor's loop calls `look_at` before a firing (firing.py) and, if that asks for lines, rests until served.
The rules of ports and of the DRAM are those of the plain engine, compiled.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from samhw.machine_code import UNKNOWN, words_at
from samhw.sim.compiled.off_chip.layout import C, L, M, R
from samhw.sim.port_rule import CYCLE, NOBODY, look, serve_access
from samhw.sim.ports import Arbiter
from samhw.sim.worker import MemoryAccess, Worker
from samhw.spec import PORTS

__all__ = ["Ports", "look_at", "serve_next"]

Words = NDArray[np.int64]

ACTOR, CHANNEL, LOG, RECORD = len(R), len(C), len(L), len(M)


def look_at(address: int, unused: int) -> int:
    """`look` at the next firing of an access, by the address of its record."""
    return look(words_at(address, UNKNOWN))


def serve_next(address: int, unused: int) -> int:
    """Serves the firing that comes first of those that ask, once nothing else can go on; gives 1 if it did.

    Not while actors wait for room in the log, or for a ring to grow: those can go on.
    """
    record = words_at(address, RECORD)
    log = words_at(record[M.LOG], LOG)
    if log[L.COUNT] > 0 and log[L.COUNT] + PORTS > log[L.CAPACITY]:
        return 0
    if record[M.SHORT]:
        rows = words_at(record[M.ROWS], UNKNOWN)
        for n in range(record[M.ROW_COUNT]):
            actor = words_at(rows[n], ACTOR)
            # Who has a firing, and does not ask, waits for a pop or for room in a ring.
            waits = actor[R.WORD] and actor[R.WATCH] != rows[n] + 8 * R.SEEN
            if waits and words_at(actor[R.WATCH] - 8 * C.POPPED, CHANNEL)[C.SHORT]:
                return 0
    accesses = words_at(record[M.ACCESSES], UNKNOWN)
    first = NOBODY
    chosen = 0
    for n in range(record[M.COUNT]):
        cycle = words_at(accesses[2 * n], UNKNOWN)[CYCLE]
        if cycle < first:
            first = cycle
            chosen = n
    if first == NOBODY:
        return 0
    serve_access(words_at(accesses[2 * chosen], UNKNOWN), words_at(record[M.MEMORY], UNKNOWN))
    row = accesses[2 * chosen + 1]
    actor = words_at(row, ACTOR)
    actor[R.WATCH] = row + 8 * R.FIRINGS
    actor[R.SEEN] = -1
    return 1


class Ports:
    """The records of an arbiter, of its DRAM and of the accesses that it serves.

    Attributes:
        look: address of the compiled `look_at`.
    """

    def __init__(self, arbiter: Arbiter, look: int):
        self.look = look
        self._arbiter = arbiter
        self._memory = np.array(arbiter.memory.words, np.int64)
        self._accesses = {access: np.array(access.words, np.int64) for access in arbiter.accesses}
        for words in self._accesses.values():
            # Who waits to be served says so again.
            words[CYCLE] = NOBODY
        self._record = np.zeros(len(M), np.int64)
        self._table = np.zeros((0, 2), np.int64)

    def address_of(self, access: MemoryAccess) -> int:
        """The address of an access's record."""
        return self._accesses[access].ctypes.data

    def connect(self, rows: Words, position: Mapping[Worker, int], log: Words) -> int:
        """Fills the arbiter's record in; gives its address.

        Args:
            rows: address of each actor's record.
            position: the place of each worker in there.
        """
        actors = [rows[position[access.worker]] for access in self._accesses]
        addresses = [self.address_of(access) for access in self._accesses]
        self._table = np.array([addresses, actors], np.int64).T.copy()
        self._record[M.MEMORY] = self._memory.ctypes.data
        self._record[M.ACCESSES], self._record[M.COUNT] = self._table.ctypes.data, len(self._table)
        self._record[M.ROWS], self._record[M.ROW_COUNT] = rows.ctypes.data, len(rows)
        self._record[M.LOG] = log.ctypes.data
        return self._record.ctypes.data

    def set_short(self, short: bool) -> None:
        """Says whether there are rings that may have to grow."""
        self._record[M.SHORT] = short

    def store(self) -> None:
        """Puts everything back."""
        self._arbiter.memory.words[:] = self._memory.tolist()
        for access, words in self._accesses.items():
            access.words[:] = words.tolist()
