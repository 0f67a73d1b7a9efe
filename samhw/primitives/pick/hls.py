"""pick, as processes of C++."""

from samhw.graph import Node
from samhw.hls.cpp import INDEX
from samhw.hls.off_chip import read_words
from samhw.hls.region_builder import RegionBuilder

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """One process."""
    inputs, coordinates = (to.input(node, "at"), to.input(node, "ref")), to.memory(node, "crd")
    if coordinates.off_chip:
        depth = to.arch.internal_depth(to.arch.memory)
        crd = read_words(
            *(to, node, inputs[0], coordinates, lambda: to.internal(node, "found", INDEX, depth)),
            places=coordinates.words,
        )
        out = to.output(node, "ref")
        to.process(
            "pick_found",
            crd,
            inputs[1],
            out,
            *to.extents_of(node),
            reads=(crd, inputs[1]),
            writes=(out,),
            template=(to.number(node),),
        )
        to.spread(node, {"ref": out})
        return
    out = to.output(node, "ref")
    to.process(
        "pick",
        *(*inputs, out, coordinates),
        *to.extents_of(node),
        reads=inputs,
        writes=(out,),
        template=(to.number(node), coordinates.words),
    )
    to.spread(node, {"ref": out})
