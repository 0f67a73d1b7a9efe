"""reduce_vector: sums over the index that lies directly outside of n kept levels."""

from samhw.graph import Arch, Graph, Node
from samhw.numerics import REDUCTIONS
from samhw.primitives.model import Model
from samhw.primitives.network import ActorNetwork
from samhw.primitives.vector_network import vector_network
from samhw.primitives.vector_steps import Update
from samhw.spec.reduce import REDUCE_VECTOR

__all__ = ["ReduceVector"]


class ReduceVector(Model):
    """The vector reducer (one width in `bits`), the matrix reducer (two widths) and so on."""

    spec = REDUCE_VECTOR

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        value, reduction = graph.operand_type(node), node.params["op"]
        op = value.scalar(REDUCTIONS[reduction])
        update = Update(op, words=graph.taken(node, "val").words)
        return vector_network(node, arch, arch.reduce_latency(reduction, value), update)
