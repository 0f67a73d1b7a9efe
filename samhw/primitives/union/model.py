"""union: the coordinates that any input has."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.joiner.model import JoinWords, all_ends, held_up, join
from samhw.sim.network import ActorNetwork
from samhw.sim.step import EMPTY, NONE, STOP, TAKES, VAL, Memory, Step, Words

__all__ = ["expand"]

HIGHEST = 1 << 62
"""More than any coordinate."""


def _union(n: int) -> Step:
    crds, every, wait, protocol, pushes = JoinWords.of(n)
    end = 2 * n

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        # The first row, if all heads are VAL, which is 0, payloads too: most firings need no more.
        kinds = VAL
        least = data[0]
        for i in range(0, end, 2):
            kinds |= kind[i] | kind[i + 1]
            least = min(least, data[i])
        if kinds == VAL:
            takes = 0
            out_kind[0] = VAL
            out_data[0] = least
            for i in range(n):
                has = 1 if data[2 * i] == least else 0
                takes |= 3 << 2 * i if has else 0
                out_kind[i + 1] = VAL if has else EMPTY
                out_data[i + 1] = data[2 * i + 1] if has else 0
            return crds | takes | takes << TAKES | pushes

        vals = 0
        others = 0
        least = HIGHEST
        for i in range(0, end, 2):
            head = kind[i]
            if head == NONE:
                return wait
            vals += 1 if head == VAL else 0
            others += 1 if head != VAL and head != STOP else 0
            least = min(least, data[i] if head == VAL else HIGHEST)

        takes = 0
        if vals > 0:
            if others > 0:
                return protocol
            for i in range(0, end, 2):
                takes |= 3 << i if kind[i] == VAL and data[i] == least else 0
        else:
            takes = every
            if not all_ends(kind, data, end):
                return protocol

        needs = crds | takes
        instead = held_up(kind, data, end, vals, takes, needs, protocol)
        if instead != 0:
            return instead
        out_kind[0] = VAL if vals > 0 else kind[0]
        out_data[0] = least if vals > 0 else data[0]
        for i in range(n):
            has = takes >> 2 * i & 1
            out_kind[i + 1] = kind[2 * i + 1] if has else EMPTY
            out_data[i + 1] = data[2 * i + 1] if has else 0
        return needs | takes << TAKES | pushes

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The unioner. An input that lacks the coordinate gives EMPTY."""
    return join(_union, node)
