"""A token as it lies in the row of its channel: one word, with the payload above the kind.

Whoever puts tokens together or takes them apart does it with these functions, which take numbers and arrays
of numbers alike. A payload of several words has further rows (channels.py), with a word for each token.
"""

from typing import Any

__all__ = ["kind_of", "packed", "payload_of", "unpacked"]

KIND_BITS = 2
KINDS = (1 << KIND_BITS) - 1


def packed(kind: int, payload: int) -> int:
    """The word of a token."""
    return payload << KIND_BITS | kind


def kind_of(token: Any) -> Any:
    """The kind of a token, by its word."""
    return token & KINDS


def payload_of(token: int) -> int:
    """The payload of a token, by its word."""
    return token >> KIND_BITS


def unpacked(token: int) -> tuple[int, int]:
    """The kind and the payload of a token, by its word; of a token outside of machine code."""
    return kind_of(token), payload_of(token)
