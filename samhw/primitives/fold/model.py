"""fold: blocks that are reduced along some of their axes."""

from math import prod

import numpy as np

from samhw.graph import Arch, Graph, Node
from samhw.graph.numerics import REDUCTIONS, ScalarOp
from samhw.primitives.fold.spec import folded_shape
from samhw.primitives.pairwise.model import Places, pairwise
from samhw.sim.network import Actor, ActorNetwork
from samhw.sim.step import NONE, OVERFLOW, PAYLOAD, VAL, Memory, Step, Words, fault, firing

__all__ = ["expand"]


def _fold(op: ScalarOp, parts: Places, results: int) -> Step:
    """`parts` are the places in `data` of what is combined, result after result; `state` has room for those
    of one twice."""
    count = len(parts) // results
    wait = firing(1)
    take = firing(1, 1, 1)
    overflow = fault(OVERFLOW, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        if head in PAYLOAD:
            n = 0
            while n < results:
                t = 0
                while t < count:
                    state[t] = data[parts[n * count + t]] if head == VAL else 0
                    t += 1
                total = pairwise(op, state, 0, count, 1)
                if total < 0:
                    return overflow
                out_data[n] = state[total]
                n += 1
            out_kind[0] = VAL
        else:
            out_kind[0] = head
            out_data[0] = data[0]
        return take

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The reducer inside of blocks. An EMPTY reads as zeros."""
    params = node.params
    shape, over = params["shape"], params["over"]
    kept = [axis for axis in range(len(shape)) if axis not in over]
    words, results = prod(shape), prod(folded_shape(params))
    # Result after result; what goes into one keeps its order. Further words lie after the first.
    numbers = np.arange(words, dtype=np.int64).reshape(shape)
    parts = numbers.transpose([*kept, *over]).reshape(-1)
    op = graph.operand_type(node).scalar(REDUCTIONS[params["op"]])
    room, widths = (0,) * (2 * words // results), {"block": words, "val": results}
    step = _fold(op, parts, results)
    actor = Actor("fold", step, ("block",), ("val",), room, widths=widths, operations=words)
    return ActorNetwork((actor,))
