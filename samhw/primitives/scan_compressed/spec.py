"""scan_compressed: the stored coordinates of a compressed level."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Extents, Words
from samhw.graph.spec.params import EXTENT, Each, Params, StoredArray, parameters, read
from samhw.primitives.walk.spec import LevelScanner

__all__ = ["SPEC"]


class _ScanCompressed(LevelScanner):
    kind = "scan_compressed"
    locates = False
    rule = "Walks a compressed level: the stored coordinates of each fiber, one a cycle, and then its end."
    params = parameters(
        pos=read(StoredArray.POS, 2, Each.TAKEN), crd=read(StoredArray.CRD, 1, Each.GIVEN), extent=EXTENT
    )
    inner_latency = "memory"
    finds_disorder = True

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.memory if port == "crd" else arch.step

    def coordinates(self, params: Params, fibers: int, words: Words, extents: Extents) -> int | None:
        pos = words[params["pos"]]
        return int(pos[min(fibers, len(pos) - 1)]) if len(pos) else 0


SPEC = _ScanCompressed()
