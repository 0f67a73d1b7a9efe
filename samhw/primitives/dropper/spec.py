"""What drop_crd and drop_val have in common: they take coordinates out of a stream."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import KeepsLevels, Work, too_shallow
from samhw.graph.spec.params import Params

__all__ = ["Dropper"]


class Dropper(KeepsLevels):
    """Its outputs are its inputs, with less in them."""

    inner_latency = None
    thins = True
    cell = None

    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, 1)

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def work(self, params: Params) -> Work | None:
        return None
