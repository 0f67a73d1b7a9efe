"""What the writers have in common: they end a graph."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import KeepsLevels, Ports, Work, too_shallow
from samhw.graph.spec.params import Params
from samhw.graph.spec.streams import crd

__all__ = ["LevelWriterSpec", "WriterSpec"]


class WriterSpec(KeepsLevels):
    """Ends a graph: it has no outputs."""

    inner_latency = None
    thins = False
    cell = "LW"

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        raise AssertionError(f"{self.kind} has no output {port}")

    def follows(self, port: str, params: Params) -> str | None:
        raise AssertionError(f"{self.kind} has no output {port}")

    def work(self, params: Params) -> Work | None:
        return None


class LevelWriterSpec(WriterSpec):
    """Writes the coordinates of a level."""

    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, 1)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [crd("crd", depth)], []
