"""The next firings of an actor and the tokens that they push, without regard to cycles.

Which firings an actor does, and with what tokens, depends on the tokens that it takes and on nothing else.
"""

from collections.abc import Callable

from samhw.sim.compiled.actor_shapes import FinderShape
from samhw.sim.compiled.finding import Finding, begin_finding, behead, do_firing, end_finding
from samhw.sim.compiled.off_chip.requests import note_request
from samhw.sim.compiled.records import ActorRecord, ChannelRecord, stores_of
from samhw.sim.engine import FIRES
from samhw.sim.machine_code import apart, words_at
from samhw.sim.step import NONE, PUSHES, Step

__all__ = ["finder"]


def finder(step: Step, shape: FinderShape) -> Callable[[int, int], int]:
    """The function (address of the actor, 0) -> number of firings that it found.

    It goes on until a token or room in a channel is lacking, or nothing is left to do in this phase.
    """
    stored = stores_of(shape.stores)

    def find(address: int, unused: int) -> int:
        finding = begin_finding(shape, stored, address)
        first = finding.trail.number
        find_next(shape, step, finding)
        end_finding(shape, finding)
        return finding.trail.number - first

    return apart(find) if shape.long else find


def find_next(shape: FinderShape, step: Step, finding: Finding) -> None:
    """Finds an actor's next firings, and notes what it then waits for."""
    actor, trail = finding.actor, finding.trail
    last = trail.number + actor.left
    # What it watches differs from what it has seen: it can go on.
    actor.watch = finding.address + ActorRecord.offset("found")
    actor.seen = -1
    actor.patience = 1
    word = actor.word
    while trail.number < last:
        if shape.simple and word == 0:
            until = trail.number + surely(shape, finding, last - trail.number)
            word = find_freely(shape, step, finding, until)
            if trail.number == last:
                break
        if word == 0:
            word = step(*finding.arguments)
        if word < FIRES:
            rest(shape, finding, word)
            word = 0
            break
        if is_full(shape, finding, word):
            break
        if shape.accesses:
            token, beat = finding.tails[0].next, finding.arguments.out_data[shape.beat]
            note_request(actor.access, token, beat, finding.arguments.state)
        do_firing(shape, finding, word, 0)
        word = 0
    actor.word = word


def surely(shape: FinderShape, finding: Finding, most: int) -> int:
    """How many firings, at most, surely have room for what they push, and tokens where there is one now.

    None in a join that lacks a token: there, nothing is to be asked of heads.
    """
    heads, tails = finding.heads, finding.tails
    count = most
    for q in range(len(shape.ports)):
        count = min(count, tails[q].end - tails[q].next >> 3)
    for i in range(shape.inputs):
        if shape.joins or heads[i].next < heads[i].end:
            count = min(count, heads[i].end - heads[i].next >> 3)
    return count


def find_freely(shape: FinderShape, step: Step, finding: Finding, until: int) -> int:
    """Finds firings without a look at the ends of channels, up to one for which that is needed.

    Gives 0, or what the step function gave instead of a firing. Most firings are found here.
    """
    word = 0
    while finding.trail.number < until:
        if shape.joins:
            for i in range(shape.inputs):
                behead(shape, finding, i, 1)
        word = step(*finding.arguments)
        if word < FIRES:
            break
        do_firing(shape, finding, word, 1)
        word = 0
    for i in range(shape.inputs):
        behead(shape, finding, i, 0)
    return word


def rest(shape: FinderShape, finding: Finding, word: int) -> None:
    """Notes what an actor waits for whose step function gave no firing."""
    actor, kind = finding.actor, finding.arguments.kind
    # For good, unless it waits for a head: then until a token comes in that channel.
    actor.watch = finding.address + ActorRecord.offset("find")
    actor.seen = actor.find
    if word < 0:
        actor.fault = word
    else:
        for i in range(shape.inputs):
            if kind[i] == NONE and word >> i & 1:
                where = words_at(actor.inputs, shape.inputs)[i]
                actor.watch = where + ChannelRecord.offset("pushed")
                actor.seen = ChannelRecord.at(where).pushed


def is_full(shape: FinderShape, finding: Finding, word: int) -> int:
    """Whether a firing lacks room in a channel. The actor then waits for as much as is worth a call."""
    actor, tails = finding.actor, finding.tails
    full = 0
    for q in range(len(shape.ports)):
        if word >> PUSHES + shape.ports[q] & 1 and tails[q].next >= tails[q].end:
            where = words_at(actor.outputs, len(shape.ports))[q]
            actor.watch = where + ChannelRecord.offset("popped")
            actor.seen = ChannelRecord.at(where).popped
            actor.patience = max(1, ChannelRecord.at(where).room >> 1)
            full = 1
    return full
