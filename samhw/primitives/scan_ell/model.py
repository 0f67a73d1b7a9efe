"""scan_ell: the level scanner of an ell level, a constant room below each reference."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.scan_compressed.model import stored_walk
from samhw.sim.network import Actor, ActorNetwork, Link, Place, Read, Store
from samhw.sim.step import NONE, RANGE, VAL, Memory, Step, Words, fault, firing

__all__ = ["expand"]


def _fetch(width: int) -> Step:
    wait = firing(1)
    take = firing(1, 1, 0b11)
    beyond = fault(RANGE, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        out_kind[0] = out_kind[1] = head
        if head == VAL:
            r = data[0]
            if r >= len(memory[0]):
                return beyond
            count = memory[0][r]
            if count > width:
                return beyond
            out_data[0] = r * width
            out_data[1] = r * width + count
        else:
            out_data[0] = out_data[1] = data[0]
        return take

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """Enumerates the first cnt[r] of the coordinates from crd[r * width] on, below each r."""
    cnt = Store(Place.MEMORY, node.params["cnt"])
    fetch = Actor(
        "fetch",
        _fetch(node.params["width"]),
        ("ref",),
        ("start", "end"),
        memory=(cnt,),
        reads=(Read(0, output=1, port=0),),
    )
    latency = arch.memory + arch.step
    link = Link(latency, arch.internal_depth(latency))
    return ActorNetwork((fetch, stored_walk(node)), {"start": link, "end": link})
