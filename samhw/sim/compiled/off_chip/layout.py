"""The records that compiled code works on: rows of 64-bit words, one for each actor, one for each channel.

Addresses are in bytes. Each enumeration names the places of a record in order.
"""

from enum import auto

from samhw.sim.compiled.off_chip.actor import RecordPlace

__all__ = ["ENTRY", "C", "I", "L", "M", "O", "R"]


class R(RecordPlace):
    """The head of an actor's record; `samhw.sim.compiled.off_chip.actor.ActorShape` says what follows."""

    CODE = auto()
    """Address of its compiled loop."""
    WATCH = auto()
    """Address of the word whose change lets it go on."""
    SEEN = auto()
    """That word as it was when the actor came to rest; -1 while the actor can go on."""
    LAST = auto()
    FIRINGS = auto()
    WORD = auto()
    """A firing that is decided but lacks a slot, or 0."""
    FAULT = auto()
    FAULT_CYCLE = auto()
    LIMIT = auto()
    SPACED = auto()
    STALLED = auto()
    GATE = auto()
    """Address of the gate's words, and how many they are."""
    GATE_WORDS = auto()
    UPDATED = auto()
    """Address of the cycle of the last firing of each key of the spacing."""
    APART = auto()
    """The latency of the spacing."""
    LOG = auto()
    """Address of the log's record."""
    ACCESS = auto()
    """Address of the record of its access to off-chip memory (`samhw.sim.port_rule`)."""
    LOOK = auto()
    """Address of the code that looks at its next firing (ports.py)."""
    HELD = auto()


class C(RecordPlace):
    """A channel's record.

    Its ring has two words for each slot, in two rows: the token (payload << 2 | kind); and a cycle: the first
    in which the token is available or, behind its pop, the first in which the slot is free again. So it
    remembers as many tokens as it has slots. Data from off-chip memory may come later than that; THERE knows
    when.
    """

    TOKENS = auto()
    """Address of the ring's tokens."""
    CYCLES = auto()
    """Address of its cycles."""
    MASK = auto()
    """Slots of the ring less one; they are a power of two."""
    SLOTS = auto()
    """The slots that may be taken: the depth, or fewer in a ring that is to grow when need be."""
    SHORT = auto()
    """1 if the ring has fewer slots than the depth allows."""
    LATENCY = auto()
    PUSHED = auto()
    POPPED = auto()
    HIGH = auto()
    """Greatest number of slots taken in one cycle, as far as the consumer knows."""
    HIGH_PUSHED = auto()
    """The same, as far as the producer knows."""
    DWELL = auto()
    STARVED = auto()
    BLOCKED = auto()
    LOGGED = auto()
    """1 if its tokens go into the log."""
    NUMBER = auto()
    VALS = auto()
    """Tokens popped, of each kind in the order of their codes."""
    STOPS = auto()
    EMPTIES = auto()
    DONES = auto()
    THERE = auto()
    """Address of one word for each slot of the ring, if data come from off-chip memory: the first cycle in
    which the token is there with its data."""
    LATE = auto()


class I(RecordPlace):  # noqa: E742
    """What a loop keeps at hand of an input and its channel. The kind and the payload of the head lie apart,
    as step functions want them."""

    READY = auto()
    """The first cycle in which the head is available."""
    TOKENS = auto()
    CYCLES = auto()
    MASK = auto()
    POPPED = auto()
    PUSHED = auto()
    FLIGHT = auto()
    """Most tokens that are on their way when the first of them arrives: the latency and one."""
    HIGH = auto()
    SLOTS = auto()
    DWELL = auto()
    """What this call adds to it."""
    THERE = auto()
    """The first cycle in which the head is there with its data, if these come from off-chip memory."""


class O(RecordPlace):  # noqa: E742
    """What a loop keeps at hand of a channel that the actor pushes to."""

    TOKENS = auto()
    CYCLES = auto()
    MASK = auto()
    POPPED = auto()
    PUSHED = auto()
    LIMIT = auto()
    """What PUSHED may become as long as no further pop is known."""
    LATENCY = auto()
    HIGH = auto()


class L(RecordPlace):
    """The log's record."""

    ENTRIES = auto()
    """Address of the entries: channel number, cycle of the push, cycle of the pop, token."""
    CAPACITY = auto()
    COUNT = auto()
    BEGIN = auto()
    """First cycle whose pops are logged."""
    END = auto()
    """The cycle behind the last one."""


class M(RecordPlace):
    """The arbiter's record."""

    MEMORY = auto()
    """Address of the DRAM's record."""
    ACCESSES = auto()
    """Address of the addresses of each access's record and of its actor's, in the order of the ports."""
    COUNT = auto()
    """How many accesses there are."""
    ROWS = auto()
    """Address of the addresses of all actors' records, and how many they are."""
    ROW_COUNT = auto()
    SHORT = auto()
    """1 if there are rings that may have to grow."""
    LOG = auto()


ENTRY = 4
"""Words of an entry of the log."""
