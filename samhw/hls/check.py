"""What synthesis asks of the emitted program, checked on its streams and on its text."""

import re
from collections import Counter
from collections.abc import Mapping

from samhw.hls.program import HlsProgram, HlsRegion

__all__ = ["check"]

_DYNAMIC = re.compile(r"\b(new|delete|malloc|calloc|realloc|free)\b|\bstd::(vector|deque|string|map|list)\b")
_ARRAY = re.compile(r"^\s+(?:static )?(?:const )?[\w:<>, ]+ \w+((?:\[[^\]]*\])+)(?: = \{|;)", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*")


def check(program: HlsProgram, sources: Mapping[str, str]) -> None:
    """Raises `AssertionError` where a stream has not one writer and one reader, a process runs before one
    that feeds it, or the text of a synthesised file allocates or has an array without a size."""
    for region in program.regions:
        _check_streams(region)
    for path, text in sources.items():
        if path.endswith("csim.hpp"):  # Only for simulation.
            continue
        plain = _COMMENT.sub("", text)
        if found := _DYNAMIC.search(plain):
            raise AssertionError(f"{path} uses {found[0]}, which cannot be synthesised")
        for found in _ARRAY.finditer(plain):
            if "[]" in found[1]:
                raise AssertionError(f"{path} has an array without a size: {found[0].strip()}")


def _check_streams(region: HlsRegion) -> None:
    writers = Counter(s.name for p in region.processes for s in p.writes)
    readers = Counter(s.name for p in region.processes for s in p.reads)
    for stream in region.streams:
        for what, count in (("written", writers[stream.name]), ("read", readers[stream.name])):
            if count != 1:
                raise AssertionError(f"stream {stream.name} is {what} by {count} processes")
    written: set[str] = set()
    for process in region.processes:
        for stream in process.reads:
            if stream.name not in written:
                raise AssertionError(f"{process.function} reads {stream.name} before it is written")
        written.update(s.name for s in process.writes)
    if [s for p in region.processes for s in p.writes] != list(region.streams):
        raise AssertionError(f"the streams of {region.name} are not declared in the order of their writers")
