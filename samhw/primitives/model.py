"""What a model of a kind of primitive is: its spec, and the actors of its nodes."""

from abc import ABC, abstractmethod

from samhw.graph import Arch, Graph, Node
from samhw.primitives.network import ActorNetwork
from samhw.spec import Spec

__all__ = ["Model"]


class Model(ABC):
    """How a kind of node is simulated."""

    @property
    @abstractmethod
    def spec(self) -> Spec:
        """What the kind is."""

    @abstractmethod
    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        """The actors of a node, which is of this kind, along the flow."""
