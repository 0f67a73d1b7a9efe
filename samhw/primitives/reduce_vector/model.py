"""reduce_vector: sums over the index that lies directly outside of n kept levels."""

from samhw.graph import Arch, Graph, Node
from samhw.graph.numerics import REDUCTIONS
from samhw.primitives.vector_reducer.model import vector_network
from samhw.primitives.vector_steps.model import Update
from samhw.sim.network import ActorNetwork

__all__ = ["expand"]


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The vector reducer (one width in `bits`), the matrix reducer (two widths) and so on."""
    value, reduction = graph.operand_type(node), node.params["op"]
    op = value.scalar(REDUCTIONS[reduction])
    update = Update(op, words=graph.taken(node, "val").words)
    return vector_network(node, arch, arch.reduce_latency(reduction, value), update)
