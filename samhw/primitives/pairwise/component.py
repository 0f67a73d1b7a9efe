"""A tree of units that combines words pairwise, in a pipeline."""

from collections.abc import Callable, Sequence

from amaranth.hdl import Module, Value

from samhw.rtl.units import Unit
from samhw.rtl.units.unit import delayed

__all__ = ["Word", "computed", "pairwise", "rounds"]

Word = tuple[Value, Value]
"""A word in the pipeline, and whether one that it is made of has left the range of its type."""


def rounds(count: int) -> int:
    """How many units follow each other where this many words are combined."""
    return (count - 1).bit_length()


def computed(m: Module, name: str, unit: Unit, left: Value, right: Value, rest: int = 0) -> Word:
    """A word as a unit makes it, with `rest` registers after it."""
    m.submodules[name] = unit
    m.d.comb += [unit.a.eq(left), unit.b.eq(right)]
    return delayed(m, unit.result, rest), delayed(m, unit.overflow, rest)


def pairwise(m: Module, name: str, make: Callable[[], Unit], latency: int, words: Sequence[Word]) -> Word:
    """What neighbours make, and then what they have made, and so on; one without a neighbour goes on to the
    next round as it is. Each round takes `latency` cycles, and the last one those of the unit's registers."""
    row = list(words)
    for left in reversed(range(rounds(len(words)))):
        registers = make().registers
        rest = latency - registers if left else 0
        made = []
        for n in range(0, len(row) - 1, 2):
            (a, early), (b, late) = row[n : n + 2]
            result, overflow = computed(m, f"{name}_{left}_{n // 2}", make(), a, b, rest)
            made.append((result, overflow | delayed(m, early | late, registers + rest)))
        if len(row) % 2:
            word, overflow = row[-1]
            made.append((delayed(m, word, registers + rest), delayed(m, overflow, registers + rest)))
        row = made
    return row[0]
