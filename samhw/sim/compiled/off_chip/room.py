"""Room for the requests of another phase."""

from samhw.sim.compiled.off_chip.records import AccessRecord, PortRecord
from samhw.sim.compiled.records import ActorRecord, GraphRecord
from samhw.sim.compiled.rows import moved
from samhw.sim.machine_code import words_at

__all__ = ["make_line_room"]


def make_line_room(graph_address: int, unused: int) -> int:
    """Moves what is still needed to the front of the rows of ports; gives whether there is room for a phase.

    It comes before the rows of actors are moved.
    """
    graph = GraphRecord.at(graph_address)
    accesses = words_at(graph.accesses, graph.access_count)
    enough = 1
    for n in range(graph.access_count):
        access = AccessRecord.at(accesses[n])
        actor = ActorRecord.at(access.actor)
        far = actor.timed - graph.history - actor.base
        ports = words_at(access.ports, access.port_count)
        for p in range(access.port_count):
            port = PortRecord.at(ports[p])
            if far > 0:
                port.upto = moved(port.upto, actor.base + far, far, actor.found - actor.timed + graph.history)
            drop_requests(port)
            if port.found + graph.phase * port.places > port.base + port.size:
                enough = 0
    return enough


def drop_requests(port: PortRecord) -> None:
    """Drops requests that are done: those whose places have been taken again."""
    needed = min(port.served, port.timed - port.places)
    far = needed - port.base
    if far > 0:
        count = port.found - needed
        port.lines = moved(port.lines, port.base + far, far, count)
        port.asked = moved(port.asked, port.base + far, far, count)
        port.done = moved(port.done, port.base + far, far, count)
        port.base = needed
