"""The actors `fetch` and `iterate` of reduce_vector: from bitmaps to ascending addresses."""

from samhw.sim.step import DONE, EMPTY, NONE, PROTOCOL, STOP, VAL, Memory, Step, Words, fault, firing

__all__ = ["fetch", "iterate"]

BANK = 0
W = 0


def fetch(n: int, top: bool, banks: int) -> Step:
    """Reads the words of one bitmap, and clears them. Memory: that bitmap of each bank.

    The fetch at the top of the chain reads its one word at each flush, the others one for each address.
    """
    last = banks - 1
    wait = firing(1)
    take = firing(1, 1, 0b11)
    protocol = fault(PROTOCOL, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        flush = head == STOP and data[0] & 15 <= n
        if flush if top else head == VAL:
            bitmap = memory[state[BANK]]
            word = 0 if top else data[0]
            out_kind[1] = VAL
            out_data[1] = bitmap[word]
            bitmap[word] = 0
        elif head == STOP:
            out_kind[1] = EMPTY
            out_data[1] = 0
        elif head == DONE:
            out_kind[1] = DONE
            out_data[1] = 0
        else:
            return protocol
        out_kind[0] = head
        out_data[0] = data[0]
        if flush:
            state[BANK] = state[BANK] + 1 if state[BANK] < last else 0
        return take

    return step


def _least_bit(v: int) -> int:
    """The place of the lowest of the bits that are set in a 32-bit word."""
    i = 0
    if v & 0xFFFF == 0:
        i = 16
    if v >> i & 0xFF == 0:
        i += 8
    if v >> i & 0xF == 0:
        i += 4
    if v >> i & 0x3 == 0:
        i += 2
    if v >> i & 0x1 == 0:
        i += 1
    return i


def iterate() -> Step:
    """Gives the address of each bit that is set in a word. Inputs: addr, word."""
    least_bit = _least_bit
    both = 0b11
    wait = firing(both)
    push = firing(both, 0, 1)
    take_push = firing(both, both, 1)
    protocol = fault(PROTOCOL, both)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        addr = kind[0]
        word = kind[1]
        if addr == NONE or word == NONE:
            return wait
        if word == VAL and addr in (VAL, STOP):
            v = data[1] & ~state[W]
            if v != 0:
                base = 32 * data[0] if addr == VAL else 0
                out_kind[0] = VAL
                out_data[0] = base + least_bit(v)
                low = v & -v
                if v != low or addr == STOP:
                    state[W] |= low
                    return push
                state[W] = 0
                return take_push
            if addr == STOP:
                out_kind[0] = STOP
                out_data[0] = data[0]
                state[W] = 0
                return take_push
            return protocol
        if (addr == STOP and word == EMPTY) or (addr == DONE and word == DONE):
            out_kind[0] = addr
            out_data[0] = data[0]
            return take_push
        return protocol

    return step
