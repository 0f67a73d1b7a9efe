"""recur, as processes of C++."""

from samhw.graph import Node
from samhw.hls.cpp import value_class
from samhw.hls.program import HlsStream
from samhw.hls.region_builder import RegionBuilder

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """Spreads factors and sums in blocks."""
    value = to.graph.operand_type(node)
    number, type = to.number(node), value_class(value)
    latency = to.arch.reduce_latency("recur", value)
    near, waiting = to.arch.internal_depth(latency), 2 * latency + 2

    def pair(names: tuple[str, str], depth: int) -> tuple[HlsStream, HlsStream]:
        factor, val = (to.internal(node, name, type, depth) for name in names)
        return factor, val

    here = to.input(node, "factor"), to.input(node, "val")
    for k in range(3):
        there = pair((f"factor{k + 1}", f"val{k + 1}"), near)
        to.process("recur_spread", *here, *there, reads=here, writes=there, template=(number, str(k)))
        here = there
    there, blocks = pair(("factor4", "val4"), waiting), pair(("factors", "values"), waiting)
    writes = (*there, *blocks)
    to.process("recur_spread_last", *here, *writes, reads=here, writes=writes, template=(number, "3"))
    carry, out = to.internal(node, "carry", type, near), to.output(node, "val")
    template = (number, str(latency))
    to.process("recur_chain", *blocks, carry, reads=blocks, writes=(carry,), template=template)
    reads = (*there, carry)
    to.process("recur_add", *reads, out, reads=reads, writes=(out,), template=(number,))
    to.spread(node, {"val": out})
