"""running, as processes of C++."""

from collections.abc import Sequence
from typing import Any

from samhw.graph import Graph, Node
from samhw.graph.numerics import start_word
from samhw.hls.cpp import value_class
from samhw.hls.program import HlsStream
from samhw.hls.region_builder import RegionBuilder

__all__ = ["context", "lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """Accumulates values, or spreads sums in blocks."""
    value = to.graph.operand_type(node)
    op, number, type = node.params["op"], to.number(node), value_class(value)
    latency, functor = to.arch.reduce_latency(op, value), f"samhw::{op}"
    val = to.input(node, "val")
    exclusive, blocked = node.params.get("exclusive", False), value.block(op) > 1

    def internal(name: str, depth: int) -> HlsStream:
        return to.internal(node, name, type, depth)

    def result(latency: int) -> HlsStream:
        """What the inclusive values go into. Streams are declared in the order of their writers."""
        return internal("all", to.arch.internal_depth(latency)) if exclusive else to.output(node, "val")

    if blocked:
        near, waiting = to.arch.internal_depth(latency), 2 * latency + 2
        first, second, third = internal("val1", near), internal("val2", near), internal("val3", waiting)
        total, carry = internal("total", waiting), internal("carry", near)
        rounds = [("", val, (first,)), ("", first, (second,)), ("_last", second, (third, total))]
        for k, (suffix, here, there) in enumerate(rounds):
            template = (number, functor, str(k))
            to.process(
                f"running_spread{suffix}", here, *there, reads=(here,), writes=there, template=template
            )
        template = (number, functor, str(latency))
        to.process("running_chain", total, carry, reads=(total,), writes=(carry,), template=template)
        out, reads, made = result(latency), (third, carry), (number, functor)
        to.process("running_add", *reads, out, reads=reads, writes=(out,), template=made)
    else:
        out, made = result(to.arch.step + 1), (number, functor)
        to.process("running_accumulate", val, out, reads=(val,), writes=(out,), template=made)
    if exclusive:
        everything, out, made = out, to.output(node, "val"), (type, f"{start_word(value, op):#x}")
        to.process("running_delay", everything, out, reads=(everything,), writes=(out,), template=made)
    to.spread(node, {"val": out})


def context(uses: Sequence[tuple[Graph, Node]]) -> dict[str, Any]:
    """What its header is rendered for: which of its two ways to sum, and whether sums are exclusive."""
    blocked = [graph.operand_type(node).block(node.params["op"]) > 1 for graph, node in uses]
    exclusive = any(node.params.get("exclusive") for _, node in uses)
    return {"running": {"blocked": any(blocked), "sequential": not all(blocked), "exclusive": exclusive}}
