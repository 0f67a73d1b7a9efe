"""write_at: values where references say."""

from collections.abc import Mapping

from samhw.graph.spec.base import Ports
from samhw.graph.spec.blocked import Blocked, TakenBlocks
from samhw.graph.spec.params import VALUE, Params, StoredArray, parameters, written
from samhw.graph.spec.streams import ref, val
from samhw.primitives.writer.spec import WriterSpec

__all__ = ["SPEC"]


class _WriteAt(WriterSpec):
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


SPEC = _WriteAt()
