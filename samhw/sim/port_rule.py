"""The rule of an actor's ports to off-chip memory (docs/memory.md), as functions of a record of words.

As with the DRAM itself (dram.py), both engines have this one rule: the plain engine runs the functions over a
list, the compiled one compiles them.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from samhw.graph import Dram
from samhw.sim.dram import request
from samhw.sim.network import Read
from samhw.sim.step import COMMITTED, PUSHES, VAL, Words

__all__ = [
    "CYCLE",
    "DATA",
    "NOBODY",
    "PLACE",
    "USE",
    "USE_SIZE",
    "PortCounts",
    "PortPlan",
    "Want",
    "access_words",
    "answer",
    "asked_line",
    "buffer_of",
    "committed",
    "end_of_buffer",
    "look",
    "note_request",
    "port_counts",
    "port_starts",
    "serve_access",
    "want_rule",
]

NOBODY = 1 << 62
"""As the cycle of a firing that waits: none does."""
NOTHING = -1
"""As a word that is read, or a line in a buffer."""

# The record of an access; its uses and its ports follow.
DECIDED = 0
"""1 if the next firing has been looked at."""
ASKING = 1
"""How many lines it asks for."""
PLACE = 2
"""The first cycle in which the ports have places for these."""
CYCLE = 3
"""The firing's own cycle while it waits to be served, or NOBODY."""
END = 4
"""1 if it is a writer's last."""
READS, USES, PORTS, FIRST_PORT = range(5, 9)
"""How many reads there are, uses and ports; where the first port begins."""
USE = 9

# A use: one of the actor's reads or, after those, a memory that it writes.
PORT = 0
"""Where its port begins."""
WORD = 1
"""The word that the next firing reads, or NOTHING; how many words have been written."""
DATA = 2
"""Of a read the first cycle in which the word is there, or ~n if it comes with line n of those that the port
asks for, or 0 if nothing is read."""
USE_SIZE = 3

# A port; after it come RECENT, the buffer and the lines that it asks for.
SIZE = 0
"""Its words."""
WRITE = 1
"""1 if it writes."""
FIRST = 2
"""The first line of its memory in the address space."""
PER = 3
"""Words of a line."""
LINES = 4
"""Lines of its memory that hold words of this run."""
PREFETCH, PLACES = 5, 6
"""`Dram.prefetch`, `Dram.outstanding`."""
LAST = 7
"""The line of the last word that was read, or NOTHING; how many lines were asked to be written."""
LAST_DATA = 8
"""When the line LAST is there, as DATA."""
ASKED = 9
"""How many lines the next firing asks for."""
DONE = 10
"""The latest cycle in which a line is written."""
WORDS, REQUESTS, AHEAD, WAITED = range(11, 15)
"""As in `PortCounts`."""
RECENT = 15
"""For each of the latest PLACES requests the cycle in which it is done: request n at place n % PLACES."""
LINE_SIZE = 2
"""Words of a line in the buffer: its number, and as DATA; line n is at place n % (1 + PREFETCH). And of one
that is asked for: its number, and the cycle in which it is done."""


class PortPlan(NamedTuple):
    """A port to be made: of the store of that number, whose memory begins at line `first`, has `per` words a
    line and `lines` lines in this run; and whether it writes."""

    store: int
    first: int
    per: int
    lines: int
    write: bool


def access_words(ports: Sequence[PortPlan], uses: Sequence[int], reads: int, dram: Dram) -> list[int]:
    """The record of an access in which nothing has happened yet.

    Args:
        uses: for each read, then for each memory that is written, the store.
        reads: how many reads these are.
    """
    first = USE + USE_SIZE * len(uses)
    words = [0, 0, 0, NOBODY, 0, reads, len(uses), len(ports), first] + [0] * (first - USE)
    buffer = [NOTHING, 0] * (1 + dram.prefetch)
    for port in ports:
        for n, store in enumerate(uses):
            if store == port.store and (n >= reads) == port.write:
                words[USE + USE_SIZE * n + PORT] = len(words)
        head = [int(port.write), port.first, port.per, port.lines, dram.prefetch, dram.outstanding]
        head.append(0 if port.write else NOTHING)
        asks = 0 if port.write else len(buffer) * uses[:reads].count(port.store)
        rest = [0] * (RECENT - LAST_DATA + dram.outstanding) + buffer + [0] * asks
        words += [1 + len(head) + len(rest), *head, *rest]
    return words


class PortCounts(NamedTuple):
    """What a port has done: words read or written, lines asked for, of these those that were read ahead, and
    the cycles from request to done, summed."""

    write: bool
    words: int
    requests: int
    ahead: int
    waited: int


def port_starts(access: Words) -> list[int]:
    """Where each port begins."""
    starts = [access[FIRST_PORT]]
    for _ in range(access[PORTS] - 1):
        starts.append(starts[-1] + access[starts[-1] + SIZE])
    return starts


def port_counts(access: Words, at: int) -> PortCounts:
    """What the port at `at` has done."""
    counts = (access[at + n] for n in (WORDS, REQUESTS, AHEAD, WAITED))
    return PortCounts(bool(access[at + WRITE]), *counts)


def committed(access: Words) -> int:
    """The cycle in which the last line that has been written is done; 0 if none was."""
    return max(access[at + DONE] for at in port_starts(access))


Want = Callable[[int, Words, Words, Words, Words, Words, Words], None]
"""(word of the next firing, kind, data, state, out_kind, out_data, record of the access): notes in the record
the words that the firing reads and has written."""


def want_rule(reads: Sequence[Read], written: Sequence[int]) -> Want:
    """The `Want` of an actor.

    Args:
        reads: the reads of the record, in order.
        written: the registers that count the words written to the memories of the record, in order.
    """
    read_count, written_count = len(reads), len(written)
    # Without a read or a memory there is something to index all the same.
    outputs = tuple(read.output for read in reads) or (0,)
    pushed = tuple(read.pushed for read in reads) or (False,)
    ports = tuple(read.port for read in reads) or (0,)
    offsets = tuple(read.offset for read in reads) or (0,)
    registers = tuple(written) or (0,)

    def want(
        word: int, kind: Words, data: Words, state: Words, out_kind: Words, out_data: Words, access: Words
    ) -> None:
        for n in range(read_count):
            wanted = NOTHING
            if word >> PUSHES + outputs[n] & 1:
                if pushed[n]:
                    if out_kind[ports[n]] == VAL:
                        wanted = out_data[ports[n]] + offsets[n]
                elif kind[ports[n]] == VAL:
                    wanted = data[ports[n]] + offsets[n]
            access[USE + USE_SIZE * n + WORD] = wanted
        for n in range(written_count):
            access[USE + USE_SIZE * (read_count + n) + WORD] = state[registers[n]]
        if written_count:
            access[END] = state[COMMITTED]

    return want


def look(access: Words) -> int:
    """1 if the next firing may happen: it asks for nothing, or has been served. If so it happens now."""
    if not access[DECIDED]:
        access[DECIDED] = 1
        for n in range(access[USES]):
            use = USE + USE_SIZE * n
            if n >= access[READS]:
                _write(access, access[use + PORT], access[use + WORD])
            elif access[use + WORD] == NOTHING:
                access[use + DATA] = 0
            else:
                access[use + DATA] = _read(access, access[use + PORT], access[use + WORD])
        access[PLACE] = _place(access) if access[ASKING] else 0
    if access[ASKING]:
        return 0
    access[DECIDED] = 0
    return 1


def _read(access: Words, at: int, word: int) -> int:
    """When a word is there that is read through the port at `at`, as DATA; asks for what it lacks."""
    access[at + WORDS] += 1
    last, per = access[at + LAST], access[at + PER]
    if last != NOTHING and 0 <= word - last * per < per:
        return access[at + LAST_DATA]
    number = word // per
    end = number + 1
    if number == last + 1:
        end = max(end, min(end + access[at + PREFETCH], access[at + LINES]))
    places = 1 + access[at + PREFETCH]
    buffer, asks = buffer_of(access, at), end_of_buffer(access, at)
    for n in range(number, end):
        line = buffer + LINE_SIZE * (n % places)
        if access[line] != n:
            asked = access[at + ASKED]
            access[line], access[line + 1] = n, ~asked
            access[asks + LINE_SIZE * asked] = n
            access[at + ASKED] += 1
            access[ASKING] += 1
            if n > number:
                access[at + AHEAD] += 1
    for n in range(places):
        line = buffer + LINE_SIZE * n
        if access[line] < number or access[line] >= number + places:
            access[line] = NOTHING
    access[at + LAST] = number
    access[at + LAST_DATA] = access[buffer + LINE_SIZE * (number % places) + 1]
    return access[at + LAST_DATA]


def _write(access: Words, at: int, words: int) -> None:
    """This many words have been written through the port at `at`: asks for full lines to be written and, at
    the end, for one that is begun."""
    access[at + WORDS] = words
    per = access[at + PER]
    lines = (words + per - 1 if access[END] else words) // per
    access[at + ASKED] = lines - access[at + LAST]
    access[ASKING] += lines - access[at + LAST]
    access[at + LAST] = lines


def _place(access: Words) -> int:
    """The first cycle in which all ports have places for what is asked of them."""
    place = 0
    at = access[FIRST_PORT]
    for _ in range(access[PORTS]):
        # Each request takes the place of the one that was made PLACES before.
        made, places = access[at + REQUESTS], access[at + PLACES]
        for n in range(max(0, made - places), min(made, made - places + access[at + ASKED])):
            place = max(place, access[at + RECENT + n % places])
        at += access[at + SIZE]
    return place


def serve_access(access: Words, memory: Words) -> None:
    """Makes the requests of a firing, in its cycle."""
    at = access[FIRST_PORT]
    for _ in range(access[PORTS]):
        _serve(access, at, memory)
        at += access[at + SIZE]
    answer(access)


def _serve(access: Words, at: int, memory: Words) -> None:
    """Makes the requests of one port."""
    cycle, write = access[CYCLE], access[at + WRITE]
    for n in range(access[at + ASKED]):
        number = access[at + REQUESTS]
        done = request(memory, cycle, access[at + FIRST] + asked_line(access, at, n), write)
        access[at + RECENT + number % access[at + PLACES]] = done
        access[at + WAITED] += done - cycle
        if write:
            access[at + DONE] = max(access[at + DONE], done)
        note_request(access, at, n, done)


def asked_line(access: Words, at: int, n: int) -> int:
    """The line of its memory that the port at `at` asks for as number n."""
    if access[at + WRITE]:
        # Lines are written one after another.
        return access[at + REQUESTS]
    return access[end_of_buffer(access, at) + LINE_SIZE * n]


def note_request(access: Words, at: int, n: int, done: int) -> None:
    """The line that the port at `at` asks for as number n is requested; it will be there in cycle `done`."""
    access[at + REQUESTS] += 1
    if not access[at + WRITE]:
        access[end_of_buffer(access, at) + LINE_SIZE * n + 1] = done


def answer(access: Words) -> None:
    """All that the firing asks for is requested: puts cycles instead of numbers of lines."""
    at = access[FIRST_PORT]
    for _ in range(access[PORTS]):
        access[at + ASKED] = 0
        access[at + LAST_DATA] = _there(access, at, access[at + LAST_DATA])
        for line in range(buffer_of(access, at), end_of_buffer(access, at), LINE_SIZE):
            access[line + 1] = _there(access, at, access[line + 1])
        at += access[at + SIZE]
    for n in range(access[READS]):
        use = USE + USE_SIZE * n
        access[use + DATA] = _there(access, access[use + PORT], access[use + DATA])
    access[ASKING] = 0
    access[CYCLE] = NOBODY


def buffer_of(access: Words, at: int) -> int:
    """Where the buffer of the port at `at` begins."""
    return at + RECENT + access[at + PLACES]


def end_of_buffer(access: Words, at: int) -> int:
    """Where it ends, and the lines begin that the port asks for."""
    return buffer_of(access, at) + LINE_SIZE * (1 + access[at + PREFETCH])


def _there(access: Words, at: int, data: int) -> int:
    """The cycle that DATA stands for, once the port at `at` has been served."""
    if data >= 0:
        return data
    return access[end_of_buffer(access, at) + LINE_SIZE * ~data + 1]
