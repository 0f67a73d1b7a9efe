"""What off-chip memory does to the cycle of a firing, once its tokens and slots are there (timing.py)."""

from samhw.sim.compiled.off_chip.records import AccessRecord, PortRecord
from samhw.sim.compiled.one_firing import Wait
from samhw.sim.compiled.points import TimedInput
from samhw.sim.compiled.records import NEVER, ActorRecord, input_channel
from samhw.sim.machine_code import UNKNOWN, words_at

__all__ = ["count_late", "next_asked", "note_asked", "wait_for_places"]


def wait_for_places(me: ActorRecord, firing: int, wait: Wait) -> None:
    """When the ports have places for all that a firing asks for: each request takes the place of the one that
    was made this many before. (A firing asks for no more lines than there are places.)"""
    access = AccessRecord.at(me.access)
    ports = words_at(access.ports, access.port_count)
    for p in range(access.port_count):
        port = PortRecord.at(ports[p])
        for n in range(port.timed, words_at(port.upto, UNKNOWN)[firing]):
            wait.placed = max(wait.placed, words_at(port.done, UNKNOWN)[n - port.places])


def note_asked(me: ActorRecord, firing: int, t: int, wait: Wait) -> None:
    """A firing comes in cycle t: it makes its requests then."""
    access = AccessRecord.at(me.access)
    access.held += wait.placed - wait.apart
    ports = words_at(access.ports, access.port_count)
    for p in range(access.port_count):
        port = PortRecord.at(ports[p])
        while port.timed < words_at(port.upto, UNKNOWN)[firing]:
            words_at(port.asked, UNKNOWN)[port.timed] = t
            words_at(port.done, UNKNOWN)[port.timed] = NEVER
            port.timed += 1
            access.asks_in = min(access.asks_in, t)


def next_asked(access: AccessRecord) -> int:
    """The cycle of the first firing that asks and is not served, or NEVER."""
    cycle = NEVER
    ports = words_at(access.ports, access.port_count)
    for p in range(access.port_count):
        port = PortRecord.at(ports[p])
        if port.served < port.timed:
            cycle = min(cycle, words_at(port.asked, UNKNOWN)[port.served])
    return cycle


def count_late(me: ActorRecord, late: int, ins: tuple[TimedInput, ...], wait: Wait) -> None:
    """Of the wait for a token, counts what the memory takes beyond the latency of the channel apart.

    Args:
        late: the set of inputs whose tokens may come with data from there.
    """
    if wait.there > wait.soonest:
        for i in range(len(ins)):
            if late >> i & 1 and wait.late == i:
                channel = input_channel(me, i)
                come = words_at(channel.come, UNKNOWN)[ins[i].popped]
                waited = wait.there - max(wait.soonest, come)
                channel.late += waited
                ins[i].starved -= waited
