"""The records of ports to off-chip memory."""

from samhw.sim.machine_code import Record

__all__ = ["AccessRecord", "PortRecord"]


class AccessRecord(Record):
    """An actor's access to off-chip memory."""

    rule: int
    """Address of its words as `samhw.sim.port_rule` has them; instead of the cycle in which a line is done
    these have one more than the number of its request."""
    actor: int
    """Address of the actor."""
    ports: int
    """Address of the addresses of its ports, and how many they are."""
    port_count: int
    carried: int
    """Address of two words for each channel whose tokens carry data, and how many they are: its number among
    those that the actor pushes to, and the number of the port."""
    carried_count: int
    note: int
    """Address of the code that notes what a firing asks for (asking.py)."""
    asks_in: int
    """The cycle of the first firing that asks and is not served, or NEVER."""
    held: int
    """Cycles that firings waited for places in its ports."""


class PortRecord(Record):
    """A port. Rows of requests have a word for each, rows of firings for each of the actor's."""

    begin: int
    """Where the port begins in `AccessRecord.rule`."""
    upto: int
    """Row of the requests that are made up to a firing, and in it."""
    lines: int
    """Row of the lines that requests ask for, in the memory's address space."""
    asked: int
    """Row of the cycles in which they are made."""
    done: int
    """Row of the cycles in which they are done; NEVER for one that is not served."""
    base: int
    """The request at which these rows begin, and how many words they have. Those before are done."""
    size: int
    places: int
    """How many requests may be on their way; a firing makes no more."""
    found: int
    """Requests that are found, timed, and served."""
    timed: int
    served: int
    write: int
    """1 if it writes."""
    waited: int
    """Cycles from request to done, summed."""
    last_done: int
    """The latest cycle in which a request was done."""
