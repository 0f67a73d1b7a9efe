"""running: at each element of a fiber, the reduction of the fiber up to it, or of what is before it."""

from samhw.errors import InputError
from samhw.graph import Arch, Graph, Node
from samhw.graph.numerics import REDUCTIONS, ScalarOp, start_word
from samhw.primitives.running_blocks.model import ADD_STATE, CHAIN_STATE, SPREAD_STATE, add, chain, spread
from samhw.sim.network import Actor, ActorNetwork, Link
from samhw.sim.step import NONE, OVERFLOW, PAYLOAD, VAL, Memory, Step, Words, fault, firing

__all__ = ["expand"]

ACC, NOT_FIRST = 0, 1
X = 0


def _accumulate(op: ScalarOp) -> Step:
    wait = firing(1)
    take_push = firing(1, 1, 1)
    overflow = fault(OVERFLOW, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        if head in PAYLOAD:
            acc = data[0]
            if state[NOT_FIRST]:
                acc = op(state[ACC], acc)
                if acc < 0:
                    return overflow
            state[ACC] = acc
            state[NOT_FIRST] = 1
            out_kind[0] = VAL
            out_data[0] = acc
        else:
            state[NOT_FIRST] = 0
            out_kind[0] = head
            out_data[0] = data[0]
        return take_push

    return step


def _delay(start: int) -> Step:
    """Gives at each element what came for the one before it."""
    wait = firing(1)
    take_push = firing(1, 1, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        out_kind[0] = head
        if head == VAL:
            out_data[0] = state[X]
            state[X] = data[0]
        else:
            out_data[0] = data[0]
            state[X] = start
        return take_push

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The running reductions. The order of what is added is that of the scalar reducer."""
    value, reduction = graph.operand_type(node), node.params["op"]
    op = value.scalar(REDUCTIONS[reduction])
    latency = arch.reduce_latency(reduction, value)
    exclusive = node.params.get("exclusive", False)
    result = "all" if exclusive else "val"
    if (block := value.block(reduction)) > 1:
        actors, links = _in_blocks(op, block, latency, arch, result)
    elif latency == 1:
        actors, links = [Actor("accumulate", _accumulate(op), ("val",), (result,), (0, 0))], {}
        latency = arch.step + 1
    else:
        raise InputError(
            f"Node {node.name!r} (running) needs a latency of 1 for {reduction!r} of {value}, not "
            f"{latency}; set Arch.reduce so."
        )
    if exclusive:
        start = start_word(value, reduction)
        actors.append(Actor("delay", _delay(start), ("all",), ("val",), (start,)))
        links["all"] = Link(latency, arch.internal_depth(latency))
    return ActorNetwork(tuple(actors), links)


def _in_blocks(
    op: ScalarOp, block: int, latency: int, arch: Arch, result: str
) -> tuple[list[Actor], dict[str, Link]]:
    """The actors for blocks, and the links between them: a round for each power of two in a block."""
    rounds = block.bit_length() - 1
    actors, links = [], {}
    near = Link(latency, arch.internal_depth(latency))
    # After the last round a block waits for the sum of those before it.
    waiting = Link(latency, 2 * latency + 2)
    for k in range(rounds):
        here, there = f"val{k}" if k else "val", f"val{k + 1}"
        last = k == rounds - 1
        actors.append(
            Actor(f"spread{k}", spread(op, k, block), (here,), (there, *["total"] * last), SPREAD_STATE)
        )
        links[there] = waiting if last else near
    actors += [
        Actor("chain", chain(op), ("total", "loop"), ("carry", "loop"), CHAIN_STATE),
        Actor("add", add(op, block), (f"val{rounds}", "carry"), (result,), ADD_STATE),
    ]
    links |= {"total": waiting, "carry": near, "loop": Link(latency, 2)}
    return actors, links
