"""step_ref: starts a graph with the reference of a step."""

from samhw.graph import Arch, Graph, Node
from samhw.sim.network import Actor, ActorNetwork, Place, Store
from samhw.sim.step import DONE, EMPTY, VAL, Memory, Step, Words, firing

__all__ = ["expand"]


def _emit(offset: int, bounded: bool, down: bool) -> Step:
    push = firing(0, 0, 1)
    rest = firing(0)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        fired = state[0]
        if fired == 2:
            return rest
        state[0] = fired + 1
        out_data[0] = 0
        if fired == 1:
            out_kind[0] = DONE
            return push
        place = memory[0][0] + offset
        if down:
            place = memory[2][0] - 1 - memory[0][0] + offset
        limit = 1
        if bounded:
            limit = memory[1][0]
        out_kind[0] = EMPTY
        if 0 <= place < limit:
            out_kind[0] = VAL
            out_data[0] = place
        return push

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The start of what a graph does in one step."""
    counter = Store(Place.STEP, node.params["repeat"])
    extents = [node.params.get(name) for name in ("extent", "down")]
    # The place of a register that the step does not look at is taken by the counter.
    stores = (counter, *(counter if name is None else Store(Place.EXTENT, name) for name in extents))
    emit = _emit(node.params["offset"], extents[0] is not None, extents[1] is not None)
    return ActorNetwork((Actor("step", emit, outputs=("ref",), state=(0,), memory=stores),))
