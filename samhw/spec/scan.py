"""The level scanners: scan_dense, scan_compressed, scan_singleton."""

from samhw.numerics import ValueType
from samhw.spec.arch import Arch
from samhw.spec.base import Distribution, Extents, Joined, Ports, Reduction, Spec, Words, Work
from samhw.spec.blocks import Blocked, TakenBlocks
from samhw.spec.params import EXTENT, Each, Params, StoredArray, parameters, read
from samhw.spec.streams import crd, ref

__all__ = ["SCAN_COMPRESSED", "SCAN_DENSE", "SCAN_SINGLETON"]


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


SCAN_DENSE = _ScanDense()
SCAN_COMPRESSED = _ScanCompressed()
SCAN_SINGLETON = _ScanSingleton()
