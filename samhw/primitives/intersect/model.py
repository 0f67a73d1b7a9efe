"""intersect: the coordinates that all inputs have."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.joiner.model import JoinWords, all_ends, held_up, join
from samhw.sim.network import ActorNetwork
from samhw.sim.step import NONE, STOP, TAKES, VAL, Memory, Step, Words

__all__ = ["expand"]


def _intersect(n: int) -> Step:
    crds, every, wait, protocol, pushes = JoinWords.of(n)
    end = 2 * n

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        # The first two rows, if all heads are VAL, which is 0, payloads too: most firings need no more.
        kinds = VAL
        greatest = data[0]
        for i in range(0, end, 2):
            kinds |= kind[i] | kind[i + 1]
            greatest = max(greatest, data[i])
        if kinds == VAL:
            lesser = 0
            for i in range(0, end, 2):
                lesser |= 3 << i if data[i] < greatest else 0
            if lesser != 0:
                return crds | lesser | lesser << TAKES
            out_kind[0] = VAL
            out_data[0] = data[0]
            for i in range(n):
                out_kind[i + 1] = VAL
                out_data[i + 1] = data[2 * i + 1]
            return every | every << TAKES | pushes

        vals = 0
        stops = 0
        greatest = -1
        for i in range(0, end, 2):
            head = kind[i]
            if head == NONE:
                return wait
            vals += 1 if head == VAL else 0
            stops += 1 if head == STOP else 0
            greatest = max(greatest, data[i] if head == VAL else -1)
        if 0 < vals < n and vals + stops < n:
            return protocol

        # The pairs that this row takes: coordinates that some input lacks, or else everything.
        takes = 0
        for i in range(0, end, 2):
            lacking = stops > 0 or data[i] < greatest
            takes |= 3 << i if kind[i] == VAL and lacking else 0
        drop = takes != 0
        if not drop:
            takes = every
            if not all_ends(kind, data, end):
                return protocol

        needs = crds | takes
        instead = held_up(kind, data, end, vals, takes, needs, protocol)
        if instead != 0:
            return instead
        if drop:
            return needs | takes << TAKES
        out_kind[0] = kind[0]
        out_data[0] = data[0]
        for i in range(n):
            out_kind[i + 1] = kind[2 * i + 1]
            out_data[i + 1] = data[2 * i + 1]
        return needs | takes << TAKES | pushes

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The intersecter."""
    return join(_intersect, node)
