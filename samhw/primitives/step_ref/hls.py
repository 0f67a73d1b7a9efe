"""step_ref, as processes of C++."""

from samhw.graph import Node
from samhw.hls.region_builder import RegionBuilder

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """One process, to which the step comes."""
    ref, (counter,) = to.output(node, "ref"), to.steps_of(node)
    extents = {name: to.extents[index] for name, index in node.extents.items()}
    down, limit = extents.get("down"), extents.get("extent", "1")
    present = counter if down is None else f"ap_int<40>({down}) - 1 - {counter}"
    offset = str(node.params["offset"])
    to.process("step_ref", ref, present, limit, reads=(), writes=(ref,), template=(offset,))
    to.spread(node, {"ref": ref})
