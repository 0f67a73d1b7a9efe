"""reduce_scalar: each innermost fiber becomes one value."""

from samhw.errors import InputError
from samhw.graph import Arch, Graph, Node
from samhw.numerics import REDUCTIONS, ScalarOp
from samhw.primitives.block_sum import CHAIN_STATE, MARK_STATE, PAIR_STATE, chain, mark, pair, stop_behind
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork, Link
from samhw.primitives.step import (
    DONE,
    EMPTY,
    NONE,
    OVERFLOW,
    PAYLOAD,
    PROTOCOL,
    STOP,
    VAL,
    Memory,
    Step,
    Words,
    fault,
    firing,
)
from samhw.spec.reduce import REDUCE_SCALAR

__all__ = ["ReduceScalar"]

ACC, NOT_FIRST = 0, 1
HALF = 0


def _accumulate(op: ScalarOp) -> Step:
    wait = firing(1)
    take = firing(1, 1)
    take_push = firing(1, 1, 0b11)
    overflow = fault(OVERFLOW, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        if head in PAYLOAD:
            if state[NOT_FIRST]:
                acc = op(state[ACC], data[0])
                if acc < 0:
                    return overflow
                state[ACC] = acc
            else:
                state[ACC] = data[0]
                state[NOT_FIRST] = 1
            return take
        if head == STOP:
            if stop_behind(data[0], out_kind, out_data):
                out_kind[0] = VAL
                out_data[0] = state[ACC]
                state[ACC] = 0
                state[NOT_FIRST] = 0
            else:
                out_kind[0] = EMPTY
                out_data[0] = 0
            return take_push
        out_kind[0] = out_kind[1] = DONE
        out_data[0] = out_data[1] = 0
        return take_push

    return step


def _emit() -> Step:
    both = 0b11
    wait = firing(both)
    push = firing(both, 0, 1)
    take_push = firing(both, both, 1)
    protocol = fault(PROTOCOL, both)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        total = kind[0]
        stop = kind[1]
        if total == NONE or stop == NONE:
            return wait
        if total == VAL and stop == EMPTY:
            out_kind[0] = VAL
            out_data[0] = data[0]
            return take_push
        if total == VAL and stop == STOP and not state[HALF]:
            out_kind[0] = VAL
            out_data[0] = data[0]
            state[HALF] = 1
            return push
        if total in PAYLOAD and stop == STOP:
            out_kind[0] = STOP
            out_data[0] = data[1]
            state[HALF] = 0
            return take_push
        if total == DONE and stop == DONE:
            out_kind[0] = DONE
            out_data[0] = 0
            return take_push
        return protocol

    return step


class ReduceScalar(Model):
    """The scalar reducer. An empty fiber gives zero.

    Floating-point sums and all products are taken in blocks of eight, whatever the latency of a step, since
    the order belongs to the result; everything else in the order of the stream.
    """

    spec = REDUCE_SCALAR

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        value = graph.operand_type(node)
        reduction = node.params["op"]
        op = value.scalar(REDUCTIONS[reduction])
        latency = arch.reduce_latency(reduction, value)
        step = Link(arch.step, arch.internal_depth(arch.step))
        emit = Actor("emit", _emit(), ("sum", "stop"), ("val",), (0,))
        if (block := value.block(reduction)) > 1:
            return _in_blocks(op, block, latency, arch, step, emit)
        if latency != 1:
            raise InputError(
                f"Node {node.name!r} (reduce_scalar) needs a latency of 1 for {reduction!r} of {value}, not "
                f"{latency}; set Arch.reduce so."
            )
        accumulate = Actor("accumulate", _accumulate(op), ("val",), ("sum", "stop"), (0, 0))
        return ActorNetwork((accumulate, emit), {"sum": step, "stop": step})


def _in_blocks(op: ScalarOp, block: int, latency: int, arch: Arch, step: Link, emit: Actor) -> ActorNetwork:
    """The network of a reduction in blocks: a round of pairs for each power of two in a block."""
    rounds = block.bit_length() - 1
    actors = [Actor("mark", mark(), ("val",), ("sum0", "stop0"), MARK_STATE)]
    links = {"sum0": step, "stop0": step}
    added = Link(latency, arch.internal_depth(latency))
    # Behind the last round blocks wait for the addition of the one before them.
    waiting = Link(latency, 2 * latency + 2)
    for k in range(rounds):
        here, there = (f"sum{k}", f"stop{k}"), (f"sum{k + 1}", f"stop{k + 1}")
        actors.append(Actor(f"pair{k}", pair(op), here, there, PAIR_STATE))
        links |= dict.fromkeys(there, added if k < rounds - 1 else waiting)
    last = (f"sum{rounds}", f"stop{rounds}", "loop")
    actors += [Actor("chain", chain(op), last, ("sum", "stop", "loop"), CHAIN_STATE), emit]
    links |= {"loop": Link(latency, 2), "sum": added, "stop": added}
    return ActorNetwork(tuple(actors), links)
