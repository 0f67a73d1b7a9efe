"""The actors of ports to memories off the chip (docs/memory.md) and in banks (docs/timing.md), as step
functions.

The simulator's memories hold the words, so ports carry what an actor has read already; only when it comes is
theirs to say. A token on its way through a port has a further word: on `ask` one more than the place that it
reads, or 0; on `wait` one more than the number of the beat that it waits for, or 0. The beats of line n are
n * B to n * B + B - 1. What a gather pushes to itself is such a number alone: that of a line's B, n * B.
"""

from dataclasses import replace
from functools import cache
from typing import NamedTuple

from samhw.graph import PlacedArray, Ports
from samhw.sim.network import Actor, Place, Read, Store, Turn
from samhw.sim.step import COMMITTED, DONE, NONE, PAYLOAD, PUSHES, TAKES, VAL, Memory, Step, Words, firing

__all__ = [
    "AHEAD",
    "HAVE",
    "LINE_ASKED",
    "REQUESTS",
    "USED",
    "VAIN",
    "Put",
    "asking",
    "deliver",
    "deliver_word",
    "gather",
    "look",
    "port_numbers",
    "putting",
    "take",
]

FIRES = 1 << TAKES
"""A word below this is no firing."""

# The numbers of a port, which its actors have as a memory: the logarithms of the bytes of a place, of a beat
# and of a line, and of the beats of a line; the beats of a place; the lines of the array; P; N; and whether
# place 0 is written first.
PLACE, BEAT, LINE, BEATS, PARTS, LINES, MOST_AHEAD, STORED, ZERO = range(9)
NUMBERS = (Store(Place.PRIVATE, "numbers", 9),)

# Registers of look and gather.
REQUESTS = 1
"""How many lines they have asked for,"""
LINE_ASKED = 2
"""and which one last."""
AT = 3
"""The line of the last access, or -1."""
PART, TAKEN = 4, 5
"""How many places of the storage are taken, as far as the actor has looked at those that were freed."""
USED = 6
"""Accesses so far."""
# Of look.
HAVE, RUN, AHEAD, VAIN = range(7, 11)
# Of gather.
BEGUN = 7

# Registers of deliver.
FREED, BEAT_OF_PLACE = 0, 1


def port_numbers(array: PlacedArray, ports: Ports, zero: bool) -> list[int]:
    """The numbers of a port to an array; `zero` if place 0 is to be written first."""
    sizes = (array.place_bytes, ports.beat, ports.line, ports.beats)
    shifts = [size.bit_length() - 1 for size in sizes]
    return [*shifts, array.beats(ports.beat), array.lines, ports.ahead, ports.lines, int(zero)]


@cache
def look(name: str, words: int) -> Actor:
    """Asks for lines. Tokens have this many words, and one more."""
    widths = {"ask": words + 1, "wait": words + 1}
    start = (0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0)
    return Actor(name, _look(words), ("ask", "free"), ("wait",), start, NUMBERS, widths=widths)


@cache
def _look(words: int) -> Step:
    at = 1 + words
    """Of that one among the heads: the first words of both inputs come before the others."""
    wait, wait_for_place = firing(1), firing(0b11)
    push, take = firing(1, 0, 1), firing(1, 1, 1)
    place_taken = firing(0b10, 0b10)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        word = take
        beat = 0
        if data[at]:
            address = (data[at] - 1 << memory[0][PLACE]) + (state[PART] << memory[0][BEAT])
            line = address >> memory[0][LINE]
            have = state[HAVE] - (line - state[AT])
            asked = -1
            if have > state[HAVE] or have < 0:
                asked = line
            elif state[RUN] and have < memory[0][MOST_AHEAD] and line + have + 1 < memory[0][LINES]:
                asked = line + have + 1
            if asked >= 0:
                if state[TAKEN] == memory[0][STORED]:
                    if kind[1] == NONE:
                        return wait_for_place
                    state[TAKEN] -= data[1]
                    word |= place_taken
                state[TAKEN] += 1
                state[REQUESTS] += 1
                state[LINE_ASKED] = asked
            if asked == line:
                state[VAIN] += state[HAVE]
                state[RUN] = 1 if line == state[AT] + 1 else 0
                have = 0
            elif asked >= 0:
                have += 1
                state[AHEAD] += 1
            state[AT] = line
            state[HAVE] = have
            state[USED] += 1
            number = state[REQUESTS] - 1 - have
            beat = 1 + (number << memory[0][BEATS])
            beat += (address >> memory[0][BEAT]) & (1 << memory[0][BEATS]) - 1
            if state[PART] + 1 < memory[0][PARTS]:
                state[PART] += 1
                word = word - take + push
            else:
                state[PART] = 0
        elif head == DONE:
            state[VAIN] += state[HAVE]
            state[AT] = -1
            state[HAVE] = state[RUN] = 0
        out_kind[0] = head
        out_data[0] = data[0]
        for n in range(1, words):
            out_data[n] = data[1 + n]
        out_data[words] = beat
        return word

    return step


@cache
def deliver(name: str, words: int) -> Actor:
    """Passes on what has come, and frees the places of lines before."""
    widths = {"wait": words + 1, "out": words}
    return Actor(name, _deliver(words), ("wait",), ("out", "free"), (0, 0), NUMBERS, widths=widths)


@cache
def _deliver(words: int) -> Step:
    wait, take = firing(1), firing(1, 1)
    out, free = 1 << PUSHES, 1 << PUSHES + 1

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        if kind[0] == NONE:
            return wait
        word = take
        if data[words]:
            number = data[words] - 1 >> memory[0][BEATS]
            if number > state[FREED]:
                out_kind[1] = VAL
                out_data[1] = number - state[FREED]
                state[FREED] = number
                word |= free
            state[BEAT_OF_PLACE] += 1
            if state[BEAT_OF_PLACE] < memory[0][PARTS]:
                return word
            state[BEAT_OF_PLACE] = 0
        out_kind[0] = kind[0]
        out_data[0] = data[0]
        for n in range(1, words):
            out_data[1 + n] = data[n]
        return word | out

    return step


@cache
def take(name: str, words: int, banks: int, number: int) -> Actor:
    """Waits for the turn of each token that reads, at the port of that number. Tokens have this many words,
    and one more."""
    widths = {"ask": words + 1, "wait": words}
    turn = Turn(banks, 0) if banks > 1 else None
    return Actor(name, _take(words, banks, number >> 1), ("ask",), ("wait",), (-1,), turn=turn, widths=widths)


@cache
def _take(words: int, banks: int, phase: int) -> Step:
    wait, pass_on = firing(1), firing(1, 1, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        if kind[0] == NONE:
            return wait
        state[0] = (data[words] - 1 - phase) & (banks - 1) if data[words] else -1
        out_kind[0] = kind[0]
        for n in range(words):
            out_data[n] = data[n]
        return pass_on

    return step


@cache
def deliver_word(name: str, words: int) -> Actor:
    """Passes on what has been read."""
    return Actor(name, _deliver_word(words), ("wait",), ("out",), widths={"wait": words, "out": words})


@cache
def _deliver_word(words: int) -> Step:
    wait, pass_on = firing(1), firing(1, 1, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        if kind[0] == NONE:
            return wait
        out_kind[0] = kind[0]
        for n in range(words):
            out_data[n] = data[n]
        return pass_on

    return step


@cache
def gather(name: str) -> Actor:
    """Gathers lines that are written, and asks for their writes. What it pushes to itself comes with their
    Bs, which give places back."""
    return Actor(name, _gather(), ("put", "back"), ("back", "written"), (0, 0, 0, -1, 0, 0, 0, 0), NUMBERS)


@cache
def _gather() -> Step:
    wait, wait_for_place = firing(1), firing(0b11)
    # Each firing pushes on `written`, which feeds nothing: one that did nothing else would be none.
    written = 1 << PUSHES + 1
    push, take, begin = firing(1) | written, firing(1, 1) | written, written
    place_taken, back = firing(0b10, 0b10), 1 << PUSHES

    def ask(state: Words, memory: Memory, out_kind: Words, out_data: Words, line: int) -> int:
        state[LINE_ASKED] = line
        out_kind[0] = VAL
        out_data[0] = 1 + (state[REQUESTS] << memory[0][BEATS])
        state[REQUESTS] += 1
        return back

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        begins = memory[0][ZERO] != 0 and state[BEGUN] == 0
        if kind[0] == NONE and not begins:
            return wait
        if kind[0] == DONE and not begins:
            if state[AT] >= 0:
                line = state[AT]
                state[AT] = -1
                return push | ask(state, memory, out_kind, out_data, line)
            state[COMMITTED] = 1
            return take
        place = 0 if begins else data[0]
        address = (place << memory[0][PLACE]) + (state[PART] << memory[0][BEAT])
        line = address >> memory[0][LINE]
        if state[AT] >= 0 and state[AT] != line:
            other = state[AT]
            state[AT] = -1
            return push | ask(state, memory, out_kind, out_data, other)
        word = begin if begins else push
        if state[AT] < 0:
            if state[TAKEN] == memory[0][STORED]:
                if kind[1] == NONE:
                    return wait_for_place
                state[TAKEN] -= 1
                word |= place_taken
            state[TAKEN] += 1
        state[AT] = line
        state[USED] += 1
        end = address + (1 << min(memory[0][PLACE], memory[0][BEAT]))
        if end & (1 << memory[0][LINE]) - 1 == 0:
            state[AT] = -1
            word |= ask(state, memory, out_kind, out_data, line)
        if state[PART] + 1 < memory[0][PARTS]:
            state[PART] += 1
        else:
            state[PART] = 0
            if begins:
                state[BEGUN] = 1
            else:
                word |= take
        return word

    return step


@cache
def asking(actor: Actor, reads: tuple[Read, ...]) -> Actor:
    """An actor that reads through ports: what it pushes on those outputs has the further word of `ask`."""
    widths = {**actor.widths, **{actor.outputs[r.output]: _width(actor, r.output) + 1 for r in reads}}
    changed = replace(actor, widths=widths)
    offsets = changed.offsets(actor.outputs)
    assert all(r.output == 0 or not actor.widths for r in reads), actor.name
    step = _asking(actor.step, reads, tuple(offsets[r.output + 1] - 1 for r in reads))
    return replace(changed, step=step)


def _width(actor: Actor, output: int) -> int:
    return actor.widths.get(actor.outputs[output], 1)


def _asking(own: Step, reads: tuple[Read, ...], further: tuple[int, ...]) -> Step:
    """As `own`, with the further words at these places of what it pushes."""
    count = len(reads)
    pushed = tuple(read.pushed for read in reads)
    ports = tuple(read.port for read in reads)
    offsets = tuple(1 + read.offset for read in reads)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        word = own(kind, data, state, memory, out_kind, out_data)
        if word >= FIRES:
            for n in range(count):
                place = 0
                if pushed[n]:
                    if out_kind[ports[n]] == VAL:
                        place = out_data[ports[n]] + offsets[n]
                elif kind[ports[n]] == VAL:
                    place = data[ports[n]] + offsets[n]
                out_data[further[n]] = place
        return word

    return step


class Put(NamedTuple):
    """How places of an array are told that an actor writes: `register` counts the words, of which a place has
    `words`; or, without one, the payload at input `port` is the place."""

    register: int
    words: int
    port: int


@cache
def putting(actor: Actor, puts: tuple[Put, ...]) -> Actor:
    """An actor that writes off chip: it pushes the places of these arrays on outputs `put0`, ..."""
    assert not actor.outputs, actor.name
    outputs = tuple(f"put{n}" for n in range(len(puts)))
    seen = tuple(actor.state[put.register] if put.register >= 0 else 0 for put in puts)
    step = _putting(actor.step, puts, len(actor.state), len(actor.inputs))
    return replace(actor, step=step, outputs=outputs, state=actor.state + seen)


def _putting(own: Step, puts: tuple[Put, ...], first: int, inputs: int) -> Step:
    """As `own`, which has this many registers and inputs; after its registers are the counts seen before."""
    count = len(puts)
    registers = tuple(put.register for put in puts)
    words = tuple(put.words for put in puts)
    ports = tuple(put.port for put in puts)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        word = own(kind, data, state, memory, out_kind, out_data)
        if word >= FIRES:
            for n in range(count):
                pushes = 0
                if state[COMMITTED]:
                    out_kind[n] = DONE
                    out_data[n] = 0
                    pushes = 1 << PUSHES + n
                elif registers[n] < 0:
                    if kind[ports[n]] == VAL and kind[inputs - 1] in PAYLOAD:
                        out_kind[n] = VAL
                        out_data[n] = data[ports[n]]
                        pushes = 1 << PUSHES + n
                elif state[registers[n]] != state[first + n]:
                    out_kind[n] = VAL
                    out_data[n] = state[first + n] // words[n]
                    state[first + n] = state[registers[n]]
                    pushes = 1 << PUSHES + n
                word |= pushes
        return word

    return step
