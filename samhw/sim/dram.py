"""The timing of a DRAM's channel (docs/memory.md), request by request, in clocks and in whole numbers."""

from collections import deque
from dataclasses import dataclass

from samhw.graph import Dram

__all__ = ["Channel", "Counts"]

NEVER = -(1 << 62)


@dataclass
class Counts:
    """What a channel has done. `refreshing`: clocks that its requests waited for refreshes, summed."""

    reads: int = 0
    writes: int = 0
    hits: int = 0
    misses: int = 0
    conflicts: int = 0
    refreshing: int = 0


class _Bank:
    """A bank: its open row, and the first clocks in which it may have each command."""

    __slots__ = ("activate", "column", "precharge", "row")

    def __init__(self) -> None:
        self.row: int | None = None
        self.activate = self.column = self.precharge = NEVER


class Channel:
    """A channel with its banks. `serve` takes requests in their order, arrivals never going back."""

    def __init__(self, dram: Dram):
        self.dram = dram
        self.counts = Counts()
        self._banks = [[_Bank() for _ in range(dram.banks)] for _ in range(dram.groups)]
        self._refresh = dram.refi
        """Clock of the next refresh."""
        self._activates = deque([NEVER] * 4, maxlen=4)
        self._group_activate = [NEVER] * dram.groups
        self._reads = NEVER
        self._writes = NEVER
        self._group_reads = [NEVER] * dram.groups
        self._group_writes = [NEVER] * dram.groups

    def serve(self, arrival: int, group: int, bank_number: int, row: int, write: bool) -> int:
        """The clock behind the last one in which the data of a request are on the bus."""
        dram, counts = self.dram, self.counts
        while self._refresh <= arrival:
            self._close_all()
        bank = self._banks[group][bank_number]
        activate, column = self._plan(arrival, group, bank, row, write)
        while column >= self._refresh:
            self._close_all()
            activate, column = self._plan(arrival, group, bank, row, write)

        counts.refreshing += self._waited_for_refreshes(arrival, column)
        if activate is None:
            counts.hits += 1
        else:
            if bank.row is None:
                counts.misses += 1
            else:
                counts.conflicts += 1
            bank.row = row
            bank.column = activate + dram.rcd
            bank.precharge = activate + dram.ras
            self._activates.append(activate)
            self._group_activate[group] = activate
        if write:
            counts.writes += 1
            self._writes = self._group_writes[group] = column
            end = column + dram.cwl + dram.burst
            bank.precharge = max(bank.precharge, end + dram.wr)
        else:
            counts.reads += 1
            self._reads = self._group_reads[group] = column
            end = column + dram.cl + dram.burst
            bank.precharge = max(bank.precharge, column + dram.rtp)
        return end

    def _plan(self, arrival: int, group: int, bank: _Bank, row: int, write: bool) -> tuple[int | None, int]:
        """The clocks of ACT, or None where the row is open, and of RD or WR, if no refresh intervenes."""
        dram = self.dram
        activate = None
        ready = max(arrival, bank.column)
        if bank.row != row:
            activate = max(
                arrival,
                bank.activate if bank.row is None else max(arrival, bank.precharge) + dram.rp,
                self._activates[-1] + dram.rrd_s,
                self._group_activate[group] + dram.rrd_l,
                self._activates[0] + dram.faw,
            )
            ready = activate + dram.rcd
        if write:
            turn = max(dram.ccd_s, dram.cl + dram.burst + 2 - dram.cwl)
            last = max(self._writes + dram.ccd_s, self._group_writes[group] + dram.ccd_l, self._reads + turn)
        else:
            written = dram.cwl + dram.burst
            last = max(
                self._reads + dram.ccd_s,
                self._group_reads[group] + dram.ccd_l,
                self._writes + written + dram.wtr_s,
                self._group_writes[group] + written + dram.wtr_l,
            )
        return activate, max(ready, last)

    def _close_all(self) -> None:
        """A refresh: every row is closed, and no bank may have a command before its end."""
        refreshed = self._refresh + self.dram.rp + self.dram.rfc
        for bank in (bank for group in self._banks for bank in group):
            bank.row = None
            bank.activate = refreshed
        self._refresh += self.dram.refi

    def _waited_for_refreshes(self, arrival: int, column: int) -> int:
        """The clocks from one to the other that belong to refreshes."""
        refi, length = self.dram.refi, self.dram.rp + self.dram.rfc
        first, last = max(1, (arrival - length) // refi + 1), column // refi
        return max(0, last - first + 1) * length - max(0, arrival - first * refi) * (last >= first)
