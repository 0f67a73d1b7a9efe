"""How an actor's rule is written as a function: heads in, one firing out, as plain integers.

A step function has the signature

    step(kind, data, state, memory, out_kind, out_data) -> int

`kind[i]`, `data[i]` are the kind and payload of the head of input i (`NONE` if there is none); `state` holds
the actor's registers; `memory` is a tuple of the arrays that it indexes. The function finds the next firing
of the rule and returns it packed by `firing`, having changed `state` and `memory` and filled `out_kind[j]`,
`out_data[j]` for each output j that it pushes to. If a head that the rule needs is missing it changes nothing
and returns the inputs that it must see (a firing that neither takes nor pushes). An actor at rest returns 0.
Whatever the rule forbids is returned as a `fault`, a negative number.

The same text runs in Python over lists, and becomes machine code over rows of 64-bit words. So step
functions, and what they call, keep to a subset of Python: integers, indexing, `if`, loops over ranges,
tuples, and what they close over. docs/simulator.md lists it under "What a step function may use", with what
is refused, and with what nobody checks: above all that all results, those in between included, fit into 64
bits with a sign. An `assert` is for the plain engine and the type checker; machine code leaves it out.
"""

from collections.abc import Callable, MutableSequence
from typing import NamedTuple

from samhw.graph import Kind
from samhw.graph.spec import PORTS

__all__ = [
    "CAPACITY",
    "COMMITTED",
    "DONE",
    "EMPTY",
    "NONE",
    "OVERFLOW",
    "PAYLOAD",
    "PROTOCOL",
    "PUSHES",
    "RANGE",
    "S0",
    "STOP",
    "TAKES",
    "VAL",
    "Firing",
    "Memory",
    "Step",
    "Words",
    "fault",
    "fault_cause",
    "fault_needs",
    "firing",
]

Words = MutableSequence[int]
Memory = tuple[Words, ...]
Step = Callable[[Words, Words, Words, Memory, Words, Words], int]

NONE = -1
VAL, STOP, EMPTY, DONE = (int(kind) for kind in Kind)
PAYLOAD = (VAL, EMPTY)
COMMITTED = 0
"""The register of a writer that is set when it fires on DONE."""
S0 = 0
"""The payload of STOP(0, 0). A level more is + 16 on the upper end, + 1 on the lower end."""

# A firing is three sets of PORTS bits.
TAKES = PORTS
PUSHES = 2 * PORTS

PROTOCOL, OVERFLOW, CAPACITY, RANGE = 1, 2, 3, 4
_CAUSE_BITS = 4


class Firing(NamedTuple):
    """The sets of ports of a firing, each an integer with bit i for port i."""

    needs: int
    takes: int
    pushes: int

    @classmethod
    def unpack(cls, word: int) -> "Firing":
        """From what a step function returned."""
        mask = (1 << PORTS) - 1
        return cls(word & mask, word >> TAKES & mask, word >> PUSHES & mask)


def firing(needs: int, takes: int = 0, pushes: int = 0) -> int:
    """The word for a firing. What it takes it also needs."""
    return needs | takes | takes << TAKES | pushes << PUSHES


def fault(cause: int, needs: int) -> int:
    """The word for an error that the heads of `needs` brought about."""
    return -(needs << _CAUSE_BITS | cause)


def fault_cause(word: int) -> int:
    """`PROTOCOL`, `OVERFLOW`, `CAPACITY` or `RANGE`."""
    return -word & (1 << _CAUSE_BITS) - 1


def fault_needs(word: int) -> int:
    """The set of inputs whose heads brought the error about."""
    return -word >> _CAUSE_BITS
