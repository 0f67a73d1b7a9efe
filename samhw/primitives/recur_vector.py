"""recur_vector: as reduce_vector, of sums that each of their elements rescales."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.model import Model
from samhw.primitives.network import ActorNetwork
from samhw.primitives.vector_network import vector_network
from samhw.primitives.vector_steps import Update
from samhw.spec.reduce import RECUR_VECTOR

__all__ = ["RecurVector"]


class RecurVector(Model):
    """The vector reducer that rescales what it has by a factor before it adds to it."""

    spec = RECUR_VECTOR

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        value = graph.operand_type(node)
        add, multiply = value.scalar("add"), value.scalar("mul")
        return vector_network(node, arch, arch.reduce_latency("recur", value), Update(add, multiply))
