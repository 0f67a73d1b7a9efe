"""write_val: the writer of a tensor's values."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork, Place, Store
from samhw.primitives.step import VAL, Memory, Words
from samhw.primitives.write import append, write
from samhw.spec.write import WRITE_VAL

__all__ = ["WriteVal"]

VALUES = 1


def _value(kind: int, data: int, state: Words, memory: Memory) -> int:
    return append(memory[0], data if kind == VAL else 0, state, VALUES)


def _nothing(state: Words, memory: Memory) -> int:
    return 0


class WriteVal(Model):
    """Writes the payloads in the order of the stream."""

    spec = WRITE_VAL

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        vals = (Store(Place.MEMORY, node.params["vals"]),)
        step = write(_value, _nothing)
        return ActorNetwork((Actor("write", step, ("val",), (), (0, 0), vals, {0: VALUES}),))
