"""The writers, which end a graph: write_compressed, write_dense, write_val."""

from collections.abc import Mapping

from samhw.numerics import ValueType
from samhw.spec.arch import Arch
from samhw.spec.base import KeepsLevels, Ports, Work, too_shallow
from samhw.spec.blocks import Blocked, TakenBlocks
from samhw.spec.params import EXTENT, SHAPE, VALUE, Params, StoredArray, parameters, written
from samhw.spec.streams import crd, ref, val

__all__ = ["WRITE_AT", "WRITE_COMPRESSED", "WRITE_DENSE", "WRITE_VAL"]


class _Writer(KeepsLevels):
    inner_latency = None
    thins = False
    cell = "LW"

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        raise AssertionError(f"{self.kind} has no output {port}")

    def follows(self, port: str, params: Params) -> str | None:
        raise AssertionError(f"{self.kind} has no output {port}")

    def work(self, params: Params) -> Work | None:
        return None


class _LevelWriter(_Writer):
    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, 1)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [crd("crd", depth)], []


class _WriteCompressed(_LevelWriter):
    kind = "write_compressed"
    rule = "Writes coordinates, and where each fiber ends, one a cycle."
    params = parameters(pos=written(StoredArray.POS), crd=written(StoredArray.CRD))


class _WriteDense(_LevelWriter):
    kind = "write_dense"
    rule = "Counts the fibers of a dense level of the result, and writes nothing."
    params = parameters(extent=EXTENT)


class _WriteVal(_Writer):
    kind = "write_val"
    rule = "Writes the values of the result, one a cycle."
    params = parameters(vals=written(StoredArray.VALS), value=VALUE, shape=SHAPE)

    def refusal(self, depth: int, params: Params) -> str | None:
        return None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [val("val", depth, params.get("shape", ()))], []

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        axes = blocks.axes["val"]
        if axes != (*blocks.order,):
            return None
        return Blocked(self.kind, {**params, "shape": blocks.shape(axes)}, {})

    def note(self, subject: str, params: Params, inputs: Mapping[str, str]) -> str:
        return f"val, {subject}: {self.cell}({subject}_val)"


class _WriteAt(_Writer):
    kind = "write_at"
    rule = "Writes the values of a step of the result where they belong, one a cycle."
    params = parameters(vals=written(StoredArray.VALS), value=VALUE)

    def refusal(self, depth: int, params: Params) -> str | None:
        return None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [ref("ref", depth), val("val", depth)], []

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        return None

    def note(self, subject: str, params: Params, inputs: Mapping[str, str]) -> str:
        return f"val, {subject}: {self.cell}({subject}_val)"


WRITE_AT = _WriteAt()
WRITE_COMPRESSED = _WriteCompressed()
WRITE_DENSE = _WriteDense()
WRITE_VAL = _WriteVal()
