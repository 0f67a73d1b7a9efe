"""array, as processes of C++."""

from samhw.graph import Node
from samhw.hls.off_chip import read_words
from samhw.hls.region_builder import RegionBuilder

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """One process."""
    ref, vals = to.input(node, "ref"), to.memory(node, "vals")
    if vals.off_chip:
        n = to.graph.given(node, "val").words
        places = f"{vals.words} / {n}" if n > 1 else vals.words
        val = read_words(
            *(to, node, ref, vals, lambda: to.output(node, "val")),
            places=places,
            stride=n,
            words=n,
            missing_is_zero=True,
        )
        to.spread(node, {"val": val})
        return
    val = to.output(node, "val")
    to.process("array", ref, val, vals, reads=(ref,), writes=(val,), template=(to.number(node), vals.words))
    to.spread(node, {"val": val})
