"""The record of what an actor asks of off-chip memory."""

from samhw.sim.machine_code import Record

__all__ = ["AccessRecord"]


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
