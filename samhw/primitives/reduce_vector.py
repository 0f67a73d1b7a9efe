"""reduce_vector: sums over the index that lies directly outside of n kept levels."""

from typing import Any

from samhw.graph import VAL, Arch, Graph, Node, Token
from samhw.numerics import REDUCTIONS, value_type
from samhw.primitives.base import VALUE, Param, Params, Ports, Primitive, choice, crd, parameters, val
from samhw.primitives.bitmap import fetch, iterate
from samhw.primitives.network import Actor, ActorNetwork, Link, Place, Spacing, Store
from samhw.primitives.step import PORTS
from samhw.primitives.vector_steps import ACCUMULATE_STATE, EMIT_STATE, KEY, accumulate, emit

__all__ = ["ReduceVector"]

MOST = PORTS - 2
BANKS = (0, 1)


def _are_widths(bits: Any) -> bool:
    if not isinstance(bits, list | tuple) or not 1 <= len(bits) <= MOST:
        return False
    return all(type(width) is int and width >= 0 for width in bits)


class ReduceVector(Primitive):
    """The vector reducer (one width in `bits`), the matrix reducer (two widths) and so on."""

    kind = "reduce_vector"
    params = parameters(
        op=choice(*REDUCTIONS),
        bits=Param(f"a list of 1 to {MOST} widths in bits, the innermost coordinate's first", _are_widths),
        value=VALUE,
    )

    def least_depth(self, params: Params) -> int:
        return len(params["bits"]) + 1

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        n = len(params["bits"])
        inputs = [*(crd(f"crd{i}", depth) for i in range(n)), val("val", depth)]
        outputs = [*(crd(f"crd{i}", depth - 1 - i) for i in range(n)), val("val", depth - 1)]
        return inputs, outputs

    def latency(self, node: Node, port: str, arch: Arch, value: str) -> int:
        return arch.memory if port == "val" else arch.step

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        bits = node.params["bits"]
        n, total = len(bits), sum(bits)
        value, reduction = value_type(graph.operand_type(node)), node.params["op"]
        op = value.scalar(REDUCTIONS[reduction])
        latency = arch.reduce_latency(reduction, value.name)
        points = [(_bank("values", b, total), _bank("present", b, total)) for b in BANKS]
        levels = range(max(1, -(-total // 5)))
        bitmaps = [tuple(_bank(f"bitmap{k}.", b, max(0, total - 5 * (k + 1))) for b in BANKS) for k in levels]

        into = tuple(store for b in BANKS for store in (*points[b], *(bitmap[b] for bitmap in bitmaps)))
        heads = tuple(port.name for port in node.inputs)
        tails = tuple(port.name for port in node.outputs)
        step = accumulate(bits, len(levels), op)
        spacing = Spacing(latency, len(BANKS) << total, KEY)
        actors = [
            Actor("accumulate", step, (*heads, "bank"), ("flush",), ACCUMULATE_STATE, into, spacing=spacing)
        ]
        links = {
            "flush": _link(arch, latency + 1),
            "bank": Link(arch.step, 2, (Token(VAL, 0),)),
        }
        feed = "flush"
        for k in reversed(levels):
            addr, word, out = f"addr{k}", f"word{k}", f"out{k}"
            step = fetch(n, top=k == levels[-1])
            actors.append(Actor(f"fetch{k}", step, (feed,), (addr, word), (0,), bitmaps[k]))
            actors.append(Actor(f"iterate{k}", iterate(), (addr, word), (out,), (0,)))
            links[addr] = links[word] = _link(arch, arch.memory)
            links[out] = _link(arch, arch.step)
            feed = out
        out_of = (*points[0], *points[1])
        actors.append(Actor("emit", emit(bits), (feed,), (*tails, "bank"), EMIT_STATE, out_of))
        return ActorNetwork(tuple(actors), links)


def _bank(name: str, bank: int, bits: int) -> Store:
    return Store(Place.PRIVATE, f"{name}{bank}", 1 << bits)


def _link(arch: Arch, latency: int) -> Link:
    return Link(latency, arch.internal_depth(latency))
