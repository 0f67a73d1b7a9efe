"""The timing of a DRAM (docs/memory.md), request by request, in clocks and in whole numbers.

A DRAM is a record of words: its numbers, its time, and its channels with their banks. What is done to it are
functions of integers, as step functions are, so that both engines have one rule: the plain engine runs them
over a list, the compiled one compiles them.
"""

from dataclasses import dataclass

from samhw.graph import Dram
from samhw.graph.dram import NUMBERS
from samhw.sim.step import Words

__all__ = [
    "BURST_BYTES",
    "NEVER",
    "Counts",
    "channel_at",
    "clear_counts",
    "dram_counts",
    "dram_words",
    "least_cycles",
    "request",
    "serve",
]

NEVER = -(1 << 62)
CLOSED = -1
"""Instead of a row."""

# The record: the numbers of `Dram`, in the order of its fields; then COLUMNS, the bursts of a row; SHARE, the
# channels of a master; SIZE, the words of a channel; and from CHANNEL on the channels.
CLOCK_PS, CHANNELS, GROUPS, BANKS, _, BURST_BYTES, BURST, CL, CWL, RCD, RP, RAS, RTP, WR = range(14)
CCD_S, CCD_L, RRD_S, RRD_L, FAW, WTR_S, WTR_L, RFC, REFI, FRONTEND, BACKEND, CYCLE_PS = range(14, 26)
COLUMNS = len(NUMBERS)
SHARE, SIZE, CHANNEL = range(COLUMNS + 1, COLUMNS + 4)

# A channel: its counts (`Counts`); the clock of its next refresh; those of its latest RD, of its latest WR
# and of its four latest ACTs, the oldest first; then its groups, and its banks group by group.
READS, WRITES, HITS, MISSES, CONFLICTS, REFRESHING, REFRESH, LAST_RD, LAST_WR, ACTS, GROUP = (*range(10), 13)
# A group: the clocks of its latest ACT, RD and WR.
GROUP_ACT, GROUP_RD, GROUP_WR, GROUP_SIZE = range(4)
# A bank: its open row, and the first clocks in which it may have ACT, RD or WR, and PRE.
ROW, ACT, COLUMN, PRE, BANK_SIZE = range(5)


@dataclass(frozen=True)
class Counts:
    """What a channel has done. `refreshing`: clocks that its requests waited for refreshes, summed."""

    reads: int
    writes: int
    hits: int
    misses: int
    conflicts: int
    refreshing: int


def dram_words(dram: Dram) -> list[int]:
    """A memory in which nothing has happened yet."""
    banks = [CLOSED, NEVER, NEVER, NEVER] * (dram.groups * dram.banks)
    channel = [0] * REFRESH + [dram.refi] + [NEVER] * (GROUP - LAST_RD + GROUP_SIZE * dram.groups) + banks
    numbers = [int(getattr(dram, name)) for name in NUMBERS]
    share = dram.channels // dram.ports.masters
    return [*numbers, dram.row_bytes // dram.burst_bytes, share, len(channel), *(channel * dram.channels)]


def channel_at(memory: Words, channel: int) -> int:
    """Where the channel of that number begins."""
    return CHANNEL + channel * memory[SIZE]


def dram_counts(memory: Words) -> list[Counts]:
    """What each channel has done."""
    starts = (channel_at(memory, channel) for channel in range(memory[CHANNELS]))
    return [Counts(*(memory[at + n] for n in range(REFRESH))) for at in starts]


def clear_counts(memory: Words) -> None:
    """Lets the channels count from zero again."""
    for channel in range(memory[CHANNELS]):
        for n in range(REFRESH):
            memory[channel_at(memory, channel) + n] = 0


def least_cycles(memory: Words) -> int:
    """The fewest cycles from a request until it is done."""
    clocks = memory[FRONTEND] + min(memory[CL], memory[CWL]) + memory[BURST] + memory[BACKEND]
    return -(-clocks * memory[CLOCK_PS] // memory[CYCLE_PS])


def request(memory: Words, cycle: int, master: int, burst: int, write: int) -> int:
    """The cycle in which a request of that cycle is done. Those of a master come in the order of the rule.

    Args:
        cycle: counts through the whole run.
        burst: the number of the burst among the addresses of the master.
    """
    arrival = -(-cycle * memory[CYCLE_PS] // memory[CLOCK_PS]) + memory[FRONTEND]
    channel = master * memory[SHARE] + burst % memory[SHARE]
    rest = burst // memory[SHARE]
    group = rest % memory[GROUPS]
    rest = rest // memory[GROUPS] // memory[COLUMNS]
    at = CHANNEL + channel * memory[SIZE]
    end = serve(memory, at, arrival, group, rest % memory[BANKS], rest // memory[BANKS], write)
    return -(-(end + memory[BACKEND]) * memory[CLOCK_PS] // memory[CYCLE_PS])


def serve(
    memory: Words, at: int, arrival: int, group_number: int, bank_number: int, row: int, write: int
) -> int:
    """The clock after the last one in which the data of a request are on the bus of the channel at `at`.

    Requests come in their order, arrivals never going back.
    """
    group = at + GROUP + GROUP_SIZE * group_number
    bank = at + GROUP + GROUP_SIZE * memory[GROUPS]
    bank += BANK_SIZE * (group_number * memory[BANKS] + bank_number)
    while memory[at + REFRESH] <= arrival:
        _close_all(memory, at)
    activate, column = _plan(memory, at, arrival, group, bank, row, write)
    while column >= memory[at + REFRESH]:
        _close_all(memory, at)
        activate, column = _plan(memory, at, arrival, group, bank, row, write)

    memory[at + REFRESHING] += _waited_for_refreshes(memory, arrival, column)
    if memory[bank + ROW] == row:
        memory[at + HITS] += 1
    else:
        if memory[bank + ROW] == CLOSED:
            memory[at + MISSES] += 1
        else:
            memory[at + CONFLICTS] += 1
        memory[bank + ROW] = row
        memory[bank + COLUMN] = activate + memory[RCD]
        memory[bank + PRE] = activate + memory[RAS]
        for n in range(ACTS, ACTS + 3):
            memory[at + n] = memory[at + n + 1]
        memory[at + ACTS + 3] = memory[group + GROUP_ACT] = activate
    if write:
        memory[at + WRITES] += 1
        memory[at + LAST_WR] = memory[group + GROUP_WR] = column
        end = column + memory[CWL] + memory[BURST]
        memory[bank + PRE] = max(memory[bank + PRE], end + memory[WR])
    else:
        memory[at + READS] += 1
        memory[at + LAST_RD] = memory[group + GROUP_RD] = column
        end = column + memory[CL] + memory[BURST]
        memory[bank + PRE] = max(memory[bank + PRE], column + memory[RTP])
    return end


def _plan(
    memory: Words, at: int, arrival: int, group: int, bank: int, row: int, write: int
) -> tuple[int, int]:
    """The clocks of ACT, if the row is not open, and of RD or WR, if no refresh intervenes."""
    activate = NEVER
    ready = max(arrival, memory[bank + COLUMN])
    if memory[bank + ROW] != row:
        closed = memory[bank + ACT]
        if memory[bank + ROW] != CLOSED:
            closed = max(arrival, memory[bank + PRE]) + memory[RP]
        activate = max(
            arrival,
            closed,
            memory[at + ACTS + 3] + memory[RRD_S],
            memory[group + GROUP_ACT] + memory[RRD_L],
            memory[at + ACTS] + memory[FAW],
        )
        ready = activate + memory[RCD]
    read, written = memory[at + LAST_RD], memory[at + LAST_WR]
    if write:
        turn = max(memory[CCD_S], memory[CL] + memory[BURST] + 2 - memory[CWL])
        last = max(written + memory[CCD_S], memory[group + GROUP_WR] + memory[CCD_L], read + turn)
    else:
        data = memory[CWL] + memory[BURST]
        last = max(
            read + memory[CCD_S],
            memory[group + GROUP_RD] + memory[CCD_L],
            written + data + memory[WTR_S],
            memory[group + GROUP_WR] + data + memory[WTR_L],
        )
    return activate, max(ready, last)


def _close_all(memory: Words, at: int) -> None:
    """A refresh: every row is closed, and no bank may have a command before its end."""
    refreshed = memory[at + REFRESH] + memory[RP] + memory[RFC]
    first = at + GROUP + GROUP_SIZE * memory[GROUPS]
    for n in range(memory[GROUPS] * memory[BANKS]):
        memory[first + BANK_SIZE * n + ROW] = CLOSED
        memory[first + BANK_SIZE * n + ACT] = refreshed
    memory[at + REFRESH] += memory[REFI]


def _waited_for_refreshes(memory: Words, arrival: int, column: int) -> int:
    """The clocks from one to the other that belong to refreshes."""
    refi, length = memory[REFI], memory[RP] + memory[RFC]
    first, last = max(1, (arrival - length) // refi + 1), column // refi
    if last < first:
        return 0
    return (last - first + 1) * length - max(0, arrival - first * refi)
