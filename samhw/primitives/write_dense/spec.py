"""write_dense: counts the fibers of a dense level."""

from samhw.graph.spec.params import EXTENT, parameters
from samhw.primitives.writer.spec import LevelWriterSpec

__all__ = ["SPEC"]


class _WriteDense(LevelWriterSpec):
    kind = "write_dense"
    rule = "Counts the fibers of a dense level of the result, and writes nothing."
    params = parameters(extent=EXTENT)


SPEC = _WriteDense()
