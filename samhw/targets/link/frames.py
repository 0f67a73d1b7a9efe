"""Frames (docs/link.md, "Frames")."""

import zlib

__all__ = ["Decoder", "encode"]

_FLAG = b"\x7e"
_ESCAPE = b"\x7d"
_CRC_BYTES = 4


def encode(content: bytes) -> bytes:
    """The bytes of the line for a frame."""
    body = content + zlib.crc32(content).to_bytes(_CRC_BYTES, "little")
    for special in (_ESCAPE, _FLAG):
        body = body.replace(special, _ESCAPE + bytes([special[0] ^ 0x20]))
    return _FLAG + body + _FLAG


class Decoder:
    """Finds frames in bytes that come piece by piece."""

    def __init__(self) -> None:
        self._rest = b""
        self._begun = False

    def feed(self, data: bytes) -> list[bytes]:
        """The contents of the frames that end with these bytes; damaged ones are left out."""
        *ended, self._rest = (self._rest + data).split(_FLAG)
        if ended and not self._begun:
            # What comes before the first flag is the end of something older.
            self._begun = True
            ended = ended[1:]
        return [content for part in ended if (content := _content(part)) is not None]


def _content(part: bytes) -> bytes | None:
    """What a frame contains; None if it is damaged."""
    first, *others = part.split(_ESCAPE)
    if not all(others):
        return None
    body = first + b"".join(bytes([other[0] ^ 0x20]) + other[1:] for other in others)
    content, crc = body[:-_CRC_BYTES], body[-_CRC_BYTES:]
    good = len(body) > _CRC_BYTES and zlib.crc32(content) == int.from_bytes(crc, "little")
    return content if good else None
