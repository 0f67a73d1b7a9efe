"""The vector reducers, as processes of C++."""

from samhw.graph import Node
from samhw.hls.cpp import INDEX, payload_class
from samhw.hls.region_builder import RegionBuilder

__all__ = ["accumulators"]


def accumulators(to: RegionBuilder, node: Node, function: str, op: str, *functor: str) -> None:
    """The further banks of docs/primitives.md are a stream that holds a whole fiber for each of them, and
    with it the room of all internal channels that the rule has between the banks and the end."""
    arch, value = to.arch, to.graph.operand_type(node)
    bits = node.params["bits"]
    address_bits = sum(bits)
    bitmaps = max(1, -(-address_bits // 5))
    spacing = arch.reduce_latency(op, value)
    room = arch.internal_depth(spacing + 1)
    room += bitmaps * (arch.internal_depth(arch.memory) + arch.internal_depth(arch.step))
    waiting = node.params.get("banks", 2) - 1
    # Fibers, and the stops between them.
    depth = waiting * (1 << address_bits) + waiting - 1 + room
    addr = to.internal(node, "addr", INDEX, depth)
    sums = to.internal(node, "sum", payload_class(to.graph.given(node, "val")), depth)
    inputs = tuple(to.input(node, port.name) for port in node.inputs)
    outputs = {port.name: to.output(node, port.name) for port in node.outputs}
    writes = tuple(outputs.values())
    widths = tuple(map(str, bits))
    to.process(
        function,
        *(*inputs, addr, sums),
        reads=inputs,
        writes=(addr, sums),
        template=(to.number(node), *functor, str(spacing), *widths),
        header="vector_reducer",
    )
    reads, header = (addr, sums), "vector_reducer"
    to.process(
        "reduce_vector_emit", *reads, *writes, reads=reads, writes=writes, template=widths, header=header
    )
    to.spread(node, outputs)
