"""The level scanners: scan_dense, scan_compressed, scan_singleton."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from samhw.spec.arch import Arch
from samhw.spec.base import Ports, Spec, Work
from samhw.spec.params import EXTENT, Each, Params, StoredArray, parameters, read
from samhw.spec.streams import crd, ref

__all__ = ["SCAN_COMPRESSED", "SCAN_DENSE", "SCAN_SINGLETON"]


class _Scanner(Spec):
    """Gives the coordinates below each reference, and a reference for each of them."""

    thins = False
    scans = True
    cell = "LS"

    def refusal(self, depth: int, params: Params) -> str | None:
        return None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [ref("ref", depth)], [crd("crd", depth + 1), ref("ref", depth + 1)]

    def ordered(self, port: str) -> bool:
        return False

    def follows(self, port: str, params: Params) -> str | None:
        return "ref"

    def kept(self, params: Params) -> int | None:
        return None

    def work(self, params: Params) -> Work | None:
        return None


class _ScanDense(_Scanner):
    kind = "scan_dense"
    params = parameters(extent=EXTENT)
    finds_disorder = False

    def latency(self, port: str, params: Params, arch: Arch, value: str) -> int:
        return arch.step

    def inside(self, arch: Arch) -> int:
        return arch.locate

    def coordinates(
        self,
        params: Params,
        fibers: int,
        memories: Mapping[str, NDArray[Any]],
        extents: Mapping[str, int],
    ) -> int | None:
        return fibers * extents[params["extent"]]


class _ScanCompressed(_Scanner):
    kind = "scan_compressed"
    params = parameters(
        pos=read(StoredArray.POS, 2, Each.TAKEN), crd=read(StoredArray.CRD, 1, Each.GIVEN), extent=EXTENT
    )
    finds_disorder = True

    def latency(self, port: str, params: Params, arch: Arch, value: str) -> int:
        return arch.memory if port == "crd" else arch.step

    def inside(self, arch: Arch) -> int:
        return arch.memory

    def coordinates(
        self,
        params: Params,
        fibers: int,
        memories: Mapping[str, NDArray[Any]],
        extents: Mapping[str, int],
    ) -> int | None:
        pos = memories[params["pos"]]
        return int(pos[min(fibers, len(pos) - 1)]) if len(pos) else 0


class _ScanSingleton(_Scanner):
    kind = "scan_singleton"
    params = parameters(crd=read(StoredArray.CRD, 1, Each.GIVEN), extent=EXTENT)
    finds_disorder = False

    def latency(self, port: str, params: Params, arch: Arch, value: str) -> int:
        return arch.memory if port == "crd" else arch.step

    def inside(self, arch: Arch) -> int:
        return 0

    def coordinates(
        self,
        params: Params,
        fibers: int,
        memories: Mapping[str, NDArray[Any]],
        extents: Mapping[str, int],
    ) -> int | None:
        return fibers


SCAN_DENSE = _ScanDense()
SCAN_COMPRESSED = _ScanCompressed()
SCAN_SINGLETON = _ScanSingleton()
