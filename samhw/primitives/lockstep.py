"""What actors share that take two streams in lockstep and pass both on."""

from samhw.primitives.step import NONE, Words

__all__ = ["pass_both"]


def pass_both(kind: Words, data: Words, out_kind: Words, out_data: Words) -> bool:
    """Puts the heads of inputs 0 and 1 on outputs 0 and 1; gives whether both are there."""
    out_kind[0] = kind[0]
    out_data[0] = data[0]
    out_kind[1] = kind[1]
    out_data[1] = data[1]
    return kind[0] != NONE and kind[1] != NONE
