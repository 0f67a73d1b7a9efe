"""The records that the engine's functions work on.

Numbers of tokens and of firings count from the beginning of the run. What is known of the tokens of a channel
lies in rows, in each of which word n belongs to token n; a record holds the address that word 0 would have,
though only the words that are still needed exist. Rows of an actor have a word for each of its firings.

The memories of an actor, by the addresses in its record.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from samhw.sim.machine_code import UNKNOWN, Record, words_at
from samhw.sim.step import Memory

__all__ = [
    "NEVER",
    "UP_TO_DATE",
    "AccessRecord",
    "ActorRecord",
    "ChannelRecord",
    "GraphRecord",
    "array_of",
    "channels_at",
    "input_channel",
    "next_awake",
    "output_channel",
    "stores_of",
    "wake",
]

NEVER = 1 << 62
"""A cycle that no firing comes in; instead of one that is not known."""

UP_TO_DATE = 2 * NEVER - 1
"""Instead of a cycle: nothing has to be timed again."""


class ActorRecord(Record):
    """An actor."""

    find: int
    """Address of the code that finds its next firings (finding.py)."""
    time: int
    """Address of the code that finds their cycles (timing.py),"""
    careful: int
    """and of that which does so without assumptions (careful.py)."""
    inputs: int
    """Address of the addresses of its inputs' channels, and how many they are."""
    input_count: int
    outputs: int
    """Address of the addresses of the channels that it pushes to, and how many they are."""
    output_count: int
    ports: int
    """Address of the output that each of these belongs to."""
    stores: int
    """Address of two words for each of its memories: its address, and how many words it has."""
    state: int
    """Address of its registers."""
    tokens: int
    """Address of the kinds, and after them the payloads, of the tokens that it is about to push."""

    left: int
    """Firings that may still be found in this phase."""
    word: int
    """A firing that is decided but lacks room in a channel, or 0."""
    fault: int
    """What its step function returned for an error, or 0."""
    watch: int
    """Address of the word whose change lets it find more firings."""
    seen: int
    """That word as it was when the actor came to rest; -1 while the actor can go on."""
    patience: int
    """By how much that word should have grown before it goes on, unless others have little to do."""
    earlier: int
    """The place in the order of all actors of its first consumer, if that comes before it; else its own."""

    trail: int
    """Address of two words for each run of firings that are alike and whose cycles are not all known: the
    firing, as the step function gives it; and the number of firings up to the end of the run."""
    runs: int
    """How many runs there are; the last one may grow."""
    run: int
    """The run of the last firing whose cycle is known for good, or a later one."""
    ago: int
    """Row with the number of firings since the last one with the same key, where that is less than the
    latency of its spacing, else 0; of an actor with turns, with one more than each firing's turn, or 0."""
    cycles: int
    """Row of their cycles, if it keeps a spacing."""
    base: int
    """The firing at which the rows of `ago` and `cycles` begin."""
    found: int
    """The firings that are found."""
    timed: int
    """Those whose cycles are known for good."""
    last: int
    """The cycle of the last one of these."""

    stale: int
    """The first cycle in which a firing may come otherwise than it is timed. NEVER: those that could not be
    timed may be now. UP_TO_DATE: there is none."""
    fresh: int
    """Nothing of it was timed yet in this phase: its firings are assumed to come in time."""
    held: int
    """In this phase or one before its slots held it back: it is timed after its consumers,"""
    follows: int
    """and after its producers too, since its tokens came later than was assumed."""
    again: int
    """It was timed more than once in the phase, or in the one before if it was not timed yet."""
    points: int
    """Address of the points in its row of firings from which it can be timed again (points.py)."""
    point_count: int
    beyond: int
    """The cycle of the next firing, if that is beyond the limit of the run; else NEVER."""
    spaced: int
    stalled: int
    slip: int
    """The most cycles that a firing of the phase has waited after its slots, for a spacing or a gate."""
    gate: int
    """Address of the gate's words, and how many they are."""
    gate_words: int
    keys: int
    """Address of the number of the last firing with each key of its spacing."""
    apart: int
    """The latency of the spacing, or the banks that turns are for."""
    access: int
    """Address of its access to off-chip memory, or 0."""
    leader: int
    """Address of the actor that it is timed with where nothing is assumed (careful.py),"""
    awake: int
    """and which is among those that may go on, if this is 1."""


class ChannelRecord(Record):
    """A channel."""

    tokens: int
    """Row of tokens (tokens.py)."""
    more: int
    """Of blocks, the words after the first of each token, one token after the other; 0 where there are
    none,"""
    more_words: int
    """and how many they are."""
    ready: int
    """Row of the first cycles in which they are available."""
    freed: int
    """Row of the first cycles in which their slots are free again."""
    come: int
    """Row of the first cycles in which they are available but for data from off-chip memory, which may come
    later; `ready` itself, if they carry none."""
    brought: int
    """Row of one more than the beat that a token's data come with, or of 0, if they carry some."""
    resolved: int
    """This many tokens are known when to be available with their data."""
    base: int
    """The first token that the rows have words for."""
    size: int
    """Words of a row."""
    guard: int
    """A token whose slot has long been free, as have been those of all before: its word in `freed` is 0, and
    stands for theirs."""
    depth: int
    latency: int
    room: int
    """The tokens that may be found and not yet taken: more than the depth, or fewer if the rows are to grow
    when need be."""
    hidden: int
    """What `pushed` or `room` is, while a partition next to the channel sees only what is timed
    (phases.py)."""
    pushed: int
    """Tokens that are found to be pushed, and to be popped."""
    popped: int
    timed_pushed: int
    """Those of them whose cycles are known for good."""
    timed_popped: int
    new_pushed: int
    """The same with those of the phase that has just been timed."""
    new_popped: int
    new_high: int
    """What `high` will be after that phase, and what it adds to `dwell`."""
    new_dwell: int
    counted: int
    """Whether these are there, for the cycles that are known."""
    wanted: int
    """The consumer waits for a token,"""
    full: int
    """and the producer for a slot, until they are woken (careful.py)."""
    producer: int
    """Address of the producer."""
    consumer: int
    high: int
    """Greatest number of slots taken in one cycle."""
    dwell: int
    """Sum over the tokens popped of the cycles from the push to the pop."""
    starved: int
    """Cycles that the consumer waited for a token."""
    late: int
    """Cycles that it waited for data from off-chip memory, which `starved` leaves out."""
    blocked: int
    """Cycles that the producer waited for a slot."""
    vals: int
    """Tokens popped, of each kind in the order of their codes."""
    stops: int
    empties: int
    dones: int


def input_channel(actor: ActorRecord, i: int) -> ChannelRecord:
    """The channel of an actor's input."""
    return ChannelRecord.at(words_at(actor.inputs, UNKNOWN)[i])


def output_channel(actor: ActorRecord, q: int) -> ChannelRecord:
    """One of the channels that an actor pushes to."""
    return ChannelRecord.at(words_at(actor.outputs, UNKNOWN)[q])


def channels_at(count: int) -> Callable[[int], tuple[ChannelRecord, ...]]:
    """The function that gives this many channels, whose addresses lie at an address."""
    if count == 0:

        def nothing(address: int) -> tuple[ChannelRecord, ...]:
            return ()

        return nothing
    before = channels_at(count - 1)

    def channels(address: int) -> tuple[ChannelRecord, ...]:
        return (*before(address), ChannelRecord.at(words_at(address, count)[count - 1]))

    return channels


class GraphRecord(Record):
    """A graph in a run, or a partition of one that goes on alone for a while (image.py)."""

    actors: int
    """Address of the addresses of actors, in an order in which most channels lead forward."""
    actor_count: int
    before: int
    """Of a partition: the actors of the graph that come before its first one."""
    channels: int
    """Address of the addresses of channels: all that its actors push to or take from."""
    channel_count: int
    entries: int
    """Address of the addresses of those into a partition from outside, and how many they are."""
    entry_count: int
    exits: int
    """Address of the addresses of those that lead out of it."""
    exit_count: int
    phase: int
    """Most firings of an actor in a phase; they may become fewer, and as many again."""
    longest_phase: int
    history: int
    """This many cycles are kept of an actor's last firings."""
    time_many: int
    """Address of the code that times many firings together, and of words for it (many_firings.py)."""
    scratch: int
    limit: int
    """The last cycle in which a firing may come."""
    careful: int
    """How many phases are still to be timed without assumptions."""
    can_be_careful: int
    """There is code for that."""
    worth: int
    """This many times over actors are timed before assumptions are given up."""
    awake: int
    """Address of the addresses of the actors that may go on, and how many they are."""
    awake_count: int
    ends: int
    """An actor could do more in another phase, or in a channel with more room. Until then it is not certain
    which request to off-chip memory comes next."""
    serve: int
    """Address of the code that serves lines of off-chip memory, or 0."""
    line_room: int
    """Address of the code that makes room for requests."""
    oracle: int
    """Address of the memory's words (`samhw.sim.oracle`), of those of its DRAM, and of its log."""
    dram: int
    recorded: int
    line_cycles: int
    """The fewest cycles from a request to what comes of it."""
    stored: int
    """The lines that a port has storage for."""
    accesses: int
    """Address of the addresses of accesses to it, in the order of ports."""
    access_count: int
    next_asked: int
    """Address of a word for each of them: the cycle of the first request that is known and not served, or
    NEVER."""
    journal: int
    """Address of the log that is written, or 0; how many entries it has, and has room for."""
    journal_number: int
    journal_room: int


def array_of(store: object) -> NDArray[np.int64]:
    """The words of a store of a worker, as an array that shares them if somebody may write them.

    Those of a list are copied: it is an extent or the tokens of a source.
    """
    return np.asarray(store) if isinstance(store, memoryview) else np.array(store, np.int64)


def stores_of(count: int) -> Callable[[int], Memory]:
    """The function that gives an actor's memories, whose addresses and sizes lie at an address."""
    if count == 0:

        def nothing(address: int) -> Memory:
            return ()

        return nothing
    before = stores_of(count - 1)

    def stored(address: int) -> Memory:
        place = words_at(address, 2 * count)
        return (*before(address), words_at(place[2 * count - 2], place[2 * count - 1]))

    return stored


class AccessRecord(Record):
    """An access. Rows of requests have a word for each, the row of answers one for each beat."""

    number: int
    """That of the port, in the order in which those that ask in one cycle are served."""
    channel: int
    """Address of the channel whose tokens come with what is asked for."""
    lines: int
    """Row of the lines that requests ask for."""
    tokens: int
    """Row of the tokens of the channel that were pushed with them."""
    asked: int
    """Row of the cycles in which they are made, as far as that is known."""
    answered: int
    """Row of answers: one less than the cycle from which each serves."""
    base: int
    """The request at which these rows begin, and how many they have room for."""
    size: int
    found: int
    """Requests that are found, timed, and served."""
    timed: int
    served: int
    beats: int
    """Answers of a request."""
    first: int
    """The address of the array."""
    line_bytes: int
    master: int
    write: int
    """1 if it writes."""
    waited: int
    """Cycles from requests to their last answers, summed."""


def wake(graph: GraphRecord, address: int) -> None:
    """Has the actor at an address go on with its team."""
    leader = ActorRecord.at(address).leader
    if not ActorRecord.at(leader).awake:
        ActorRecord.at(leader).awake = 1
        words_at(graph.awake, UNKNOWN)[graph.awake_count] = leader
        graph.awake_count += 1


def next_awake(graph: GraphRecord) -> int:
    """The address of the one that was woken last, of which there is one; it leaves the stack."""
    graph.awake_count -= 1
    address = words_at(graph.awake, UNKNOWN)[graph.awake_count]
    ActorRecord.at(address).awake = 0
    return address
