"""scan_dense: the level scanner of a dense level."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.walk.model import WALK_STATE, walk
from samhw.sim.network import Actor, ActorNetwork, Link, Place, Store
from samhw.sim.step import NONE, VAL, Memory, Step, Words, firing

__all__ = ["expand"]


def _scale() -> Step:
    wait = firing(1)
    take = firing(1, 1, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        out_kind[0] = head
        out_data[0] = data[0] * memory[0][0] if head == VAL else data[0]
        return take

    return step


def _extent(base: Words, memory: Memory) -> int:
    return memory[0][0]


def _coordinate(base: Words, memory: Memory, c: int) -> int:
    return c


def _reference(base: Words, memory: Memory, c: int) -> int:
    return base[0] + c


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """Enumerates 0..N-1 below each reference."""
    extent = (Store(Place.EXTENT, node.params["extent"]),)
    step = walk(1, _extent, _coordinate, _reference)
    return ActorNetwork(
        (
            Actor("scale", _scale(), ("ref",), ("base",), memory=extent),
            Actor("walk", step, ("base",), ("crd", "ref"), WALK_STATE, extent),
        ),
        {"base": Link(arch.locate, arch.internal_depth(arch.locate))},
    )
