"""The level scanners: of dense, compressed, singleton, ell, ragged and dia levels."""

import numpy as np

from samhw.numerics import ValueType
from samhw.spec.arch import Arch
from samhw.spec.base import Distribution, Extents, Joined, Ports, Reduction, Spec, Words, Work
from samhw.spec.blocks import Blocked, TakenBlocks
from samhw.spec.params import EXTENT, SIZE, Each, Params, StoredArray, parameters, read
from samhw.spec.streams import crd, ref

__all__ = [
    "SCAN_COMPRESSED",
    "SCAN_DENSE",
    "SCAN_DIA",
    "SCAN_ELL",
    "SCAN_RAGGED",
    "SCAN_SINGLETON",
]


class _Scanner(Spec):
    """Gives the coordinates below each reference, and a reference for each of them."""

    thins = False
    moves = False
    carries = False
    completes = False
    scans = True
    cell = "LS"

    def refusal(self, depth: int, params: Params) -> str | None:
        return None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [ref("ref", depth)], [crd("crd", depth + 1), ref("ref", depth + 1)]

    def follows(self, port: str, params: Params) -> str | None:
        return "ref"

    def joins(self, params: Params) -> tuple[Joined, ...]:
        return ()

    def gives_empty(self, params: Params) -> bool:
        return False

    def reduction(self, params: Params) -> Reduction | None:
        return None

    def distribution(self, params: Params) -> Distribution | None:
        return None

    def work(self, params: Params) -> Work | None:
        return None

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        return None


class _ScanDense(_Scanner):
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


class _ScanCompressed(_Scanner):
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


class _ScanSingleton(_Scanner):
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


class _ScanEll(_Scanner):
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


class _ScanRagged(_Scanner):
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


class _ScanDia(_Scanner):
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


SCAN_DENSE = _ScanDense()
SCAN_COMPRESSED = _ScanCompressed()
SCAN_SINGLETON = _ScanSingleton()
SCAN_ELL = _ScanEll()
SCAN_RAGGED = _ScanRagged()
SCAN_DIA = _ScanDia()
