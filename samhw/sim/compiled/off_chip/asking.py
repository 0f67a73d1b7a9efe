"""The lines that a firing asks for, which is found when the firing is (find.py)."""

from samhw.sim.compiled.off_chip.records import AccessRecord, PortRecord
from samhw.sim.machine_code import UNKNOWN, words_at
from samhw.sim.port_rule import ASKED, DECIDED, FIRST, answer, asked_line, look, note_request

__all__ = ["note_lines"]


def note_lines(address: int, firing: int) -> int:
    """Notes the requests of a firing, whose words are in the access's rule; gives how many there are."""
    access = AccessRecord.at(address)
    rule = words_at(access.rule, UNKNOWN)
    look(rule)
    ports = words_at(access.ports, access.port_count)
    requests = 0
    for p in range(access.port_count):
        port = PortRecord.at(ports[p])
        asked = rule[port.begin + ASKED]
        for n in range(asked):
            line = rule[port.begin + FIRST] + asked_line(rule, port.begin, n)
            words_at(port.lines, UNKNOWN)[port.found] = line
            port.found += 1
            note_request(rule, port.begin, n, port.found)
        words_at(port.upto, UNKNOWN)[firing] = port.found
        requests += asked
    answer(rule)
    rule[DECIDED] = 0
    return requests
