"""Frames, by hand from docs/link.md, and damaged in every way."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.targets.link import Decoder, encode

FLAG = b"\x7e"


def by_hand(content: bytes) -> bytes:
    """A frame, byte by byte."""
    line = bytearray(FLAG)
    for byte in content + zlib.crc32(content).to_bytes(4, "little"):
        line += bytes([0x7D, byte ^ 0x20]) if byte in (0x7D, 0x7E) else bytes([byte])
    return bytes(line + FLAG)


def test_worked_frame() -> None:
    # The CRC of "123456789" is the check value 0xCBF43926 of CRC-32.
    assert encode(b"123456789") == b"~123456789\x26\x39\xf4\xcb~"
    assert encode(b"\x7d\x7e\x5d") == by_hand(b"\x7d\x7e\x5d")


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=5), st.integers(1, 9))
def test_what_goes_in_comes_out(contents: list[bytes], piece: int) -> None:
    line = b"".join(encode(content) for content in contents)
    assert line == b"".join(by_hand(content) for content in contents)
    decoder = Decoder()
    found = []
    for begin in range(0, len(line), piece):
        found += decoder.feed(line[begin : begin + piece])
    assert found == contents


def test_one_flag_between_frames() -> None:
    line = encode(b"one")[:-1] + encode(b"two")
    assert Decoder().feed(line) == [b"one", b"two"]


@given(st.binary(min_size=1, max_size=20), st.data())
def test_a_damaged_frame_is_dropped_and_the_next_one_is_found(content: bytes, data: st.DataObject) -> None:
    line = bytearray(encode(content))
    at = data.draw(st.integers(1, len(line) - 2))
    match data.draw(st.sampled_from(["flip", "drop", "insert"])):
        case "flip":
            line[at] ^= 1 << data.draw(st.integers(0, 7))
        case "drop":
            del line[at]
        case "insert":
            line.insert(at, data.draw(st.integers(0, 255)))
    found = Decoder().feed(bytes(line) + encode(b"next"))
    assert found[-1] == b"next"
    # A flag that was put before or after the content leaves it whole.
    assert found[:-1] in ([], [content])


@pytest.mark.parametrize("line", [b"", b"~", b"~~", b"~\x7d~", b"~abc\x7d~", b"~\0\0\0\0~", b"abc~"])
def test_what_is_no_frame(line: bytes) -> None:
    assert Decoder().feed(line) == []
