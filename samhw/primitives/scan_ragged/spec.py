"""scan_ragged: the coordinates below the length of each fiber."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Extents, Words
from samhw.graph.spec.params import EXTENT, Each, Params, StoredArray, parameters, read
from samhw.primitives.scan_compressed.spec import SPEC as SCAN_COMPRESSED
from samhw.primitives.walk.spec import LevelScanner

__all__ = ["SPEC"]


class _ScanRagged(LevelScanner):
    kind = "scan_ragged"
    rule = "Walks a ragged level: the coordinates below the length of each fiber, and then its end."
    params = parameters(pos=read(StoredArray.POS, 2, Each.TAKEN), extent=EXTENT)
    locates = False
    inner_latency = "memory"
    finds_disorder = False

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def coordinates(self, params: Params, fibers: int, words: Words, extents: Extents) -> int | None:
        return SCAN_COMPRESSED.coordinates(params, fibers, words, extents)


SPEC = _ScanRagged()
