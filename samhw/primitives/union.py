"""union: the coordinates that any input has."""

from samhw.primitives.join import Join, JoinWords, all_ends, held_up
from samhw.primitives.step import EMPTY, NONE, STOP, TAKES, VAL, Memory, Step, Words
from samhw.spec.join import UNION

__all__ = ["Union"]


def _union(n: int) -> Step:
    crds, every, wait, protocol, pushes = JoinWords.of(n)
    end = 2 * n

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        least = -1
        others = 0
        for i in range(0, end, 2):
            head = kind[i]
            if head == NONE:
                return wait
            if head == VAL:
                if least < 0 or data[i] < least:
                    least = data[i]
            elif head != STOP:
                others += 1

        takes = 0
        if least >= 0:
            if others > 0:
                return protocol
            for i in range(0, end, 2):
                if kind[i] == VAL and data[i] == least:
                    takes |= 3 << i
        else:
            takes = every
            if not all_ends(kind, data, end):
                return protocol

        needs = crds | takes
        instead = held_up(kind, data, end, takes, needs, protocol)
        if instead != 0:
            return instead
        out_kind[0] = VAL if least >= 0 else kind[0]
        out_data[0] = least if least >= 0 else data[0]
        for i in range(n):
            if takes >> 2 * i & 1:
                out_kind[i + 1] = kind[2 * i + 1]
                out_data[i + 1] = data[2 * i + 1]
            else:
                out_kind[i + 1] = EMPTY
                out_data[i + 1] = 0
        return needs | takes << TAKES | pushes

    return step


class Union(Join):
    """The unioner. An input that lacks the coordinate gives EMPTY."""

    spec = UNION
    step = staticmethod(_union)
