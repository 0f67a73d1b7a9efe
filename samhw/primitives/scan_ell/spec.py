"""scan_ell: the coordinates in the room of each fiber."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Extents, Words
from samhw.graph.spec.params import EXTENT, SIZE, Each, Params, StoredArray, parameters, read
from samhw.primitives.walk.spec import LevelScanner

__all__ = ["SPEC"]


class _ScanEll(LevelScanner):
    kind = "scan_ell"
    rule = "Walks an ell level: the coordinates in the room of each fiber, one a cycle, and then its end."
    params = parameters(
        cnt=read(StoredArray.CNT, 1, Each.TAKEN),
        crd=read(StoredArray.CRD, 1, Each.GIVEN),
        width=SIZE,
        extent=EXTENT,
    )
    locates = False
    inner_latency = "memory"
    finds_disorder = True

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.memory if port == "crd" else arch.step

    def inside(self, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.memory + arch.step

    def coordinates(self, params: Params, fibers: int, words: Words, extents: Extents) -> int | None:
        return int(words[params["cnt"]][:fibers].sum())


SPEC = _ScanEll()
