"""recur_vector: as reduce_vector, of sums that each of their elements rescales."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.vector_reducer.model import vector_network
from samhw.primitives.vector_steps.model import Update
from samhw.sim.network import ActorNetwork

__all__ = ["expand"]


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The vector reducer that rescales what it has by a factor before it adds to it."""
    value = graph.operand_type(node)
    add, multiply = value.scalar("add"), value.scalar("mul")
    return vector_network(node, arch, arch.reduce_latency("recur", value), Update(add, multiply))
