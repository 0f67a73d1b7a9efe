"""What a graph costs, without running it; and what is known of stored coordinates (`statistics`)."""

from samhw.cost.area import AreaEstimate, RegionArea, estimate_area
from samhw.cost.components import FAMILIES, Use
from samhw.cost.design import DesignEstimate, NodeEstimate, RegionEstimate, estimate_graph
from samhw.cost.devices import DEVICES, SHOWN_DEVICES, Device, find_device
from samhw.cost.estimate import Expected, estimate
from samhw.cost.streams import Results

__all__ = [
    "DEVICES",
    "FAMILIES",
    "SHOWN_DEVICES",
    "AreaEstimate",
    "DesignEstimate",
    "Device",
    "Expected",
    "NodeEstimate",
    "RegionArea",
    "RegionEstimate",
    "Results",
    "Use",
    "estimate",
    "estimate_area",
    "estimate_graph",
    "find_device",
]
