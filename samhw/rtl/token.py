"""The hardware form of a token: a 2-bit kind beside a payload word (docs/timing.md)."""

from amaranth.hdl import Cat, Const, Mux, Value, ValueLike
from amaranth.lib import data, enum

from samhw.rtl.logic import all_of

__all__ = [
    "CONTROL",
    "KIND_BITS",
    "LEVEL_BITS",
    "TokenKind",
    "all_end",
    "is_payload",
    "is_s0",
    "level_bits",
    "make_token",
    "meant",
    "outer_is_stop_below",
    "same_token",
    "stop_hi",
    "stop_lo",
    "stop_token",
    "token_layout",
    "token_width",
]


class TokenKind(enum.Enum, shape=2):  # type: ignore[call-arg]
    """The kind of a token."""

    VAL = 0
    STOP = 1
    EMPTY = 2
    DONE = 3


def token_layout(width: int) -> data.StructLayout:
    """A token whose payload has `width` bits. The payload of a stop is `lo` in bits 0..3 and `hi` in bits
    4..7. What lies above in a stop and in DONE means nothing."""
    return data.StructLayout({"kind": TokenKind, "payload": width})


KIND_BITS = 2
"""Bits of a kind, which lie below those of the payload."""

LEVEL_BITS = 8
"""Bits of the two levels of a stop."""

CONTROL = token_layout(LEVEL_BITS)
"""A token as an actor decides on it: a payload just wide enough for a stop."""


def token_width(width: int) -> int:
    """Bits of the payload of a token that carries this many (`Payload.width`), or the two levels of a
    stop."""
    return max(width, LEVEL_BITS)


def level_bits(levels: int) -> int:
    """A mask of the bits of a payload in which the stops of a stream of that many levels differ."""
    each = (1 << max(levels - 1, 0).bit_length()) - 1
    return each | each << LEVEL_BITS // 2


def make_token(kind: TokenKind | ValueLike, payload: ValueLike = 0) -> Value:
    """The bits of a token, to be assigned to a signal of any `token_layout`."""
    return Cat(Value.cast(kind), payload)


def stop_token(lo: ValueLike, hi: ValueLike) -> Value:
    """STOP(lo, hi); of the levels only the low 4 bits count."""
    return make_token(
        TokenKind.STOP, Cat((Value.cast(lo) | Const(0, 4))[:4], (Value.cast(hi) | Const(0, 4))[:4])
    )


def stop_lo(token: data.View) -> Value:
    """The innermost level that a stop ends."""
    return token.payload[0:4]


def stop_hi(token: data.View) -> Value:
    """The outermost level that a stop ends."""
    return token.payload[4:8]


def is_payload(token: data.View) -> Value:
    """The token is VAL or EMPTY."""
    return ~Value.cast(token.kind)[0]


def meant(token: data.View) -> Value:
    """The payload as docs/timing.md has it: without the bits of a stop and of DONE that mean nothing."""
    payload = Value.cast(token.payload)
    return Mux(is_payload(token), payload, payload[:LEVEL_BITS])


def is_s0(token: data.View) -> Value:
    """STOP(0, 0), which ends a fiber and nothing else. `hi` tells, since `lo` is never above it."""
    return (token.kind == TokenKind.STOP) & (stop_hi(token) == 0)


def all_end(first: data.View, *others: data.View) -> Value:
    """All are STOPs, or all are DONE. The levels of the STOPs are left to `same_token`, which a row of a
    `FiringTable` takes as what its heads have to `agree` in."""
    kind = Value.cast(first.kind)
    return ~is_payload(first) & all_of(kind == Value.cast(other.kind) for other in others)


def same_token(first: data.View, *others: data.View) -> Value:
    """All are the same STOP, or all DONE, or all EMPTY; payloads wider than a stop's are not compared."""
    return all_of(
        (Value.cast(first.kind) == Value.cast(other.kind)) & (first.payload[:8] == other.payload[:8])
        for other in others
    )


def outer_is_stop_below(outer: data.View, inner: data.View) -> Value:
    """`outer` is what STOP(lo, hi), hi ≥ 1, at `inner` is one level further out: STOP(max(lo - 1, 0), hi -
    1)."""
    lo, hi = stop_lo(inner), stop_hi(inner)
    below = Cat((lo - (lo != 0))[:4], (hi - 1)[:4])
    return (outer.kind == TokenKind.STOP) & (outer.payload[:8] == below)
