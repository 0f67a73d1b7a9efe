"""The actors that may go on while cycles are found without assumptions (careful.py): a stack, in which each
is once at most."""

from samhw.sim.compiled.records import ActorRecord, GraphRecord
from samhw.sim.machine_code import UNKNOWN, words_at

__all__ = ["next_awake", "wake"]


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
