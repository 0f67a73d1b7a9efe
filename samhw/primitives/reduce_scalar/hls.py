"""reduce_scalar, as processes of C++."""

from collections.abc import Sequence
from typing import Any

from samhw.graph import Graph, Node
from samhw.hls.cpp import INDEX, payload_class
from samhw.hls.program import HlsStream
from samhw.hls.region_builder import RegionBuilder

__all__ = ["context", "lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """Accumulates values, or sums blocks of them, and emits."""
    value = to.graph.operand_type(node)
    op, number, type = node.params["op"], to.number(node), payload_class(to.graph.taken(node, "val"))
    latency, functor = to.arch.reduce_latency(op, value), f"samhw::{op}"
    val = to.input(node, "val")

    def pair(suffix: str, depth: int) -> tuple[HlsStream, HlsStream]:
        return to.internal(node, f"sum{suffix}", type, depth), to.internal(
            node, f"stop{suffix}", INDEX, depth
        )

    if value.block(op) > 1:
        here = pair("0", to.arch.internal_depth(to.arch.step))
        to.process("reduce_scalar_mark", val, *here, reads=(val,), writes=here)
        for stage in range(4):
            depth = 2 * latency + 2 if stage == 2 else to.arch.internal_depth(latency)
            behind = pair(str(stage + 1) if stage < 3 else "", depth)
            if stage < 3:
                to.process(
                    "reduce_scalar_pair",
                    *here,
                    *behind,
                    reads=here,
                    writes=behind,
                    template=(number, functor),
                )
            else:
                template = (number, functor, str(latency))
                to.process(
                    "reduce_scalar_chain", *here, *behind, reads=here, writes=behind, template=template
                )
            here = behind
    else:
        here = pair("", to.arch.internal_depth(to.arch.step))
        to.process(
            "reduce_scalar_accumulate",
            *(val, *here),
            reads=(val,),
            writes=here,
            template=(number, functor),
        )
    out = to.output(node, "val")
    to.process("reduce_scalar_emit", *here, out, reads=here, writes=(out,))
    to.spread(node, {"val": out})


def context(uses: Sequence[tuple[Graph, Node]]) -> dict[str, Any]:
    """What its header is rendered for: which of its two ways to sum."""
    blocked = [graph.operand_type(node).block(node.params["op"]) > 1 for graph, node in uses]
    return {"reduce_scalar": {"blocked": any(blocked), "sequential": not all(blocked)}}
