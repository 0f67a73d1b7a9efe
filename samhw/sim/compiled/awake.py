"""The actors that may go on while cycles are found without assumptions (careful.py): in a ring, each once at
most, the one first that was woken first."""

from samhw.sim.compiled.records import ActorRecord, GraphRecord
from samhw.sim.machine_code import UNKNOWN, words_at

__all__ = ["next_awake", "wake"]


def wake(graph: GraphRecord, address: int) -> None:
    """Has the actor at an address go on with its team, after those that are to go on already."""
    leader = ActorRecord.at(address).leader
    if not ActorRecord.at(leader).awake:
        ActorRecord.at(leader).awake = 1
        place = graph.awake_first + graph.awake_count
        place -= graph.actor_count if place >= graph.actor_count else 0
        words_at(graph.awake, UNKNOWN)[place] = leader
        graph.awake_count += 1


def next_awake(graph: GraphRecord) -> int:
    """The address of the first one, which leaves the ring. There is one."""
    address = words_at(graph.awake, UNKNOWN)[graph.awake_first]
    graph.awake_first += 1
    graph.awake_first -= graph.actor_count if graph.awake_first == graph.actor_count else 0
    graph.awake_count -= 1
    ActorRecord.at(address).awake = 0
    return address
