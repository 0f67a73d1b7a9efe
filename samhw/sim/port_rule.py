"""The rule of an actor's ports to off-chip memory (docs/memory.md), as functions of a record of words.

As with the DRAM itself (dram.py), both engines have this one rule: the plain engine runs the functions over a
list, the compiled one compiles them into the actor's loop.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from samhw.graph import Dram
from samhw.primitives.network import Read
from samhw.primitives.step import COMMITTED, PUSHES, VAL, Words
from samhw.sim.dram import request

__all__ = [
    "CYCLE",
    "NOBODY",
    "PLACE",
    "Look",
    "PortCounts",
    "PortPlan",
    "access_words",
    "committed",
    "data_at",
    "look_rule",
    "port_counts",
    "port_starts",
    "serve_access",
]

NOBODY = 1 << 62
"""As the cycle of a firing that waits: none does."""

# The record of an access. DECIDED: 1 if the next firing has been looked at; ASKING: how many lines it asks for;
# PLACE: the first cycle in which its ports have places for these; CYCLE: the firing's own, while it waits to be
# served, or NOBODY; how many ports there are, and where the first begins; how many reads. From USE on it has
# two words for each read and then for each memory that is written: where its port begins; and, for a read, the
# first cycle in which its data are there, or ~n for those of line n that its port asks for, or 0 without data.
DECIDED, ASKING, PLACE, CYCLE, PORTS, FIRST_PORT, READS, USE = range(8)
USE_SIZE = 2

# A port. SIZE: its words; WRITE: 1 if it writes; FIRST, PER: first line of its memory and words of a line, LINES:
# as many as hold words of this run; PREFETCH, PLACES as in `Dram`; LAST: the line of the last word that was
# read, or how many lines were asked to be written; DATA: of the line LAST, as in a use; ASKED: lines that the
# next firing asks for; COMMITTED_IN: the latest cycle in which a line is written. The next four are statistics:
# words and lines so far, lines that were read ahead, cycles from request to done. From RECENT on the port has
# for each of the latest PLACES requests the cycle in which it is done; then the buffer, two words for each line
# (its number, and as DATA), line n at place n % (1 + PREFETCH); then two words for each line asked for.
SIZE, WRITE, FIRST, PER, LINES, PREFETCH, PLACES, LAST, DATA, ASKED, COMMITTED_IN = range(11)
WORDS, REQUESTS, AHEAD, WAITED, RECENT = range(11, 16)
LINE_SIZE = 2
EMPTY = -1
"""As the number of a line in a buffer."""

Look = Callable[[int, Words, Words, Words, Words, Words, Words], int]
"""(word of the next firing, kind, data, state, out_kind, out_data, record of the access) -> whether the firing
may happen: it asks for nothing, or has been served. If so it happens now."""


class PortPlan(NamedTuple):
    """A port to be made: of the store of that number, which begins at line `first`, has `per` words a line
    and `lines` lines in this run; and whether it writes."""

    store: int
    first: int
    per: int
    lines: int
    write: bool


def access_words(ports: Sequence[PortPlan], uses: Sequence[int], reads: int, dram: Dram) -> list[int]:
    """The record of an access in which nothing has happened yet.

    Args:
        uses: for each read, then for each store that is written, the store.
        reads: how many reads these are.
    """
    first = USE + USE_SIZE * len(uses)
    words = [0, 0, 0, NOBODY, len(ports), first, reads] + [0] * (first - USE)
    buffer = LINE_SIZE * (1 + dram.prefetch)
    for port in ports:
        for n, store in enumerate(uses):
            if store == port.store and (n >= reads) == port.write:
                words[USE + USE_SIZE * n] = len(words)
        asks = 0 if port.write else buffer * uses[:reads].count(port.store)
        size = RECENT + dram.outstanding + buffer + asks
        head = [size, int(port.write), port.first, port.per, port.lines, dram.prefetch, dram.outstanding]
        last = 0 if port.write else EMPTY
        lines = [EMPTY, 0] * (1 + dram.prefetch)
        words += [*head, last] + [0] * (RECENT - LAST - 1 + dram.outstanding) + lines + [0] * asks
    return words


class PortCounts(NamedTuple):
    """What a port has done: words read or written, lines asked for, of these those that were read ahead, and the
    cycles from request to done, summed."""

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
    return max(access[at + COMMITTED_IN] for at in port_starts(access))


def data_at(read: int) -> int:
    """Where the record of an access has the cycle in which the data of that read are there."""
    return USE + USE_SIZE * read + 1


def look_rule(reads: Sequence[Read], written: Sequence[int]) -> Look:
    """The function that looks at an actor's next firing.

    Args:
        reads: the reads of the record, in order.
        written: the registers that count the words written, of the stores of the record, in order.
    """
    read_count, written_count = len(reads), len(written)
    # Without a read or a store there is something to index all the same.
    outputs = tuple(read.output for read in reads) or (0,)
    heads = tuple(-1 if read.pushed else read.port for read in reads) or (0,)
    pushed = tuple(read.port if read.pushed else -1 for read in reads) or (0,)
    offsets = tuple(read.offset for read in reads) or (0,)
    registers = tuple(written) or (0,)

    def look(
        word: int,
        kind: Words,
        data: Words,
        state: Words,
        out_kind: Words,
        out_data: Words,
        access: Words,
    ) -> int:
        if not access[DECIDED]:
            access[DECIDED] = 1
            for n in range(read_count):
                cycle = 0
                if word >> PUSHES + outputs[n] & 1:
                    if heads[n] >= 0:
                        if kind[heads[n]] == VAL:
                            cycle = read_word(access, access[USE + USE_SIZE * n], data[heads[n]] + offsets[n])
                    elif out_kind[pushed[n]] == VAL:
                        cycle = read_word(
                            access, access[USE + USE_SIZE * n], out_data[pushed[n]] + offsets[n]
                        )
                access[USE + USE_SIZE * n + 1] = cycle
            for n in range(written_count):
                at = access[USE + USE_SIZE * (read_count + n)]
                write_words(access, at, state[registers[n]], state[COMMITTED])
            find_places(access)
        if access[ASKING]:
            return 0
        access[DECIDED] = 0
        return 1

    return look


def read_word(access: Words, at: int, word: int) -> int:
    """What a use has of a word that is read through the port at `at`, which asks for what it needs for it."""
    access[at + WORDS] += 1
    before = access[at + LAST]
    if before != EMPTY and 0 <= word - before * access[at + PER] < access[at + PER]:
        return access[at + DATA]
    number = word // access[at + PER]
    end = number + 1
    if number == before + 1:
        end = max(end, min(end + access[at + PREFETCH], access[at + LINES]))
    places = 1 + access[at + PREFETCH]
    buffer = at + RECENT + access[at + PLACES]
    asks = buffer + LINE_SIZE * places
    for n in range(number, end):
        line = buffer + LINE_SIZE * (n % places)
        if access[line] != n:
            access[line] = n
            access[line + 1] = ~access[at + ASKED]
            access[asks + LINE_SIZE * access[at + ASKED]] = n
            access[at + ASKED] += 1
            access[at + AHEAD] += n > number
    for n in range(places):
        line = buffer + LINE_SIZE * n
        if access[line] < number or access[line] >= number + places:
            access[line] = EMPTY
    access[at + LAST] = number
    access[at + DATA] = access[buffer + LINE_SIZE * (number % places) + 1]
    return access[at + DATA]


def write_words(access: Words, at: int, words: int, end: int) -> None:
    """So many words have been written through the port at `at`, and at the end there will be no more."""
    access[at + WORDS] = words
    lines = words // access[at + PER]
    if end and lines * access[at + PER] < words:
        lines += 1
    access[at + ASKED] = lines - access[at + LAST]
    access[at + LAST] = lines


def find_places(access: Words) -> None:
    """Sums up what the next firing asks for, and finds the first cycle in which there are places for it."""
    place, asking = 0, 0
    at = access[FIRST_PORT]
    for _ in range(access[PORTS]):
        asked = access[at + ASKED]
        if asked:
            asking += asked
            # Each takes the place of the request that was made so many before it.
            made, places = access[at + REQUESTS], access[at + PLACES]
            for n in range(max(0, made - places), min(made, made - places + asked)):
                place = max(place, access[at + RECENT + n % places])
        at += access[at + SIZE]
    access[PLACE] = place
    access[ASKING] = asking


def serve_access(access: Words, memory: Words) -> None:
    """Makes the requests of a firing, in its cycle."""
    at = access[FIRST_PORT]
    for _ in range(access[PORTS]):
        if access[at + ASKED]:
            serve_port(access, at, access[CYCLE], memory)
        at += access[at + SIZE]
    for n in range(access[READS]):
        use = USE + USE_SIZE * n
        access[use + 1] = there(access, access[use], access[use + 1])
    at = access[FIRST_PORT]
    for _ in range(access[PORTS]):
        access[at + ASKED] = 0
        at += access[at + SIZE]
    access[ASKING] = 0
    access[CYCLE] = NOBODY


def serve_port(access: Words, at: int, cycle: int, memory: Words) -> None:
    """Makes the requests of one port."""
    write = access[at + WRITE]
    buffer = at + RECENT + access[at + PLACES]
    asks = buffer + LINE_SIZE * (1 + access[at + PREFETCH])
    for n in range(access[at + ASKED]):
        number = access[at + REQUESTS]
        # A writer's lines are asked for one after another.
        line = number if write else access[asks + LINE_SIZE * n]
        done = request(memory, cycle, access[at + FIRST] + line, write)
        access[at + RECENT + number % access[at + PLACES]] = done
        access[at + REQUESTS] += 1
        access[at + WAITED] += done - cycle
        if write:
            access[at + COMMITTED_IN] = max(access[at + COMMITTED_IN], done)
        else:
            access[asks + LINE_SIZE * n + 1] = done
    if not write:
        access[at + DATA] = there(access, at, access[at + DATA])
        for n in range(1 + access[at + PREFETCH]):
            access[buffer + LINE_SIZE * n + 1] = there(access, at, access[buffer + LINE_SIZE * n + 1])


def there(access: Words, at: int, data: int) -> int:
    """The cycle in which data are there, of which a use or a buffer of the port at `at` knows this."""
    if data >= 0:
        return data
    asks = at + RECENT + access[at + PLACES] + LINE_SIZE * (1 + access[at + PREFETCH])
    return access[asks + LINE_SIZE * ~data + 1]
