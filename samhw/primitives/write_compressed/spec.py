"""write_compressed: coordinates, and where each fiber ends."""

from samhw.graph.spec.params import StoredArray, parameters, written
from samhw.primitives.writer.spec import LevelWriterSpec

__all__ = ["SPEC"]


class _WriteCompressed(LevelWriterSpec):
    kind = "write_compressed"
    rule = "Writes coordinates, and where each fiber ends, one a cycle."
    params = parameters(pos=written(StoredArray.POS), crd=written(StoredArray.CRD))


SPEC = _WriteCompressed()
