"""scan_dense: all coordinates of a dense level."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Extents, Words
from samhw.graph.spec.params import EXTENT, Params, parameters
from samhw.primitives.walk.spec import LevelScanner

__all__ = ["SPEC"]


class _ScanDense(LevelScanner):
    kind = "scan_dense"
    locates = True
    rule = "Walks a dense level: all coordinates of each fiber in order, one a cycle, and then its end."
    params = parameters(extent=EXTENT)
    inner_latency = "locate"
    finds_disorder = False

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def coordinates(self, params: Params, fibers: int, words: Words, extents: Extents) -> int | None:
        return fibers * extents[params["extent"]]


SPEC = _ScanDense()
