"""scan_dia: the coordinates on the stored diagonals."""

import numpy as np

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Extents, Words
from samhw.graph.spec.params import EXTENT, Each, Params, StoredArray, parameters, read
from samhw.primitives.walk.spec import LevelScanner

__all__ = ["SPEC"]


class _ScanDia(LevelScanner):
    kind = "scan_dia"
    rule = "Walks a dia level: of each row the coordinates on the stored diagonals, and then its end."
    params = parameters(
        cnt=read(StoredArray.CNT, 1, Each.HELD),
        off=read(StoredArray.OFF, 1, Each.HELD),
        rows=EXTENT,
        extent=EXTENT,
    )
    locates = False
    inner_latency = "memory"
    finds_disorder = True

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def inside(self, params: Params, arch: Arch, value: ValueType) -> int:
        return 2 * arch.memory + arch.step

    def coordinates(self, params: Params, fibers: int, words: Words, extents: Extents) -> int | None:
        off = words[params["off"]][: int(words[params["cnt"]][0])].astype(np.uint32).astype(np.int32)
        rows, size = min(fibers, extents[params["rows"]]), extents[params["extent"]]
        return int(np.maximum(0, np.minimum(rows, size - off) - np.maximum(0, -off)).sum())


SPEC = _ScanDia()
