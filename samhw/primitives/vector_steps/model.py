"""The actors `accumulate` and `emit` of reduce_vector and recur_vector: into the banks, and out of them."""

from collections.abc import Sequence
from itertools import accumulate as running_sum
from typing import NamedTuple

from samhw.graph.numerics import ScalarOp
from samhw.sim.step import (
    DONE,
    NONE,
    OVERFLOW,
    PAYLOAD,
    PROTOCOL,
    PUSHES,
    RANGE,
    STOP,
    VAL,
    Memory,
    Step,
    Words,
    fault,
    firing,
)

__all__ = ["ACCUMULATE_STATE", "EMIT_STATE", "KEY", "Update", "accumulate", "emit"]

BANK = 0
KEY = 1
OPEN, LAST, FRESH = 1, 2, 3
DISAGREES, BEYOND = -1, -2
"""Instead of an address."""
ACCUMULATE_STATE = (0, -1)
EMIT_STATE = (0, 0, 0, 0)


def _shifts(bits: Sequence[int]) -> tuple[int, ...]:
    """The place of each coordinate in an address."""
    return tuple(running_sum(bits, initial=0))[:-1]


class Update(NamedTuple):
    """What becomes of what is at an address."""

    op: ScalarOp
    """It and a value are combined."""
    multiply: ScalarOp | None = None
    """If given, it is multiplied by a factor before that."""
    words: int = 1
    """How many there are at an address: those of a block, which no factor rescales."""


def accumulate(bits: Sequence[int], bitmaps: int, banks: int, update: Update) -> Step:
    """Adds each point to the bank in use, which is flushed when the reduced level ends.

    Inputs: crd0 .. crd<n-1>, to multiply by factor, val, bank. Output: flush. Memory, for each bank: values,
    present, the bitmaps. `state[KEY]` is the place that the last firing has updated, bank after bank.
    """
    n, (op, multiply, words) = len(bits), update
    rescales = multiply is not None
    rescale = op if multiply is None else multiply
    val, bank_input = n + rescales, n + rescales + 1
    widths, shifts = tuple(bits), _shifts(bits)
    size, stride, last = 1 << sum(bits), 2 + bitmaps, banks - 1
    heads = (1 << val + 1) - 1
    with_bank = heads | 1 << bank_input
    wait = firing(heads)
    wait_bank = firing(with_bank)
    take = firing(heads, heads)
    take_push = firing(heads, heads, 1)
    take_bank_push = firing(with_bank, with_bank, 1)
    protocol = fault(PROTOCOL, heads)
    overflow = fault(OVERFLOW, heads)
    beyond = fault(RANGE, heads)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        for i in range(bank_input):
            if kind[i] == NONE:
                return wait
        head = kind[val]
        if head in PAYLOAD:
            addr = _address(kind, data, widths, shifts)
            if addr < 0 or (rescales and kind[n] not in PAYLOAD):
                return beyond if addr == BEYOND else protocol
            bank = state[BANK] * stride
            values = memory[bank]
            present = memory[bank + 1]
            if words > 1:
                if _add_block(op, bitmaps, memory, bank, addr, kind, data, val, words) < 0:
                    return overflow
            elif present[addr]:
                total = values[addr]
                if rescales:
                    total = rescale(total, data[n])
                total = total if total < 0 else op(total, data[val])
                if total < 0:
                    return overflow
                values[addr] = total
            else:
                values[addr] = data[val]
                _mark(bitmaps, memory, bank + 1, addr)
            state[KEY] = state[BANK] * size + addr
            return take

        for i in range(val):
            if kind[i] != head or data[i] != data[val]:
                return protocol
        inside = head == STOP and data[val] >> 4 < n
        flush = head == STOP and not inside and data[val] & 15 <= n
        if flush and kind[bank_input] == NONE:
            return wait_bank
        state[KEY] = -1
        if inside:
            return take
        out_kind[0] = head
        out_data[0] = data[val]
        if flush:
            state[BANK] = state[BANK] + 1 if state[BANK] < last else 0
            return take_bank_push
        return take_push

    return step


def _address(kind: Words, data: Words, widths: tuple[int, ...], shifts: tuple[int, ...]) -> int:
    """That of the coordinates at the first heads; negative if one is no payload, or too wide."""
    addr = 0
    for i in range(len(widths)):
        if kind[i] not in PAYLOAD:
            return DISAGREES
        if data[i] >> widths[i] != 0:
            return BEYOND
        addr += data[i] << shifts[i]
    return addr


def _add_block(
    op: ScalarOp,
    bitmaps: int,
    memory: Memory,
    bank: int,
    addr: int,
    kind: Words,
    data: Words,
    val: int,
    words: int,
) -> int:
    """Adds the block of the input `val`, the last but one, to that at an address, or puts it there if none is
    present; negative where a sum leaves the range."""
    values, present = memory[bank], memory[bank + 1][addr]
    n = 0
    while n < words:
        word = data[val] if n == 0 else data[val + 1 + n]
        word = word if kind[val] == VAL else 0
        total = op(values[addr * words + n], word) if present else word
        if total < 0:
            return total
        values[addr * words + n] = total
        n += 1
    if not present:
        _mark(bitmaps, memory, bank + 1, addr)
    return 0


def _mark(bitmaps: int, memory: Memory, present: int, addr: int) -> None:
    """Notes that an address is present: in the memory of that place, and in the bitmaps after it."""
    memory[present][addr] = 1
    for k in range(bitmaps):
        memory[present + 1 + k][addr >> 5 * (k + 1)] |= 1 << (addr >> 5 * k & 31)


def emit(bits: Sequence[int], banks: int, words: int = 1) -> Step:
    """Reads out the addresses that are present, and clears them.

    Input: addr. Outputs: crd0 .. crd<n-1>, val, bank. Memory, for each bank: values, of this many `words` at
    each address, and present.
    """
    n = len(bits)
    masks = tuple((1 << width) - 1 for width in bits)
    shifts = _shifts(bits)
    inner_width, val, bank, last = bits[0], n, n + 1, banks - 1
    streams = (1 << n + 1) - 1
    wait = look = firing(1)
    take = firing(1, 1)
    take_push = firing(1, 1, streams)
    take_flush = firing(1, 1, streams | 1 << bank)
    protocol = fault(PROTOCOL, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        if head == VAL:
            addr = data[0]
            outer = addr >> inner_width
            if state[OPEN] and outer != state[LAST]:
                m = _greatest(n, shifts, (outer ^ state[LAST]) << inner_width)
                pushes = 1 << val
                for s in range(m):
                    pushes |= 1 << s
                    out_kind[s], out_data[s] = STOP, m - 1 - s << 4  # STOP(0, m-1-s)
                out_kind[val], out_data[val] = STOP, m - 1 << 4
                state[LAST] = outer
                state[FRESH] = m
                return look | pushes << PUSHES
            due = state[FRESH] if state[OPEN] else n - 1
            pushes = 1 << 0 | 1 << val
            out_kind[0], out_data[0] = VAL, addr & masks[0]
            for s in range(1, due + 1):
                pushes |= 1 << s
                out_kind[s], out_data[s] = VAL, addr >> shifts[s] & masks[s]
            first = 2 * state[BANK]
            out_kind[val] = VAL
            out_data[val] = memory[first][addr * words]
            w = 1
            while w < words:
                out_data[bank + w] = memory[first][addr * words + w]
                w += 1
            memory[first + 1][addr] = 0
            state[OPEN] = 1
            state[LAST] = outer
            state[FRESH] = 0
            return take | pushes << PUSHES

        if head == STOP:
            end_fibers(n, data[0], state[OPEN], out_kind, out_data)
            out_kind[val], out_data[val] = STOP, out_data[0]
            if data[0] & 15 > n:
                return take_push
            out_kind[bank], out_data[bank] = VAL, 0
            state[BANK] = state[BANK] + 1 if state[BANK] < last else 0
            state[OPEN] = 0
            return take_flush
        if head == DONE:
            for s in range(n + 1):
                out_kind[s], out_data[s] = DONE, 0
            return take_push
        return protocol

    return step


def _greatest(n: int, shifts: tuple[int, ...], differ: int) -> int:
    """The greatest level at which two addresses differ, of the bits that do."""
    m = n - 1
    while differ >> shifts[m] == 0:
        m -= 1
    return m


def end_fibers(n: int, stop: int, is_open: int, out_kind: Words, out_data: Words) -> None:
    """Puts out the STOPs of the n coordinate streams for one of the addresses.

    Args:
        stop: its payload.
        is_open: an address was emitted since the last STOP that emptied a bank.
    """
    low, high = stop & 15, stop >> 4
    for s in range(n):
        if low > n:
            end = low - 1 - s
        elif is_open:
            end = 0
        else:
            end = n - 1 - s
        out_kind[s] = STOP
        out_data[s] = end | high - 1 - s << 4
