"""write_val: the values of a result."""

from collections.abc import Mapping

from samhw.graph.spec.base import Ports
from samhw.graph.spec.blocked import Blocked, TakenBlocks
from samhw.graph.spec.params import SHAPE, VALUE, Params, StoredArray, parameters, written
from samhw.graph.spec.streams import val
from samhw.primitives.writer.spec import WriterSpec

__all__ = ["SPEC"]


class _WriteVal(WriterSpec):
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


SPEC = _WriteVal()
