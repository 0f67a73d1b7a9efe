"""reduce_scalar: each innermost fiber becomes one value."""

from samhw.errors import InputError
from samhw.graph import Arch, Graph, Node
from samhw.graph.numerics import REDUCTIONS, ScalarOp
from samhw.primitives.block_sum.model import (
    CHAIN_STATE,
    MARK_STATE,
    PAIR_STATE,
    chain,
    copied,
    mark,
    pair,
    stop_behind,
)
from samhw.sim.network import Actor, ActorNetwork, Link
from samhw.sim.step import (
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

__all__ = ["expand"]

ACC, NOT_FIRST, FURTHER = 0, 1, 2
HALF = 0


def _accumulate(op: ScalarOp, words: int) -> Step:
    more = words - 1
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
            if more and _add_block(op, head, data, state, more) < 0:
                return overflow
            state[NOT_FIRST] = 1
            return take
        if head == STOP:
            if stop_behind(data[0], out_kind, out_data):
                out_kind[0] = VAL
                out_data[0] = state[ACC]
                state[ACC] = 0
                state[NOT_FIRST] = 0
                if more:
                    _give_block(state, out_data, more)
            else:
                out_kind[0] = EMPTY
                out_data[0] = 0
            return take_push
        out_kind[0] = out_kind[1] = DONE
        out_data[0] = out_data[1] = 0
        return take_push

    return step


def _add_block(op: ScalarOp, head: int, data: Words, state: Words, more: int) -> int:
    """Combines the further words of a block with what is held, or puts them there; those of an EMPTY are
    zero. Negative where a result leaves the range."""
    n = 0
    while n < more:
        word = data[1 + n] if head == VAL else 0
        if state[NOT_FIRST]:
            word = op(state[FURTHER + n], word)
        if word < 0:
            return word
        state[FURTHER + n] = word
        n += 1
    return 0


def _give_block(state: Words, out_data: Words, more: int) -> None:
    """Gives the further words of what is held, and leaves zeros."""
    n = 0
    while n < more:
        out_data[2 + n] = state[FURTHER + n]
        state[FURTHER + n] = 0
        n += 1


def _emit(words: int) -> Step:
    more = words - 1
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
        if more:
            copied(data, 2, out_data, 1, more)
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


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The scalar reducer. An empty fiber gives zero.

    Floating-point sums and all products are taken in blocks of eight, whatever the latency of a step, since
    the order belongs to the result; everything else in the order of the stream."""
    value, words = graph.operand_type(node), graph.taken(node, "val").words
    reduction = node.params["op"]
    op = value.scalar(REDUCTIONS[reduction])
    latency = arch.reduce_latency(reduction, value)
    step = Link(arch.step, arch.internal_depth(arch.step))
    emit = _actor("emit", _emit(words), ("sum", "stop"), ("val",), (0,), words, held=False)
    if (block := value.block(reduction)) > 1:
        return _in_blocks(op, block, latency, arch, step, emit, words)
    if latency != 1:
        raise InputError(
            f"Node {node.name!r} (reduce_scalar) needs a latency of 1 for {reduction!r} of {value}, not "
            f"{latency}; set Arch.reduce so."
        )
    accumulate = _actor("accumulate", _accumulate(op, words), ("val",), ("sum", "stop"), (0, 0), words)
    return ActorNetwork((accumulate, emit), {"sum": step, "stop": step})


def _actor(
    name: str,
    step: Step,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    state: tuple[int, ...],
    words: int,
    *,
    held: bool = True,
) -> Actor:
    """An actor all of whose streams have this many words, but for `stop`; it may hold a payload."""
    state += (0,) * (words - 1) * held
    carried = [stream for stream in (*inputs, *outputs) if not stream.startswith("stop")]
    widths = dict.fromkeys(carried, words) if words > 1 else {}
    return Actor(name, step, inputs, outputs, state, widths=widths)


def _in_blocks(
    op: ScalarOp, block: int, latency: int, arch: Arch, step: Link, emit: Actor, words: int
) -> ActorNetwork:
    """The network of a reduction in blocks: a round of pairs for each power of two in a block."""
    rounds = block.bit_length() - 1
    actors = [_actor("mark", mark(words), ("val",), ("sum0", "stop0"), MARK_STATE, words)]
    links = {"sum0": step, "stop0": step}
    added = Link(latency, arch.internal_depth(latency))
    # After the last round blocks wait for the addition of the one before them.
    waiting = Link(latency, 2 * latency + 2)
    for k in range(rounds):
        here, there = (f"sum{k}", f"stop{k}"), (f"sum{k + 1}", f"stop{k + 1}")
        actors.append(_actor(f"pair{k}", pair(op, words), here, there, PAIR_STATE, words))
        links |= dict.fromkeys(there, added if k < rounds - 1 else waiting)
    last = (f"sum{rounds}", f"stop{rounds}", "loop")
    actors += [
        _actor("chain", chain(op, words), last, ("sum", "stop", "loop"), CHAIN_STATE, words),
        emit,
    ]
    links |= {"loop": Link(latency, 2), "sum": added, "stop": added}
    return ActorNetwork(tuple(actors), links)
