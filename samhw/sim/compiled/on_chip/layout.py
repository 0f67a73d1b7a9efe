"""The records that compiled code works on when all tensors lie on chip: 64-bit words, addresses in bytes.

Each enumeration names the places of a record in order. Numbers of tokens and firings count from the
beginning of the run. What is known of a channel lies in three rows, in each of which word n belongs to token
n; the rows of a channel begin with the same token, and records hold the addresses that token 0 would have.
"""

from enum import auto

from samhw.sim.compiled.actor import RecordPlace

__all__ = [
    "COUNT_BITS",
    "ENTRY",
    "NEVER",
    "UP_TO_DATE",
    "A",
    "C",
    "G",
    "I",
    "O",
    "S",
]

NEVER = 1 << 62
"""A cycle that no firing comes in."""

UP_TO_DATE = NEVER + 1
"""In place of a cycle: nothing has to be timed again. NEVER instead says that timing may go on where it
stopped."""

ENTRY = 2
"""Words of an entry of a trail: the word of a firing; and how many firings in a row had it and, from
COUNT_BITS on, how many firings before the only one the last one with its key was."""

COUNT_BITS = 32


class A(RecordPlace):
    """The head of an actor's record; `samhw.sim.compiled.actor.ActorShape` says what follows."""

    FIRE = auto()
    """Address of the code that finds its next firings (tokens.py)."""
    TIME = auto()
    """Address of the code that finds their cycles (cycles.py)."""
    WATCH = auto()
    """Address of the word whose change lets it go on."""
    SEEN = auto()
    """That word as it was when the actor came to rest; -1 while the actor can go on."""
    PATIENCE = auto()
    """By how much that word should have grown before it goes on, unless others have little to do."""
    EARLIER = auto()
    """The place in the order of actors of its first consumer, if that comes before it."""
    LEFT = auto()
    """Firings that may still be found in this phase."""
    WORD = auto()
    """A firing that is decided but lacks room in a channel, or 0."""
    FAULT = auto()
    """What its step function returned for an error, or 0."""
    FOUND = auto()
    """The firings that are found."""
    TRAIL = auto()
    """Address of the firings whose cycles are not known, as entries; there is one without a firing before."""
    WRITTEN = auto()
    """Entries of the trail; the last one may grow."""
    AT = auto()
    """The entry of the next firing to be timed."""
    PAST = auto()
    """Firings of that entry before it."""
    LAST = auto()
    """Cycle of the last firing that is timed."""
    TIMED = auto()
    """The firings that are timed."""
    SPACED = auto()
    STALLED = auto()
    NEW_TIMED = auto()
    """TIMED with what is assumed of the phase that is being timed."""
    SAVES = auto()
    """Address of the states that timing can go back to (`S`), all of the same phase."""
    SAVE_WORDS = auto()
    """Words of each."""
    SAVED = auto()
    """How many there are; the last one is where timing has stopped."""
    CLOSE = auto()
    """A slot that is free so many cycles before a push, or earlier, has made no difference to the phase: one
    more than what firings waited behind their slots; 0 if none had to wait for a slot or behind it."""
    NEXT = auto()
    """The cycle of the next firing, if that is beyond the limit; else NEVER."""
    STALE = auto()
    """The first cycle in which a firing may come otherwise than it is timed, since tokens have changed;
    UP_TO_DATE if there is none."""
    NARROW = auto()
    """The same, since slots have changed."""
    GATE = auto()
    """Address of the gate's words, and how many they are."""
    GATE_WORDS = auto()
    KEYS = auto()
    """Address of the number of the last firing with each key of the spacing."""
    APART = auto()
    """The latency of the spacing."""
    RECENT = auto()
    """Address of the cycles of the last firings, at their numbers under RECENT_MASK."""
    RECENT_MASK = auto()


class C(RecordPlace):
    """A channel's record."""

    TOKENS = auto()
    """Address of the row of tokens: payload << KIND_BITS | kind."""
    READY = auto()
    """Address of the row of the first cycles in which they are available."""
    FREE = auto()
    """Address of the row of the first cycles in which their slots are free again."""
    BASE = auto()
    """The token at which the rows begin."""
    SIZE = auto()
    """Words of a row."""
    KEPT = auto()
    """The first token whose word in FREE is still there: slots of those before are free."""
    DEPTH = auto()
    LATENCY = auto()
    ROOM = auto()
    """The tokens that may be found and not yet taken: more than DEPTH, or fewer if the rows are to grow when
    need be."""
    PUSHED = auto()
    """Tokens that are found to be pushed, and to be popped."""
    POPPED = auto()
    TIMED_PUSHED = auto()
    """Those of them whose cycles are known."""
    TIMED_POPPED = auto()
    NEW_PUSHED = auto()
    """The same with what is assumed of the phase that is being timed."""
    NEW_POPPED = auto()
    OPEN = auto()
    """1 as long as pops that are found but not timed are assumed to come in time. Else nothing is known of
    their slots."""
    PRODUCER = auto()
    """Address of the producer's record."""
    CONSUMER = auto()
    HIGH = auto()
    """Greatest number of slots taken in one cycle."""
    DWELL = auto()
    """Sum over the tokens popped of the cycles from the push to the pop."""
    STARVED = auto()
    BLOCKED = auto()
    NEW_STARVED = auto()
    """What the phase adds."""
    NEW_BLOCKED = auto()
    VALS = auto()
    """Tokens popped, of each kind in the order of their codes."""
    STOPS = auto()
    EMPTIES = auto()
    DONES = auto()


class S(RecordPlace):
    """A state of timing; behind it for each input the tokens popped and the cycles starved, and for each
    channel that the actor pushes to the tokens pushed and the cycles blocked."""

    LAST = auto()
    AT = auto()
    PAST = auto()
    TIMED = auto()
    SPACED = auto()
    """What the phase has added so far."""
    STALLED = auto()
    BLOCKED = auto()
    """1 if a firing had to wait for a slot."""


class G(RecordPlace):
    """The record of a graph."""

    ACTORS = auto()
    """Address of the addresses of actors, in an order in which most channels lead forward."""
    ACTOR_COUNT = auto()
    CHANNELS = auto()
    """Address of the addresses of channels."""
    CHANNEL_COUNT = auto()
    PHASE = auto()
    """Firings of an actor in a phase."""
    LIMIT = auto()
    """The last cycle in which a firing may come."""
    CAREFUL = auto()
    """How many phases are still to be timed without assumptions."""
    WORK = auto()
    """What timing the phase has cost so far, in firings."""


class I(RecordPlace):  # noqa: E742
    """What a function keeps at hand of an input and its channel."""

    HEAD = auto()
    """Address of the next token."""
    END = auto()
    """Address behind the last one."""


class O(RecordPlace):  # noqa: E742
    """What a function keeps at hand of a channel that the actor pushes to."""

    NEXT = auto()
    """Address of the next token."""
    LIMIT = auto()
    """Address of the first token for which there is no room as long as no further pop is known."""
