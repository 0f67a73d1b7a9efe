"""scan_singleton: the one coordinate of each fiber."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Extents, Words
from samhw.graph.spec.params import EXTENT, Each, Params, StoredArray, parameters, read
from samhw.primitives.walk.spec import LevelScanner

__all__ = ["SPEC"]


class _ScanSingleton(LevelScanner):
    kind = "scan_singleton"
    locates = False
    rule = "Reads the one coordinate of each fiber."
    params = parameters(crd=read(StoredArray.CRD, 1, Each.GIVEN), extent=EXTENT)
    inner_latency = None
    finds_disorder = False

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.memory if port == "crd" else arch.step

    def coordinates(self, params: Params, fibers: int, words: Words, extents: Extents) -> int | None:
        return fibers


SPEC = _ScanSingleton()
