"""scan_dia: the level scanner of a dia level, the coordinates on stored diagonals."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.walk.model import BEYOND, WALK_STATE, walk
from samhw.sim.network import Actor, ActorNetwork, Link, Place, Store
from samhw.sim.step import DONE, NONE, PROTOCOL, RANGE, STOP, VAL, Memory, Step, Words, fault, firing

__all__ = ["expand"]

LAST, SOME = 0, 1
"""State of keep."""


def _fetch() -> Step:
    wait = firing(1)
    take = firing(1, 1, 0b11)
    beyond = fault(RANGE, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        out_kind[0] = out_kind[1] = head
        out_data[0] = out_data[1] = data[0]
        if head == VAL:
            if len(memory[0]) == 0:
                return beyond
            out_data[1] = memory[0][0]
        return take

    return step


def _count(row: Words, memory: Memory) -> int:
    return row[1]


def _reference(row: Words, memory: Memory, c: int) -> int:
    return row[0] + c * memory[1][0]


def _keep() -> Step:
    both = 0b11
    wait = firing(both)
    drop = firing(both, both)
    pass_on = firing(both, both, both)
    protocol = fault(PROTOCOL, both)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        if kind[0] == NONE or kind[1] == NONE:
            return wait
        out_kind[0] = kind[0]
        out_kind[1] = kind[1]
        out_data[0] = data[0]
        out_data[1] = data[1]
        if kind[0] == STOP or kind[0] == DONE:
            state[SOME] = 0
            return pass_on
        if data[0] >= memory[0][0]:
            return drop
        if state[SOME] and data[0] <= state[LAST]:
            return protocol
        state[LAST] = data[0]
        state[SOME] = 1
        return pass_on

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """Enumerates r + off[0], r + off[1], ... below each r, as far as they are coordinates."""
    cnt = Store(Place.MEMORY, node.params["cnt"])
    off = Store(Place.MEMORY, node.params["off"])
    rows = Store(Place.EXTENT, node.params["rows"])
    extent = Store(Place.EXTENT, node.params["extent"])
    every = (1 << arch.index_bits) - 1

    def coordinate(row: Words, memory: Memory, c: int) -> int:
        return (row[0] + memory[0][c]) & every if c < len(memory[0]) else BEYOND

    step = walk(2, _count, coordinate, _reference)
    read, made = arch.memory, arch.memory + arch.step
    fetched = Link(read, arch.internal_depth(read))
    found = Link(made, arch.internal_depth(made))
    return ActorNetwork(
        (
            Actor("fetch", _fetch(), ("ref",), ("row", "count"), memory=(cnt,)),
            Actor("walk", step, ("row", "count"), ("at", "place"), WALK_STATE, (off, rows)),
            Actor("keep", _keep(), ("at", "place"), ("crd", "ref"), (0, 0), (extent,)),
        ),
        {"row": fetched, "count": fetched, "at": found, "place": found},
    )
