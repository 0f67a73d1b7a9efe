"""What a firing asks of off-chip memory and what its token comes with, which is found when the firing is
(find.py); and in which cycle it asks, which is known once it is timed (timing.py)."""

from collections.abc import Sequence

from samhw.sim.compiled.off_chip.records import AccessRecord
from samhw.sim.compiled.records import NEVER, ActorRecord, ChannelRecord
from samhw.sim.machine_code import UNKNOWN, apart, words_at
from samhw.sim.port_actors import LINE_ASKED, REQUESTS

__all__ = ["bring_data", "note_request"]


def note_request(address: int, token: int, beat: int, state: Sequence[int]) -> None:
    """Notes what the next firing of an actor asks for, and which beat its token waits for.

    Args:
        address: that of the access.
        token: the address of the token that it may push.
        beat: one more than the number of the beat, or 0.
        state: the actor's registers.
    """
    access = AccessRecord.at(address)
    channel = ChannelRecord.at(access.channel)
    words_at(channel.brought + token - channel.tokens, 1)[0] = beat
    if state[REQUESTS] > access.found:
        words_at(access.lines, UNKNOWN)[access.found] = state[LINE_ASKED]
        words_at(access.tokens, UNKNOWN)[access.found] = (token - channel.tokens) >> 3
        access.found += 1


@apart
def bring_data(address: int) -> None:
    """Notes in which cycles requests are made, and says when tokens are there whose lines are served; marks
    who takes them."""
    access = AccessRecord.at(address)
    channel = ChannelRecord.at(access.channel)
    come, ready = words_at(channel.come, UNKNOWN), words_at(channel.ready, UNKNOWN)
    tokens, asked = words_at(access.tokens, UNKNOWN), words_at(access.asked, UNKNOWN)
    brought, answered = words_at(channel.brought, UNKNOWN), words_at(access.answered, UNKNOWN)
    while access.timed < access.found and come[tokens[access.timed]] < NEVER:
        asked[access.timed] = come[tokens[access.timed]] - channel.latency
        access.timed += 1
    k = channel.resolved
    while k < channel.pushed and come[k] < NEVER and brought[k] <= access.served * access.beats:
        ready[k] = come[k]
        if brought[k] > access.base * access.beats:
            ready[k] = max(come[k], answered[brought[k] - 1] + channel.latency)
        k += 1
    if k > channel.resolved:
        channel.resolved = k
        consumer = ActorRecord.at(channel.consumer)
        consumer.stale = min(consumer.stale, NEVER)
