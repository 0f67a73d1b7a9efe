"""The memory as an oracle (docs/memory.md): when a master's requests are offered, accepted and answered.

A memory is a record of words, and what is done to it are functions of integers, as step functions are: so
both engines have one rule. Cycles count through the whole run; the cycles that engines have begin anew with
each region.
"""

from collections.abc import Sequence

import numpy as np

from samhw.errors import InputError
from samhw.graph import ConstantMemory, Dram, OffChipMemory, RandomMemory, RecordedMemory, SdramMemory
from samhw.graph.off_chip_memory import LogEntry, read_log
from samhw.sim.dram import BURST_BYTES, dram_words, least_cycles, request
from samhw.sim.step import Words

__all__ = [
    "ORIGIN",
    "WRONG",
    "answer_request",
    "entry_size",
    "first_answer",
    "log_words",
    "logged",
    "lookahead",
    "note_entry",
    "oracle_words",
]

CONSTANT, RANDOM, DRAM, RECORDED = range(4)

# The record; the masters follow, and then the cycles of the last request: those of its offer and acceptance,
# and of its answers.
KIND, LINE, BEAT, BEATS, OFFER, USE, MASTERS = range(7)
LATENCY = 7
"""From acceptance to answer, of a constant memory."""
ORIGIN = 8
"""The cycle of the run in which the present region has its cycle 0."""
WRONG = 9
"""One more than the number of the first request that differs from a log's; 0 if none did."""
MASTER = 10

# A master.
ACCEPTED = 0
"""The cycle in which its last request was accepted,"""
BEAT_CYCLE, B_CYCLE = 1, 2
"""and those of the latest beat and the latest B; at first -1."""
STATE = 3
"""Of a random memory."""
LOG = 4
"""Where in the log its next request is."""
NUMBER = 5
"""All of its requests."""
MASTER_SIZE = 6

MULTIPLIER, ADDED, MODULUS, DRAWN = 1103515245, 12345, 1 << 31, 1 << 16

HEAD = 5
"""Words of an entry of a log before the answers: master, write, address, offer, acceptance."""
END = -1
"""Instead of the master, after the last entry of each."""


def entry_size(beats: int) -> int:
    """Words of an entry of a log."""
    return HEAD + beats


def oracle_words(memory: OffChipMemory) -> tuple[list[int], list[int], list[int]]:
    """The record of a memory in which nothing has happened yet; that of its DRAM; and its log. Raises
    `InputError` for a memory that only hardware has."""
    ports = memory.ports
    dram, log, starts = [0], [END] * HEAD, [0] * ports.masters
    kind, latency, seed = CONSTANT, 1, 0
    match memory:
        case ConstantMemory():
            latency = memory.cycles
        case RandomMemory():
            kind, seed = RANDOM, memory.seed
        case Dram():
            kind, dram = DRAM, dram_words(memory)
        case RecordedMemory():
            kind = RECORDED
            log, starts = log_words(read_log(memory.path, ports), ports.masters, ports.beats)
        case SdramMemory():
            raise InputError(
                "Only hardware knows when an SDRAM answers; run it with '--backend verilator', or the "
                "simulator by a log of hardware ('--memory log:FILE')."
            )
    words = [
        kind,
        ports.line,
        ports.beat,
        ports.beats,
        ports.offer,
        ports.answer,
        ports.masters,
        latency,
        0,
        0,
    ]
    for master in range(ports.masters):
        words += [-1, -1, -1, (seed + master) % MODULUS, starts[master], 0]
    return [*words, *[0] * (2 + ports.beats)], dram, log


def log_words(entries: Sequence[LogEntry], masters: int, beats: int) -> tuple[list[int], list[int]]:
    """A log as words, and where in there each master begins."""
    words: list[int] = []
    starts = []
    for master in range(masters):
        starts.append(len(words))
        for entry in entries:
            if entry.master == master:
                answers = [*entry.answers, *[0] * (beats - len(entry.answers))]
                words += [master, int(entry.write), entry.address, entry.offered, entry.accepted, *answers]
        # What is compared with the next request is there, though nothing of it counts.
        words += [END] * HEAD
    return words, starts


def logged(words: Sequence[int], beats: int) -> list[LogEntry]:
    """The requests of a log that `note_entry` has written."""
    size = entry_size(beats)
    entries = []
    for at in range(0, len(words), size):
        master, write, address, offered, accepted, *answers = (int(word) for word in words[at : at + size])
        entries.append(
            LogEntry(master, bool(write), address, offered, accepted, tuple(answers[: 1 if write else beats]))
        )
    return entries


def lookahead(memory: OffChipMemory) -> int:
    """The fewest cycles from a firing that asks to one that comes of the answer."""
    least = 1
    match memory:
        case ConstantMemory():
            least = memory.cycles
        case Dram():
            least = max(1, least_cycles(np.array(dram_words(memory), np.int64)))  # type: ignore[arg-type]
    return memory.ports.offer + least + memory.ports.answer


def first_answer(oracle: Words) -> int:
    """Where in the record the answers of the last request are; before them, its offer and acceptance."""
    return MASTER + MASTER_SIZE * oracle[MASTERS] + 2


def answer_request(
    oracle: Words, dram: Words, log: Words, master: int, cycle: int, address: int, write: int
) -> None:
    """Puts into the record when a request is offered, accepted and answered that a port makes in a cycle.

    Those of a master come in their order.

    Args:
        cycle: counts in the present region.
        address: that of the line.
    """
    at = MASTER + MASTER_SIZE * master
    out = MASTER + MASTER_SIZE * oracle[MASTERS] + 2
    beats = oracle[BEATS]
    offered = max(oracle[ORIGIN] + cycle + oracle[OFFER], oracle[at + ACCEPTED] + 1)
    accepted = offered
    if write:
        accepted += beats
    if oracle[KIND] == RECORDED and is_next(oracle, log, at, offered, address, write):
        entry = oracle[at + LOG]
        accepted = log[entry + 4]
        for n in range(beats):
            oracle[out + n] = log[entry + HEAD + n]
        oracle[at + LOG] += HEAD + beats
    elif oracle[KIND] == RANDOM:
        accepted += gap(oracle, at, 16, 8)
        first = accepted + 1 + draw(oracle, at, 32)
        put_answers(oracle, at, out, first, write)
    elif oracle[KIND] == DRAM:
        ask_dram(oracle, dram, master, accepted, address, write)
    else:
        put_answers(oracle, at, out, accepted + oracle[LATENCY], write)
    oracle[out - 2], oracle[out - 1] = offered, accepted
    oracle[at + ACCEPTED] = accepted
    oracle[at + NUMBER] += 1
    if write:
        oracle[at + B_CYCLE] = max(oracle[at + B_CYCLE], oracle[out])
    else:
        oracle[at + BEAT_CYCLE] = max(oracle[at + BEAT_CYCLE], oracle[out + beats - 1])


def put_answers(oracle: Words, at: int, out: int, first: int, write: int) -> None:
    """Answers from a cycle on: a B, or the beats of a line, one a cycle or, at random, with gaps."""
    if write:
        oracle[out] = max(first, oracle[at + B_CYCLE] + 1)
    else:
        beat = max(first, oracle[at + BEAT_CYCLE] + 1)
        oracle[out] = beat
        for n in range(1, oracle[BEATS]):
            beat += 1
            if oracle[KIND] == RANDOM:
                beat += gap(oracle, at, 8, 5)
            oracle[out + n] = beat


def ask_dram(oracle: Words, dram: Words, master: int, accepted: int, address: int, write: int) -> None:
    """Has a DRAM move the bursts of a line."""
    at = MASTER + MASTER_SIZE * master
    out = MASTER + MASTER_SIZE * oracle[MASTERS] + 2
    burst = address // dram[BURST_BYTES]
    end = (address + oracle[LINE] - 1) // dram[BURST_BYTES] + 1
    done = accepted + 1
    if write:
        while burst < end:
            done = max(done, request(dram, accepted, master, burst, write))
            burst += 1
        oracle[out] = max(done, oracle[at + B_CYCLE] + 1)
    else:
        beat = oracle[at + BEAT_CYCLE]
        for n in range(oracle[BEATS]):
            last = (address + (n + 1) * oracle[BEAT] - 1) // dram[BURST_BYTES]
            while burst <= last:
                done = max(done, request(dram, accepted, master, burst, write))
                burst += 1
            beat = max(done, beat + 1)
            oracle[out + n] = beat


def is_next(oracle: Words, log: Words, at: int, offered: int, address: int, write: int) -> int:
    """1 if a request is the next one of the log; notes it if it is the first that is not."""
    entry = oracle[at + LOG]
    if oracle[WRONG]:
        return 0
    right = log[entry + 1] == write and log[entry + 2] == address and log[entry + 3] == offered
    if log[entry] != END and right:
        return 1
    oracle[WRONG] = oracle[at + NUMBER] + 1
    return 0


def draw(oracle: Words, at: int, count: int) -> int:
    """A number from 0 on that is less than `count`."""
    oracle[at + STATE] = (oracle[at + STATE] * MULTIPLIER + ADDED) % MODULUS
    return oracle[at + STATE] // DRAWN % count


def gap(oracle: Words, at: int, count: int, often: int) -> int:
    """One that is often 0."""
    return max(0, draw(oracle, at, count) - often)


def note_entry(oracle: Words, log: Words, place: int, master: int, address: int, write: int) -> None:
    """Puts the last request into a log that is to be written, at a place."""
    out = MASTER + MASTER_SIZE * oracle[MASTERS]
    log[place], log[place + 1], log[place + 2] = master, write, address
    for n in range(2 + oracle[BEATS]):
        log[place + 3 + n] = oracle[out + n]
